"""Upper bounds of log |A| from a few numbers about A. [Rodner2012, eq. 9 and Theorem 1, after BaiGolub1997]"""

from __future__ import annotations

import math

import numpy as np

from fewsight._base.checks import check_positive
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.gp.lanczos import Ritz

WHO = "log_determinant_bound"


def log_determinant_bound(n: int, trace: float, squares: float, largest: float) -> float:
    """An upper bound of log |A| for a positive definite A of n rows. [Rodner2012, eq. 9]

    Parameters
    ----------
    trace : of A, with the noise.
    squares : the squared Frobenius norm of A, or anything below it: the bound then stays one (Theorem 1).
    largest : the largest eigenvalue of A, or anything above it. A little too low breaks the bound.
    """
    trace, squares, largest = (
        check_positive(WHO, name, value)
        for name, value in (("trace", trace), ("squares", squares), ("largest", largest))
    )
    mean = trace / n
    if largest < mean:
        raise InvalidInput(f"{WHO}: largest must be at least the mean eigenvalue {mean:.6g}, got {largest:.6g}.")
    if largest <= mean * (1 + 1e-12):
        return n * math.log(mean)  # all eigenvalues are alike
    squares = min(max(squares, trace * mean), largest * trace)  # what they can be at all
    low = (largest * trace - squares) / (largest * n - trace)
    if low <= 0:  # all eigenvalues are zero or the largest: the determinant has no bound but this
        return -math.inf
    # log b and log t, weighted such that the moments come out: the inverse of [[b, t], [b^2, t^2]] applied to them
    share = (squares - low * trace) / (largest * (largest - low))
    rest = (largest * trace - squares) / (low * (largest - low))
    return share * math.log(largest) + rest * math.log(low)


def squares_from_below(values: Array, trace: float, n: int) -> float:
    """A lower bound of the squared Frobenius norm from Ritz values and the trace.

    In an orthonormal basis that begins with the Ritz vectors the diagonal of A is the Ritz values and then numbers that add up
    to the rest of the trace: their squares are least where they are all alike, and the squares off the diagonal are left out.
    """
    rest = n - len(values)
    left = trace - float(values.sum())
    return float(values @ values) + (left * left / rest if rest else 0.0)


def bound_from_ritz(ritz: Ritz, trace: float, n: int) -> float:
    """The bound with the largest eigenvalue from above and the squares from below, both by Lanczos."""
    squares = squares_from_below(ritz.values, trace, n)
    return log_determinant_bound(n, trace, squares, max(ritz.upper_bound, trace / n))


def deflated_bound(ritz: Ritz, trace: float, n: int) -> float:
    """A bound that uses every Ritz value: sum log theta + (n - M) log(mean of the rest of the trace).

    Inequalities of Fischer and Hadamard in a basis that begins with the Ritz vectors. It needs no upper bound of the largest
    eigenvalue, and can be above or below `bound_from_ritz`.
    """
    rest = n - len(ritz.values)
    left = trace - float(ritz.values.sum())
    tail = rest * math.log(max(left / rest, np.finfo(np.float64).tiny)) if rest else 0.0
    return float(np.log(ritz.values).sum()) + tail
