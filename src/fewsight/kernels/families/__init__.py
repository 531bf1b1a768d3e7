"""Kernel families: a learner asks them for kernels while it learns. A family is added by adding it to KERNEL_FAMILIES, one of
another package by `fewsight.register` or an entry point; families of channels live in channels/."""

from fewsight._base.registry import Registry
from fewsight._base.types import Recipe
from fewsight.kernels.families.base import KernelFamily, SlopedFamily, Theta, VectorFamily
from fewsight.kernels.families.products import ProductFamily
from fewsight.kernels.families.samples import ColumnFamily, ProjectionFamily
from fewsight.kernels.families.scales import RelevanceFamily
from fewsight.kernels.recipes import from_recipe

KERNEL_FAMILIES: Registry[KernelFamily] = Registry(
    "kernel family",
    KernelFamily,
    (RelevanceFamily, ColumnFamily, ProjectionFamily, ProductFamily),
    group="fewsight.kernel_families",
    attribute="kind",
)


def family_from_recipe(recipe: Recipe) -> KernelFamily:
    """The family whose `recipe()` this is."""
    return from_recipe(KERNEL_FAMILIES, recipe)


__all__ = [
    "KERNEL_FAMILIES",
    "ColumnFamily",
    "KernelFamily",
    "ProductFamily",
    "ProjectionFamily",
    "RelevanceFamily",
    "SlopedFamily",
    "Theta",
    "VectorFamily",
    "family_from_recipe",
]
