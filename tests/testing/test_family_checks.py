"""The checks of kernel families find what is wrong with one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

import fewsight
from fewsight.kernels import RBF
from fewsight.kernels.families import KERNEL_FAMILIES, VectorFamily
from fewsight.testing import check_family


@dataclass(frozen=True)
class Wrong(VectorFamily):
    """A family of Gaussians with one thing wrong with it."""

    kind: ClassVar[str] = "wrong"
    what: str = "nothing"

    def propose(self, examples, rng):
        if self.what == "never another":
            return {"scale": 1.0}
        if self.what == "changes examples":
            examples *= 1.1
        return {"scale": {2.0} if self.what == "no JSON" else float(rng.uniform(1.0, 2.0))}

    def climb(self, theta, examples, dual_weights):
        return {"scale": 50.0} if self.what == "falls" else theta

    def make(self, theta):
        if self.what == "takes anything":
            return RBF(theta.get("scale") or 1.0) if isinstance(theta, dict) else RBF()
        (scale,) = self._parameters(theta, "scale")
        return RBF(scale)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KERNEL_FAMILIES, "_others", {})
    fewsight.register(Wrong)


def test_a_family_as_it_must_be_passes() -> None:
    check_family(Wrong())


@pytest.mark.parametrize("what", ["never another", "changes examples", "no JSON", "falls", "takes anything"])
def test_what_is_wrong_is_found(what: str) -> None:
    with pytest.raises((AssertionError, TypeError)):
        check_family(Wrong(what))


def test_a_family_that_is_not_registered_is_told_what_to_do() -> None:
    KERNEL_FAMILIES._others.clear()
    with pytest.raises(AssertionError, match=r"Wrong must be registered: fewsight\.register\(Wrong\)"):
        check_family(Wrong())
