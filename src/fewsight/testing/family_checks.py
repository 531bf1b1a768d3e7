"""What every kernel family must satisfy: those of kernels, and those of channels."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from fewsight._base.types import Array
from fewsight.channels import Channel
from fewsight.kernels import Kernel, stored_recipe
from fewsight.kernels.families import KERNEL_FAMILIES, KernelFamily, Theta, family_from_recipe
from fewsight.testing.refusals import check_is, refusal

FamilyExamples: TypeAlias = Array | Sequence[Any]  # rows of numbers, or images
SEEDS = range(4)


def some_rows(n: int = 30, d: int = 6) -> Array:
    """Rows of numbers whose columns differ in scale; the last one never changes."""
    rows = np.random.default_rng(0).normal(size=(n, d)) * np.geomspace(0.1, 10.0, d)
    rows[:, -1] = 3.0
    return rows


def through_json(theta: Theta) -> Theta:
    """Parameters as they come back from a file."""
    return json.loads(json.dumps(theta, allow_nan=False))


def gram_of(made: Kernel | Channel, examples: FamilyExamples) -> Array:
    """The Gram matrix of the examples under what a family made."""
    if isinstance(made, Channel):
        channel = clone(made).fit(examples)
        return channel.gram(channel.encode(examples))
    kernel: Kernel = made
    return kernel.gram(np.asarray(examples))


def proposals(family: KernelFamily, examples: FamilyExamples) -> list[Theta]:
    return [family.propose(examples, np.random.default_rng(seed)) for seed in SEEDS]


def it_is_registered_under_its_kind(family: KernelFamily, examples: FamilyExamples) -> None:
    name = type(family).__name__
    assert KERNEL_FAMILIES.is_registered(type(family)), f"{name} must be registered: fewsight.register({name})"
    assert (type(family).__doc__ or "").strip(), "a kernel family must have a docstring: its formula"


def the_same_seed_proposes_the_same_and_others_do_not(family: KernelFamily, examples: FamilyExamples) -> None:
    assert proposals(family, examples) == proposals(family, examples)
    different = {json.dumps(theta, sort_keys=True) for theta in proposals(family, examples)}
    assert len(different) > 1, "propose must draw with the generator it is given"


def parameters_survive_json_and_make_the_same(family: KernelFamily, examples: FamilyExamples) -> None:
    for theta in proposals(family, examples):
        made, again = family.make(theta), family.make(through_json(theta))
        np.testing.assert_array_equal(gram_of(made, examples), gram_of(again, examples))
        if isinstance(made, Kernel):
            assert made == again
            stored_recipe(made)  # which refuses what could not be opened again


def what_is_made_gives_valid_gram_matrices(family: KernelFamily, examples: FamilyExamples) -> None:
    for theta in proposals(family, examples):
        K = gram_of(family.make(theta), examples)
        assert K.shape == (len(examples), len(examples))
        np.testing.assert_array_equal(K, K.T)
        assert np.linalg.eigvalsh(K).min() > -1e-10 * np.trace(K)


def climbing_never_ends_below_where_it_began(family: KernelFamily, examples: FamilyExamples) -> None:
    rng = np.random.default_rng(1)
    for columns in (rng.normal(size=(len(examples), 3)), rng.normal(size=len(examples))):
        for theta in proposals(family, examples):
            climbed = through_json(family.climb(theta, examples, columns))
            before, after = (_gain(gram_of(family.make(each), examples), columns) for each in (theta, climbed))
            assert after >= before - 1e-9 * abs(before)
            assert family.climbs or climbed == through_json(theta), "a family that climbs must say so: climbs = True"


def _gain(K: Array, columns: Array) -> float:
    """T, summed over the columns."""
    return 0.5 * float((columns * (K @ columns)).sum())


def parameters_that_are_none_are_refused(family: KernelFamily, examples: FamilyExamples) -> None:
    for wrong in ({}, None, [1.0], {"no_such_parameter": 1.0}, dict.fromkeys(proposals(family, examples)[0])):
        with refusal(""):
            family.make(wrong)  # type: ignore[arg-type]


def its_recipe_survives_json(family: KernelFamily, examples: FamilyExamples) -> None:
    again = family_from_recipe(json.loads(json.dumps(family.recipe(), allow_nan=False)))
    assert again == family
    assert repr(again) == repr(family)


def examples_are_left_as_they_are(family: KernelFamily, examples: FamilyExamples) -> None:
    before = np.array(examples, copy=True)
    theta = family.propose(examples, np.random.default_rng(0))
    kept = through_json(theta)
    family.climb(theta, examples, np.ones(len(examples)))
    assert through_json(theta) == kept
    if isinstance(examples, np.ndarray):
        np.testing.assert_array_equal(examples, before)


FAMILY_CHECKS: tuple[Callable[[KernelFamily, FamilyExamples], None], ...] = (
    it_is_registered_under_its_kind,
    the_same_seed_proposes_the_same_and_others_do_not,
    parameters_survive_json_and_make_the_same,
    what_is_made_gives_valid_gram_matrices,
    climbing_never_ends_below_where_it_began,
    parameters_that_are_none_are_refused,
    its_recipe_survives_json,
    examples_are_left_as_they_are,
)


def check_family(family: KernelFamily, examples: FamilyExamples | None = None) -> None:
    """Raise where a kernel family is not what one must be; a family of channels needs examples, some images.

    Parameters
    ----------
    family : a kernel family.
    examples : examples to try it on; None for rows of random numbers.
    """
    check_is("check_family", "family", family, KernelFamily)
    for check in FAMILY_CHECKS:
        check(family, some_rows() if examples is None else examples)
