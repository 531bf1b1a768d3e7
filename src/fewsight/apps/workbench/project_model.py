"""What is learned from a project: an `ActiveLearner` over the images that have features, always as the events make it.

One thread uses it. An answer about a new image is learned by one row; whatever else happens (undo, a correction, a merge, another
person) makes the learner anew from the records, which gives the same as if it had been so from the beginning.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
import numpy.typing as npt

from fewsight._base.encodings import Encodings
from fewsight._base.types import Array, Indices
from fewsight.active import ActiveLearner, ImagePool, Relearning, Status
from fewsight.active.followers import LEAST_TO_LEARN
from fewsight.apps.workbench.asking_records import AskingRecords, add_records, asking_records, is_plain
from fewsight.apps.workbench.learners import GP, new_learner
from fewsight.apps.workbench.project.events import Event, Relearned
from fewsight.apps.workbench.project.present import Present
from fewsight.apps.workbench.question_desk import FIXED, Put
from fewsight.channels import Channel
from fewsight.learners import Learner

RULE = "influence"
RELEARN_EVERY = 20  # labels; sooner while there are few
# What a channel looks at, in a word or two.
CUES = {
    "spatial_pmk": "shapes and their layout",
    "dense_pmk": "shapes and their layout",
    "vocabulary_pmk": "shapes and their layout",
    "windows": "shapes in parts of the image",
    "pooled_words": "which shapes are present where",
    "harris_pmk": "shapes at corners",
    "fisher_kb": "parts and their arrangement",
    "fisher_dog": "parts and their arrangement",
    "fisher_harris": "parts and their arrangement",
    "fisher_hessian": "parts and their arrangement",
    "opponent_sift": "coloured shapes",
    "geometric_blur": "shapes at edges",
    "geometric_blur_distortion": "shapes at edges and where they are",
    "phog": "outlines",
    "texture": "texture",
    "colour": "colour",
    "pretrained": "what a network learned from other photographs",
    "embedding": "what your network sees",
    "vectors": "your own numbers",
}


@final
@dataclass(frozen=True)
class Opinion:
    """What the model thinks of every image of its pool at some moment.

    probability : (m, k) in the order of `categories`, which are ids. unknown_score : (m,), higher for stranger images.
    unknown : (m,), whether it is called so. n_labelled : the labels that it knows.
    """

    position_of: dict[str, int] = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    probability: Array = field(default_factory=lambda: np.zeros((0, 0)))
    unknown_score: Array = field(default_factory=lambda: np.zeros(0))
    unknown: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    n_labelled: int = 0

    def place(self, image: str) -> int | None:
        """The row of an image; None where the model has no opinion of it."""
        position = self.position_of.get(image)
        return position if position is not None and position < len(self.probability) and self.categories else None


@final
@dataclass(frozen=True)
class KnownProgress:
    """Accuracy on labelled images, each decided by the others; channels with their shares and what they look at; accuracy over
    labels, by random checks: labels, accuracy and its interval."""

    left_out: float | None = None
    cues: tuple[tuple[str, float, str], ...] = ()
    curve: tuple[tuple[int, float, float, float], ...] = ()


@final
class ProjectModel:
    """The learner, its pool, and the records behind it."""

    def __init__(self, channels: Sequence[Channel], seed: int = 0) -> None:
        self.channels = list(channels)
        self.images: list[str] = []
        self.position_of: dict[str, int] = {}
        self.records = AskingRecords()
        self.learner = ActiveLearner(
            new_learner(GP, self.channels, "evidence", None), RULE, relearn_every=None, random_state=seed
        )
        self.is_ready = False
        self._adopted: set[str] = set()  # digests of labels that a re-learning of ours knew
        self._key_of: dict[str, str] = {}  # id of each category, by the name that the learner knows it by
        self._job: Relearning | None = None  # that may still be adopted
        self._ahead: list[int] = []  # positions of questions whose kernel values will be needed
        self._last: tuple[int, str] | None = (
            None  # the order of the last event that was followed; an earlier one may come later
        )

    # What changes it.

    def grow(self, images: Sequence[str], encodings: Sequence[Encodings], present: Present) -> None:
        """Images that now have features; they get the next positions."""
        known = len(self.images)
        self.images += images
        # A new table, because other threads read the old one.
        self.position_of = self.position_of | {image: known + place for place, image in enumerate(images)}
        if not self.is_ready:
            self.pool = ImagePool.encoded(self.channels, encodings)
            self._rebuild(present)
            return
        self.pool = self.pool.grow_encoded(encodings)
        self.learner.grow(self.pool)
        if any(present.was_answered(image) for image in images):  # before it had features
            self._rebuild(present)

    def follow(self, events: Iterable[Event], present: Present) -> None:
        """Take in what was said."""
        if not self.is_ready:
            return
        events = sorted(events, key=lambda event: event.order)
        in_order = not events or self._last is None or events[0].order > self._last
        if in_order and all(self._is_plain(event, present) for event in events):
            self._last = events[-1].order if events else self._last
            n = len(self.records.records)
            add_records(self.records, events, present, self.position_of)
            new = [record for record in self.records.records[n:] if record["act"] != "relearned"]
            self.learner.follow(new)
            self._name(present)
        else:
            self._rebuild(present)

    def _is_plain(self, event: Event, present: Present) -> bool:
        if isinstance(event.act, Relearned):  # by another program, unless we have it already
            return event.act.labels in self._adopted
        same_names = all(present.categories.get(key) == name for name, key in self._key_of.items())
        return same_names and is_plain(event, present, self.records.seen)

    def _rebuild(self, present: Present) -> None:
        self.records = asking_records(present, self.position_of)
        self.learner.rebuild(self.pool, self.records.records)
        self._last = present.events[-1].order if present.events else None
        self._job = None  # its snapshot is an act of the learner's records, which are others now
        self._adopted.clear()  # what the log does not hold yet is gone with the learner, and comes back with its event
        self.is_ready = True
        self._name(present)

    def _name(self, present: Present) -> None:
        known = {name: key for key, name in present.categories.items()}
        self._key_of = {str(name): known[str(name)] for name in self.learner.view_.classes}

    # Re-learning.

    @property
    def n_labelled(self) -> int:
        return len(self.records.labelled)

    @property
    def n_categories(self) -> int:
        return len(self._key_of)

    @property
    def is_due(self) -> bool:
        """Whether to learn noise and weights again: sooner while there are few labels."""
        n, last = self.n_labelled, self.records.n_learned
        if n < LEAST_TO_LEARN or self.n_categories < 2:
            return False
        return last < LEAST_TO_LEARN or n - last >= min(RELEARN_EVERY, max(5, last // 2))

    def relearning(self) -> tuple[Relearning, Relearned]:
        """A job for another thread, and what the project notes when it is adopted, without what was learned."""
        self._job = self.learner.relearning()
        return self._job, Relearned(str(self.records.last_label), self.records.digest, "null")

    def adopt(self, job: Relearning, note: Relearned) -> Relearned | None:
        """Take over what a job learned; what the project should note. None if what it learned from has changed."""
        n = job.n_labelled
        if job is not self._job or not self.learner.adopt(job):
            return None
        learned = self.learner.records_[-1].get("learned")
        self.records.n_learned = n
        self._adopted.add(note.labels)
        return Relearned(note.last, note.labels, json.dumps(learned))

    # What it says.

    def choose(self, n: int, held: Collection[str]) -> list[Put]:
        """The next questions, if these images are put to others or cannot be shown.

        The first is chosen by itself: it is the one that a page keeps, and a random check whose turn has come must be it. Those
        behind it are chosen again before anybody sees them.
        """
        places = [self.position_of[image] for image in held if image in self.position_of]
        chosen = self._query(1, places)
        if chosen and n > 1:
            chosen += self._query(n - 1, [*places, self.position_of[chosen[0].image]])
        self._ahead = [self.position_of[put.image] for put in chosen[:FIXED]]
        return chosen

    def look_ahead(self) -> bool:
        """Compare one of the questions that were chosen with the pool, as its answer will need it; False if that is done."""
        if not self._ahead:
            return False
        self.pool.parts(np.array([self._ahead.pop(0)]))
        return True

    def _query(self, n: int, held: Sequence[int]) -> list[Put]:
        query = self.learner.query(n, held=sorted(held))
        checks, n_labelled = self.learner.open_checks_, self.learner.view_.n_labelled
        puts = []
        for place, reason in zip(query.indices.tolist(), query.reasons, strict=True):
            check = checks.get(place)
            drawn_from, known = (None, n_labelled) if check is None else (check.n_drawn_from, check.n_labelled)
            puts.append(Put(self.images[place], RULE, _sentence(reason), check is not None, drawn_from, known))
        return puts

    def guesses(self) -> tuple[list[str], Indices]:
        """Ids of the categories, and which of them each image is taken for (m,); no categories while nothing is learned."""
        view = self.learner.view_
        keys = [self._key_of[str(name)] for name in view.classes]
        return keys, view.mean.argmax(axis=1) if keys else np.zeros(0, dtype=np.intp)

    def opinion(self) -> Opinion:
        """What it thinks of every image."""
        return self._opinion(with_none=True)

    def without_none(self) -> Opinion:
        """What it would think of every image if nobody had called any none of these."""
        return self._opinion(with_none=False)

    def _opinion(self, with_none: bool) -> Opinion:
        view = self.learner.view_
        if not view.classes:
            return Opinion()
        found = self.learner.assess(with_none=with_none)
        keys = tuple(self._key_of[str(name)] for name in found.classes)
        m = len(found.probability)
        score = np.zeros(m) if found.unknown_score is None else found.unknown_score
        unknown = np.zeros(m, dtype=np.bool_) if found.unknown is None else found.unknown
        return Opinion(dict(self.position_of), keys, found.probability, score, unknown, view.n_labelled)

    def status(self) -> Status:
        """Accuracy and advice."""
        return self.learner.status()

    def likeness(self, image: str) -> Array | None:
        """How like this image every other is (m,): the cosine of the learned kernel."""
        position = self.position_of.get(image)
        if position is None or not self.is_ready:
            return None
        view = self.learner.view_
        row = view.kernel(np.array([position]), np.arange(len(view)))[0]
        return row / np.sqrt(np.maximum(view.diagonal * view.diagonal[position], 1e-300))

    def left_out(self) -> Opinion:
        """What all other labels say about each labelled image: what a model thinks that never learned its label."""
        view = self.learner.view_
        if not view.classes:
            return Opinion()
        model = self.learner.learner_
        probability = model.left_out_probabilities()
        if probability is None:
            return Opinion()
        row_of = {self.images[place]: row for row, place in enumerate(view.labelled.positions)}
        keys = tuple(self._key_of[str(name)] for name in model.classes_)
        return Opinion(row_of, keys, probability, n_labelled=view.n_labelled)

    def surprises(self) -> dict[str, tuple[float, str]]:
        """How surprising each label is, by what all others say, and which category they would give the image."""
        left_out = self.left_out()
        if not left_out.categories:
            return {}
        names = {key: name for name, key in self._key_of.items()}
        best = [names[left_out.categories[column]] for column in left_out.probability.argmax(axis=1).tolist()]
        found = self.learner.suspicious()
        images = [self.images[place] for place in found.indices.tolist()]
        return {
            image: (score, best[left_out.position_of[image]])
            for image, score in zip(images, found.scores.tolist(), strict=True)
        }

    def progress(self) -> KnownProgress:
        """What only the model knows of how far labelling has come."""
        view = self.learner.view_
        if len(view.classes) < 2:
            return KnownProgress()
        model = self.learner.learner_
        left_out = model.left_out()
        names = [channel.name for channel in self.channels]
        shares = model.shares(len(names)).tolist()
        cues = sorted(zip(names, shares, strict=True), key=lambda pair: -pair[1])
        return KnownProgress(
            None if left_out is None else left_out.accuracy,
            tuple((name, share, CUES.get(name, name)) for name, share in cues),
            tuple((n, each.estimate, each.low, each.high) for n, each in self.learner.accuracy_curve()),
        )

    def learner_or_refusal(self) -> Learner | None:
        """The learner with all labels, as `fewsight learn` would write it; None before there are two categories."""
        return self.learner.learner_ if len(self.learner.view_.classes) > 1 else None

    def loan_offer(self, category: str, closed: Collection[tuple[str, str]]) -> tuple[str, str] | None:
        """Whom a category with few labels could borrow from, and that in words; pairs that are `closed` are not offered."""
        from fewsight.apps.workbench.borrowing import BorrowingOptions, offers

        model = self.learner_or_refusal()
        name = next((name for name, key in self._key_of.items() if key == category), None)
        if model is None or name is None or any(borrower == category for borrower, _ in closed):
            return None
        found = [offer for offer in offers(model.borrower(), BorrowingOptions()) if offer.category == name]
        if not found:
            return None
        return self._key_of[str(found[0].lender)], f"{str(found[0])[:1].upper()}{str(found[0])[1:]}."

    def loan_share(self, category: str, lender: str) -> float:
        """How much a category has in common with a lender; 0 if borrowing from it would not help."""
        from fewsight.transfer import suggest_loan

        names = {key: name for name, key in self._key_of.items()}
        model = self.learner_or_refusal()
        if model is None or category not in names or lender not in names:
            return 0.0
        found = suggest_loan(model.borrower(), names[category], lenders=[names[lender]])
        return 0.0 if found is None else float(found.rho)


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}{'' if reason.endswith('.') else '.'}" if reason else ""
