"""What a preconditioner of rank 300 costs and saves: all the systems that `HistogramGPClassifier.fit` solves with and without it.

Rows have as many non-zeros as given: it takes rows with many for the preconditioner to cost less than it saves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fewsight.learners import HistogramGPClassifier

from timing import arguments, record, side_by_side, write

WIDTH, N_CLASSES, SPREAD = 4_000, 40, 1.0


def histograms(n: int, non_zeros: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of some categories, with so many non-zeros on average; columns differ in size, as visual words do."""
    rng = np.random.default_rng(seed)
    classes = np.arange(n) % N_CLASSES
    usual = rng.gamma(0.5, size=WIDTH)
    typical = usual * np.exp(SPREAD * rng.normal(size=(N_CLASSES, WIDTH)))
    X = typical[classes] * rng.gamma(0.5, size=(n, WIDTH)) * (rng.random((n, WIDTH)) < non_zeros / WIDTH)
    return X / X.sum(axis=1, keepdims=True), classes


def measured(n: int, non_zeros: int, noise: float, repeats: int) -> dict[str, Any]:
    """Fit with rank 300 against fit without; the same latent values to the tolerance."""
    X, classes = histograms(n, non_zeros)
    fitted = {rank: HistogramGPClassifier(noise_variance=noise, preconditioner=rank) for rank in (0, 300)}
    auto = HistogramGPClassifier(noise_variance=noise).fit(X, classes).posterior_.low_rank is not None
    first, second = (learner.fit(X, classes).latent_mean(X[:100]) for learner in fitted.values())
    np.testing.assert_allclose(first, second, atol=1e-2)
    ours, theirs = side_by_side(lambda: fitted[300].fit(X, classes), lambda: fitted[0].fit(X, classes), repeats)
    iterations = {f"iterations_rank_{rank}": learner.n_iter_ for rank, learner in fitted.items()}
    print(f"iterations {fitted[0].n_iter_} without, {fitted[300].n_iter_} with; auto {'uses' if auto else 'avoids'} it")
    name = f"fit, n = {n:,}, {non_zeros} non-zeros, noise {noise:g}"
    return record(name, ours, theirs, "fit without a preconditioner", **iterations, auto=auto)


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    sizes = [(1_000, 1_000)] if options.quick else [(2_000, 250), (2_000, 2_000), (4_000, 2_000)]
    noises = (0.1,) if options.quick else (0.01, 0.1, 1.0)
    with threadpool_limits(1):
        records = [measured(n, non_zeros, noise, 1 if n > 1_000 else 3) for n, non_zeros in sizes for noise in noises]
    write(records, options.json)


if __name__ == "__main__":
    main()
