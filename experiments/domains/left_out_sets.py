"""Whether what some sets choose holds on a set that took no part in the choice: every set is left out in turn.

    python -m experiments.domains.left_out_sets DATA --work FOLDER

The constants of the learner that were found by measuring are moved one at a time. Of these settings, the one with the lowest mean
log loss over all other sets is taken for the set that is left out, and compared with the one that it would take itself. All
draws of Caltech-101 are one set here, and both of Brodatz. A set counts by the mean over its draws, sizes, even and uneven.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.command import base_arguments, commit_of_tree, numbers, run, words_of
from experiments.domains.cells import Bench, measure
from experiments.domains.peers import gp
from experiments.domains.summary import protocol_of, record_of, write_results
from experiments.domains.tasks import BENCH, DOMAINS, Place, places_of
from fewsight._base.progress import silent, track
from fewsight._base.replacement import write_text
from fewsight._base.types import Array
from fewsight.channels.pretrained import Pretrained
from fewsight.evaluation.results import json_text
from fewsight.learners import balance, prototypes, sharpness

Constant = tuple[object, str]  # where it is, and its name
SHARPNESS: Constant = (sharpness, "SHARPNESS")
PER_LABELS: Constant = (sharpness, "PER_LABELS")
SPREAD: Constant = (sharpness, "SHARPNESS_STD")
ALONE: Constant = (sharpness, "ALONE")
POWER: Constant = (balance, "POWER")
WIDTH: Constant = (Pretrained, "usual_squared_scale")
HALF: Constant = (prototypes, "HALF")
NATS: Constant = (prototypes, "NATS")
LEAST_CLASSES: Constant = (prototypes, "LEAST_CLASSES")
AS_IT_IS = "as it is"
SETTINGS: Mapping[str, tuple[Constant, float] | None] = {
    AS_IT_IS: None,
    "sharpness 2.1": (SHARPNESS, 2.1),
    "sharpness 2.5": (SHARPNESS, 2.5),
    "sharpness per labels 0.14": (PER_LABELS, 0.14),
    "sharpness per labels 0.42": (PER_LABELS, 0.42),
    "sharpness give or take 0.2": (SPREAD, 0.2),
    "sharpness give or take 0.6": (SPREAD, 0.6),
    "one label: 0 more": (ALONE, 0.0),
    "one label: 0.3 more": (ALONE, 0.3),
    "balance to the power of 0.6": (POWER, 0.6),
    "balance to the power of 1": (POWER, 1.0),
    "squared width 1": (WIDTH, 1.0),
    "squared width 2": (WIDTH, 2.0),
    "prototypes: none": (LEAST_CLASSES, 1_000.0),
    "prototypes: half from 2 images": (HALF, 2.0),
    "prototypes: half from 8 images": (HALF, 8.0),
    "prototypes: strength 0 nats from the usual": (NATS, 0.0),
    "prototypes: strength 4 nats from the usual": (NATS, 4.0),
}


@contextmanager
def moved(setting: tuple[Constant, float] | None) -> Iterator[None]:
    """Inside, a constant has another value."""
    if setting is None:
        yield
        return
    (place, name), value = setting
    before = getattr(place, name)
    setattr(place, name, value)
    try:
        yield
    finally:
        setattr(place, name, before)


def losses(bench: Bench, name: str, places: Sequence[Place], work: Path) -> dict[Place, float]:
    """The log loss in each place with one setting, kept in the work folder."""
    path = work / "left_out_sets" / f"{name}.json"
    if path.exists():
        found: dict[str, float] = json.loads(path.read_text())
        return {place: found[place.stem] for place in places}
    with moved(SETTINGS[name]), silent():
        cells = {place: _loss(bench, place) for place in places}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json_text({place.stem: loss for place, loss in cells.items()}))
    return cells


def _loss(bench: Bench, place: Place) -> float:
    task = bench.task(place)
    return measure(gp(task), task.test_codes)["log_loss"]


def by_set(found: Mapping[Place, float], sizes: Sequence[int]) -> dict[str, float]:
    """The mean of each set: over the seeds of a draw of it and a size first, then over these."""
    groups: dict[str, dict[tuple[Any, ...], list[float]]] = {}
    for place, loss in found.items():
        if place.per_class in sizes:
            cell = (place.domain, place.per_class, place.even)
            groups.setdefault(DOMAINS[place.domain].source, {}).setdefault(cell, []).append(loss)
    return {name: float(np.mean([np.mean(each) for each in cells.values()])) for name, cells in groups.items()}


def chosen(means: Mapping[str, Mapping[str, float]], sets: Sequence[str]) -> str:
    """The setting with the lowest mean log loss over some sets."""
    return min(means, key=lambda name: float(np.mean([means[name][each] for each in sets])))


def table(found: Mapping[str, Mapping[Place, float]], sizes: Sequence[int]) -> list[dict[str, object]]:
    """Of each set: what the others choose, what it would choose itself, and what that costs."""
    means = {name: by_set(each, sizes) for name, each in found.items()}
    sets = list(means[AS_IT_IS])
    rows: list[dict[str, object]] = []
    for left_out in sets:
        others = chosen(means, [name for name in sets if name != left_out])
        own = chosen(means, [left_out])
        of_others, of_own, as_it_is = (means[name][left_out] for name in (others, own, AS_IT_IS))
        rows.append(
            {
                "set": left_out,
                "per_class": list(sizes),
                "others_choose": others,
                "it_would_choose": own,
                "log_loss": of_others,
                "loses": of_others - of_own,
                "loses_as_it_is": as_it_is - of_own,
            }
        )
    return rows


def work(options: argparse.Namespace) -> None:
    """Measure, write, and say what came out."""
    bench = Bench(options.data, options.work)
    places = places_of([DOMAINS[name] for name in options.sets], options.seeds, options.sizes)
    found = {name: losses(bench, name, places, options.work) for name in track(SETTINGS, "settings", len(SETTINGS))}
    several = [size for size in options.sizes if size > 1]
    rows = [*table(found, several), *(table(found, [1]) if 1 in options.sizes else [])]
    records = [
        record_of({"set": domain, "per_class": size, "even": even, "setting": name}, "gp", "log_loss", values)
        for name, each in found.items()
        for (domain, size, even), values in _grouped(each).items()
    ]
    write_results(options.json, protocol_of(options, commit_of_tree()), left_out=rows, records=records)
    for row in rows:
        print(
            f"{row['set']:12} {row['per_class']!s:16} others: {row['others_choose']}; itself: {row['it_would_choose']}; loses "
            f"{row['loses']:.4f}, as it is {row['loses_as_it_is']:.4f}"
        )


def _grouped(found: Mapping[Place, float]) -> dict[tuple[str, int, bool], Array]:
    groups: dict[tuple[str, int, bool], list[float]] = {}
    for place, loss in found.items():
        groups.setdefault((place.domain, place.per_class, place.even), []).append(loss)
    return {cell: np.array(each) for cell, each in groups.items()}


def parser() -> argparse.ArgumentParser:
    """The options."""
    folder = "the folder that holds more, caltech101 and brodatz"
    found = base_arguments("left_out_sets", __doc__, folder=folder, seeds="100-103", of="draws", paper="domains")
    results = Path("experiments/results/domains/left_out_sets.json")
    sets = tuple(name for name in BENCH if name not in ("caltech_101", "brodatz_112"))
    found.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    found.add_argument("--sets", type=words_of(DOMAINS), default=sets, help=f"joined by commas ({','.join(sets)})")
    found.add_argument("--sizes", type=numbers, default=(1, 2, 5, 15), help="labels per category (1,2,5,15)")
    return found


if __name__ == "__main__":
    run(parser(), work)
