"""Correspondence: two sets of descriptors are alike if each descriptor has one like it in the other set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewsight._base.checks import check_positive
from fewsight._base.encodings import DescriptorSets
from fewsight._base.errors import InvalidInput
from fewsight._base.parallel import map_pieces
from fewsight._base.types import Array
from fewsight._compiled.correspondence import Floats, distances
from fewsight.kernels.base import check_not_negative
from fewsight.kernels.rows import RowsLike
from fewsight.kernels.sets import SetKernel


@dataclass(frozen=True)
class Correspondence(SetKernel):
    """k(A, B) = exp(-gamma D(A, B)), D the mean squared distance of a descriptor to the nearest one of the other set.

    Both directions count the same. With a `distortion` w, ``w^2 |p - q|^2`` is added to the squared distance of descriptors at
    the positions p and q. A set without any descriptor is like others without, and like nothing else. [Kapoor2010, section 8]

    This is no positive semi-definite function of all sets: where gamma D is small for most pairs, its matrices have
    eigenvalues below zero. With gamma at 1 to 2 divided by the mean distance there are none, or hardly any. The channels
    `geometric_blur` and `geometric_blur_distortion` leave those out.

    Parameters
    ----------
    gamma : how fast the kernel falls with the distance, above 0.
    distortion : w, zero or more; above 0 the last two numbers of a descriptor are its position.
    """

    kind: ClassVar[str] = "correspondence"
    gamma: float = 50.0
    distortion: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_positive(self, "gamma", self.gamma))
        object.__setattr__(self, "distortion", check_not_negative(self, "distortion", self.distortion))

    def distances(self, A: RowsLike, B: RowsLike | None = None, *, n_jobs: int | None = None) -> Array:
        """D of each set of A with each of B; of A with itself if B is None. Infinite where one of two sets is empty.

        Parameters
        ----------
        A : sets of descriptors (n sets): a matrix each.
        B : sets of descriptors (m sets), or None for A itself.
        n_jobs : sets compared at the same time, as in joblib.

        Returns
        -------
        array (n, m)
            float64, computed in single precision.
        """
        sets = self._checked("A", A)
        others = None if B is None else self._checked("B", B, sets.shape[1])
        return self._distances(sets, others, n_jobs)

    def _distances(self, A: DescriptorSets, B: DescriptorSets | None, n_jobs: int | None = None) -> Array:
        for sets in (A, A if B is None else B):
            if self.distortion > 0 and sets.positions is None and len(sets.descriptors):
                raise InvalidInput(
                    f"Correspondence: with a distortion of {self.distortion:g}, sets must have positions."
                )
        found = both_distances(A, B, self.distortion, n_jobs=n_jobs)
        return found[0 if self.distortion == 0 else 1]

    def _gram(self, A: DescriptorSets, B: DescriptorSets | None) -> Array:
        return np.exp(-self.gamma * self._distances(A, B))

    def _diag(self, A: DescriptorSets) -> Array:
        return np.ones(len(A))


def both_distances(
    A: DescriptorSets, B: DescriptorSets | None, distortion: float, *, n_jobs: int | None = None, what: str = ""
) -> Array:
    """D of all pairs without positions and with them (2, n, m); no pair of A with itself is computed twice."""
    a, p = _points(A)
    b, q = (a, p) if B is None else _points(B)
    others = A if B is None else B

    def column(j: int) -> Array:
        theirs = slice(others.starts[j], others.starts[j + 1])
        starts = A.starts[: j + 2] if B is None else A.starts
        ours = slice(0, starts[-1])
        return distances(
            a[ours], p[ours], starts, b[theirs], q[theirs], others.starts[j : j + 2] - theirs.start, distortion
        )

    found = np.zeros((2, len(A), len(others)))
    for j, values in enumerate(map_pieces(column, range(len(others)), n_jobs=n_jobs, what=what)):
        found[:, : values.shape[1], j] = values[:, :, 0]
        if B is None:
            found[:, j, : values.shape[1]] = values[:, :, 0]
    return found


def _points(sets: DescriptorSets) -> tuple[Floats, Floats]:
    """Descriptors and positions as the loop takes them; sets without positions have them all in one place."""
    positions = np.zeros((len(sets.descriptors), 2)) if sets.positions is None else sets.positions
    descriptors = np.ascontiguousarray(sets.descriptors, dtype=np.float32)
    return _writable(descriptors), _writable(np.ascontiguousarray(positions, dtype=np.float32))


def _writable(values: Floats) -> Floats:
    """A loop is compiled once for arrays that may be changed; those of a file may not."""
    return values if values.flags.writeable else values.copy()
