"""Runs a protocol: every channel prepared for every draw, every learner given what it needs of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from time import perf_counter

import numpy as np
from sklearn.base import clone

from fewsight._base.checks import check_choice, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.progress import silent, track
from fewsight.channels import Channel, prior_shares
from fewsight.evaluation.draws import Readable
from fewsight.evaluation.outcomes import LabelArray, Outcome, Setting, Strangeness
from fewsight.evaluation.protocol import Draw, Protocol
from fewsight.evaluation.provenance import settings_of
from fewsight.evaluation.results import Evaluation
from fewsight.images import ImageSet
from fewsight.learners import Learner, LearnerLike, Verdict, unfitted
from fewsight.learners.needs import PreparedImages

COMBINATIONS = ("none", "average", "evidence", "l1", "l1_even", "l2")
LEARNED = ("evidence", "l1", "l1_even", "l2")  # of these, ways that learn shares


def evaluate(
    image_set: ImageSet,
    protocol: Protocol,
    channels: Mapping[str, Channel],
    learners: Mapping[str, LearnerLike],
    *,
    combine: Sequence[str] = ("none",),
    n_jobs: int | None = None,
) -> Evaluation:
    """Evaluate every learner with every channel, and with all channels together where `combine` says so.

    Parameters
    ----------
    image_set : labelled images; unlabelled ones are left out, unless the protocol draws some.
    protocol : how to draw training and test images.
    channels : unfitted channels by name. Each is fitted anew on the training images of each draw, never on a test image.
    learners : unfitted learners, or what makes them when called, by name. Each is given what it `needs`: Gram matrices, rows of
        histograms or the images themselves.
    combine : "none" for each channel alone; for all channels together "average", or "evidence", "l1", "l1_even" or "l2" for
        weights that are learned from the training images, by the learners that have that among their `ways`.
    n_jobs : for channels and learners, as in joblib; None leaves their own settings.

    An image that a channel cannot read is set aside and listed in the result, and the draws are made without it.
    """
    made = {name: unfitted("evaluate", learner) for name, learner in learners.items()}
    combine = _check_combine(combine, channels, made)
    _check_channels(channels, made)
    _check_unlabelled(protocol, channels, made)
    start = perf_counter()
    labels = np.asarray(image_set.labels, dtype=object)
    _check_classes(labels)
    if n_jobs is not None:
        channels = {name: _fresh_channel(channel, n_jobs=n_jobs) for name, channel in channels.items()}
        made = {name: _fresh(learner, n_jobs=n_jobs) for name, learner in made.items()}
    readable = Readable(image_set.images, labels, channels)
    draws = readable.draws(protocol)
    run = _Run(image_set, labels, channels, made, combine, readable.seconds_per_image())
    outcomes = run.outcomes(draws)
    return Evaluation(
        protocol=protocol,
        classes=tuple(sorted({labels[i] for i in (*draws[0].train, *draws[0].held_out)})),
        names=tuple(image.name for image in image_set.images),
        outcomes=tuple(outcomes),
        unreadable=(*image_set.unreadable, *readable.failures),
        channels={name: settings_of(channel) for name, channel in channels.items()},
        learners={name: settings_of(learner) for name, learner in made.items()},
        combine=combine,
        timings={"local_features": readable.seconds, "total": perf_counter() - start},
    )


@dataclass(frozen=True)
class _Run:
    """The parts of an evaluation that every draw shares."""

    image_set: ImageSet
    labels: LabelArray
    channels: Mapping[str, Channel]
    learners: Mapping[str, Learner]
    combine: tuple[str, ...]
    seconds_per_image: Mapping[str, float]

    def outcomes(self, draws: Sequence[Draw]) -> list[Outcome]:
        """Draw by draw; a step of the progress is one channel of one draw, with all learners."""
        steps = [(draw, name) for draw in draws for name in self.channels]
        outcomes: list[Outcome] = []
        prepared: dict[str, PreparedImages] = {}  # of the channels of the present draw, as far as they are needed later
        for draw, name in track(steps, _what(draws, self.channels, self.learners), len(steps)):
            with silent():
                prepared[name] = self._prepare(name, draw)
                if "none" in self.combine:
                    outcomes += self._learn(draw, {name: prepared[name]}, "none")
                if len(prepared) == len(self.channels):
                    outcomes += [outcome for way in self._joint for outcome in self._learn(draw, prepared, way)]
            if len(prepared) == len(self.channels) or not self._joint:
                prepared = {}
        return outcomes

    @property
    def _joint(self) -> list[str]:
        """The ways that need all channels at once."""
        return [way for way in self.combine if way != "none"]

    def _prepare(self, name: str, draw: Draw) -> PreparedImages:
        parts = (draw.train, draw.asked, draw.unlabelled)
        train, asked, unlabelled = ([self.image_set.images[i] for i in part] for part in parts)
        channel = _fresh_channel(self.channels[name], random_state=draw.seed)
        return PreparedImages(channel, train, self.labels[draw.train], asked, unlabelled)

    def _learn(self, draw: Draw, prepared: Mapping[str, PreparedImages], way: str) -> list[Outcome]:
        return [
            self._outcome(draw, prepared, way, name, _fresh(learner, random_state=draw.seed))
            for name, learner in self.learners.items()
            if way == "none" or way in learner.ways
        ]

    def _outcome(
        self, draw: Draw, prepared: Mapping[str, PreparedImages], way: str, name: str, learner: Learner
    ) -> Outcome:
        given = learner.needs.given(list(prepared.values()))
        learner.set_params(kernel=given.kernel)
        if way != "none":
            learner.weigh(way, prior_shares([each.channel for each in prepared.values()]).tolist(), given.groups)
        start = perf_counter()
        learner.fit(given.train, [*self.labels[draw.train], *repeat(None, given.n_unlabelled)])
        middle = perf_counter()
        predicted, assessed = np.asarray(learner.predict(given.asked), dtype=object), learner.verdict(given.asked)
        end = perf_counter()
        m = len(draw.test)
        return Outcome(
            setting=Setting("+".join(prepared), name, way, draw.per_class),
            repeat=draw.repeat,
            train=draw.train,
            test=draw.test,
            truth=self.labels[draw.test],
            predicted=predicted[:m],
            classes=tuple(np.asarray(learner.classes_).tolist()),
            probabilities=np.asarray(assessed.probabilities[:m], dtype=np.float32),
            seconds={**self._seconds(prepared), "seconds_fit": middle - start, "seconds_predict": end - middle},
            held_out=draw.held_out,
            taken_for=predicted[m:],
            strangeness=_strangeness(assessed),
            weights=_named_shares(learner, prepared) if way in LEARNED else {},
        )

    def _seconds(self, prepared: Mapping[str, PreparedImages]) -> dict[str, float]:
        """What it took to prepare what the learner was given, and what was given to others before."""
        features = [
            self.seconds_per_image[name] * each.n_described + each.seconds_encodings for name, each in prepared.items()
        ]
        return {
            "seconds_features": sum(features),
            "seconds_gram": sum(each.seconds_gram for each in prepared.values()),
        }


def _named_shares(learner: Learner, channels: Mapping[str, PreparedImages]) -> dict[str, float]:
    """What share each channel has in the combination that was learned."""
    return {name: float(share) for name, share in zip(channels, learner.shares(len(channels)), strict=True)}


def _strangeness(assessed: Verdict) -> Strangeness | None:
    """How strange images are, where the learner says so."""
    if assessed.unknown_score is None or assessed.unknown is None or assessed.threshold is None:
        return None
    return Strangeness(assessed.unknown_score, assessed.unknown, assessed.threshold)


def _fresh(learner: Learner, **settings: int) -> Learner:
    """An unfitted copy with those of the settings that it has."""
    known = learner.get_params(deep=False)
    return clone(learner).set_params(**{name: value for name, value in settings.items() if name in known})


def _fresh_channel(channel: Channel, **settings: int) -> Channel:
    """An unfitted copy with other settings. It shares the cache, which keeps account of its size."""
    return clone(channel).set_params(cache=channel.cache, **settings)


def _check_channels(channels: Mapping[str, Channel], learners: Mapping[str, Learner]) -> None:
    for name, learner in learners.items():
        other = [each for each, channel in channels.items() if not learner.needs.accepts(channel)]
        if other:
            raise InvalidInput(
                f"evaluate: {name} needs channels that {learner.needs.channels_that}, got {', '.join(other)}."
            )


def _check_unlabelled(protocol: Protocol, channels: Mapping[str, Channel], learners: Mapping[str, Learner]) -> None:
    """Unlabelled images that nobody learns from would be drawn in vain."""
    learned = [channel.learns_from_unlabelled for channel in channels.values()]
    if protocol.unlabelled and not any([*learned, *(each.needs.takes_unlabelled for each in learners.values())]):
        raise InvalidInput(
            f"evaluate: unlabelled images need a channel or a learner that learns from them, got {', '.join(channels)} "
            f"and {', '.join(learners)}."
        )


def _what(draws: Sequence[Draw], channels: Mapping[str, Channel], learners: Mapping[str, Learner]) -> str:
    repeats = 1 + max(draw.repeat for draw in draws)
    sizes = ", ".join(str(size) for size in sorted({draw.per_class for draw in draws}))
    return (
        f"Evaluating {', '.join(learners)} with {', '.join(channels)} "
        f"({repeats} {'repeat' if repeats == 1 else 'repeats'}, {sizes} per class)"
    )


def _check_combine(
    combine: Sequence[str], channels: Mapping[str, Channel], learners: Mapping[str, Learner]
) -> tuple[str, ...]:
    for name, things in (("channels", channels), ("learners", learners)):
        if not things:
            raise InvalidInput(f"evaluate: {name} must name at least one, got none.")
    if isinstance(combine, str) or not combine:
        raise InvalidInput(f"evaluate: combine must be a list of one or more words, got {shown(combine)}.")
    ways = tuple(dict.fromkeys(check_choice("evaluate", "combine", way, COMBINATIONS) for way in combine))
    joint = [way for way in ways if way != "none"]
    if joint and len(channels) < 2:
        raise InvalidInput(
            f"evaluate: combine {joint[0]!r} needs two or more channels, got only {', '.join(channels)}."
        )
    able = {
        "evidence": "learns weights, as gp does",
        "average": "can average channels, as gp can",
        "l1": "learns weights of which few are not zero, as mkl does",
        "l1_even": "chooses few channels and averages them, as mkl does",
        "l2": "learns weights with a quadratic penalty, as mkl does",
    }
    for way in joint:
        if not any(way in learner.ways for learner in learners.values()):
            raise InvalidInput(
                f"evaluate: combine {way!r} needs a learner that {able[way]}, got {', '.join(learners)}."
            )
    return ways


def _check_classes(labels: LabelArray) -> None:
    classes = {label for label in labels if label is not None}
    if len(classes) < 2:
        raise InvalidInput(f"evaluate: the images must belong to two or more categories, got {shown(sorted(classes))}.")
