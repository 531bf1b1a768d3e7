"""From a recipe, as it comes out of a model file, back to a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from fewsight._base.errors import InvalidInput
from fewsight.kernels import Kernel, kernel_from_recipe, stored_recipe


def nested(depth: int) -> dict[str, Any]:
    recipe: dict[str, Any] = {"kind": "linear"}
    for _ in range(depth):
        recipe = {"kind": "scaled", "factor": 1.0, "part": recipe}
    return recipe


@pytest.mark.parametrize(
    ("recipe", "sentence"),
    [
        ("linear", "kernel recipe: must be an object with a kind"),
        ({}, "kernel recipe: kind must be one of block_chi_square, columns, correspondence, exponential_chi_square"),
        (
            {"kind": "lineal"},
            "the kernel 'lineal' is not known here; if it comes from another package, install that or",
        ),
        ({"kind": ["linear"]}, "kernel recipe: kind must be one of"),
        ({"kind": "rbf"}, "kernel recipe: rbf must have the parameters ['scale'], got []."),
        ({"kind": "rbf", "scale": 1.0, "sclae": 2.0}, "kernel recipe: rbf must have the parameters ['scale'], got"),
        ({"kind": "linear", "__class__": 1}, "kernel recipe: linear must have the parameters [], got ['__class__']."),
        ({"kind": "rbf", "scale": -1.0}, "RBF: scale must be a finite number > 0, got -1.0."),
        ({"kind": "rbf", "scale": None}, "RBF: scale must be a finite number > 0, got None."),
        ({"kind": "rbf", "scale": {"kind": "linear"}}, "RBF: scale must be a finite number > 0, got Linear()."),
        ({"kind": "sum", "parts": [{"kind": "linear"}, 3]}, "Sum: parts must be one or more kernels, got 3."),
        ({"kind": "sum", "parts": 3}, "Sum: parts must be one or more kernels, got 3."),
        (nested(60), "kernel recipe: must be an object with a kind, at most 50 deep"),
    ],
)
def test_a_recipe_that_is_none_is_refused(recipe: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        kernel_from_recipe(recipe)
    assert str(refusal.value).startswith(sentence)


def test_a_deep_but_sensible_recipe_is_read() -> None:
    assert kernel_from_recipe(nested(40)).gram([[2.0]]).item() == 4.0


def test_a_kernel_without_a_kind_is_not_saved():
    @dataclass(frozen=True)
    class Nameless(Kernel):
        def _gram(self, A, B):
            return A @ (A if B is None else B).T

        def _diag(self, A):
            return (A**2).sum(axis=1)

    with pytest.raises(
        InvalidInput, match="save: the kernel Nameless must be known by a kind of its own to be opened again"
    ):
        stored_recipe(Nameless())
