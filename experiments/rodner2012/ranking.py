"""A hundred images of one category among 10,090: how well new ones are ranked and decided on, against linear and support
vector machines. [Rodner2012, section 6.3]

Made-up histograms (`benchmarks/histogram_data.py`). Whatever is chosen (noise, C) is chosen on the training images: noise by the
learner itself, C by the area under the ROC curve in three folds.

    python -m experiments.rodner2012.ranking --work FOLDER
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from experiments.common.command import run, write_figure
from experiments.rodner2012.results import (
    Cell,
    add_outputs,
    add_ways,
    kept,
    made_up_arguments,
    paired,
    record,
    write_results,
)
from fewsight._base.progress import silent, track
from fewsight.kernels import HistogramIntersection
from fewsight.learners import HistogramGPClassifier
from fewsight.metrics import accuracy_per_class, log_loss

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from histogram_data import Split, one_against_many

OURS: dict[str, dict[str, Any]] = {
    "default": {"noise_variance": "evidence"},  # the default where no class is rare
    "balanced": {"noise_variance": "evidence", "balanced": True},
    "power": {"feature_transform": "power"},
    "noise_0.1": {"noise_variance": 0.1},
    "balanced_noise_10": {"noise_variance": 10.0, "balanced": True},
}
PEERS = tuple(
    f"{kind}{weighted}{c}" for kind in ("linear", "svc") for weighted in ("_balanced", "") for c in ("", "_c")
)
COSTS = {"linear": (0.1, 1.0, 10.0), "svc": (0.1, 1.0, 10.0)}
FOLDS = 3
BAR = 0.005
HEAD = {"channels": "made up", "combine": "none", "per_class": 100}
CLASSES = ("many", "one")


def of_ours(split: Split, way: str) -> Cell:
    """Our learner with some options, and what it decides."""
    labels, truth = (np.array(CLASSES)[(targets > 0).astype(int)] for targets in (split.targets, split.targets_test))
    start = process_time()
    learner = HistogramGPClassifier(**OURS[way]).fit(split.X, labels)
    seconds = process_time() - start
    return {
        "auc": float(roc_auc_score(split.targets_test, learner.latent_mean(split.X_test)[:, 1])),
        "accuracy": accuracy_per_class(truth, learner.predict(split.X_test)),
        "log_loss": log_loss(truth, learner.predict_proba(split.X_test), CLASSES),
        "noise_variance": float(np.mean(learner.noise_variance_)),
        "iterations": float(learner.n_iter_),
        "seconds_fit": seconds,
    }


def of_peers(split: Split) -> dict[str, Cell]:
    """Both machines, with and without balance, with C = 1 and with the C that is best in folds of the training images.

    The time to fit includes the features or the matrix, but not the choice of C.
    """
    sampler, gram = AdditiveChi2Sampler(), HistogramIntersection().gram
    start = process_time()
    features = sampler.fit_transform(split.X)
    middle = process_time()
    K = gram(split.X)
    sides = {
        "linear": (features, sampler.transform(split.X_test), middle - start),
        "svc": (K, gram(split.X_test, split.X), process_time() - middle),
    }
    return {way: of_peer(split, way, *sides[way.split("_")[0]]) for way in PEERS}


def of_peer(split: Split, way: str, train: Any, test: Any, seconds_before: float) -> Cell:
    kind, weight = way.split("_")[0], "balanced" if "_balanced" in way else None

    def machine(C: float) -> Any:
        if kind == "linear":
            return LinearSVC(C=C, class_weight=weight, random_state=0)
        return SVC(C=C, class_weight=weight, kernel="precomputed", cache_size=500)

    C = chosen_cost(machine, train, split.targets, COSTS[kind], kind == "svc") if way.endswith("_c") else 1.0
    start = process_time()
    fitted = machine(C).fit(train, split.targets)
    seconds = seconds_before + process_time() - start
    values = fitted.decision_function(test)
    accuracy = accuracy_per_class(split.targets_test, np.where(values > 0, 1.0, -1.0))
    area = float(roc_auc_score(split.targets_test, values))
    return {"auc": area, "accuracy": accuracy, "cost": C, "seconds_fit": seconds}


def chosen_cost(
    machine: Callable[[float], Any], train: Any, targets: Any, costs: tuple[float, ...], square: bool
) -> float:
    """The C with the largest mean area under the ROC curve on training images that were left out."""
    areas = np.zeros(len(costs))
    for inside, outside in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(np.zeros(len(targets)), targets):
        sides = (train[np.ix_(part, inside)] if square else train[part] for part in (inside, outside))
        some, others = sides
        for at, C in enumerate(costs):
            values = machine(C).fit(some, targets[inside]).decision_function(others)
            areas[at] += roc_auc_score(targets[outside], values) / FOLDS
    return costs[int(areas.argmax())]


def work(options: argparse.Namespace) -> None:
    """All ways on all draws, the file of results and the figure."""
    cells: dict[str, list[Cell]] = {way: [] for way in (*options.ways, *PEERS)}
    with silent(), threadpool_limits(1):
        HistogramGPClassifier().fit(np.eye(3), [0, 1, 1]).predict(np.eye(3))  # compiled loops are loaded
    for seed in track(options.seeds, "draws", len(options.seeds)):
        for way, cell in _draw(options, seed).items():
            cells[way].append(cell)
    records = [
        record({**HEAD, "learner": "histogram_gp" if way in OURS else way, "way": way}, metric, values)
        for way, found in cells.items()
        for metric in found[0]
        for values in [[cell[metric] for cell in found]]
    ]
    gains = {
        way: paired([cell["auc"] for cell in cells["default"]], [cell["auc"] for cell in found])
        for way, found in cells.items()
        if way != "default"
    }
    for way, found in cells.items():
        means = {metric: float(np.mean([cell[metric] for cell in found])) for metric in found[0]}
        print(f"{way:20}", ", ".join(f"{metric} {value:.4g}" for metric, value in means.items()), gains.get(way, ""))
    protocol = {"learner": OURS, "peers": {"cost": COSTS, "folds": FOLDS}, "others": options.others, "bar": BAR}
    write_results(options, records, default_minus=gains, protocol={**protocol, "seconds": "processor time, one thread"})
    write_figure(draw(cells), options.figure)


def settings(way: str) -> dict[str, Any]:
    """What a cell of ours is known by; `version` changes with what the learner does."""
    return {"way": way, "options": OURS[way], "version": 2}


def _draw(options: argparse.Namespace, seed: int) -> dict[str, Cell]:
    """All cells of one draw; its histograms are made only if something is missing."""
    about = {"seed": seed, "n_others": options.others, "n_words": options.words, "version": 1}
    made: list[Split] = []

    def split() -> Split:
        if not made:
            made.append(one_against_many(n_others=options.others, n_words=options.words, seed=seed))
        return made[0]

    with silent(), threadpool_limits(1):
        peers = kept(options.work, "ranking", {**about, "ways": "peers"}, lambda: of_peers(split()))
        return {
            **{
                way: kept(options.work, "ranking", {**about, **settings(way)}, lambda way=way: of_ours(split(), way))
                for way in options.ways
            },
            **peers,
        }


def draw(cells: dict[str, list[Cell]]) -> Figure:
    """The area under the curve of each way, draw by draw, and the mean."""
    figure = Figure(figsize=(8, 4.4), layout="constrained")
    axes = figure.add_subplot()
    for at, found in enumerate(cells.values()):
        values = [cell["auc"] for cell in found]
        axes.plot(np.full(len(values), at), values, "o", color="#999", markersize=3)
        axes.plot([at], [np.mean(values)], "_", color="#c33", markersize=18)
    best = float(np.mean([cell["auc"] for cell in cells["default"]]))
    axes.axhspan(best - BAR, best + BAR, color="#4a7", alpha=0.15)
    axes.set_xticks(range(len(cells)), list(cells), rotation=30, ha="right", fontsize=8)
    axes.set(ylabel="area under the ROC curve", title=f"100 images among 10,090: the default ± {BAR} in green")
    return figure


def _main() -> None:
    parser = made_up_arguments("ranking", __doc__, seeds="0-9")
    parser.add_argument("--others", type=int, default=10, help="images of each of 999 other categories (10)")
    parser.add_argument("--words", type=int, default=1_000, help="of a histogram (1000)")
    add_ways(parser, OURS)
    add_outputs(parser, "ranking")
    run(parser, work)


if __name__ == "__main__":
    _main()
