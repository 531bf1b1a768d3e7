"""Runs a protocol: every channel fitted on the training images of every draw, every learner on its Gram matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from fewsight._base.checks import check_choice, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.progress import silent, track
from fewsight._base.types import Array
from fewsight.channels import prior_shares
from fewsight.evaluation.draws import Readable
from fewsight.evaluation.outcomes import LabelArray, Outcome, Setting, Strangeness
from fewsight.evaluation.protocol import Draw, Protocol
from fewsight.evaluation.provenance import settings_of
from fewsight.evaluation.results import Evaluation
from fewsight.images import ImageSet
from fewsight.learners.histograms import SideBySide, compares_by_intersection

COMBINATIONS = ("none", "average", "evidence")


@dataclass(frozen=True)
class Grams:
    """What one channel makes of one draw."""

    train: Array | None  # (n, n); None if no learner asks for it
    asked: Array | None  # (m + u, n): the test images, then those of held-out classes
    rows: Any  # encodings of the training images, for learners that take histograms
    rows_asked: Any
    seconds_features: float
    seconds_gram: float


class Answers(NamedTuple):
    """What a learner says about the images it is shown."""

    labels: LabelArray
    probabilities: Array | None
    strangeness: Strangeness | None


def evaluate(
    image_set: ImageSet,
    protocol: Protocol,
    channels: Mapping[str, Any],
    learners: Mapping[str, Any],
    *,
    combine: Sequence[str] = ("none",),
    n_jobs: int | None = None,
) -> Evaluation:
    """Evaluate every learner with every channel, and with all channels together where `combine` says so.

    Parameters
    ----------
    image_set : labelled images; unlabelled ones are left out.
    protocol : how to draw training and test images.
    channels : unfitted channels by name. Each is fitted anew on the training images of each draw, never on a test image.
    learners : unfitted estimators, or what makes them when called, by name. They are given Gram matrices, or encodings if they
        say `takes_histograms`.
    combine : "none" for each channel alone; for all Gram matrices together "average", or "evidence" for weights that are learned
        from the training images, by the learners that have a parameter `weights` or `relevance`.
    n_jobs : for channels and learners, as in joblib; None leaves their own settings.

    An image that a channel cannot read is set aside and listed in the result, and the draws are made without it.
    """
    combine = _check_combine(combine, channels, learners)
    _check_histograms(channels, learners)
    start = perf_counter()
    labels = np.asarray(image_set.labels, dtype=object)
    _check_classes(labels)
    if n_jobs is not None:
        channels = {name: _fresh(channel, n_jobs=n_jobs) for name, channel in channels.items()}
        learners = {name: _fresh(_new(learner), n_jobs=n_jobs) for name, learner in learners.items()}
    readable = Readable(image_set.images, labels, channels)
    draws = readable.draws(protocol)
    run = _Run(image_set, labels, channels, learners, combine, readable.seconds_per_image())
    outcomes = run.outcomes(draws)
    return Evaluation(
        protocol=protocol,
        classes=tuple(sorted({labels[i] for i in (*draws[0].train, *draws[0].held_out)})),
        names=tuple(image.name for image in image_set.images),
        outcomes=tuple(outcomes),
        unreadable=(*image_set.unreadable, *readable.failures),
        channels={name: settings_of(channel) for name, channel in channels.items()},
        learners={name: settings_of(_new(learner)) for name, learner in learners.items()},
        combine=combine,
        timings={"local_features": readable.seconds, "total": perf_counter() - start},
    )


@dataclass(frozen=True)
class _Run:
    """The parts of an evaluation that every draw shares."""

    image_set: ImageSet
    labels: LabelArray
    channels: Mapping[str, Any]
    learners: Mapping[str, Any]
    combine: tuple[str, ...]
    seconds_per_image: Mapping[str, float]

    def outcomes(self, draws: Sequence[Draw]) -> list[Outcome]:
        """Draw by draw; a step of the progress is one channel of one draw, with all learners."""
        steps = [(draw, name) for draw in draws for name in self.channels]
        outcomes: list[Outcome] = []
        grams: dict[str, Grams] = {}  # of the channels of the present draw, as far as they are needed later
        for draw, name in track(steps, _what(draws, self.channels, self.learners), len(steps)):
            with silent():
                grams[name] = self._grams(name, draw)
                if "none" in self.combine:
                    outcomes += self._learn(draw, {name: grams[name]}, "none")
                if len(grams) == len(self.channels):
                    outcomes += [outcome for way in self._joint for outcome in self._learn(draw, grams, way)]
            if len(grams) == len(self.channels) or not self._joint:
                grams = {}
        return outcomes

    @property
    def _joint(self) -> list[str]:
        """The ways that need the Gram matrices of all channels at once."""
        return [way for way in self.combine if way != "none"]

    def _grams(self, name: str, draw: Draw) -> Grams:
        """Fit on the training images alone, then encode both sides."""
        train, asked = ([self.image_set.images[i] for i in part] for part in (draw.train, draw.asked))
        start = perf_counter()
        channel = _fresh(self.channels[name], random_state=draw.seed)
        channel.fit(train, self.labels[draw.train])
        encoded, encoded_asked = channel.encode(train), channel.encode(asked)
        middle = perf_counter()
        wanted = not all(_takes_histograms(learner) for learner in self.learners.values())
        K, K_asked = (channel.gram(encoded), channel.gram(encoded_asked, encoded)) if wanted else (None, None)
        end = perf_counter()
        prepared = self.seconds_per_image[name] * (len(train) + len(asked))
        return Grams(K, K_asked, encoded, encoded_asked, prepared + middle - start, end - middle)

    def _learn(self, draw: Draw, grams: Mapping[str, Grams], combine: str) -> list[Outcome]:
        settings: dict[str, Any] = {"random_state": draw.seed}
        if combine != "none":
            settings["weights"] = combine
            settings["prior_weights"] = prior_shares([self.channels[name] for name in grams]).tolist()
        if combine == "evidence":
            settings |= {"relevance": "channels", "groups": _layout(list(grams.values())).groups}
        return [
            self._outcome(draw, grams, combine, name, _fresh(_new(learner), **settings, **_kernel_of(learner)))
            for name, learner in self.learners.items()
            if combine != "evidence" or learns_weights(learner)
        ]

    def _outcome(self, draw: Draw, grams: Mapping[str, Grams], combine: str, name: str, learner: Any) -> Outcome:
        K, K_asked = _inputs(learner, list(grams.values()), combine)
        start = perf_counter()
        learner.fit(K, self.labels[draw.train])
        middle = perf_counter()
        answers = _ask(learner, K_asked)
        end = perf_counter()
        m = len(draw.test)
        stated = answers.probabilities
        return Outcome(
            setting=Setting("+".join(grams), name, combine, draw.per_class),
            repeat=draw.repeat,
            train=draw.train,
            test=draw.test,
            truth=self.labels[draw.test],
            predicted=answers.labels[:m],
            classes=tuple(np.asarray(learner.classes_).tolist()),
            probabilities=None if stated is None else np.asarray(stated[:m], dtype=np.float32),
            seconds={
                "seconds_features": sum(gram.seconds_features for gram in grams.values()),
                "seconds_gram": sum(gram.seconds_gram for gram in grams.values()),
                "seconds_fit": middle - start,
                "seconds_predict": end - middle,
            },
            held_out=draw.held_out,
            taken_for=answers.labels[m:],
            strangeness=answers.strangeness,
            weights=_weights(learner, grams) if combine == "evidence" else {},
        )


def _weights(learner: Any, grams: Mapping[str, Grams]) -> dict[str, float]:
    """What share each channel has in the combination that was learned."""
    shares = learner.weights_ / learner.weights_.sum()
    return {name: float(share) for name, share in zip(grams, shares, strict=True)}


def learns_weights(learner: Any) -> bool:
    return bool({"weights", "relevance"} & set(_new(learner).get_params(deep=False)))


def _ask(learner: Any, K_asked: Any) -> Answers:
    """Labels, and probabilities and strangeness as far as the learner states them."""
    labels = np.asarray(learner.predict(K_asked), dtype=object)
    if not hasattr(learner, "assess"):
        stated = learner.predict_proba(K_asked) if hasattr(learner, "predict_proba") else None
        return Answers(labels, stated, None)
    found = learner.assess(K_asked)
    strangeness = Strangeness(found.unknown_score, found.unknown, float(learner.novelty_.threshold))
    return Answers(labels, found.probabilities, strangeness)


def _new(learner: Any) -> Any:
    """An unfitted estimator from one like it, or from what makes one when called."""
    made = learner() if isinstance(learner, type) or not hasattr(learner, "fit") else learner
    return clone(made)


def _fresh(estimator: Any, **settings: Any) -> Any:
    """An unfitted copy with those of the settings that it has. It shares the cache, which keeps account of its size."""
    copy = clone(estimator)
    known = estimator.get_params(deep=False)
    shared = {"cache": known["cache"]} if "cache" in known else {}
    return copy.set_params(**shared, **{name: value for name, value in settings.items() if name in known})


def _inputs(learner: Any, grams: Sequence[Grams], combine: str) -> tuple[Any, Any]:
    """What a learner is fitted to and asked about: Gram matrices, one or a list, or encodings, side by side."""
    if _takes_histograms(learner):
        layout = _layout(grams)
        return layout.rows([gram.rows for gram in grams]), layout.rows([gram.rows_asked for gram in grams])
    if combine == "none":
        return grams[0].train, grams[0].asked
    return [gram.train for gram in grams], [gram.asked for gram in grams]


def _layout(grams: Sequence[Grams]) -> SideBySide:
    return SideBySide.of([gram.rows for gram in grams])


def _takes_histograms(learner: Any) -> bool:
    return bool(getattr(learner, "takes_histograms", False))


def _kernel_of(learner: Any) -> dict[str, Any]:
    return {} if _takes_histograms(learner) else {"kernel": "precomputed"}


def _check_histograms(channels: Mapping[str, Any], learners: Mapping[str, Any]) -> None:
    asking = [name for name, learner in learners.items() if _takes_histograms(learner)]
    other = [name for name, channel in channels.items() if not compares_by_intersection(channel)]
    if asking and other:
        raise InvalidInput(
            f"evaluate: {asking[0]} needs channels that compare by histogram intersection, got {', '.join(other)}."
        )


def _what(draws: Sequence[Draw], channels: Mapping[str, Any], learners: Mapping[str, Any]) -> str:
    repeats = 1 + max(draw.repeat for draw in draws)
    sizes = ", ".join(str(size) for size in sorted({draw.per_class for draw in draws}))
    return (
        f"Evaluating {', '.join(learners)} with {', '.join(channels)} "
        f"({repeats} {'repeat' if repeats == 1 else 'repeats'}, {sizes} per class)"
    )


def _check_combine(combine: Any, channels: Mapping[str, Any], learners: Mapping[str, Any]) -> tuple[str, ...]:
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
    if "evidence" in ways and not any(learns_weights(learner) for learner in learners.values()):
        raise InvalidInput(
            f"evaluate: combine 'evidence' needs a learner that learns weights, as gp does, got {', '.join(learners)}."
        )
    return ways


def _check_classes(labels: LabelArray) -> None:
    classes = {label for label in labels if label is not None}
    if len(classes) < 2:
        raise InvalidInput(f"evaluate: the images must belong to two or more categories, got {shown(sorted(classes))}.")
