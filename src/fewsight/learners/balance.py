"""Targets that let rare classes count as much as frequent ones.

With n_k of the n examples in class k, of c classes, the column of class k has the targets

    (n / (c n_k))^p for its own examples,    -((n - n / c) / (n - n_k))^p for all others,

so that both sides weigh nearly what they would weigh if all classes had n / c examples; classes of one size have +1 and -1. The
power p is POWER for few labels or many classes. With two classes both levels of a column move, and the more labels there are,
the less is needed: from FEW labels per class on p = POWER (n / (c FEW))^-f, with f = FADING for two classes, less for three and
four, and 0 from MANY on. The noise is the same for all: more of it on the examples of a frequent class would leave them
uncertain, and they would be asked about again and again.

Such a column is s t + d for the plain targets t of +1 and -1, with s half the sum of the two levels and d half their difference.
The posterior is linear in the targets, so its means are s times those of t plus d times those of a column of ones: an example
that comes, goes or is left out changes all levels, but costs no factorisation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices
from fewsight.gp import LeaveOneOut, Posterior
from fewsight.learners.labels import NO_CLASS, class_numbers

POWER = 0.8  # on seeds 100-105 of six sets of five categories or more, 0.75 to 1 do alike; 0 is no balance
# Two categories of five sets, seeds 100-109: the best power is 0.8 at 3 labels per class, 0.4 to 0.8 at 9, 0.3 to 0.6 at 30.
FEW, FADING, MANY = 6.0, 0.32, 5


@final
@dataclass(frozen=True, eq=False)
class TargetLevels:
    """What the targets of each class are: `own` for its examples, minus `others` for all others; arrays of one shape."""

    own: Array
    others: Array

    @classmethod
    def of(cls, counts: npt.ArrayLike) -> Self:
        """From the sizes (..., c) of the classes. A class without examples, or without others, has +1 and -1."""
        sizes = np.asarray(counts, dtype=np.float64)
        n_classes = np.count_nonzero(sizes > 0, axis=-1, keepdims=True)
        return cls.of_sides(sizes, sizes.sum(axis=-1, keepdims=True), n_classes)

    @classmethod
    def of_sides(cls, positives: npt.ArrayLike, total: npt.ArrayLike, n_classes: npt.ArrayLike) -> Self:
        """From how many of all examples are on the positive side, which need not be whole, and the number of classes."""
        inside, n, c = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (positives, total, n_classes)))
        outside, two_sides = n - inside, (inside > 0) & (n - inside > 1e-9 * n)
        inside, outside, share = (np.where(two_sides, each, 1.0) for each in (inside, outside, n / np.maximum(c, 1.0)))
        rest = np.where(two_sides, n - share, 1.0)
        fading = FADING * np.clip((MANY - c) / (MANY - 2), 0.0, 1.0)
        power = POWER * np.maximum(n / np.maximum(c, 1.0) / FEW, 1.0) ** -fading
        return cls((share / inside) ** power, (rest / outside) ** power)

    @property
    def scale(self) -> Array:
        """By which plain targets, or their means, are multiplied."""
        return np.asarray(0.5 * (self.own + self.others))

    @property
    def shift(self) -> Array:
        """What is added to them after that."""
        return np.asarray(0.5 * (self.own - self.others))

    @property
    def plain(self) -> bool:
        """Whether all are 1."""
        return bool(np.all(self.own == 1.0) and np.all(self.others == 1.0))


def class_counts(numbers: Indices, n_classes: int) -> Indices:
    """The sizes (c,) of classes, from the number of each example's class; those of none count nowhere."""
    return np.bincount(numbers[numbers != NO_CLASS], minlength=n_classes).astype(np.intp)


def plain_targets(targets: Array) -> Array:
    """+1 where targets are positive, -1 elsewhere."""
    return np.where(targets > 0, 1.0, -1.0)


def balanced_targets(targets: Array) -> Array:
    """The same with balanced levels, from targets (n, c) that are positive in the column of an example's class alone.

    An example of no class stays negative everywhere, and counts for no class.
    """
    levels = TargetLevels.of(class_counts(class_numbers(targets), targets.shape[1]))
    return np.where(targets > 0, levels.own, -levels.others)


def is_balanced(posterior: Posterior) -> bool:
    """Whether its targets are those that their counts give; those of an earlier version's model file are not."""
    return bool(np.allclose(posterior.targets, balanced_targets(posterior.targets), rtol=1e-9, atol=0.0))


def leave_out(posterior: Posterior, groups: Indices | None = None, *, balanced: bool) -> LeaveOneOut:
    """Each example predicted from the others, or from those of all other groups (n,), in closed form.

    Where targets are balanced, they are those of the examples that remain, as if the left-out ones had never been there.
    """
    if not balanced or not is_balanced(posterior):
        return posterior.leave_one_out() if groups is None else posterior.leave_group_out(groups)
    larger = posterior.add_targets(np.ones((posterior.n, 1)))
    found = larger.leave_one_out() if groups is None else larger.leave_group_out(groups)
    counts, remaining = counts_without(class_numbers(posterior.targets), posterior.n_targets, groups)
    now, then, ones = TargetLevels.of(counts), TargetLevels.of(remaining), found.mean[:, -1:]
    plain = (found.mean[:, :-1] - now.shift * ones) / now.scale
    return LeaveOneOut(then.scale * plain + then.shift * ones, found.variance)


def counts_without(numbers: Indices, n_classes: int, groups: Indices | None = None) -> tuple[Indices, Indices]:
    """The sizes of all classes (c,), and what of them remains (n, c) without each example, or without its group."""
    members = np.equal.outer(numbers, np.arange(n_classes)).astype(np.intp)
    counts = members.sum(axis=0)
    if groups is None:
        return counts, counts - members
    _, place = np.unique(groups, return_inverse=True)
    inside = np.zeros((int(place.max(initial=-1)) + 1, n_classes), np.intp)
    np.add.at(inside, place.ravel(), members)
    return counts, counts - inside[place.ravel()]
