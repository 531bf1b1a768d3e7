"""What a record holds: named arrays of everything that a fitted learner answers, and how two records are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fewsight import FewsightError

Array = np.ndarray[Any, Any]
DEFECT = "defect/"  # names of answers that are known to be wrong begin with this
TOLERANCE = 1e-10  # relative to max(1, |value|)
# What a learner may say about what it learned; each is recorded where it is there.
LEARNED = (
    *("classes_", "labels_", "weights_", "noise_variance_", "strength_", "C_", "dual_weights_", "intercepts_"),
    *("relevance_", "transform_parameter_", "log_evidence_", "left_out_accuracy_", "converged_"),
    *("support_", "rho_"),
)
CALIBRATION = ("sharpness", "bend", "n_examples", "leanings")
NOVELTY = ("rule", "centres", "spreads", "threshold", "n_examples")


@dataclass
class Record:
    """Arrays by name."""

    arrays: dict[str, Array] = field(default_factory=dict)

    def put(self, name: str, value: Any) -> None:
        """Keep a value: numbers as numbers, everything else as strings; a name is used once."""
        if name in self.arrays:
            raise ValueError(f"{name} is recorded twice")
        array = np.asarray(value)
        self.arrays[name] = array if array.dtype.kind in "fiub" else array.astype(str)

    def put_all(self, name: str, values: Mapping[str, Any]) -> None:
        """Keep several values below one name."""
        for key, value in values.items():
            self.put(f"{name}/{key}", value)

    def write(self, path: Path) -> None:
        """To an .npz file."""
        np.savez_compressed(path, **self.arrays)  # type: ignore[arg-type]

    @classmethod
    def read(cls, path: Path) -> Record:
        with np.load(path) as stored:
            return cls({name: stored[name] for name in stored.files})


@dataclass(frozen=True)
class Examples:
    """Examples in the form in which a learner takes them, and their labels.

    `taken` gives those at some positions: rows or images as they are; of Gram matrices, the block against `columns`.
    """

    labels: Array
    taken: Callable[[Sequence[int], Sequence[int]], Any]

    @classmethod
    def of_rows(cls, X: Array, labels: Array) -> Examples:
        return cls(labels, lambda rows, columns: X[list(rows)])

    @classmethod
    def of_images(cls, images: Sequence[Any], labels: Array) -> Examples:
        return cls(labels, lambda rows, columns: [images[row] for row in rows])

    @classmethod
    def of_grams(cls, grams: Sequence[Array], labels: Array) -> Examples:
        """Of one matrix, or a list of several, as learners take them."""

        def taken(rows: Sequence[int], columns: Sequence[int]) -> Any:
            blocks = [K[np.ix_(rows, columns)] for K in grams]
            return blocks[0] if len(blocks) == 1 else blocks

        return cls(labels, taken)


@dataclass(frozen=True)
class Split:
    """Positions of the examples that are learned first, added later, and asked about."""

    first: list[int]
    more: list[int]
    test: list[int]


def answers_of(learner: Any, X: Any) -> dict[str, Any]:
    """Everything that a fitted learner says about examples, and about itself."""
    latent = learner.latent(X)
    found = {
        "decisions": learner.predict(X),
        "probabilities": learner.predict_proba(X),
        "latent mean": latent.mean,
        "latent std": latent.std,
    }
    if hasattr(learner, "assess"):
        assessed = learner.assess(X)
        if assessed.unknown_score is not None:
            found |= {"unknown score": assessed.unknown_score, "unknown": assessed.unknown}
    return found | learned_by(learner)


def learned_by(learner: Any) -> dict[str, Any]:
    """Everything that a fitted learner says about itself."""
    found = {name: getattr(learner, name) for name in LEARNED if hasattr(learner, name)}
    for part, names in (("calibration_", CALIBRATION), ("novelty_", NOVELTY)):
        if hasattr(learner, part):
            found |= {f"{part} {name}": getattr(getattr(learner, part), name) for name in names}
    if hasattr(learner, "loans_"):
        found["loans_"] = [f"{name} from {loan.lender}" for name, loan in learner.loans_.items()]
        found["loans_ rho"] = [loan.rho for loan in learner.loans_.values()]
    if hasattr(learner, "considered_"):
        found["considered_"] = [each.support for each in learner.considered_]
        found["considered_ rho and value"] = [[each.rho, each.value] for each in learner.considered_]
    try:
        left_out = learner.leave_one_out()
        found |= {"leave-one-out mean": left_out.mean, "leave-one-out variance": left_out.variance}
    except (AttributeError, FewsightError):
        pass  # a learner that cannot
    return found


@dataclass(frozen=True)
class Difference:
    """How far two arrays of one name lie apart; `text` says it where it is more than may be."""

    name: str
    absolute: float = 0.0
    relative: float = 0.0
    text: str = ""

    @property
    def is_defect(self) -> bool:
        return self.name.startswith(DEFECT)


def difference(name: str, a: Array, b: Array) -> Difference:
    """Of two arrays: by shape, as strings, or the largest difference of their numbers."""
    if a.shape != b.shape or (a.dtype.kind == "U") != (b.dtype.kind == "U"):
        return Difference(name, text=f"{a.dtype.kind}{a.shape} became {b.dtype.kind}{b.shape}")
    if a.dtype.kind == "U":
        changed = np.flatnonzero(a.ravel() != b.ravel())
        text = f"{len(changed)} of {a.size} strings differ" if len(changed) else ""
        return Difference(name, text=f"{text}: {_pair(a, b, changed[0])}" if text else "")
    first, second = (array.astype(np.float64).ravel() for array in (a, b))
    with np.errstate(invalid="ignore"):
        same = (first == second) | (np.isnan(first) & np.isnan(second))
        apart = np.where(same, 0.0, np.abs(first - second))
    apart = np.where(np.isnan(apart), np.inf, apart)
    if not apart.size:
        return Difference(name)
    relative = apart / np.maximum(1.0, np.where(np.isfinite(first), np.abs(first), 1.0))
    worst = int(relative.argmax())
    text = f"differs by {apart[worst]:.3g}: {_pair(a, b, worst)}" if relative[worst] > TOLERANCE else ""
    return Difference(name, float(apart.max()), float(relative[worst]), text)


def _pair(a: Array, b: Array, place: int) -> str:
    return f"{a.ravel()[place]!s:.200} became {b.ravel()[place]!s:.200}"


def compare(before: Record, after: Record) -> tuple[list[str], bool]:
    """Lines for people, and whether everything that is no known defect is as it was."""
    shared = [name for name in before.arrays if name in after.arrays]
    found = [difference(name, before.arrays[name], after.arrays[name]) for name in shared]
    missing = [name for name in before.arrays if name not in after.arrays]
    new = [name for name in after.arrays if name not in before.arrays]
    changed = [each.name for each in found if each.text]
    same = all(name.startswith(DEFECT) for name in (*changed, *missing))
    return list(_lines(found, missing, new)), same


def _lines(found: list[Difference], missing: list[str], new: list[str]) -> Iterator[str]:
    for title, defects in (("answers", False), ("known defects", True)):
        group = [each for each in found if each.is_defect == defects]
        differing = [each for each in group if each.text]
        absolute = max((each.absolute for each in group), default=0.0)
        relative = max((each.relative for each in group), default=0.0)
        counts = f"{len(group)} arrays compared, {len(differing)} differ"
        yield f"{title}: {counts}; largest difference {absolute:.3g}, relative {relative:.3g}"
        yield from (f"  {each.name}: {each.text}" for each in differing)
    for title, names in (("missing", missing), ("new", new)):
        yield f"{title}: {len(names)} arrays"
        yield from (f"  {name}" for name in names)
