"""Which two of twenty dimensions tell, and at which scale: the chessboard. [Gehler2009, section 3, Fig. 1]

Blobs at the centres of a 4 x 4 board, 2.0 apart in the first dimension and 1.0 in the second, of two classes by turns; 18 further
dimensions are noise. A Gaussian kernel has one relevance for each dimension, and the learner asks for the kernels it needs. At
the end the family proposes 200 fresh starts and climbs from each: none may exceed lambda by much.

    python -m experiments.gehler2009.chessboard --work FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.svm import SVC

from experiments.common.command import base_arguments, run, write_figure
from experiments.rodner2012.results import kept, record, write_results
from fewsight._base.progress import track
from fewsight._base.types import Array, Indices
from fewsight.evaluation.report.kernel_figures import draw_gains, gain_slice
from fewsight.kernels import RBF
from fewsight.kernels.families import RelevanceFamily
from fewsight.kernels.rbf import RelevanceRBF
from fewsight.learners import InfiniteKernelClassifier
from fewsight.learners.mkl import Task

APART = np.array([2.0, 1.0])
SPREAD = 0.1  # standard deviation of a blob, of the distance to the next
NOISE_DIMENSIONS = 18
N_TRAIN, N_TEST = 300, 2_000
C = 1_000.0
LEARNED = {"gap": 5e-4, "n_starts": 20, "n_climbs": 10, "n_wide": 3, "max_kernels": 60}  # chosen on seeds 100 and 101
WIDTHS = tuple(float(width) for width in np.geomspace(0.3, 30.0, 13))
PENALTIES = (1.0, 10.0, 1_000.0)
STARTS = 200
HEAD = {"channels": "made up", "combine": "infinite", "per_class": N_TRAIN // 2}


def board(n: int, rng: np.random.Generator) -> tuple[Array, Indices]:
    """n points and the class of each, 0 or 1."""
    cells = rng.integers(0, 4, (n, 2))
    X = rng.normal(size=(n, 2 + NOISE_DIMENSIONS))
    X[:, :2] = APART * (cells + SPREAD * rng.normal(size=(n, 2)))
    return X, cells.sum(axis=1) % 2


def gaussian_accuracy(X: Array, y: Indices, X_test: Array, y_test: Indices) -> float:
    """Of the best width and C of one Gaussian for all dimensions, as the test points choose them: more than anyone could know."""
    scores = [SVC(C=C, gamma=0.5 / width**2).fit(X, y).score(X_test, y_test) for width in WIDTHS for C in PENALTIES]
    return float(max(scores))


def fresh_excess(learner: InfiniteKernelClassifier, X: Array, n_starts: int, seed: int) -> float:
    """max T / lambda - 1 over starts that the learner has not seen, each followed uphill."""
    family, rng, dual = RelevanceFamily(), np.random.default_rng([seed, 1]), learner.dual_weights_[:, 1]
    climbed = (family.climb(family.propose(X, rng), X, dual) for _ in range(n_starts))
    largest = max(0.5 * float(dual @ family.make(theta).gram(X) @ dual) for theta in climbed)
    return largest / float(learner.thresholds_[1]) - 1.0


def cell(seed: int, n_starts: int) -> dict[str, Any]:
    """One draw."""
    rng = np.random.default_rng(seed)
    (X, y), (X_test, y_test) = board(N_TRAIN, rng), board(N_TEST, rng)
    learner = InfiniteKernelClassifier(family=RelevanceFamily(), C=C, random_state=seed, **LEARNED).fit(X, y)
    weights = learner.weights_[1]
    first = learner.kernels_[int(weights.argmax())]
    relevances = np.array(first.relevances) if isinstance(first, RelevanceRBF) else np.full(X.shape[1], np.nan)
    return {
        "accuracy": float(learner.score(X_test, y_test)),
        "accuracy_gaussian": gaussian_accuracy(X, y, X_test, y_test),
        "weight_of_first": float(weights.max()),
        "theta_ratio": float(np.sqrt(relevances[1] / relevances[0])),
        "noise_share": float(relevances[2:].max() / relevances[:2].min()),
        "n_kernels": len(weights),
        "gap": float(learner.gaps_[1]),
        "excess": fresh_excess(learner, X, n_starts, seed),
    }


def work(options: argparse.Namespace) -> None:
    """All draws, the file of results and the figure."""
    cells = []
    for seed in track(options.seeds, "chessboards", len(options.seeds)):
        settings = {"seed": seed, "n_starts": options.starts, "C": C, "spread": SPREAD, **LEARNED}
        cells.append(kept(options.work, "chessboard", settings, lambda seed=seed: cell(seed, options.starts)))
        print(seed, cells[-1], flush=True)
    records = [
        record(
            {**HEAD, "learner": "svm" if name == "accuracy_gaussian" else "infinite"}, name, [c[name] for c in cells]
        )
        for name in cells[0]
    ]
    protocol = {"learned": LEARNED, "C": C, "spread": SPREAD, "fresh_starts": options.starts, "n_test": N_TEST}
    write_results(options, records, protocol=protocol)
    write_figure(draw(options.seeds[0], options.grid), options.figure)


def draw(seed: int, grid: int) -> Figure:
    """The board, and T over the first two scales for the machine that a single wide Gaussian gives. [Fig. 1]"""
    X, y = board(N_TRAIN, np.random.default_rng(seed))
    K = RBF.as_wide_as(X).gram(X)
    machine = Task(np.where(y == 1, 1.0, -1.0), C).train(K, gap=1e-3)
    ends = np.linspace(0.0, 5.0, grid)
    T = gain_slice(machine.dual, X[:, :2], lambda a, b: RelevanceRBF((a**2, b**2)), ends, ends)
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.scatter(X[:, 0], X[:, 1], c=y, s=9, cmap="coolwarm")
    left.set(xlabel="first dimension", ylabel="second dimension", title=f"{N_TRAIN} points")
    draw_gains(right, T, ends, ends, machine.square, ("theta 1", "theta 2"))
    return figure


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    made = base_arguments(
        "chessboard", __doc__, folder="not needed: points are made up", seeds="0-9", of="draws", paper="gehler2009"
    )
    made.set_defaults(data=Path())
    results, figure = (
        Path("experiments/results/gehler2009/chessboard.json"),
        Path("docs/images/gehler2009_chessboard.png"),
    )
    made.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    made.add_argument("--figure", type=Path, default=figure, help=f"where the figure goes ({figure})")
    made.add_argument("--starts", type=int, default=STARTS, help=f"fresh starts at the end ({STARTS})")
    made.add_argument("--grid", type=int, default=40, help="places of each scale in the figure (40)")
    return made


if __name__ == "__main__":
    run(parser(), work)
