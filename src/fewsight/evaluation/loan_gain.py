"""What borrowing brings to a new category, and what it costs the others.

In every draw each category is the new one in turn: it is learned from a few images, all others from many. It is learned
alone, then with what it borrows; both are tested on the same images. Categories are told apart by one Gaussian-process
classifier on the average of the channels. No test image is learned from, and no category knows that it will be tested as a
new one.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight._base.progress import silent, track
from fewsight._base.types import Array
from fewsight.channels import Channel
from fewsight.evaluation.draws import Readable
from fewsight.evaluation.outcomes import LabelArray
from fewsight.evaluation.protocol import Draw, Protocol
from fewsight.evaluation.results import Summary
from fewsight.images import ImageSet
from fewsight.images.photographs import SamePhotographs
from fewsight.learners import GPClassifier
from fewsight.learners.labels import Labels
from fewsight.metrics import average_precision, recalls
from fewsight.transfer import suggest_loan
from fewsight.transfer.lending import SharesPhotographs

METHODS = ("independent", "borrowed")
METRICS = ("accuracy_new", "accuracy_others", "average_precision")
MOST_LENT = 15  # images of each category that is not the new one, where there are twice as many


class Trial(NamedTuple):
    """One category as the new one: metrics of both methods, and who lent."""

    category: str
    lender: str | None
    independent: Mapping[str, float]
    borrowed: Mapping[str, float]


@dataclass(frozen=True)
class BorrowingResult:
    """Trials by number of images and draw."""

    trials: Mapping[int, Sequence[Sequence[Trial]]]
    channels: tuple[str, ...]
    lender_images: int
    unreadable: tuple[UnreadableImage, ...]

    def summary(self, per_class: int, method: str, metric: str) -> Summary:
        """Over the draws, each the mean of its trials."""
        draws = self.trials[per_class]
        return Summary.of(tuple(float(np.mean([getattr(t, method)[metric] for t in trials])) for trials in draws))

    def lenders(self, per_class: int) -> dict[str, str | None]:
        """Who lent to each category most often."""
        found: dict[str, Counter[str | None]] = {}
        for trial in (trial for trials in self.trials[per_class] for trial in trials):
            found.setdefault(trial.category, Counter())[trial.lender] += 1
        return {category: counts.most_common(1)[0][0] for category, counts in sorted(found.items())}

    def records(self) -> list[dict[str, Any]]:
        """One for each number of images, method and metric, in the shape of `fewsight evaluate --json`."""
        combine = "none" if len(self.channels) == 1 else "average"
        head = {"channels": "+".join(self.channels), "learner": "gp", "combine": combine}
        return [
            {**head, "method": method, "per_class": n, "metric": metric, "mean": found.mean, "std": found.std}
            | {"values": list(found.values)}
            for n in self.trials
            for method in METHODS
            for metric in METRICS
            for found in [self.summary(n, method, metric)]
        ]


def evaluate_borrowing(
    image_set: ImageSet,
    protocol: Protocol,
    channels: Mapping[str, Channel],
    lenders: Mapping[str, Sequence[str]] | None = None,
) -> BorrowingResult:
    """Try every category as the new one, from each of `protocol.per_class` images, in every draw.

    `lenders` limits whom a category may borrow from; categories that show the same photographs never lend. The other categories
    are learned from half the images of the smallest one, at most fifteen.
    """
    labels = np.asarray(image_set.labels, dtype=object)
    lent = _lender_images(labels, protocol)
    readable = Readable(image_set.images, labels, channels)
    draws = readable.draws(replace(protocol, per_class=(lent,)))
    categories = sorted({str(labels[i]) for i in draws[0].train})
    steps = [(draw, category) for draw in draws for category in categories]
    trials: dict[int, list[list[Trial]]] = {n: [[] for _ in draws] for n in protocol.per_class}
    present: tuple[Draw, NewcomerBench, SamePhotographs] | None = None
    for draw, category in track(steps, "borrowing", len(steps)):
        with silent():
            if present is None or present[0] is not draw:
                present = draw, _bench_of(image_set, labels, channels, draw), _photographs(image_set, channels, draw)
            allowed = None if lenders is None else [name for name in lenders.get(category, ()) if name in categories]
            for n in protocol.per_class:
                trials[n][draw.repeat].append(present[1].trial(category, n, allowed, present[2]))
    return BorrowingResult(trials, tuple(channels), lent, (*image_set.unreadable, *readable.failures))


@dataclass(frozen=True, eq=False)
class NewcomerBench:
    """All categories, learned from many images of which the new one keeps a few."""

    model: GPClassifier
    asked: list[Array]  # Gram matrices, test x training
    truth: Labels  # labels of the test images

    def trial(
        self, category: str, n: int, lenders: Sequence[str] | None, shares: SharesPhotographs | None = None
    ) -> Trial:
        """With n images of a category, without and with a loan; categories that show the same photographs do not lend."""
        model = self.newcomer(category, n)
        alone = self.measure(model, category)
        loan = suggest_loan(model, category, lenders=lenders, shares=shares)
        if loan is None:
            return Trial(category, None, alone, alone)
        model.borrow(category, loan.lender, loan.rho)
        return Trial(category, str(loan.lender), alone, self.measure(model, category))

    def newcomer(self, category: str, n: int) -> GPClassifier:
        """The model, with n images of a category."""
        return copy.copy(self.model).remove(np.flatnonzero(self.model.labels_ == category)[n:])

    def measure(self, model: GPClassifier, category: str, offset: float = 0.0) -> dict[str, float]:
        """The metrics on the test images, with so much added to the values of the category."""
        means = model.latent(self.asked).mean
        column = model.classes_.tolist().index(category)
        means[:, column] += offset
        found = recalls(self.truth, model.classes_[means.argmax(axis=1)], model.classes_)
        return {
            "accuracy_new": float(found[column]),
            "accuracy_others": float(np.mean(np.delete(found, column))),
            "average_precision": average_precision(self.truth == category, means[:, column]),
        }


def _bench_of(image_set: ImageSet, labels: LabelArray, channels: Mapping[str, Channel], draw: Draw) -> NewcomerBench:
    """Channels are fitted on the training images of the draw alone."""
    train, test = ([image_set.images[i] for i in part] for part in (draw.train, draw.test))
    grams, asked = [], []
    for channel in channels.values():
        fitted = copy.copy(channel).set_params(random_state=draw.seed).fit(train, labels[draw.train])
        encoded = fitted.encode(train)
        grams.append(fitted.gram(encoded))
        asked.append(fitted.gram(fitted.encode(test), encoded))
    model = GPClassifier("precomputed").fit(grams, labels[draw.train])
    return NewcomerBench(model, asked, np.array(list(labels[draw.test])))


def _photographs(image_set: ImageSet, channels: Mapping[str, Channel], draw: Draw) -> SamePhotographs:
    """Of the training and the test images: a lender must not have seen what is tested."""
    rows = [int(i) for i in (*draw.train, *draw.test)]
    first = next(iter(channels.values()))
    images, labels = [image_set.images[i] for i in rows], [image_set.labels[i] for i in rows]
    return SamePhotographs(images, labels, first.cache, first.n_jobs)


def _lender_images(labels: LabelArray, protocol: Protocol) -> int:
    sizes = Counter(label for label in labels if label is not None)
    smallest = min(sizes.values(), default=0)
    if protocol.images_per_class is not None:
        smallest = min(smallest, protocol.images_per_class)
    most = min(MOST_LENT, smallest // 2)
    if len(sizes) < 2 or most <= protocol.most:
        raise InvalidInput(
            f"evaluate: borrowing needs two categories or more of at least {2 * protocol.most + 2} images each, where the new "
            f"one is learned from {protocol.most}; got {len(sizes)}, the smallest of {smallest}."
        )
    return most
