"""How often a known image is called unknown, by the number of labels and by what images are compared by.

    python -m experiments.domains.false_alarms DATA --work FOLDER

The vectors of `pretrained` alone: draws of `unknown.py`, all categories but a third learned, or two. Several channels combined by
evidence: the split of `cues.py`, all categories learned. 5 % are asked for. The threshold is a quantile of the left-out
images, so it scatters, and with it the rate of a single draw: the file of results holds that of each. The last set is that of
`fewsight demo`, learned as there; its seed 0 is what the demonstration shows.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from experiments.common.command import base_arguments, commit_of_tree, numbers, run, words_of
from experiments.domains.cues import CueSet
from experiments.domains.defaults import CHOICES, NETWORK, grams_of, prior_of
from experiments.domains.peers import rbf_grams
from experiments.domains.summary import protocol_of, record_of, write_results
from experiments.domains.unknown import SOURCES, STATED, Case, cases_of, draw
from experiments.domains.vectors import LabelledVectors, read_vectors
from fewsight._base.progress import silent, track
from fewsight.apps.workbench.demonstration import EXAMPLES_TO_LEARN
from fewsight.apps.workbench.learning import learn
from fewsight.apps.workbench.sample_photos import CHANNELS
from fewsight.channels import make_channel
from fewsight.images import draw_split, sample_set
from fewsight.learners import GPClassifier

SEVERAL = ("pretrained + quick", "spatial_pmk + quick")
SAMPLE, OF_SAMPLE = "sample images", " + ".join(CHANNELS)


def of_vectors(case: Case, known: LabelledVectors) -> float:
    """The share of test images of known categories that is called unknown."""
    task, _ = draw(case, known)
    K, K_test = rbf_grams(task)
    model = GPClassifier("precomputed", false_alarm_rate=STATED).fit(K, task.codes)
    return float(model.is_unknown(K_test).mean())


def of_channels(known: CueSet, channels: Sequence[str], per_class: int, seed: int) -> float:
    """The same, with several channels."""
    drawn = known.drawn(per_class, seed)
    codes = known.codes[0][drawn]
    pairs = [grams_of(known, channel, drawn, codes) for channel in channels]
    model = GPClassifier(
        "precomputed", weights="evidence", prior_weights=prior_of(channels), false_alarm_rate=STATED
    ).fit([K for K, _ in pairs], codes)
    return float(model.is_unknown([K_test for _, K_test in pairs]).mean())


def of_sample(seed: int) -> float:
    """The same, of the images and channels of the demonstration."""
    images = sample_set()
    split = draw_split(images.labels, per_class=EXAMPLES_TO_LEARN, seed=seed)
    channels = [make_channel(name, n_jobs=1, random_state=0) for name in CHANNELS]
    model = learn(images.select(split.train), channels).model
    return float(model.is_unknown(list(images.select(split.test).images)).mean())


def work(options: argparse.Namespace) -> None:
    """Measure, write, and say what came out."""
    found: dict[tuple[str, int, str], list[float]] = {}
    cases = cases_of(options.sets, options.sizes, options.seeds)
    vectors = {source: read_vectors(source, options.data, options.work) for source in options.sets}
    for case in track(cases, NETWORK, len(cases)):
        found.setdefault((case.set, case.per_class, NETWORK), []).append(of_vectors(case, vectors[case.source]))
    for source in options.sets:
        known = CueSet(source, options.data, options.work)
        for name in options.channels:
            for size in (size for size in options.sizes if size <= known.per_class):
                with silent():
                    rates = [of_channels(known, CHOICES[name], size, seed) for seed in options.seeds]
                found[source, size, name] = rates
    with silent():
        found[SAMPLE, EXAMPLES_TO_LEARN, OF_SAMPLE] = [of_sample(seed) for seed in options.seeds]
    rows = [
        record_of({"set": name, "per_class": size, "channels": channels}, "gp", "false_alarms", np.array(rates))
        for (name, size, channels), rates in found.items()
    ]
    write_results(options.json, protocol_of(options, commit_of_tree()), records=rows)
    for channels in (NETWORK, *options.channels, OF_SAMPLE):
        print(channels, *(_line(rows, channels, size) for size in options.sizes), sep="\n  ")


def _line(rows: Sequence[Mapping[str, object]], channels: str, size: int) -> str:
    """The mean over sets, the range of sets, and how far single draws lie from what was asked for."""
    some = [row for row in rows if (row["channels"], row["per_class"]) == (channels, size)]
    if not some:
        return f"{size}: none"
    means = np.array([row["mean"] for row in some], dtype=np.float64)
    draws = np.concatenate([np.array(row["values"], dtype=np.float64) for row in some])
    apart = float(np.sqrt(((draws - STATED) ** 2).mean()))
    return f"{size}: {means.mean():.3f}, sets {means.min():.3f} to {means.max():.3f}, a draw off by {apart:.3f}"


def parser() -> argparse.ArgumentParser:
    """The options."""
    folder = "the folder that holds more, caltech101 and brodatz"
    found = base_arguments("false_alarms", __doc__, folder=folder, seeds="0-9", of="draws", paper="domains")
    results = Path("experiments/results/domains/false_alarms.json")
    found.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    found.add_argument(
        "--sets", type=words_of(SOURCES), default=SOURCES, help=f"joined by commas ({','.join(SOURCES)})"
    )
    found.add_argument("--sizes", type=numbers, default=(5, 10, 15, 30, 50), help="labels per category (5,10,15,30,50)")
    several = [name for name, channels in CHOICES.items() if len(channels) > 1]
    channels = f"beside the network alone, joined by commas, of {','.join(several)} ({','.join(SEVERAL)})"
    found.add_argument("--channels", type=words_of(several), default=SEVERAL, help=channels)
    return found


if __name__ == "__main__":
    run(parser(), work)
