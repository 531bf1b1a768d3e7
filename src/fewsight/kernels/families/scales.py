"""Gaussians with one relevance per dimension: which dimensions count, and how much, is learned. [Gehler2009, section 3]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewsight._base.types import Array
from fewsight.kernels.families.base import SlopedFamily, Theta
from fewsight.kernels.rbf import RelevanceRBF
from fewsight.kernels.rows import Rows

SPREAD = 1.0  # standard deviation of the logarithm of a proposed relevance


@final
@dataclass(frozen=True)
class RelevanceFamily(SlopedFamily):
    """k(x, z) = exp(-sum_d relevance_d (x_d - z_d)^2), with theta = the relevances, each zero or more.

    Proposals leave out all but a random number of dimensions; `climb` moves all relevances, those at zero too.
    """

    kind: ClassVar[str] = "relevances"

    def propose(self, examples: Rows, rng: np.random.Generator) -> Theta:
        rows = self._dense(examples)
        d = rows.shape[1]
        kept = rng.permutation(d)[: round(np.exp(rng.uniform(0.0, np.log(d))))]
        numbers = np.zeros(d)
        numbers[kept] = np.exp(rng.normal(0.0, SPREAD, len(kept))) / len(kept)
        return self.theta(numbers, rows)

    def make(self, theta: Theta) -> RelevanceRBF:
        (relevances,) = self._parameters(theta, "relevances")
        return RelevanceRBF(tuple(relevances) if isinstance(relevances, list) else relevances)

    def numbers(self, theta: Theta, rows: Array) -> Array:
        """Relevances for columns of variance one.

        Parameters
        ----------
        theta : as `propose` makes them.
        rows : array (n, d), the examples.

        Returns
        -------
        array (d,)
            A number for each column.
        """
        return np.array(self.make(theta).relevances) * _variances(rows)

    def theta(self, numbers: Array, rows: Array) -> Theta:
        """The parameters that `numbers` stand for.

        Parameters
        ----------
        numbers : array (d,), relevances for columns of variance one.
        rows : array (n, d), the examples.
        """
        return {"relevances": (numbers / _variances(rows)).tolist()}

    def value_and_slopes(self, numbers: Array, rows: Array, columns: Array) -> tuple[float, Array]:
        """T and what it gains for a unit of each number.

        With M = K * (A A^T), dT/d relevance_d = -1/2 sum_ij M_ij (x_id - x_jd)^2 = x_d^T M x_d - sum_i (M 1)_i x_id^2.

        Parameters
        ----------
        numbers : array (d,), relevances for columns of variance one.
        rows : array (n, d), the examples.
        columns : array (n, c), A: dual variables times labels, a column for each class.

        Returns
        -------
        float and array (d,)
            T and its slopes.
        """
        centred = rows - rows.mean(axis=0)  # differences do not mind, rounding does
        M = RelevanceRBF(tuple(numbers / _variances(rows)))._gram(centred, None) * (columns @ columns.T)
        slopes = np.einsum("id,id->d", centred, M @ centred) - M.sum(axis=1) @ centred**2
        return 0.5 * float(M.sum()), slopes / _variances(rows)


def _variances(rows: Array) -> Array:
    """Of each column; 1 for one that never changes."""
    variances = rows.var(axis=0)
    return np.where(variances > 0, variances, 1.0)
