"""What a preconditioner of rank 300 costs and saves: all the systems that `HistogramGPClassifier.fit` solves with and without it.

Rows have as many non-zeros as given: it takes rows with many for the preconditioner to cost less than it saves.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import scipy.sparse
from threadpoolctl import threadpool_limits

from fewsight.learners import HistogramGPClassifier

from histogram_data import Words
from timing import arguments, record, side_by_side, write

N_CLASSES = 40


def histograms(n: int, n_words: int, dense: bool) -> tuple[scipy.sparse.csr_array, np.ndarray]:
    """Bags of visual words of some categories; a dense one has all words, another one in four of a thousand."""
    rng = np.random.default_rng(0)
    classes = np.arange(n) % N_CLASSES
    return Words.drawn(n_words, N_CLASSES, rng).images(classes, rng, dense), classes


def measured(n: int, n_words: int, dense: bool, noise: float, repeats: int) -> dict[str, Any]:
    """Fit with rank 300 against fit without; the same latent values to the tolerance."""
    X, classes = histograms(n, n_words, dense)
    fitted = {rank: HistogramGPClassifier(noise_variance=noise, preconditioner=rank) for rank in (0, 300)}
    auto = HistogramGPClassifier(noise_variance=noise).fit(X, classes).posterior_.low_rank is not None
    first, second = (learner.fit(X, classes).latent_mean(X[:100]) for learner in fitted.values())
    np.testing.assert_allclose(first, second, atol=1e-2)
    ours, theirs = side_by_side(lambda: fitted[300].fit(X, classes), lambda: fitted[0].fit(X, classes), repeats)
    iterations = {f"iterations_rank_{rank}": learner.n_iter_ for rank, learner in fitted.items()}
    print(f"iterations {fitted[0].n_iter_} without, {fitted[300].n_iter_} with; auto {'uses' if auto else 'avoids'} it")
    name = f"fit, n = {n:,}, {N_CLASSES} classes, {X.nnz / n:.0f} non-zeros a row, noise {noise:g}"
    return record(name, ours, theirs, "fit without a preconditioner", **iterations, auto=auto)


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    sizes = (
        [(1_000, 1_000, True)] if options.quick else [(2_000, 1_000, False), (2_000, 2_000, True), (4_000, 2_000, True)]
    )
    noises = (0.1,) if options.quick else (0.01, 0.1, 1.0)
    numba.set_num_threads(1)
    with threadpool_limits(1):
        records = [measured(*size, noise, 1) for size in sizes for noise in noises]
    write(records, options.json)


if __name__ == "__main__":
    main()
