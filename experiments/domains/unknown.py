"""Whether images of categories that were never learned are noticed, on pictures of many domains, beside simple rules.

    python -m experiments.domains.unknown DATA --work FOLDER

Of every set a third of the categories is not learned; or all but two are not: then two are known. Of Caltech-101 and
Brodatz twenty categories are drawn for each seed. All rules see the same vectors of `pretrained`. A file of results holds, for
each set, number of labels and rule, the area under the ROC curve and, for fewsight, how often a known image is called unknown.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import logsumexp
from sklearn.covariance import ledoit_wolf

from experiments.common.command import base_arguments, commit_of_tree, numbers, run, words_of
from experiments.domains.peers import rbf_grams
from experiments.domains.summary import mean_over, paired, protocol_of, record_of, write_results
from experiments.domains.tasks import Task
from experiments.domains.vectors import BRODATZ, CALTECH, MORE, READERS, LabelledVectors, read_vectors
from fewsight._base.progress import track
from fewsight._base.types import Array, Indices
from fewsight.kernels.rbf import squared_distances
from fewsight.learners import GPClassifier, LogisticClassifier
from fewsight.metrics import roc_auc

SOURCES = (*MORE, CALTECH, BRODATZ)
DRAWN = {CALTECH: 20, BRODATZ: 20}  # categories of a draw; of all others, all
TESTED, LEAST_TESTED = 30, {BRODATZ: 4}  # images of a category; 15 at least unless said
STATED = 0.05
OURS = "fewsight"


@dataclass(frozen=True)
class Case:
    """A set, how many labels of each category, a seed, and whether all categories but two are unknown."""

    source: str
    per_class: int
    seed: int
    two: bool

    @property
    def set(self) -> str:
        return f"{self.source}, two categories" if self.two else self.source


def draw(case: Case, known: LabelledVectors) -> tuple[Task, Array]:
    """What is learned and tested, and rows of categories that are not learned."""
    rng = np.random.default_rng(case.seed)
    names, counts = np.unique(known.labels, return_counts=True)
    least = case.per_class + LEAST_TESTED.get(case.source, 15)
    names = rng.permutation(names[counts >= least])[: DRAWN.get(case.source)]
    n_known = 2 if case.two else len(names) - -(-len(names) // 3)
    orders = [rng.permutation(np.flatnonzero(known.labels == name)) for name in names]
    train, test = ([order[part] for order in orders[:n_known]] for part in (slice(case.per_class), _tested(case)))
    strange = np.concatenate([order[: TESTED // (2 if case.two else 1)] for order in orders[n_known:]])
    task = Task(*_numbered(known, train), *_numbered(known, test))
    return task, known.rows(strange)


def _tested(case: Case) -> slice:
    return slice(case.per_class, case.per_class + TESTED)


def _numbered(known: LabelledVectors, parts: Sequence[Indices]) -> tuple[Array, Indices]:
    return known.rows(np.concatenate(parts)), np.repeat(np.arange(len(parts)), [len(part) for part in parts])


Rule = Callable[[Task, Array], Array]


def largest_probability(task: Task, asked: Array) -> Array:
    """Of logistic regression, negated."""
    return -np.asarray(_logistic(task).predict_proba(asked @ task.train.T).max(axis=1))


def energy(task: Task, asked: Array) -> Array:
    """Minus the logarithm of the summed exponentials of logistic regression's logits."""
    return -np.asarray(logsumexp(_logistic(task).latent(asked @ task.train.T).mean, axis=1))


def _logistic(task: Task) -> LogisticClassifier:
    return LogisticClassifier("precomputed").fit(task.train @ task.train.T, task.codes)


def nearest_neighbour(task: Task, asked: Array) -> Array:
    """Squared distance to the nearest training row."""
    return np.asarray(squared_distances(asked, task.train).min(axis=1))


def class_mean(task: Task, asked: Array) -> Array:
    """Squared distance to the nearest mean of a category."""
    return np.asarray(squared_distances(asked, _means(task)).min(axis=1))


def mahalanobis(task: Task, asked: Array) -> Array:
    """Distance to the nearest mean under the covariance within categories, shrunk as in [LedoitWolf2004]."""
    means = _means(task)
    covariance = ledoit_wolf(task.train - means[task.codes], assume_centered=True)[0]
    white = np.linalg.inv(np.linalg.cholesky(covariance)).T
    return np.asarray(squared_distances(asked @ white, means @ white).min(axis=1))


