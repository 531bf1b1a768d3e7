"""Noise that lets rare classes count as much as frequent ones.

An example of a class with n_k of the n examples, of c classes, gets the noise variance times

    (c n_k / n)^(1 + 1 / n_min),

n_min being the size of the smallest class. With the exponent 1 every class has the same say [Rodner2012, section 3]; while the
smallest class has few examples it covers little of what it looks like, and gets a little more. Classes of one size all get 1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array
from fewsight.learners.labels import NO_CLASS, class_numbers


def noise_factors(counts: npt.ArrayLike) -> Array:
    """The factor on the noise of the examples of each class (c,), from the sizes of the classes; 1 for an empty class."""
    sizes = np.asarray(counts, dtype=np.float64)
    there = sizes > 0
    if not there.any():
        return np.ones(len(sizes))
    shares = np.where(there, there.sum() * sizes / sizes.sum(), 1.0)
    return np.asarray(shares ** (1.0 + 1.0 / sizes[there].min()))


def balanced_noise(targets: Array) -> Array:
    """The factor of each example (n,), from targets (n, c) that are positive in the column of its class; 1 without a class."""
    numbers = class_numbers(targets)
    factors = noise_factors(np.bincount(numbers[numbers != NO_CLASS], minlength=targets.shape[1]))
    return np.append(factors, 1.0)[numbers]  # NO_CLASS is the last
