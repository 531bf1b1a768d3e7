"""Choosing among 100 support tasks of 30 images each, beside one target image and 200 background images.

Ours ranks all of them by leave-one-out average precision, each with its best correlation: a scan of 11, then golden section. The
yardstick is 100 Cholesky factorisations of the combined size, one for each support task at a single correlation, each
put together from the Gram matrix. The second line is the direct search: a factorisation and an inverse for every correlation.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, lapack

from fewsight.gp import task_covariance
from fewsight.kernels import RBF
from fewsight.metrics import average_precision
from fewsight.transfer import Candidates
from fewsight.transfer.support_search import SCAN

from timing import arguments, record, side_by_side, write

TASKS, SUPPORT, BACKGROUND = 100, 30, 200
NOISE = 1e-4


def problem(n_tasks: int) -> Candidates:
    """Random images in clusters."""
    rng = np.random.default_rng(0)
    centres = np.repeat(rng.normal(size=(n_tasks + 1, 20)), SUPPORT, axis=0)
    X = np.vstack([2 * rng.normal(size=(BACKGROUND, 20)), centres + rng.normal(size=centres.shape)])
    rows = np.arange(BACKGROUND, len(X)).reshape(n_tasks + 1, SUPPORT)
    target = np.concatenate([rows[0, :1], np.arange(BACKGROUND)])
    return Candidates(RBF(scale=6.0).gram(X), target, np.where(np.arange(len(target)) < 1, 1.0, -1.0), list(rows[1:]))


def combined(tasks: Candidates, support: np.ndarray, rho: float) -> tuple[np.ndarray, np.ndarray]:
    """The covariance of target and support, noise included, and the targets. [Rodner2010, eq. 4]"""
    rows = np.concatenate([tasks.target, support])
    task = np.repeat([0, 1], [len(tasks.target), len(support)])
    covariance = task_covariance(tasks.K[np.ix_(rows, rows)], task, [rho])
    return covariance + NOISE * np.eye(len(rows)), np.concatenate([tasks.targets, np.ones(len(support))])


def direct(tasks: Candidates, support: np.ndarray, rho: float) -> float:
    """Leave-one-out average precision by an explicit inverse."""
    A, t = combined(tasks, support, rho)
    inverse = lapack.dpotri(cho_factor(A, lower=True)[0], lower=1)[0]
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    means = t - inverse @ t / inverse.diagonal()
    return average_precision(tasks.targets > 0, means[: len(tasks.target)])


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    tasks, repeats = problem(TASKS), 5 if options.quick else 15
    found, _ = tasks.rank("average_precision", NOISE)
    scanned = [max(direct(tasks, support, rho) for rho in SCAN) for support in tasks.supports[:5]]
    assert (found.value[:5] >= np.array(scanned) - 1e-9).all()  # at least as good as the direct search

    def ours() -> object:
        return tasks.rank("average_precision", NOISE)

    def factorisations() -> object:
        return [cho_factor(combined(tasks, support, 0.5)[0], lower=True) for support in tasks.supports]

    def search() -> object:
        return [direct(tasks, support, rho) for support in tasks.supports[:10] for rho in SCAN]

    size = len(tasks.target) + SUPPORT
    counts = {"cholesky_of_the_target": 1, "cholesky_of_support_size": TASKS, "cholesky_of_combined_size": 0}
    name = f"choosing among {TASKS} support tasks, combined size {size}"
    seconds = side_by_side(ours, factorisations, repeats)
    records = [record(name, *seconds, f"{TASKS} Cholesky factorisations of {size} x {size}", limit_ratio=1.0, **counts)]
    mine, theirs = side_by_side(ours, search, max(2, repeats // 5))
    records.append(record(name, mine, theirs * TASKS / 10, "the direct search at 11 correlations (10 tasks, times 10)"))
    write(records, options.json)


if __name__ == "__main__":
    main()
