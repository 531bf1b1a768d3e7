"""Four categories told apart by the scores of their models, side by side. [Holub2008, Table 2]

One model for each category, one support vector machine for each pair of them, and a Gaussian process beside it; `generative`
takes the model of the largest likelihood.

    python -m experiments.holub2008.table2 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.common.command import base_arguments, run, words
from experiments.holub2008.class_images import CATEGORIES, several_categories
from experiments.holub2008.table1 import DETECTORS, N_TRAIN, accuracies, channel_of, seen
from experiments.rodner2012.results import kept, record, write_results
from fewsight._base.progress import silent, track
from fewsight.evaluation.provenance import settings_of
from fewsight.images import FeatureCache


def cell(options: argparse.Namespace, cache: FeatureCache, seed: int) -> dict[str, float]:
    """Accuracies of one draw, by detector and way."""
    split = several_categories(options.data, options.categories, seed, n_train=options.images, n_test=options.images)
    sights = {d: seen(split, channel_of(d, cache, random_state=seed))["both"] for d in options.detectors}
    found = {f"{d} {way}": value for d, each in sights.items() for way, value in accuracies(split, [each]).items()}
    return {**found, **{f"all {way}": value for way, value in accuracies(split, list(sights.values())).items()}}


def work(options: argparse.Namespace) -> None:
    """All draws and the file of results."""
    cache, cells = FeatureCache(options.work / "features"), []
    settings = {d: settings_of(channel_of(d, cache)) for d in options.detectors}
    for seed in track(options.seeds, "draws", len(options.seeds)):
        named = {"categories": options.categories, "seed": seed, "images": options.images, "channels": settings}
        with silent():
            cells.append(kept(options.work, "table2", named, lambda s=seed: cell(options, cache, s)))
    records = []
    for name in cells[0]:
        detector, way = name.split()
        method = "generative" if way == "generative" else "combined" if detector == "all" else "hybrid"
        head = {"method": method, "category": "four categories", "detector": detector, "clutter": True}
        values = [each[name] for each in cells]
        records.append(record({**head, "control": "none", "learner": way}, "accuracy", values))
        print(f"{name:24} {100 * records[-1]['mean']:.1f}", flush=True)
    protocol = {"categories": options.categories, "n_train": options.images, "channels": settings}
    write_results(options, records, protocol=protocol)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    folder = "the folder that holds caltech101"
    made = base_arguments("table2", __doc__, folder=folder, seeds="0-2", of="draws", paper="holub2008")
    results = Path("experiments/results/holub2008/table2.json")
    made.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    made.add_argument(
        "--images", type=int, default=N_TRAIN, help=f"of each category to learn from, and to test on ({N_TRAIN})"
    )
    made.add_argument("--categories", type=words, default=CATEGORIES, help="joined by commas")
    made.add_argument("--detectors", type=words, default=DETECTORS, help="joined by commas")
    return made


if __name__ == "__main__":
    run(parser(), work)
