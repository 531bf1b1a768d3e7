"""Every exported kernel family satisfies the contract: it is covered by being in KERNEL_FAMILIES."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fewsight.kernels import RBF, HistogramIntersection, Linear
from fewsight.kernels.families import KERNEL_FAMILIES, ColumnFamily, KernelFamily, ProjectionFamily
from fewsight.testing import FAMILY_CHECKS
from fewsight.testing.family_checks import some_rows

FURTHER = [ColumnFamily(1), ColumnFamily(2, HistogramIntersection()), ProjectionFamily(2, Linear() + RBF())]
EVERY = [*(family() for family in KERNEL_FAMILIES.values()), *FURTHER]


@pytest.mark.parametrize("family", EVERY, ids=repr)
@pytest.mark.parametrize("check", FAMILY_CHECKS, ids=lambda check: check.__name__)
def test_every_family_satisfies_the_contract(
    check: Callable[[KernelFamily, np.ndarray], None], family: KernelFamily
) -> None:
    part = getattr(family, "part", None)
    check(family, np.abs(some_rows()) if isinstance(part, HistogramIntersection) else some_rows())
