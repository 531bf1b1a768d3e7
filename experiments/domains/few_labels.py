"""How sure fewsight is with one or two labels per category, alone and beside images without a label.

    python -m experiments.domains.few_labels DATA --work FOLDER

All learners see the same vectors of `pretrained`. Images without a label are further ones of the same categories, as many of
each as `--unlabelled` says; none of them is tested. Of a texture there are three at most.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from experiments.common.command import base_arguments, commit_of_tree, numbers, run, words_of
from experiments.domains.cells import Bench, Cell, measure
from experiments.domains.peers import Answers, rbf_kernel
from experiments.domains.summary import line_of, protocol_of, record_of, write_results
from experiments.domains.tasks import BENCH, DOMAINS, Place, Task, places_of
from experiments.domains.vectors import BRODATZ
from fewsight._base.progress import silent, track
from fewsight._base.types import Array
from fewsight.learners import GPClassifier

MOST_TILES = 3  # without a label, of a texture: two may have one, and four are tested
Cells = Mapping[tuple[int, Place], Cell]  # by the number of images of each category without a label


def beside(task: Task, unlabelled: Array) -> Answers:
    """fewsight with its defaults, given these rows (u, d) without a label as well."""
    labels = [*task.codes.tolist(), *[None] * len(unlabelled)]
    model = GPClassifier(rbf_kernel(task)).fit(np.vstack([task.train, unlabelled]), labels)
    return Answers(model.latent(task.test).mean, model.predict_proba(task.test))


def cell(bench: Bench, place: Place, count: int) -> Cell:
    """What is said with so many images of each category without a label."""
    task, textures = bench.task(place), DOMAINS[place.domain].source == BRODATZ
    unlabelled = bench.unlabelled(place, min(count, MOST_TILES) if textures else count) if count else task.train[:0]
    with silent():
        return measure(beside(task, unlabelled), task.test_codes)


def table(cells: Cells, counts: Sequence[int]) -> list[dict[str, object]]:
    """For each number of labels and of images without one: means over sets, and where confidence is furthest off."""
    rows: list[dict[str, object]] = []
    places = sorted({place for _, place in cells})
    for size in sorted({place.per_class for place in places}):
        for count in counts:
            sets = sorted({place.domain for place in places if place.per_class == size})

            def mean(name: str, metric: str, size: int = size, count: int = count) -> float:
                found = [
                    each[metric] for (u, p), each in cells.items() if (u, p.domain, p.per_class) == (count, name, size)
                ]
                return float(np.mean(found))

            off = {name: mean(name, "overconfidence") for name in sets}
            furthest, by = max(off.items(), key=lambda each: abs(each[1]))
            row: dict[str, object] = {"per_class": size, "unlabelled": count, "furthest": furthest}
            row |= {
                "furthest_overconfidence": by,
                "mean_distance": float(np.mean(np.abs(list(off.values())))),
            }
            for metric in ("accuracy", "log_loss", "calibration_error", "overconfidence"):
                row[metric] = float(np.mean([mean(name, metric) for name in sets]))
            rows.append(row)
    return rows


def records(cells: Cells, counts: Sequence[int]) -> list[dict[str, object]]:
    """One record for each set, number of labels, number of images without one, and metric."""
    rows: list[dict[str, object]] = []
    for domain, size in sorted({(place.domain, place.per_class) for _, place in cells}):
        for count in counts:
            group = [each for (u, p), each in cells.items() if (u, p.domain, p.per_class) == (count, domain, size)]
            head = {"set": domain, "per_class": size, "unlabelled": count, "channels": "pretrained"}
            rows += [record_of(head, "gp", name, np.array([each[name] for each in group])) for name in group[0]]
    return rows


def work(options: argparse.Namespace) -> None:
    """Measure, write, and say what came out."""
    bench = Bench(options.data, options.work)
    places = places_of([DOMAINS[name] for name in options.sets], options.seeds, options.sizes, uneven=False)
    pairs = [(count, place) for place in places for count in options.unlabelled]
    cells = {(count, place): cell(bench, place, count) for count, place in track(pairs, "few labels", len(pairs))}
    rows, found = records(cells, options.unlabelled), table(cells, options.unlabelled)
    protocol = {**protocol_of(options, commit_of_tree()), "unlabelled": list(options.unlabelled)}
    write_results(options.json, protocol, table=found, records=rows)
    for row in rows:
        if row["metric"] == "overconfidence":
            print(
                f"{row['set']:12} {row['per_class']} label(s), {row['unlabelled']:2} without: {row['mean']:+.3f} too sure"
            )
    for line in found:
        print(line_of(line))


def parser() -> argparse.ArgumentParser:
    """The options."""
    folder = "the folder that holds more, caltech101 and brodatz"
    found = base_arguments("few_labels", __doc__, folder=folder, seeds="0-9", of="draws", paper="domains")
    results = Path("experiments/results/domains/few_labels.json")
    sets = f"joined by commas, of {','.join(DOMAINS)} (the first {len(BENCH)})"
    found.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    found.add_argument("--sets", type=words_of(DOMAINS), default=tuple(BENCH), help=sets)
    found.add_argument("--sizes", type=numbers, default=(1, 2), help="labels per category (1,2)")
    found.add_argument(
        "--unlabelled", type=numbers, default=(0, 8, 13), help="images of each category without a label (0,8,13)"
    )
    return found


if __name__ == "__main__":
    run(parser(), work)
