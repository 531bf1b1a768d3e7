"""How many labels asking needs, with the product's defaults, on pictures of many domains.

    python -m experiments.domains.asking DATA --work FOLDER

Each set is a pool and test images that are never asked about; all start with one random label per category and see the vectors of
`pretrained`. The target is the accuracy of logistic regression on 20 random labels per category; what counts is after how many
labels the mean curve over seeds first reaches it. Random checks and exploring are part of what `ActiveLearner` does by
default, so they are part of what is measured. On the way its 90 % interval and its advice to stop are compared with the truth.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.common.command import base_arguments, commit_of_tree, run, words_of
from experiments.domains.summary import protocol_of, record_of, write_results
from experiments.domains.vectors import CALTECH, MORE, LabelledVectors, read_vectors
from fewsight._base.progress import silent, track
from fewsight._base.replacement import write_text
from fewsight._base.types import Array, Indices
from fewsight.active import ActiveLearner, GramPool
from fewsight.channels.pretrained import Pretrained
from fewsight.kernels.rbf import squared_distances
from fewsight.learners import GPClassifier, LogisticClassifier

SOURCES = (*MORE, CALTECH)
CATEGORIES = {CALTECH: 20}
POOLED, TESTED = 60, 30  # images of a category
PER_CATEGORY = 20  # labels, of the target
EVERY = 5  # labels between looks at the test images
TUNED_EVERY = 20  # labels after which logistic regression chooses its penalty again
ADVISED_EVERY = 20
AHEAD = 100


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows of a pool and of test images, categories as numbers, and where asking starts."""

    rows: Array
    codes: Indices
    test: Array
    test_codes: Indices
    start: list[int]

    @property
    def budget(self) -> int:
        """Labels until all are spent."""
        return min(PER_CATEGORY * (int(self.codes.max()) + 1), len(self.codes) - 1)


