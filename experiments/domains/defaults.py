"""Which channels to use when nothing is said: accuracy, log loss and time per image over all domains.

    python -m experiments.domains.defaults DATA --work FOLDER

Codebooks and scales are learned once for each set, without labels, from images that are never tested (`cues.py`); a seed draws
what is learned from. Several channels are combined as `fewsight learn` combines them, by evidence. With one or two labels per
category `--unlabelled` lets the learner look at further images of each, without their labels.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from experiments.common.command import base_arguments, commit_of_tree, numbers, run, words_of
from experiments.domains.cells import Cell
from experiments.domains.cells import measure as score
from experiments.domains.cues import SOURCES, CueSet, all_sets
from experiments.domains.peers import Answers
from experiments.domains.summary import line_of, mean_over, protocol_of, record_of, write_results
from fewsight._base.progress import silent, track
from fewsight._base.types import Array, Indices
from fewsight.channels.pretrained import Pretrained
from fewsight.channels.prior_shares import INFORMED_SHARE
from fewsight.channels.vector_channel import scale_by_evidence
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier
from fewsight.learners.stability import MOST_LABELS

NETWORK = "pretrained"
CHOICES: Mapping[str, tuple[str, ...]] = {
    "spatial_pmk": ("spatial_pmk",),
    "quick": ("colour", "texture", "phog"),
    "spatial_pmk + quick": ("spatial_pmk", "colour", "texture", "phog"),
    "pretrained": (NETWORK,),
    "pretrained + spatial_pmk": (NETWORK, "spatial_pmk"),
    "pretrained + quick": (NETWORK, "colour", "texture", "phog"),
    "pretrained + spatial_pmk + quick": (NETWORK, "spatial_pmk", "colour", "texture", "phog"),
}


def measure(known: CueSet, channels: Sequence[str], per_class: int, seed: int, unlabelled: int = 0) -> Cell:
    """Of a learner with these channels on one draw, given so many further images of each category without a label."""
    drawn, truth = known.drawn(per_class, seed), known.codes[1]
    codes, more = known.codes[0][drawn], np.setdiff1d(known.drawn(per_class + unlabelled, seed), drawn)
    pairs = [grams_of(known, channel, drawn, codes, more) for channel in channels]
    several = len(channels) > 1
    model = GPClassifier("precomputed", weights="evidence", prior_weights=prior_of(channels) if several else None)
    model.fit([K for K, _ in pairs] if several else pairs[0][0], [*codes.tolist(), *[None] * len(more)])
    stated = model.predict_proba([K_test for _, K_test in pairs] if several else pairs[0][1])
    return score(Answers(stated, stated), truth)


def prior_of(channels: Sequence[str]) -> list[float] | None:
    """How much each channel counts before anything is learned about it: None where no network is among them."""
    networks = np.array([name == NETWORK for name in channels])
    share = np.where(networks, INFORMED_SHARE, (1.0 - INFORMED_SHARE) / max(len(channels) - 1, 1))
    return share.tolist() if networks.any() else None


def grams_of(
    known: CueSet, channel: str, drawn: Indices, codes: Indices, more: Indices | None = None
) -> tuple[Array, Array]:
    """K and K_test of a channel; the width of the Gaussian of the network's vectors is learned from the labels."""
    seen = drawn if more is None else np.concatenate([drawn, more])
    if channel != NETWORK:
        train, test, _ = known.gram(channel)
        return train[np.ix_(seen, seen)], test[:, seen]
    rows, asked = known.vectors
    kernel = RBF(scale_by_evidence(rows[drawn], codes, np.random.default_rng(0), Pretrained.usual_squared_scale))
    return kernel.gram(rows[seen]), kernel.gram(asked, rows[seen])


def seconds(known: CueSet, channels: Sequence[str]) -> float:
    """CPU seconds for one image, of the channels whose time was taken: all but the network's."""
    return float(sum(known.gram(channel)[2] for channel in channels if channel != NETWORK))


def table(rows: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """For each choice, number of labels and of images without one: means over sets, and where confidence is furthest off."""
    keys = sorted({_key(row) for row in rows})
    return [_line(key, [row for row in rows if _key(row) == key]) for key in keys]


def _key(row: Mapping[str, object]) -> tuple[object, ...]:
    return row["channels"], row["per_class"], row["unlabelled"]


def _line(key: tuple[object, ...], rows: Sequence[Mapping[str, object]]) -> dict[str, object]:
    line: dict[str, object] = dict(zip(("channels", "per_class", "unlabelled"), key, strict=True))
    line |= {str(metric): mean_over(rows, "gp", str(metric)) for metric in dict.fromkeys(row["metric"] for row in rows)}
    off = {str(row["set"]): row["mean"] for row in rows if row["metric"] == "overconfidence"}
    furthest = max(off, key=lambda name: abs(off[name]))  # type: ignore[arg-type]
    return line | {"furthest": furthest, "furthest_overconfidence": off[furthest]}


def work(options: argparse.Namespace) -> None:
    """Measure, write, and say what came out."""
    sets = all_sets(options.data, options.work, options.sets)
    rows: list[dict[str, object]] = []
    cells = [
        (known, name, size, count)
        for known in sets
        for name in options.choices
        for size in options.sizes
        for count in options.unlabelled
        if size + count <= known.per_class and (count == 0 or size < MOST_LABELS)
    ]
    for known, name, size, count in track(cells, "defaults", len(cells)):
        with silent():
            found = [measure(known, CHOICES[name], size, seed, count) for seed in options.seeds]
        head = {"set": known.source, "per_class": size, "unlabelled": count, "channels": name}
        head["seconds"] = seconds(known, CHOICES[name])
        rows += [record_of(head, "gp", metric, np.array([each[metric] for each in found])) for metric in found[0]]
    lines = table(rows)
    protocol = {**protocol_of(options, commit_of_tree()), "unlabelled": list(options.unlabelled)}
    write_results(options.json, protocol, table=lines, records=rows)
    for line in lines:
        print(line_of(line))


def parser() -> argparse.ArgumentParser:
    """The options."""
    folder = "the folder that holds more, caltech101 and brodatz"
    found = base_arguments("defaults", __doc__, folder=folder, seeds="0-4", of="draws", paper="domains")
    results = Path("experiments/results/domains/defaults.json")
    found.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    found.add_argument(
        "--sets", type=words_of(SOURCES), default=SOURCES, help=f"joined by commas ({','.join(SOURCES)})"
    )
    found.add_argument("--sizes", type=numbers, default=(1, 5, 15), help="labels per category (1,5,15)")
    choices = f"of channels, joined by commas ({','.join(CHOICES)})"
    found.add_argument("--choices", type=words_of(CHOICES), default=tuple(CHOICES), help=choices)
    found.add_argument(
        "--unlabelled", type=numbers, default=(0,), help="further images of each, with one or two labels (0)"
    )
    return found


if __name__ == "__main__":
    run(parser(), work)
