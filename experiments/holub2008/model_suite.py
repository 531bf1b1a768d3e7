"""Many models of one task, weighted or not: what Tables 3 to 5 and Figs. 14 to 16 of Holub2008 have in common.

A task is a category (against the campus background), two categories joined by a slash, or `persons`: two persons of Faces_easy,
of which there are 171 pairs, one for each draw. Against the background models are learned from the category alone, otherwise
there is one for each class. `unweighted` has one weight for all models, chosen with C by cross-validation; `weighted` has a
weight for each, found by descent on the span bound and pulled together as far as left-out training images ask for; `descent` is
what the bound alone leads to, and says which models count most.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.holub2008.class_images import (
    BACKGROUND,
    Split,
    against_background,
    category_images,
    joined,
    several_categories,
)
from experiments.holub2008.fig10 import PERSONS, person_of
from experiments.holub2008.table1 import channel_of
from fewsight._base.types import Array, Indices
from fewsight.images import FeatureCache
from fewsight.kernels import Columns, Linear
from fewsight.kernels.rows import as_dense, matrix_of
from fewsight.learners import SpanBoundClassifier, SVMClassifier

PAIRS = ("crayfish/lobster", "ketch/schooner", "lotus/water_lilly", "crocodile/crocodile_head")
PERSON_PAIRS = tuple(itertools.combinations(range(len(PERSONS)), 2))
OF_PAIR, OF_PERSON = (
    (20, 17),
    10,
)  # images to learn from and to test on, of a category of a pair; to learn from, of a person
LETTERS = {"kb": "K", "dog": "D", "harris": "R", "hessian": "H"}


class Form(NamedTuple):
    """Parts of a model, and interest points of an image."""

    n_parts: int
    max_points: int


FORMS = (Form(2, 100), Form(4, 20))


def task_split(data: Path, task: str, draw: int, n: int) -> Split:
    """What is learned from and tested on; n images of each class against the background."""
    if task == "persons":
        return _two_persons(data, draw)
    if "/" in task:
        n_train, n_test = OF_PAIR
        return several_categories(data, tuple(task.split("/")), draw, n_train=n_train, n_test=n_test)
    return against_background(data, task, draw, n_train=n, n_test=n, trimmed=False)


def _two_persons(data: Path, draw: int) -> Split:
    faces = category_images(data, "Faces_easy")
    rng, parts = np.random.default_rng([draw, 19]), {}
    for person in PERSON_PAIRS[int(np.random.default_rng(19).permutation(len(PERSON_PAIRS))[draw % len(PERSON_PAIRS)])]:
        own = rng.permutation([place for place in range(len(faces)) if person_of(place) == person])
        parts[f"person {person + 1}"] = [[faces[i] for i in side] for side in (own[:OF_PERSON], own[OF_PERSON:])]
    return joined(parts)


@dataclass(frozen=True)
class Suite:
    """Scores of all models side by side: rows to learn from and to test on, and the columns of each model."""

    train: Array
    test: Array
    labels: Array
    wanted: Array
    members: dict[str, Indices]  # columns, by the name of the model

    def kernels(self, names: list[str]) -> list[Columns]:
        """A linear kernel for each of these models."""
        return [Columns(tuple(self.members[name].tolist()), Linear()) for name in names]

    def unweighted(self, names: list[str]) -> float:
        """Accuracy with one weight for all of these models, which is chosen with C by cross-validation."""
        learner = SVMClassifier(self.kernels(names), C="cross_validated", gamma="cross_validated")
        return float(learner.fit(self.train, self.labels).score(self.test, self.wanted))

    def weighted(self, names: list[str], **options: Any) -> SpanBoundClassifier:
        """Fitted with a weight for each of these models."""
        return SpanBoundClassifier(self.kernels(names), **options).fit(self.train, self.labels)

    def descent(self, names: list[str], **options: Any) -> SpanBoundClassifier:
        """The same, where nothing pulls the weights together."""
        return self.weighted(names, pull=0.0, **options)

    def by_weight(self, learner: SpanBoundClassifier, names: list[str]) -> list[str]:
        """The models, that which counts most first."""
        return [names[place] for place in np.argsort(-learner.shares(len(names)), kind="stable")]

    def features(self) -> Suite:
        """The same, with each column as a model of its own."""
        members = {
            f"{name} {place}": columns[place : place + 1]
            for name, columns in self.members.items()
            for place in range(len(columns))
        }
        return Suite(self.train, self.test, self.labels, self.wanted, members)


def suite_of(
    split: Split,
    cache: FeatureCache,
    seed: int,
    detectors: tuple[str, ...],
    forms: tuple[Form, ...] = FORMS,
    **settings: Any,
) -> Suite:
    """A model of every detector and form, whose scores of shape and of appearance count as two."""
    train, test, members, width = [], [], {}, 0
    labels = np.array(split.train_labels)
    for detector, form in itertools.product(detectors, forms):
        channel = channel_of(
            detector, cache, **{**form._asdict(), "compare": "linear", "random_state": seed, **settings}
        )
        if BACKGROUND in split.train_labels:
            own = [image for image, label in zip(split.train, labels, strict=True) if label != BACKGROUND]
            channel.set_params(models="one").fit(own)
        else:
            channel.fit(split.train, split.train_labels)
        A, B = (as_dense(matrix_of("suite_of", "images", channel.encode(side))) for side in (split.train, split.test))
        n_shape, n_scores = channel.models_[0].n_shape_scores, channel.models_[0].n_scores
        shape = np.arange(A.shape[1]) % n_scores >= n_scores - n_shape
        name = f"{LETTERS[detector]}{form.n_parts}"
        members[f"{name}S"], members[f"{name}A"] = (width + np.flatnonzero(which) for which in (shape, ~shape))
        train.append(A)
        test.append(B)
        width += A.shape[1]
    return Suite(np.hstack(train), np.hstack(test), labels, np.array(split.test_labels), members)
