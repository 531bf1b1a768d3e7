"""What becomes of the Cholesky factor L of A = L L^T when A gains a rank-one term, or loses rows and columns.

With P the kept and R the removed rows, A_PP = L_PP L_PP^T + sum over r in R of L_Pr L_Pr^T: the kept part of the factor
is lower triangular already, and each removed row leaves one rank-one term behind. Each term is turned into the factor
by plane rotations, column by column, in O(n^2).
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg

from fewsight._base.types import Array, Indices
from fewsight._compiled._caching import compiled


def rank_one_update_reference(L: Array, v: Array) -> Array:
    """The definition: the factor of L L^T + v v^T; O(n^3)."""
    return scipy.linalg.cholesky(L @ L.T + np.outer(v, v), lower=True)


@compiled()
def rank_one_update(L: Array, v: Array) -> Array:
    """As `rank_one_update_reference`, in O(n^2), less where v starts with zeros. Overwrites v, and L, which it returns.

    L has a positive diagonal and is best in Fortran order; what stands above its diagonal is neither read nor written.
    """
    n = len(v)
    for j in range(n):
        if v[j] != 0.0:
            radius = math.hypot(L[j, j], v[j])
            cosine, sine = L[j, j] / radius, v[j] / radius
            L[j, j] = radius
            for i in range(j + 1, n):
                below, rest = L[i, j], v[i]
                L[i, j] = cosine * below + sine * rest
                v[i] = cosine * rest - sine * below
    return L


def remove_reference(L: Array, removed: Indices) -> Array:
    """The definition: the factor of L L^T without the removed rows and columns; O(n^3)."""
    A = L @ L.T
    return scipy.linalg.cholesky(np.delete(np.delete(A, removed, axis=0), removed, axis=1), lower=True)


@compiled()
def remove(L: Array, removed: Indices) -> Array:
    """As `remove_reference`, in O(n^2) for each removed row. Indices are distinct and in range; L stays as it is."""
    gone = np.zeros(len(L), dtype=np.bool_)
    gone[removed] = True
    kept = np.flatnonzero(~gone)
    n = len(kept)
    block = np.zeros((n, n)).T  # Fortran order: the rotations run down the columns
    for j in range(n):
        for i in range(j, n):
            block[i, j] = L[kept[i], kept[j]]
    for r in removed:
        rank_one_update(block, L[:, r][kept])  # zero above row r, where L is
    return block
