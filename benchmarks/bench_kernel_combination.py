"""Learning the weights of four kernels by evidence, all classes at once, against SimpleMKL, one class after the other.

The Gram matrices are those of `--grams`, a file for each channel as `python -m experiments.common.grams` writes them (arrays
train, test, train_labels and test_labels), or made of random vectors: 101 classes of 15, as in the papers' protocol.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import lapack
from threadpoolctl import threadpool_info, threadpool_limits

from fewsight.gp import Posterior, learn_weights_and_noise
from fewsight.gp.evidence import Patterns, evaluate
from fewsight.learners import KernelCombination
from fewsight.learners.weight_search import NOISE_BOUNDS, TOLERANCE
from fewsight.metrics import accuracy_per_class
from simple_mkl import SimpleMKL

from timing import arguments, record, side_by_side, write

MOST_TIMES = 1.5  # Cholesky + inverse, for one evaluation
MOST_EVALUATIONS = 40
LEAST_TIMES = 20.0  # as fast as SimpleMKL
NOISE = 0.01
PAPER: dict[str, Any] = {"penalty": "none", "free_mean": False, "noise_variance": "evidence"}  # [Kapoor2010, section 6]


@dataclass(frozen=True)
class Problem:
    """Gram matrices of training and test images, and their classes."""

    train: list[np.ndarray]
    test: list[np.ndarray]
    labels: np.ndarray
    test_labels: np.ndarray

    @property
    def size(self) -> str:
        return f"n = {len(self.labels)}, {len(self.train)} kernels, {len(np.unique(self.labels))} classes"

    def first_classes(self, count: int) -> Problem:
        """The same with fewer classes."""
        kept = np.unique(self.labels)[:count]
        rows, asked = (np.flatnonzero(np.isin(labels, kept)) for labels in (self.labels, self.test_labels))
        train, test = [K[np.ix_(rows, rows)] for K in self.train], [K[np.ix_(asked, rows)] for K in self.test]
        return Problem(train, test, self.labels[rows], self.test_labels[asked])


def stored(paths: list[Path]) -> Problem:
    """From files, a channel each."""
    files = [np.load(path, allow_pickle=False) for path in paths]
    train, test = ([file[part].astype(np.float64) for file in files] for part in ("train", "test"))
    return Problem(train, test, files[0]["train_labels"], files[0]["test_labels"])


def synthetic(n_classes: int = 101, per_class: int = 15, n_kernels: int = 4) -> Problem:
    """Vectors around a centre for each class, noisier from kernel to kernel, compared by a Gaussian."""
    rng = np.random.default_rng(0)
    labels = np.tile(np.arange(n_classes), 2 * per_class)
    n = n_classes * per_class
    grams = []
    for noise in np.linspace(2.0, 3.0, n_kernels):
        X = rng.normal(size=(n_classes, 40))[labels] + noise * rng.normal(size=(2 * n, 40))
        squared = (X**2).sum(axis=1)
        K = np.exp(-np.maximum(squared[:, None] + squared - 2 * X @ X.T, 0.0) / (80 * (1 + noise**2)))
        grams.append((K + K.T) / 2)
    return Problem([K[:n, :n] for K in grams], [K[n:, :n] for K in grams], labels[:n], labels[n:])


def bench_evaluation(problem: Problem, repeats: int) -> dict[str, object]:
    """Evidence and its gradient for all weights and the noise; theirs gets the sum of the kernels for nothing."""
    grams = [np.ascontiguousarray(K / K.diagonal().mean()) for K in problem.train]
    n, k = len(grams[0]), len(grams)
    weights, noise = np.full(k, 1 / k), np.full(n, NOISE)
    targets = np.where(problem.labels[:, None] == np.unique(problem.labels), 1.0, -1.0)
    A = np.asfortranarray(np.mean(grams, axis=0) + NOISE * np.eye(n))

    patterns = Patterns.of(targets)  # as a search does, once

    def ours() -> Any:
        return evaluate(grams, weights, targets, noise, free_mean=False, any_scale=False, patterns=patterns)[0]

    def theirs() -> np.ndarray:
        lower, _ = lapack.dpotrf(A, lower=1, clean=0)
        return lapack.dpotri(lower, lower=1, overwrite_c=1)[0]

    half = np.tril(theirs())
    dual = (half + np.tril(half, -1).T) @ targets
    W = targets.shape[1] * (half + np.tril(half, -1).T) - dual @ dual.T
    np.testing.assert_allclose(ours().d_weights, [-np.sum(W * K) / 2 for K in grams], rtol=1e-6)
    name = f"one evaluation of evidence and gradient, {problem.size}"
    seconds = side_by_side(ours, theirs, repeats)
    return record(name, *seconds, "Cholesky and inverse (dpotrf, dpotri)", limit_ratio=1 / MOST_TIMES)


class Bare:
    """What SimpleMKL does, no more: weights, and decisions without probabilities."""

    def fit(self, grams: list[np.ndarray], labels: np.ndarray) -> Bare:
        self.classes = np.unique(labels)
        targets = np.where(labels[:, None] == self.classes, 1.0, -1.0)
        self.found = learn_weights_and_noise(grams, targets, noise_bounds=NOISE_BOUNDS, tolerance=TOLERANCE)
        K = sum(weight * K for weight, K in zip(self.found.weights, grams, strict=True))
        self.posterior = Posterior.condition(K, targets, self.found.noise_level)
        return self

    def predict(self, blocks: list[np.ndarray]) -> np.ndarray:
        K_test = sum(weight * K for weight, K in zip(self.found.weights, blocks, strict=True))
        return self.classes[self.posterior.mean(K_test).argmax(axis=1)]

    @property
    def weights_(self) -> np.ndarray:
        return self.found.weights

    @property
    def n_evaluations_(self) -> int:
        return self.found.evaluations


def ways() -> dict[str, Any]:
    """One search as in the paper, bare and with calibrated probabilities, and with everything chosen by left-out examples."""
    return {
        "one search": Bare(),
        "one search and calibration": KernelCombination("precomputed", **PAPER),
        "automatic": KernelCombination("precomputed"),
    }


def bench_learning(problem: Problem, options: argparse.Namespace) -> list[dict[str, object]]:
    """All weights, from the bare search to all that KernelCombination does unless told otherwise."""
    classes = _spread(np.unique(problem.labels), options.classes)
    n_classes = len(np.unique(problem.labels))
    peer = SimpleMKL(C=options.C, gap=options.gap)
    rows = []
    for what, ours in ways().items():
        seconds, peer_seconds = side_by_side(
            lambda ours=ours: ours.fit(problem.train, problem.labels),
            lambda: peer.fit(problem.train, problem.labels, classes=classes),
            options.repeats,
        )
        scaled = "" if len(classes) == n_classes else f", timed on {len(classes)} classes and scaled up"
        rows.append(
            record(
                f"learning weights, {what}, {problem.size}",
                seconds,
                peer_seconds * n_classes / len(classes),
                f"one-vs-rest SimpleMKL (C = {options.C:g}, relative duality gap {options.gap:g}{scaled})",
                limit_ratio=LEAST_TIMES,
                evaluations=ours.n_evaluations_,
                limit_evaluations=MOST_EVALUATIONS,
                weights=ours.weights_.tolist(),
                accuracy=accuracy_per_class(problem.test_labels, ours.predict(problem.test)),
                machines=peer.n_machines_,
                classes_converged=peer.n_converged_,
                classes_timed=len(classes),
                peer_accuracy=_peer_accuracy(peer, problem, len(classes) == n_classes),
            )
        )
        _print_quality(rows[-1])
    return rows


def _spread(classes: np.ndarray, count: int | None) -> np.ndarray:
    """So many classes, from the whole range."""
    wanted = len(classes) if count is None else min(count, len(classes))
    return classes[np.linspace(0, len(classes) - 1, wanted).round().astype(int)]


def _peer_accuracy(peer: SimpleMKL, problem: Problem, complete: bool) -> float | None:
    """Unknown where it learned some of the classes only."""
    return accuracy_per_class(problem.test_labels, peer.predict(problem.test)) if complete else None


def _print_quality(row: dict[str, Any]) -> None:
    theirs = "unknown" if row["peer_accuracy"] is None else f"{100 * row['peer_accuracy']:.1f} %"
    print(
        f"  {row['evaluations']} evaluations, accuracy {100 * row['accuracy']:.1f} %; "
        f"SimpleMKL: {row['machines']} machines, {row['classes_converged']} of {row['classes_timed']} classes converged, "
        f"accuracy {theirs}"
    )


@contextlib.contextmanager
def _threads(count: int | None) -> Iterator[int]:
    """The same number of threads for all; how many there are."""
    with threadpool_limits(count):
        yield max((pool["num_threads"] for pool in threadpool_info()), default=1)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--grams", type=Path, nargs="+", help="files of Gram matrices, one for each channel")
    parser.add_argument("--classes", type=int, help="time SimpleMKL on this many classes and scale up; all by default")
    parser.add_argument("--gap", type=float, default=0.01, help="relative duality gap at which SimpleMKL stops")
    parser.add_argument("--C", type=float, default=10_000.0, help="of the support vector machines")
    parser.add_argument("--threads", type=int, help="of the numerical libraries; as they like unless given")
    parser.add_argument("--repeats", type=int, default=3, help="of the learning, in turns; the median counts")
    options = parser.parse_args()
    problem = stored(options.grams) if options.grams else synthetic()
    smaller = problem
    if options.quick:
        options.repeats, smaller = 1, problem.first_classes(20)
    with _threads(options.threads) as threads:
        print(f"{threads} {'thread' if threads == 1 else 'threads'}")
        rows = [bench_evaluation(problem, 9 if options.quick else 41), *bench_learning(smaller, options)]
    write([{**row, "threads": threads} for row in rows], options.json)


if __name__ == "__main__":
    main()
