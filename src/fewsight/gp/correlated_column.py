"""One class among many that borrows from another: a column of targets with a covariance of its own. [Rodner2010, eq. 3 and 4]

For the class that borrows, the lender's examples are those of a support task, with target +1 like its own; all other examples
are -1, as for every class. Covariances between the lender's examples and all others are rho times what the kernel says. What
comes out is a column of weights for the plain kernel values, so that predicting costs what it did before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.gp._cholesky import factorise, with_diagonal
from fewsight.gp.tasks import task_covariance


class BorrowedColumn(NamedTuple):
    """weights (n,) with K_test @ weights the posterior mean; left_out (n,), that mean at each example without it."""

    weights: Array
    left_out: Array


def borrowed_column(
    K: Array, noise_variance: Array, targets: Array, lender: Indices, rho: float, groups: Indices | None = None
) -> BorrowedColumn:
    """Of a class with these targets (n,), -1 for the lender's examples, of which it borrows with correlation rho.

    Examples with the same number in `groups` (n,) are left out together.
    """
    tasks = np.zeros(len(K), np.intp)
    tasks[lender] = 1
    borrowed = np.where(tasks == 1, 1.0, targets)
    shares = np.where(tasks == 1, rho, 1.0)
    A = task_covariance(K, tasks, [rho])
    factor, _ = factorise("borrowing", lambda: with_diagonal(np.array(A, order="F"), noise_variance))
    inverse, dual_weights = factor.inverse(), factor.solve(borrowed[:, None])[:, 0]
    weights = shares * dual_weights
    # Without example i the dual weights of the others are dual_weights - inverse[:, i] * excess_i, and its own is 0.
    excess = dual_weights / inverse.diagonal()
    left_out = K @ weights - np.einsum("ij,ij->i", K * shares, inverse) * excess
    for rows in _several(groups):
        excess_of_group = np.linalg.solve(inverse[np.ix_(rows, rows)], dual_weights[rows])
        left_out[rows] = K[rows] @ (weights - shares * (inverse[:, rows] @ excess_of_group))
    return BorrowedColumn(weights, left_out)


def _several(groups: Indices | None) -> list[Indices]:
    """The rows of each group that has more than one."""
    if groups is None:
        return []
    numbers, counts = np.unique(groups, return_counts=True)
    return [np.flatnonzero(groups == number) for number in numbers[counts > 1]]
