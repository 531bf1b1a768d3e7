"""How many labels does it take? fewsight, asking, against logistic regression and others with labels picked at random.

    python -m experiments.embeddings.label_efficiency DATA --work FOLDER

Each run draws 20 categories of Caltech-101 and starts from one label of each. 15 images of each category are the test; all
others, as many as a category happens to have, may be labelled. The mark is what logistic regression reaches with 300 random
labels. With --most-per-class every category has the same number of images that may be labelled.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.command import images_of, run, write_figure
from experiments.embeddings.command import CHANNEL, arguments, channel_of, summary_of, write_results
from fewsight._base.progress import silent, track
from fewsight._base.replacement import write_text
from fewsight.channels import Channel
from fewsight.evaluation import Arm, Comparison, Protocol, compare_baselines, comparison_figure
from fewsight.evaluation.results import json_text, labels_until
from fewsight.images import ImageSet

TEST_PER_CLASS = 15
ASKED, RIVAL = Arm("gp", "uncertainty"), Arm("logistic", "random")


def one_run(images: ImageSet, channel: Channel, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """What each arm is worth after each number of labels, in one run."""
    order = np.random.default_rng(seed).permutation(images.classes).tolist()[: options.categories]
    chosen = images.select([i for i, label in enumerate(images.labels) if label in order])
    most = options.most_per_class
    protocol = Protocol(
        images_per_class=None if most is None else most + TEST_PER_CLASS,
        per_class=(min(TEST_PER_CLASS, most or TEST_PER_CLASS),),
        test_per_class=TEST_PER_CLASS,
        repeats=1,
        seed=seed,
    )
    counts = [*range(options.categories, options.labels, options.every), options.labels]
    found = compare_baselines(chosen, protocol, {CHANNEL: channel}, labels=counts, rule=ASKED.rule)
    curves = [[*arm, metric, values[0].tolist()] for arm, by in found.curves.items() for metric, values in by.items()]
    return {"labels": counts, "curves": curves, "pool": found.n_pool, "tested": found.n_tested, "categories": order}


def joined(runs: list[dict[str, Any]]) -> Comparison:
    """The curves of all runs together."""
    curves: dict[Arm, dict[str, Any]] = {}
    for found in runs:
        for learner, rule, metric, values in found["curves"]:
            curves.setdefault(Arm(learner, rule), {}).setdefault(metric, []).append(values)
    arrays = {arm: {metric: np.array(rows) for metric, rows in by.items()} for arm, by in curves.items()}
    sizes = (round(float(np.mean([found[name] for found in runs]))) for name in ("pool", "tested"))
    return Comparison(tuple(runs[0]["labels"]), arrays, CHANNEL, "none", *sizes, 0)


def mark(comparison: Comparison) -> dict[str, Any]:
    """What the rival reaches in the end, and when fewsight gets there: by the mean curves, and run by run."""
    asked, rival = (comparison.curves[arm]["accuracy"] for arm in (ASKED, RIVAL))
    last = comparison.labels[-1]
    found = labels_until(float(rival[:, -1].mean()), comparison.labels, asked.mean(axis=0))
    each = [labels_until(end, comparison.labels, curve) for curve, end in zip(asked, rival[:, -1], strict=True)]
    shares = [(last if count is None else count) / last for count in each]
    return {
        "ours": "gp uncertainty",
        "theirs": "logistic random",
        "labels": last,
        "target": summary_of(rival[:, -1].tolist()),
        "needed": found,
        "share": None if found is None else found / last,
        "needed_by_run": each,
        "share_by_run": summary_of(shares),
        "difference_at_the_end": summary_of((asked[:, -1] - rival[:, -1]).tolist()),
    }


def work(options: argparse.Namespace) -> None:
    """Measure, write, draw, and say what came out; what one run found is kept in the work folder."""
    images, channel = images_of(options.data), channel_of(options)
    runs = []
    for seed in track(options.seeds, "label efficiency", len(options.seeds)):
        kept = Path(options.work) / "label_efficiency" / f"{_key(options)}_seed{seed}.json"
        if not kept.exists():
            with silent():
                found = one_run(images, channel, seed, options)
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_text(kept, json_text(found))
        runs.append(json.loads(kept.read_text()))
    comparison = joined(runs)
    reached = mark(comparison)
    protocol = {
        "n_categories": options.categories,
        "test_per_class": TEST_PER_CLASS,
        "most_per_class": options.most_per_class,
        "start": "one label of each category",
        "categories": [found["categories"] for found in runs],
        "pool": [found["pool"] for found in runs],
    }
    write_results(options, comparison.records(), protocol, reached=reached)
    if options.figure is not None:
        write_figure(comparison_figure(comparison), options.figure)
    share = "never" if reached["share"] is None else f"with {reached['needed']} labels, {100 * reached['share']:.0f} %"
    print(
        f"logistic regression, {reached['labels']} random labels: {100 * reached['target']['mean']:.2f} %; fewsight: {share}"
    )


def _key(options: argparse.Namespace) -> str:
    return f"{options.categories}_{options.labels}_{options.every}_{options.most_per_class or 'all'}"


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = arguments("label_efficiency", __doc__, of="runs")
    found.add_argument("--categories", type=int, default=20, help="of a run (20)")
    found.add_argument("--labels", type=int, default=300, help="at the end (300)")
    found.add_argument("--every", type=int, default=20, help="labels between two points of a curve (20)")
    found.add_argument("--most-per-class", type=int, help="images of each category that may be labelled (all)")
    found.add_argument("--figure", type=Path, help="where the picture goes, as PNG, SVG or PDF (none)")
    return found


if __name__ == "__main__":
    run(parser(), work)
