"""The checks of kernels find what is wrong with one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import fewsight
from fewsight.kernels import KERNELS, RBF, Kernel, Linear
from fewsight.testing import check_kernel


@dataclass(frozen=True)
class Wrong(Kernel):
    """A kernel with one thing wrong with it."""

    kind: ClassVar[str] = "wrong"
    what: str = "nothing"

    def _gram(self, A, B):
        K = Linear()._gram(A, B)
        if self.what == "negative":
            return -K
        if self.what == "lopsided" and B is None:
            K[0, -1] += 1e-3
        if self.what == "changes":
            A *= 1.0 + 1e-9
        return K + 1.0 if self.what == "other diagonal" else K

    def _diag(self, A):
        return np.abs(Linear()._diag(A))


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    fewsight.register(Wrong)
    yield
    KERNELS._others.pop("wrong", None)


def test_a_kernel_as_it_must_be_passes() -> None:
    check_kernel(Wrong())
    check_kernel(RBF(scale=2.0))


@pytest.mark.parametrize("what", ["negative", "lopsided", "changes", "other diagonal"])
def test_what_is_wrong_is_found(what: str) -> None:
    with pytest.raises(AssertionError):
        check_kernel(Wrong(what))


def test_a_kernel_that_is_not_registered_is_told_what_to_do() -> None:
    KERNELS._others.pop("wrong")
    with pytest.raises(AssertionError, match=r"Wrong must be registered: fewsight\.register\(Wrong\)"):
        check_kernel(Wrong())
