"""Every exported kernel family satisfies the contract: it is covered by being in KERNEL_FAMILIES."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fewsight.channels import BoxFamily, CodebookFamily, ImageFamily
from fewsight.kernels import RBF, HistogramIntersection, Linear
from fewsight.kernels.families import KERNEL_FAMILIES, ColumnFamily, KernelFamily, ProductFamily, ProjectionFamily
from fewsight.testing import FAMILY_CHECKS
from fewsight.testing.channel_checks import some_images
from fewsight.testing.family_checks import some_rows

QUICK = {"n_words": 12, "n_descriptors": 600, "longest_side": 48}  # of families of images
FURTHER = [
    ColumnFamily(1),
    ColumnFamily(2, HistogramIntersection()),
    ProjectionFamily(2, Linear() + RBF()),
    ProductFamily(3, "chi_square"),
    BoxFamily(**QUICK, method="random", assignment="soft"),
    CodebookFamily(**QUICK, n_components=5),
]
EVERY = [
    *(family(**(QUICK if issubclass(family, ImageFamily) else {})) for family in KERNEL_FAMILIES.values()),
    *FURTHER,
]


@pytest.mark.parametrize("family", EVERY, ids=repr)
@pytest.mark.parametrize("check", FAMILY_CHECKS, ids=lambda check: check.__name__)
def test_every_family_satisfies_the_contract(
    check: Callable[[KernelFamily, np.ndarray], None], family: KernelFamily
) -> None:
    if isinstance(family, ImageFamily):
        check(family, some_images(6))
        return
    histograms = isinstance(getattr(family, "part", None), HistogramIntersection)
    histograms = histograms or getattr(family, "distance", None) == "chi_square"
    check(family, np.abs(some_rows()) if histograms else some_rows())
