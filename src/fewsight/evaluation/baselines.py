"""Is it worth it? fewsight against what people fit to the same features today, label by label.

All start from the same label of each category. Then fewsight asks, and everybody else, fewsight itself among them, gets the
labels of the same images picked at random. At given numbers of labels each is fitted anew and tested on the same images.
fewsight asks as `ActiveLearner` does unless it is told otherwise, random checks and exploring included. A finished repeat is
kept in the cache of the channels, so that a comparison that was cut off goes on from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, NoReturn, final

import numpy as np
from sklearn.base import clone

from fewsight._base.checks import check_choice, check_integer
from fewsight._base.errors import InvalidInput
from fewsight._base.progress import silent, track
from fewsight._base.types import Array, Indices, State
from fewsight.active import ActiveLearner, ImagePool, simulate
from fewsight.channels import Channel, Encodings
from fewsight.evaluation.draws import Readable
from fewsight.evaluation.outcomes import LabelArray
from fewsight.evaluation.protocol import Draw, Protocol
from fewsight.evaluation.provenance import package_version, settings_of
from fewsight.evaluation.results import Summary, labels_until
from fewsight.images import FeatureCache, ImageSet
from fewsight.kernels import Kernel
from fewsight.learners import LEARNERS, GPClassifier, Learner
from fewsight.learners.examples import Examples
from fewsight.learners.labels import Labels
from fewsight.learners.needs import Prepared
from fewsight.metrics import accuracy_per_class, calibration_error, log_loss, roc_auc

BASELINES = ("logistic", "nn", "mean", "svm")
RANDOM = "random"
MEASURED = ("accuracy", "log_loss", "calibration_error", "unknown_auroc")
LEAST_POINTS = 6  # of a curve, where there are enough images


class Arm(NamedTuple):
    """A learner, and how its labels are chosen: by a query rule, or at random."""

    learner: str
    rule: str


@dataclass(frozen=True)
class Comparison:
    """What was measured at each number of labels: for each arm and metric (repeats, points)."""

    labels: tuple[int, ...]  # (points,), ascending
    curves: Mapping[Arm, Mapping[str, Array]]
    channels: str  # joined by `+`
    combine: str  # of the learner that asks; baselines average
    n_pool: int  # images that could be labelled
    n_tested: int
    n_held_out: int  # categories that nobody learned

    @property
    def metrics(self) -> list[str]:
        """Those that were measured, in the order of the records."""
        return [name for name in MEASURED if all(name in found for found in self.curves.values())]

    @property
    def asking(self) -> Arm:
        """The arm that asks."""
        return next(arm for arm in self.curves if arm.rule != RANDOM)

    @property
    def baselines(self) -> list[Arm]:
        """All that is not fewsight."""
        return [arm for arm in self.curves if arm.learner != self.asking.learner]

    @property
    def strongest(self) -> Arm:
        """The baseline that is most accurate with all labels."""
        return max(self.baselines, key=lambda arm: self.curves[arm]["accuracy"][:, -1].mean())

    @property
    def target(self) -> float:
        """The accuracy of the strongest baseline with all labels."""
        return float(self.curves[self.strongest]["accuracy"][:, -1].mean())

    @property
    def needed(self) -> int | None:
        """The labels after which the arm that asks stays at the target or above; None if it never does."""
        return labels_until(self.target, self.labels, self.curves[self.asking]["accuracy"].mean(axis=0))

    def curve(self, arm: Arm, metric: str) -> list[tuple[int, Summary]]:
        """The number of labels, and what was measured over the repeats."""
        columns = self.curves[arm][metric].T.tolist()
        return [(labels, Summary.of(tuple(column))) for labels, column in zip(self.labels, columns, strict=True)]

    def records(self) -> list[dict[str, Any]]:
        """One record for each arm, metric and number of labels."""
        return [
            {
                "channels": self.channels,
                "learner": arm.learner,
                "combine": self._combine_of(arm),
                "rule": arm.rule,
                "labels": labels,
                "metric": metric,
                "mean": found.mean,
                "std": found.std,
                "values": list(found.values),
            }
            for arm in self.curves
            for metric in self.metrics
            for labels, found in self.curve(arm, metric)
        ]

    def _combine_of(self, arm: Arm) -> str:
        return "average" if self.combine == "evidence" and arm in self.baselines else self.combine


def compare_baselines(
    image_set: ImageSet,
    protocol: Protocol,
    channels: Mapping[str, Channel],
    *,
    learner: Learner | None = None,
    baselines: Sequence[str] = BASELINES,
    rule: str = "influence",
    labels: Sequence[int] | None = None,
) -> Comparison:
    """Learning curves over labels for fewsight and for baselines, all on the same test images.

    Parameters
    ----------
    image_set, protocol : as for `evaluate`. Whatever takes part and is not tested on may be labelled. Where the protocol does not
        say how many images to test on, it is half of what the smallest category has beyond its training images.
    channels : by name; fitted on the images that may be labelled, without their labels.
    learner : what asks; a `GPClassifier` unless given. With several channels it learns weights for them, and baselines average.
    baselines : names of `LEARNERS`.
    rule : by which the learner asks.
    labels : numbers of labels to measure at; unless given, such that the last is the largest number of training images of the
        protocol times the number of categories.
    """
    arms = _arms(learner or GPClassifier(), baselines, rule)
    names = np.asarray(image_set.labels, dtype=object)
    readable = Readable(image_set.images, names, channels)
    draws = readable.draws(replace(protocol, per_class=(protocol.most,), test_per_class=None))
    counts = _label_counts(labels, protocol, len(set(names[draws[0].train])))
    parts, runs = [_Parts.of(draw, names, protocol.test_per_class) for draw in draws], []
    kept = _Kept(next(iter(channels.values())).cache, arms, channels, counts)
    for draw, part in track(list(zip(draws, parts, strict=True)), f"Comparing with {', '.join(baselines)}", len(draws)):
        with silent():
            key = kept.key(image_set, names, draw.seed, part)
            found = kept.get(key)
            if found is None:
                found = _Field.of(image_set, names, channels, draw.seed, part).curves(arms, counts)
                kept.put(key, found)
            runs.append(found)
    curves = {arm: {name: np.array([run[arm][name] for run in runs]) for name in runs[0][arm]} for arm in arms}
    combine = "none" if len(channels) == 1 else next(iter(arms.values())).ways[-1]
    sizes = len(parts[0].pool), len(parts[0].tested)
    return Comparison(tuple(counts), curves, "+".join(channels), combine, *sizes, protocol.hold_out)


class _Parts(NamedTuple):
    """Positions of the images of one repeat: those that may be labelled, the test images, and those of held-out classes."""

    pool: Indices
    tested: Indices
    strange: Indices

    @classmethod
    def of(cls, draw: Draw, names: LabelArray, per_class: int | None) -> _Parts:
        tested = _first_of_each(draw.test, names, per_class)
        pool = np.concatenate([draw.train, np.setdiff1d(draw.test, tested)])
        return cls(pool, tested, _first_of_each(draw.held_out, names, per_class))


@final
class _Kept:
    """Repeats that are finished, in the cache if there is one, under a key of all that decides them."""

    def __init__(
        self,
        cache: FeatureCache | None,
        arms: Mapping[Arm, Learner],
        channels: Mapping[str, Channel],
        counts: Sequence[int],
    ) -> None:
        self.cache, self.arms, self.counts = cache, arms, counts
        self._recipe = {
            "kind": "comparison",
            "version": 1,
            "fewsight": package_version(),
            "arms": [[*arm, settings_of(learner)] for arm, learner in arms.items()],
            "asking": _usual_ways(),
            "channels": {name: settings_of(channel) for name, channel in channels.items()},
            "labels": list(counts),
        }

    def key(self, images: ImageSet, names: LabelArray, seed: int, parts: _Parts) -> str:
        shown = [[[images.images[i].content_hash, str(names[i])] for i in part] for part in parts]
        return FeatureCache.key_of("comparison", {**self._recipe, "seed": seed, "images": shown})

    def get(self, key: str) -> dict[Arm, dict[str, list[float]]] | None:
        stored = None if self.cache is None else self.cache.get(key)
        if stored is None:
            return None
        try:
            metrics = [name for name in MEASURED if f"0 {name}" in stored.arrays]
            shape = (len(self.counts),)
            return {
                arm: {name: stored.array(f"{i} {name}", shape, np.float64).tolist() for name in metrics}
                for i, arm in enumerate(self.arms)
            }
        except InvalidInput:  # an entry that was tampered with
            return None

    def put(self, key: str, found: Mapping[Arm, Mapping[str, list[float]]]) -> None:
        arrays = {f"{i} {name}": np.array(found[arm][name]) for i, arm in enumerate(self.arms) for name in found[arm]}
        if self.cache is not None:
            self.cache.put(key, State({}, arrays))


def _usual_ways() -> dict[str, Any]:
    """How `ActiveLearner` asks unless it is told otherwise."""
    usual = ActiveLearner()
    return {name: getattr(usual, name) for name in ("explore", "audit_share", "batch_size", "relearn_every")}


@dataclass(frozen=True)
class _Field:
    """The images of one repeat: first those that may be labelled, then the test images, then those of held-out classes."""

    pool: ImagePool
    truth: LabelArray  # (n,), of all of them
    n_pool: int
    test: Indices
    held_out: Indices
    seed: int

    @classmethod
    def of(
        cls, images: ImageSet, names: LabelArray, channels: Mapping[str, Channel], seed: int, parts: _Parts
    ) -> _Field:
        chosen = np.concatenate(parts)
        fresh = [clone(channel).set_params(cache=channel.cache, random_state=seed) for channel in channels.values()]
        seen = ImagePool([images.images[i] for i in chosen], fresh, learn_from=np.arange(len(parts.pool)))
        ends = np.cumsum([len(part) for part in parts])
        return cls(seen, names[chosen], len(parts.pool), np.arange(*ends[:2]), np.arange(*ends[1:]), seed)

    def curves(self, arms: Mapping[Arm, Learner], counts: Sequence[int]) -> dict[Arm, dict[str, list[float]]]:
        """The metrics of each arm at this number of labels."""
        if counts[-1] > self.n_pool:
            raise InvalidInput(
                f"compare_baselines: labels must be at most the images that may be labelled, {self.n_pool}, got {counts[-1]}."
            )
        asking = next(iter(arms))
        asked = self._asked(asking, arms[asking], counts[-1])
        n_first = len(set(self.truth[: self.n_pool]))
        rest = np.setdiff1d(np.arange(self.n_pool), asked[:n_first])
        random = np.concatenate([asked[:n_first], np.random.default_rng(self.seed).permutation(rest)])
        found: dict[Arm, dict[str, list[float]]] = {}
        for arm, learner in arms.items():
            order = random if arm.rule == RANDOM else asked
            way = learner.ways[-1 if arm.learner == asking.learner else 0]
            measured = [self._measure(learner, way, order[:count]) for count in counts]
            found[arm] = {name: [point[name] for point in measured] for name in measured[0]}
        return found

    def _asked(self, arm: Arm, learner: Learner, most: int) -> Indices:
        """The images in the order in which they are asked about, after one of each class."""
        closed = list(range(self.n_pool, len(self.truth)))
        n_classes = len(set(self.truth[: self.n_pool]))
        told = self._weighed(learner, learner.ways[-1]).set_params(kernel=self.pool.channels)
        answers = self._answers()
        answers[self.held_out] = answers[0]  # nobody asks about them; any class that is learned will do
        steps = simulate(
            told,
            self.pool,
            answers,
            arm.rule,
            most - n_classes,
            start=1,
            test=closed,
            seeds=[self.seed],
            **_usual_ways(),
        )
        return np.concatenate([step["asked"] for step in steps]).astype(np.intp)

    def _answers(self) -> Labels:
        return np.array(self.truth.tolist())

    def _weighed(self, learner: Learner, way: str, groups: Indices | None = None) -> Learner:
        """A fresh copy that combines several channels in this way."""
        fresh = clone(learner)
        return fresh.weigh(way, groups=groups) if len(self.pool.channels) > 1 else fresh

    def _measure(self, learner: Learner, way: str, labelled: Indices) -> dict[str, float]:
        """Fit on some labels, and look at the test images and at those of held-out classes."""
        shown = np.concatenate([self.test, self.held_out])
        sides = zip(self.pool.channels, self.pool.encodings, strict=True)
        given = learner.needs.given(
            [
                _PreparedRows(channel, learner.usual_kernel(channel.kernel), rows, labelled, shown)
                for channel, rows in sides
            ]
        )
        fresh = self._weighed(learner, way, given.groups).set_params(kernel=given.kernel)
        fitted = fresh.fit(given.train, self._answers()[labelled])
        probabilities, strangeness = _said(fitted, given.asked)
        m = len(self.test)
        truth, classes = self._answers()[self.test], fitted.classes_.tolist()
        found = {
            "accuracy": accuracy_per_class(truth, fitted.classes_[probabilities[:m].argmax(axis=1)]),
            "log_loss": log_loss(truth, probabilities[:m], classes),
            "calibration_error": calibration_error(truth, probabilities[:m], classes),
        }
        if len(self.held_out):
            found["unknown_auroc"] = roc_auc(np.arange(len(shown)) >= m, strangeness)
        return found


@dataclass(frozen=True)
class _PreparedRows(Prepared):
    """Images of a pool that are encoded already, of which some are labelled and others asked about."""

    channel: Channel  # fitted, without labels
    kernel: Kernel
    rows: Encodings
    labelled: Indices
    shown: Indices

    @property
    def images(self) -> NoReturn:
        raise InvalidInput("compare_baselines: a learner must take Gram matrices or rows, got one that takes images.")

    @property
    def encodings(self) -> tuple[Encodings, Encodings]:
        return self.rows.take(self.labelled), self.rows.take(self.shown)

    @property
    def grams(self) -> tuple[Array, Array]:
        train, asked = self.encodings
        return self.kernel.gram(train), self.kernel.gram(asked, train)


def _said(fitted: Learner, K: Examples) -> tuple[Array, Array]:
    """Probabilities, and how strange each image is: for learners that do not say, what is usual for them."""
    found = fitted.verdict(K)
    usual = -found.mean.max(axis=1)
    return found.probabilities, usual if found.unknown_score is None else found.unknown_score


def _arms(learner: Learner, baselines: Sequence[str], rule: str) -> dict[Arm, Learner]:
    """What asks comes first."""
    if rule == RANDOM or not baselines:
        got = "random" if rule == RANDOM else "no baseline"
        raise InvalidInput(f"compare_baselines: a rule that asks and at least one baseline are needed, got {got}.")
    named = {name: check_choice("compare_baselines", "a baseline", name, LEARNERS) for name in baselines}
    others = {Arm(name, RANDOM): LEARNERS[name]() for name in named}
    return {Arm(learner.name, rule): learner, Arm(learner.name, RANDOM): learner, **others}


def _label_counts(labels: Sequence[int] | None, protocol: Protocol, n_classes: int) -> list[int]:
    """As they are given, or from one of each class to as many as the protocol learns from."""
    if labels is not None:
        counts = sorted({check_integer("compare_baselines", "labels", count, least=n_classes) for count in labels})
        if not counts:
            raise InvalidInput("compare_baselines: labels must be one or more whole numbers, got none.")
        return counts
    steps = np.linspace(1, protocol.most, min(LEAST_POINTS, protocol.most)).round().astype(int)
    return [n_classes * int(size) for size in sorted({1, *protocol.per_class, *steps.tolist()})]


def _first_of_each(drawn: Indices, names: LabelArray, per_class: int | None) -> Indices:
    """So many images of each class, or half of what the smallest has."""
    members = [drawn[names[drawn] == name] for name in dict.fromkeys(names[drawn])]
    if per_class is None:
        per_class = max(1, min(map(len, members), default=0) // 2)
    return np.concatenate([rows[:per_class] for rows in members]) if members else drawn