def draw(source: str, known: LabelledVectors, seed: int) -> Pool:
    """Some images of each category as a pool, others to test on, and the first label of each category."""
    rng = np.random.default_rng(seed)
    names, counts = np.unique(known.labels, return_counts=True)
    names = np.sort(rng.permutation(names[counts >= PER_CATEGORY + 2 * TESTED // 2])[: CATEGORIES.get(source)])
    orders = [rng.permutation(np.flatnonzero(known.labels == name)) for name in names]
    tested = [order[: min(TESTED, len(order) // 3)] for order in orders]
    pooled = [order[len(test) :][:POOLED] for order, test in zip(orders, tested, strict=True)]
    codes, test_codes = (np.repeat(np.arange(len(part)), [len(each) for each in part]) for part in (pooled, tested))
    start = [int(np.flatnonzero(codes == code)[0]) for code in range(len(names))]
    return Pool(known.rows(np.concatenate(pooled)), codes, known.rows(np.concatenate(tested)), test_codes, start)


Curve = dict[int, float]  # accuracy on the test images, by the number of labels
Way = Callable[[Pool, int], tuple[Curve, list[dict[str, float]]]]


def random_logistic(pool: Pool, seed: int) -> tuple[Curve, list[dict[str, float]]]:
    """Labels at random."""
    rest = np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(len(pool.codes)), pool.start))
    return _by_logistic(pool, lambda _, known: int(next(p for p in rest if p not in known))), []


def margin_logistic(pool: Pool, seed: int) -> tuple[Curve, list[dict[str, float]]]:
    """Where logistic regression's two largest probabilities are closest: margin sampling, as scikit-activeml does it."""
    return _by_logistic(pool, _closest), []


def _closest(model: LogisticClassifier, known: set[int], K: Array | None = None) -> int:
    assert K is not None
    stated = np.sort(model.predict_proba(K), axis=1)
    gaps = stated[:, -1] - stated[:, -2]
    gaps[list(known)] = np.inf
    return int(gaps.argmin())


def _by_logistic(pool: Pool, choose: Callable[..., int]) -> Curve:
    """Fitted again after every label that is looked at or chosen by."""
    K, K_test = pool.rows @ pool.rows.T, pool.test @ pool.rows.T
    labelled, curve, penalty = list(pool.start), Curve(), 1.0
    while True:
        n = len(labelled)
        K_known, codes = K[np.ix_(labelled, labelled)], pool.codes[labelled]
        if n % TUNED_EVERY == 0:
            penalty = float(LogisticClassifier("precomputed").fit(K_known, codes).C_)
        needed = choose is _closest or n % EVERY == 0 or n == pool.budget
        model = LogisticClassifier("precomputed", C=penalty).fit(K_known, codes) if needed else None
        if model is not None and (n % EVERY == 0 or n == pool.budget):
            curve[n] = float((model.predict(K_test[:, labelled]) == pool.test_codes).mean())
        if n >= pool.budget:
            return curve
        extra = {"K": K[:, labelled]} if choose is _closest else {}
        labelled.append(choose(model, set(labelled), **extra))


def fewsight(pool: Pool, seed: int, **options: object) -> tuple[Curve, list[dict[str, float]]]:
    """The defaults of `ActiveLearner`, and what it says about itself."""
    every = np.vstack([pool.rows, pool.test])
    K = np.exp(-squared_distances(every, None) / (2 * (Pretrained.usual_squared_scale or 1.0)))
    codes, n_pool = np.concatenate([pool.codes, pool.test_codes]), len(pool.codes)
    labels: list[int | None] = [None] * len(codes)
    for place in pool.start:
        labels[place] = int(codes[place])
    test = np.arange(n_pool, len(codes))
    active = ActiveLearner(GPClassifier("precomputed"), random_state=seed, **options)  # type: ignore[arg-type]
    active.fit(GramPool(K), labels, exclude=test)
    curve, said = Curve(), []
    while True:
        view = active.view_
        n, columns = view.n_labelled, np.array(view.classes)[view.decisions()]
        if n % EVERY == 0 or n == pool.budget:
            curve[n] = float((columns[test] == pool.test_codes).mean())
        if n % ADVISED_EVERY == 0 and n > len(pool.start):
            rest = np.flatnonzero(view.unlabelled[:n_pool])
            said.append(_said(active, n, float((columns[rest] == codes[rest]).mean())))
        if n >= pool.budget:
            return curve, said
        (place,) = active.query().indices
        active.teach(place, int(codes[place]))


def _said(active: ActiveLearner, n: int, truth: float) -> dict[str, float]:
    """The interval, and whether it advises to stop, beside the share of the rest that is right."""
    status = active.status()
    low, high = (np.nan, np.nan) if status.accuracy is None else (status.accuracy.low, status.accuracy.high)
    return {"n": n, "low": low, "high": high, "truth": truth, "stop": float(status.advice.stop)}


WAYS: Mapping[str, Way] = {"fewsight": fewsight, "margin_logistic": margin_logistic, "random_logistic": random_logistic}


def needed(curves: Sequence[Curve], target: float) -> int | None:
    """The number of labels at which the mean curve first reaches the target; None if it does not."""
    sizes = sorted(set.intersection(*(set(curve) for curve in curves)))
    reached = [n for n in sizes if np.mean([curve[n] for curve in curves]) >= target - 1e-12]
    return reached[0] if reached else None


def fill(options: argparse.Namespace) -> dict[tuple[str, str, int], tuple[Curve, list[dict[str, float]]]]:
    """Every run, from the work folder where it is there."""
    found = {}
    places = [(source, seed, way) for source in options.sets for seed in options.seeds for way in WAYS]
    for source, seed, way in track(places, "asking", len(places)):
        path = options.work / "asking" / way / f"{source}-{seed}.json"
        if not path.exists():
            pool = draw(source, read_vectors(source, options.data, options.work), seed)
            with silent():
                curve, said = WAYS[way](pool, seed)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, json.dumps([curve, said]))
        curve, said = json.loads(path.read_text())
        found[source, way, seed] = ({int(n): value for n, value in curve.items()}, said)
    return found


def summary(
    found: Mapping[tuple[str, str, int], tuple[Curve, list[dict[str, float]]]],
    sets: Sequence[str],
    seeds: Sequence[int],
) -> tuple[list[dict[str, object]], list[dict[str, object]], list[dict[str, object]]]:
    """Curves, labels needed, and how often intervals hold and advice is right."""
    rows: list[dict[str, object]] = []
    wanted: list[dict[str, object]] = []
    trusted: list[dict[str, object]] = []
    for source in sets:
        curves = {way: [found[source, way, seed][0] for seed in seeds] for way in WAYS}
        last = max(curves["random_logistic"][0])
        target = float(np.mean([curve[last] for curve in curves["random_logistic"]]))
        for way, several in curves.items():
            for n in sorted(set.intersection(*(set(curve) for curve in several))):
                head = {"set": source, "per_class": PER_CATEGORY, "labels": n}
                rows.append(record_of(head, way, "accuracy", np.array([curve[n] for curve in several])))
            labels = needed(several, target)
            wanted.append(
                {
                    "set": source,
                    "per_class": PER_CATEGORY,
                    "learner": way,
                    "target": target,
                    "labels": labels,
                    "of": last,
                }
            )
        said = [(found[source, "fewsight", seed][0], found[source, "fewsight", seed][1]) for seed in seeds]
        trusted.append({"set": source, "per_class": PER_CATEGORY, "learner": "fewsight", **_trust(said)})
    return rows, wanted, trusted


def _trust(runs: Sequence[tuple[Curve, list[dict[str, float]]]]) -> dict[str, object]:
    """How often the interval holds the truth, by run and by number of labels, how wide it is, and what came after the first
    advice to stop."""
    covered, looks, widths, gains = [], defaultdict[int, list[bool]](list), [], []
    for curve, said in runs:
        told = [(int(s["n"]), bool(s["low"] <= s["truth"] <= s["high"])) for s in said if not np.isnan(s["low"])]
        covered.append([held for _, held in told])
        widths += [s["high"] - s["low"] for s in said if not np.isnan(s["low"])]
        for n, held in told:
            looks[n].append(held)
        stops = [int(s["n"]) for s in said if s["stop"]]
        if stops and stops[0] in curve:
            later = [n for n in curve if stops[0] < n <= stops[0] + AHEAD]
            gains.append(curve[max(later)] - curve[stops[0]] if later else 0.0)
    shares = [float(np.mean(each)) for each in covered if each]
    return {
        "covered": float(np.mean(shares)) if shares else None,
        "covered_by_run": shares,
        "covered_by_look": {str(n): float(np.mean(looks[n])) for n in sorted(looks)},
        "width": float(np.mean(widths)) if widths else None,
        "gains_after_advice": gains,
    }


def work(options: argparse.Namespace) -> None:
    """Measure, write, and say what came out."""
    found = fill(options)
    options.sizes = (PER_CATEGORY,)
    rows, wanted, trusted = summary(found, options.sets, options.seeds)
    protocol = protocol_of(options, commit_of_tree())
    write_results(options.json, protocol, records=rows, labels_needed=wanted)
    write_results(options.json.with_name(stopping_name(options.json.name)), protocol, records=trusted)
    for row in wanted:
        print(f"{row['set']:12} {row['learner']:16} {row['labels']} of {row['of']} for {row['target']:.3f}")
    for row in trusted:
        print(row)


def stopping_name(asking: str) -> str:
    """Of the file of intervals and advice: stopping_caltech101.json beside asking_caltech101.json."""
    return f"stopping{asking.removeprefix('asking')}" if asking.startswith("asking") else f"stopping_{asking}"


def parser() -> argparse.ArgumentParser:
    """The options."""
    folder = "the folder that holds more and caltech101"
    found = base_arguments("asking", __doc__, folder=folder, seeds="0-4", of="draws", paper="domains")
    results = Path("experiments/results/domains/asking.json")
    found.add_argument(
        "--json",
        type=Path,
        default=results,
        help=f"where the results go; beside asking_X.json stopping_X.json ({results})",
    )
    found.add_argument(
        "--sets", type=words_of(SOURCES), default=SOURCES, help=f"joined by commas ({','.join(SOURCES)})"
    )
    return found


if __name__ == "__main__":
    run(parser(), work)