def _means(task: Task) -> Array:
    return np.stack([task.train[task.codes == code].mean(axis=0) for code in range(task.n_classes)])


SIMPLE: Mapping[str, Rule] = {
    rule.__name__: rule for rule in (largest_probability, energy, nearest_neighbour, class_mean, mahalanobis)
}


def measure(case: Case, known: LabelledVectors) -> dict[str, float]:
    """The area under the ROC curve of each rule, and how often fewsight calls a known image unknown, or a strange one."""
    task, strange = draw(case, known)
    asked = np.vstack([task.test, strange])
    is_strange = np.arange(len(asked)) >= len(task.test)
    found = {name: float(roc_auc(is_strange, rule(task, asked))) for name, rule in SIMPLE.items()}
    K, K_test = rbf_grams(Task(task.train, task.codes, asked, np.zeros(len(asked), np.intp)))
    seen = GPClassifier("precomputed", false_alarm_rate=STATED).fit(K, task.codes).assess(K_test)
    assert seen.unknown is not None
    assert seen.unknown_score is not None
    shares = {"false_alarms": ~is_strange, "noticed": is_strange}
    area = float(roc_auc(is_strange, seen.unknown_score))
    return {**found, OURS: area, **{name: float(seen.unknown[rows].mean()) for name, rows in shares.items()}}


def cases_of(sources: Sequence[str], sizes: Sequence[int], seeds: Sequence[int]) -> list[Case]:
    """All that is measured; of a texture there are nine tiles, so five labels are the most."""
    return [
        Case(source, size, seed, two)
        for source in sources
        for two in (False, True)
        for size in sizes
        if source != BRODATZ or size <= 5
        for seed in seeds
    ]


def summary(found: Mapping[Case, Mapping[str, float]]) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """A record for each set, size and rule, and fewsight minus the best simple rule of each set and size."""
    groups: dict[tuple[str, int], list[Mapping[str, float]]] = {}
    for case, values in found.items():
        groups.setdefault((case.set, case.per_class), []).append(values)
    rows, gaps = [], []
    for (name, size), values in groups.items():
        head = {"set": name, "per_class": size}
        areas = {rule: np.array([each[rule] for each in values]) for rule in (OURS, *SIMPLE)}
        rows += [record_of(head, rule, "unknown_auroc", area) for rule, area in areas.items()]
        rows += [
            record_of(head, OURS, metric, np.array([v[metric] for v in values]))
            for metric in ("false_alarms", "noticed")
        ]
        best = max(SIMPLE, key=lambda rule, areas=areas: float(areas[rule].mean()))  # type: ignore[misc]
        gaps.append(
            {**head, "metric": "unknown_auroc", "learner": OURS, "peer": best, **paired(areas[OURS] - areas[best])}
        )
    return rows, gaps


def work(options: argparse.Namespace) -> None:
    """Measure, write, and say what came out."""
    cases = cases_of(options.sets, options.sizes, options.seeds)
    vectors = {source: read_vectors(source, options.data, options.work) for source in options.sets}
    found = {case: measure(case, vectors[case.source]) for case in track(cases, "unknown", len(cases))}
    rows, gaps = summary(found)
    write_results(options.json, protocol_of(options, commit_of_tree()), records=rows, differences=gaps)
    for row in gaps:
        print(f"{row['set']:32} {row['per_class']:3} {row['mean']:+.3f} +- {row['standard_error']:.3f} ({row['peer']})")
    for rule in (OURS, *SIMPLE):
        print(f"{rule:20} {mean_over(rows, rule, 'unknown_auroc'):.4f}")
    for size in options.sizes:
        rates = [float(r["mean"]) for r in rows if r["metric"] == "false_alarms" and r["per_class"] == size]  # type: ignore[arg-type]
        print(f"false alarms at {size}: {np.mean(rates):.3f}, from {min(rates):.3f} to {max(rates):.3f}")


def parser() -> argparse.ArgumentParser:
    """The options."""
    folder = "the folder that holds more, caltech101 and brodatz"
    found = base_arguments("unknown", __doc__, folder=folder, seeds="0-9", of="draws", paper="domains")
    results = Path("experiments/results/domains/unknown.json")
    found.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    sets = f"joined by commas, of {','.join(READERS)} (the first {len(SOURCES)})"
    found.add_argument("--sets", type=words_of(READERS), default=SOURCES, help=sets)
    found.add_argument("--sizes", type=numbers, default=(5, 15), help="labels per category (5,15)")
    return found


if __name__ == "__main__":
    run(parser(), work)
