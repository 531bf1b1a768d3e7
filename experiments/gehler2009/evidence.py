"""Windows chosen by evidence against windows weighted by multiple kernel learning, on the same candidates.

Splits of `caltech101`, by the size of the training set; those that the work folder holds are taken from it. A Gaussian process
grows its kernels by the slope of the evidence at weight zero (`fewsight.gp.grow_weights`), against l1, l2 and the plain average.
A layout as one channel, with the mean weights that l1 or l2 learned, stands against the levels of the spatial pyramid on the same
words, both with the Gaussian process.

    python -m experiments.gehler2009.evidence DATA --work FOLDER --sizes 3,15 --seeds 0-4
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.common.command import base_arguments, images_of, numbers, run
from experiments.gehler2009.caltech101 import ROW, add_split_options, by_row, split
from experiments.gehler2009.layouts import GRID, C
from experiments.rodner2012.results import record, write_results
from fewsight._base.progress import track


def work(options: argparse.Namespace) -> None:
    """All splits and the file of results."""
    images = images_of(options.data)
    records = []
    for size in options.sizes:
        cells = []
        for place, seed in enumerate(track(options.seeds, f"{size} per class", len(options.seeds))):
            cells.append(split(images, options, seed, size, options.splits is None or place < options.splits))
            shown = (row for row in cells[-1]["rows"] if row["layout"] == "windows")
            print(size, seed, *(f"{row['learner']} {row['combine']} {row['error']:.1f}" for row in shown), flush=True)
        for key, rows in by_row(cells).items():
            about = dict(zip(ROW, key, strict=True))
            if about["layout"] == "windows" or (about["layout"], about["learner"]) == ("levels", "gp"):
                head = {"channels": "windows", **about, "per_class": size, "words": GRID["n_words"]}
                metrics = [metric for metric in rows[0] if metric not in about]
                records += [record(head, metric, [row[metric] for row in rows]) for metric in metrics]
    write_results(options, records, protocol={"windows": options.windows, "most_test": options.most_test, "C": C})


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    made = base_arguments(
        "evidence",
        __doc__,
        folder="the folder of Caltech-101's category folders, or the one that holds it as caltech101",
        seeds="0-4",
        of="splits",
        paper="gehler2009",
    )
    made.add_argument("--sizes", type=numbers, default=(3, 15), help="training images of each class (3,15)")
    add_split_options(made)
    made.add_argument("--json", type=Path, default=Path("experiments/results/gehler2009/evidence.json"))
    return made


if __name__ == "__main__":
    run(parser(), work)
