"""The posterior of 101 one-vs-all problems on 1,515 images against the same work with SciPy on the same matrix."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.optimize import minimize_scalar

from fewsight.gp import Posterior, learn_noise

from timing import arguments, record, side_by_side, write

N, N_TARGETS, NOISE = 1515, 101, 0.1  # 15 images of each class of Caltech-101


def problem() -> tuple[np.ndarray, np.ndarray]:
    """A Gram matrix of smooth random histograms, and targets +1 / -1 of classes of 15."""
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(N_TARGETS), N // N_TARGETS)
    X = rng.normal(size=(N_TARGETS, 40))[classes] + rng.normal(size=(N, 40))
    squared = (X**2).sum(axis=1)
    K = np.exp(-np.maximum(squared[:, None] + squared - 2 * X @ X.T, 0.0) / 80)
    return (K + K.T) / 2, np.where(classes[:, None] == np.arange(N_TARGETS), 1.0, -1.0)


def bench_condition(K: np.ndarray, targets: np.ndarray, repeats: int) -> dict[str, object]:
    """Ours starts from K and checks it; theirs gets the noise already added."""
    A = K + NOISE * np.eye(N)

    def ours() -> np.ndarray:
        return Posterior.condition(K, targets, NOISE).dual_weights

    def theirs() -> np.ndarray:
        return cho_solve(cho_factor(A), targets)

    np.testing.assert_allclose(ours(), theirs(), rtol=1e-8, atol=1e-10)
    name = f"Posterior.condition, n = {N}, {N_TARGETS} targets"
    return record(name, *side_by_side(ours, theirs, repeats), "cho_factor + cho_solve", limit_ratio=1 / 1.2)


def bench_leave_one_out(K: np.ndarray, targets: np.ndarray, repeats: int) -> dict[str, object]:
    """Against the three factorisations it may cost."""
    A = K + NOISE * np.eye(N)
    posterior = Posterior.condition(K, targets, NOISE)
    inverse = np.linalg.inv(A)
    expected = targets - inverse @ targets / np.diag(inverse)[:, None]
    np.testing.assert_allclose(posterior.leave_one_out().mean, expected, rtol=1e-6, atol=1e-8)
    state = posterior.state()
    fresh = iter([Posterior.from_state(state) for _ in range(repeats)])  # a posterior remembers what it computed
    seconds = side_by_side(
        lambda: next(fresh).leave_one_out(), lambda: [cho_factor(A, lower=True) for _ in range(3)], repeats
    )
    return record(f"leave-one-out of all {N_TARGETS} classes", *seconds, "three times cho_factor", limit_ratio=1.0)


def bench_append(K: np.ndarray, targets: np.ndarray, repeats: int) -> dict[str, object]:
    """One example more."""
    start = Posterior.condition(K[:-1, :-1], targets[:-1], NOISE)

    def ours() -> np.ndarray:
        return start.append(K[-1:, :-1], K[-1:, -1:], targets[-1:], NOISE).dual_weights

    def theirs() -> np.ndarray:
        return Posterior.condition(K, targets, NOISE).dual_weights

    np.testing.assert_allclose(ours(), theirs(), rtol=1e-6, atol=1e-8)
    return record("append one example", *side_by_side(ours, theirs, repeats), "conditioning from scratch")


def bench_remove(K: np.ndarray, targets: np.ndarray, repeats: int) -> dict[str, object]:
    """One example less, from the middle."""
    start, middle = Posterior.condition(K, targets, NOISE), N // 2
    kept = np.delete(np.arange(N), middle)
    smaller_K, smaller_targets = K[np.ix_(kept, kept)], targets[kept]

    def ours() -> np.ndarray:
        return start.remove([middle]).dual_weights

    def theirs() -> np.ndarray:
        return Posterior.condition(smaller_K, smaller_targets, NOISE).dual_weights

    np.testing.assert_allclose(ours(), theirs(), rtol=1e-6, atol=1e-8)
    return record("remove one example", *side_by_side(ours, theirs, repeats), "conditioning from scratch")


def learn_noise_by_eigenvalues(K: np.ndarray, targets: np.ndarray) -> float:
    """The noise that maximises the evidence, from one eigendecomposition."""
    eigenvalues, vectors = eigh(K, driver="evd")
    energy = ((vectors.T @ targets) ** 2).sum(axis=1)

    def negative(log: float) -> float:
        total = np.exp(log) + eigenvalues
        return float((energy / total).sum() + targets.shape[1] * np.log(total).sum())

    return float(np.exp(minimize_scalar(negative, bounds=(np.log(1e-8), np.log(100)), method="bounded").x))


def bench_learn_noise(K: np.ndarray, targets: np.ndarray, repeats: int) -> dict[str, object]:
    """Our scan and refinement on a tridiagonal form, against a single search on the eigenvalues."""
    np.testing.assert_allclose(learn_noise(K, targets).level, learn_noise_by_eigenvalues(K, targets), rtol=1e-3)
    seconds = side_by_side(
        lambda: learn_noise(K, targets), lambda: learn_noise_by_eigenvalues(K, targets), max(3, repeats // 5)
    )
    return record("learn_noise", *seconds, "one eigendecomposition and a bounded search")


def main() -> None:
    options = arguments(__doc__).parse_args()
    K, targets = problem()
    repeats = 9 if options.quick else 41
    benches = (bench_condition, bench_leave_one_out, bench_append, bench_remove, bench_learn_noise)
    write([bench(K, targets, repeats) for bench in benches], options.json)


if __name__ == "__main__":
    main()
