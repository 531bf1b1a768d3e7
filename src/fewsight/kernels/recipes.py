"""From a recipe, as it comes out of a model file, back to a kernel."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, TypeVar

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput, UnknownPart
from fewsight._base.registry import Registry
from fewsight._base.types import Recipe
from fewsight.kernels.base import Kernel, Product, Scaled, Sum
from fewsight.kernels.block_chi_square import BlockChiSquare
from fewsight.kernels.columns import Columns, Projected
from fewsight.kernels.histograms import (
    ExponentialChiSquare,
    GeneralHistogramIntersection,
    HistogramIntersection,
    PartialMatch,
)
from fewsight.kernels.linear import Linear, Polynomial
from fewsight.kernels.power_product import PowerProduct
from fewsight.kernels.rbf import RBF, RelevanceRBF
from fewsight.kernels.set_distances import Correspondence

_CLASSES: tuple[type[Kernel], ...] = (
    Linear,
    Polynomial,
    RBF,
    RelevanceRBF,
    HistogramIntersection,
    PartialMatch,
    GeneralHistogramIntersection,
    ExponentialChiSquare,
    Correspondence,
    BlockChiSquare,
    Sum,
    Product,
    PowerProduct,
    Scaled,
    Columns,
    Projected,
)
KERNELS: Registry[Kernel] = Registry("kernel", Kernel, _CLASSES, group="fewsight.kernels", attribute="kind")
Part = TypeVar("Part")
DEEPEST = 50  # kernels inside kernels; a deeper recipe was not written by a person


def kernel_from_recipe(recipe: Recipe) -> Kernel:
    """The kernel whose `recipe()` this is."""
    return from_recipe(KERNELS, recipe)


def stored_recipe(kernel: Kernel) -> Recipe:
    """The recipe of a kernel for a file; a kernel that the recipe would not bring back is refused before anything is written."""
    if not isinstance(getattr(kernel, KERNELS.attribute, None), str):  # of which there could be no recipe
        KERNELS.check_registered(kernel)
    recipe = kernel.recipe()
    try:
        again = kernel_from_recipe(json.loads(json.dumps(recipe, allow_nan=False)))
    except UnknownPart as error:
        raise InvalidInput(f"save: {error}") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"save: the parameters of {kernel.kind} must be such that JSON can hold them ({error})."
        ) from None
    if again != kernel:
        raise InvalidInput(f"save: {shown(kernel)} must come back from its recipe as it is, got {shown(again)}.")
    return recipe


def from_recipe(registry: Registry[Part], recipe: Any, depth: int = 0) -> Part:
    """The part of a registry whose kind and parameters a recipe holds; recipes inside it are those of kernels."""
    what = f"{registry.what} recipe"
    if not isinstance(recipe, dict) or depth > DEEPEST:
        raise InvalidInput(f"{what}: must be an object with a kind, at most {DEEPEST} deep, got {shown(recipe)}.")
    kind = recipe.get("kind")
    if not isinstance(kind, str):
        raise InvalidInput(f"{what}: kind must be one of {', '.join(sorted(registry))}, got {shown(kind)}.")
    part = registry.find(kind)
    parameters = {name: value for name, value in recipe.items() if name != "kind"}
    wanted = {field.name for field in dataclasses.fields(part)}  # type: ignore[arg-type]
    if set(parameters) != wanted:
        raise InvalidInput(
            f"{what}: {kind} must have the parameters {sorted(wanted)}, got {shown(sorted(map(str, parameters)))}."
        )
    return part(**{name: _parameter(value, depth) for name, value in parameters.items()})


def _parameter(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        return from_recipe(KERNELS, value, depth + 1)
    return tuple(_parameter(item, depth) for item in value) if isinstance(value, list) else value
