"""K in single precision makes solving quick, and changes no solution."""

from __future__ import annotations

import numpy as np
import pytest

from fewsight._base.types import Array
from fewsight.gp import DenseOperator, Restricted, RoundedGram, conjugate_gradients
from fewsight.gp.rounded_gram import seconds_formed

N = 150
RNG = np.random.default_rng(7)
ROWS = RNG.dirichlet(np.full(30, 0.3), N)
K = 3.0 * np.minimum(ROWS[:, None], ROWS[None]).sum(axis=2)
NOISE = np.full((N, 1), 0.05)
B = RNG.normal(size=(N, 4))


def rounded() -> RoundedGram:
    return RoundedGram(K.astype(np.float32))


def solved(noise: Array = NOISE, kept: np.ndarray | None = None, tolerance: float = 1e-3) -> tuple[Array, int]:
    """With the factor, and how many iterations that took."""
    inverse = rounded().inverted(noise)
    assert inverse is not None
    operator = DenseOperator(K) if kept is None else Restricted(DenseOperator(K), kept)
    sides = B if kept is None else B * kept[:, None]
    found = conjugate_gradients(
        operator, sides, noise, tolerance=tolerance, preconditioner=inverse.preconditioner(noise, kept)
    )
    assert found.converged
    return found.columns, found.iterations


def test_products_diagonal_and_columns_are_those_of_k_to_a_millionth() -> None:
    gram, V = rounded(), RNG.normal(size=(N, 3))
    np.testing.assert_allclose(gram @ V, K @ V, atol=1e-5)
    assert (gram @ V).dtype == np.float64
    assert gram.n == N
    np.testing.assert_allclose(gram.diag(), K.diagonal(), rtol=1e-6)
    np.testing.assert_allclose(gram.columns(np.array([3, 5])), K[:, [3, 5]], rtol=1e-6)


def test_one_iteration_solves_to_a_thousandth_and_few_to_any_tolerance() -> None:
    assert solved()[1] == 1
    assert conjugate_gradients(DenseOperator(K), B, NOISE, tolerance=1e-3).iterations > 10
    exactly, iterations = solved(tolerance=1e-11)
    np.testing.assert_allclose(exactly, np.linalg.solve(K + NOISE[0] * np.eye(N), B), rtol=1e-8, atol=1e-9)
    assert iterations <= 6


def test_noise_of_each_column_is_met_by_the_factor_of_their_mean() -> None:
    noise = np.tile([0.04, 0.05, 0.06, 0.05], (N, 1))
    found, iterations = solved(noise, tolerance=1e-9)
    expected = [np.linalg.solve(K + noise[0, c] * np.eye(N), B[:, c]) for c in range(4)]
    np.testing.assert_allclose(found, np.column_stack(expected), rtol=1e-6, atol=1e-7)
    assert iterations < 15


@pytest.mark.parametrize("n_left_out", [1, 40])
def test_examples_that_are_left_out_are_taken_from_the_inverse_of_all(n_left_out: int) -> None:
    kept = np.ones(N, dtype=bool)
    kept[RNG.permutation(N)[:n_left_out]] = False
    found, iterations = solved(kept=kept)
    some = np.ix_(kept, kept)
    expected = np.linalg.solve(K[some] + NOISE[0] * np.eye(int(kept.sum())), B[kept])
    np.testing.assert_allclose(found[kept], expected, atol=2e-3 * np.abs(expected).max())
    assert not found[~kept].any()
    assert iterations == 1


def test_where_rounding_leaves_nothing_positive_definite_there_is_no_inverse() -> None:
    gram = RoundedGram(np.full((N, N), -1.0, dtype=np.float32))
    assert gram.inverted(np.full((N, 1), 1e-9)) is None


def test_estimates_grow_with_every_part() -> None:
    least = seconds_formed(1_000, 1.0, 100, 10, 50)
    assert least > 1.0
    for more in ((2_000, 1.0, 100, 10, 50), (1_000, 2.0, 100, 10, 50), (1_000, 1.0, 200, 10, 50)):
        assert seconds_formed(*more) > least
    assert seconds_formed(1_000, 1.0, 100, 20, 50) > least < seconds_formed(1_000, 1.0, 100, 10, 90)
