"""Kernels of sets of descriptors: two images are compared descriptor by descriptor, not by a row each."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import owner_name, shown
from fewsight._base.encodings import DescriptorSets
from fewsight._base.errors import InvalidInput
from fewsight.kernels.base import Kernel
from fewsight.kernels.rows import RowsLike


@dataclass(frozen=True)
class SetKernel(Kernel[DescriptorSets], ABC):
    """A positive semi-definite function of two sets. `_gram` and `_diag` get `DescriptorSets`.

    A caller passes `DescriptorSets`, or a list with a matrix of descriptors (n_i, d) for each set.
    """

    compares: ClassVar[str] = "sets of descriptors"

    def _checked_for(
        self,
        owner: Kernel[DescriptorSets],
        elements: tuple[Kernel[DescriptorSets], ...],
        name: str,
        value: RowsLike,
        width: int | None,
    ) -> DescriptorSets:
        return check_sets(owner, name, value, width)


def check_sets(owner: object, name: str, value: RowsLike, width: int | None = None) -> DescriptorSets:
    """Sets of finite descriptors that have `width` numbers each."""
    sets = value if isinstance(value, DescriptorSets) else _stacked(owner, name, value)
    sets.check()
    if width is not None and sets.shape[1] != width:
        raise InvalidInput(
            f"{owner_name(owner)}: the descriptors of {name} must have {width} numbers, got {sets.shape[1]}."
        )
    return sets


def _stacked(owner: object, name: str, value: RowsLike) -> DescriptorSets:
    matrices: list[npt.NDArray[np.generic]] = []
    if isinstance(value, Sequence) and not isinstance(value, str):
        matrices = [np.asarray(item) for item in value]
    if not matrices or len({matrix.shape[1:] for matrix in matrices}) != 1 or matrices[0].ndim != 2:
        raise InvalidInput(
            f"{owner_name(owner)}: {name} must be sets of descriptors, one matrix (n, d) each, got {shown(value)}."
        )
    return DescriptorSets.stack([DescriptorSets.entry(matrix) for matrix in matrices], matrices[0].shape[1])
