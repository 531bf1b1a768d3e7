"""Learning from many images with `pretrained` and `spatial_pmk`: time of each stage, memory, loss beside the exact GP.

`photographs`: images of Caltech-101 drawn at random, tested on all others, by `sparse_gp` and by `gp`. `crops`: a folder that
`experiments.scale.crops` made, tested on the photographs that it left alone. `whole`: all 9,144 images, the background as a
category too, which leaves none to test on. Each cell runs in a process of its own and is kept in the work folder, so that a
command that was stopped goes on where it was.

Stages are processor seconds, each without what others inside it take: opening images and looking for copies; describing,
encoding, and learning what the encoding needs (a codebook), for each channel; and the model, which is all else. Describing is
quick where a cache has local features already: set FEWSIGHT_CACHE to an empty folder to see what it takes.

    python -m experiments.scale.learn DATA --work FOLDER --photographs 5000
    python -m experiments.scale.learn DATA --work FOLDER --crops FOLDER2 --learners sparse_gp \\
      --json experiments/results/scale/learn_crops.json
    python -m experiments.scale.learn DATA --work FOLDER --whole --learners histogram_gp --channels spatial_pmk \\
      --json experiments/results/scale/learn_whole_histograms.json
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from experiments.common.command import images_of
from experiments.scale.result_file import checked, parser, peak_gigabytes, write
from fewsight._base.progress import reporting
from fewsight.apps.workbench import learn
from fewsight.channels import Channel, make_channel
from fewsight.images import FeatureCache, ImageFile, ImageSet, image_set_from_class_folders
from fewsight.learners import Learner
from fewsight.learners.histograms import input as histogram_input
from fewsight.metrics import log_loss
from fewsight.persistence import save

MOST_TESTS = 1_500  # images, drawn at random from all that may be used
BATCH = 256
MODEL = "the model"
CHANNEL_STAGES = {"_features_of": "describing", "_encoding_of": "encoding", "fit": "learning the encoding"}
OPENING = ("opening images", "looking for")


class Stages:
    """Processor seconds of each stage, without those of stages inside it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inside: list[str] = [MODEL]
        self._since = time.process_time()

    @contextlib.contextmanager
    def of(self, name: str) -> Iterator[None]:
        """What runs inside the block is this stage."""
        self._turn()
        self._inside.append(name)
        try:
            yield
        finally:
            self._turn()
            self._inside.pop()

    def _turn(self) -> None:
        now, name = time.process_time(), self._inside[-1]
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Channels, and progress about images that are opened, tell their stages inside the block."""
        with contextlib.ExitStack() as stack:
            for method, what in CHANNEL_STAGES.items():
                stack.enter_context(mock.patch.object(Channel, method, self._told(getattr(Channel, method), what)))
            stack.enter_context(reporting(self._track))
            yield
            self._turn()

    def _told(self, method: Callable[..., Any], what: str) -> Callable[..., Any]:
        def told(channel: Channel, *words: Any, **options: Any) -> Any:
            with self.of(f"{channel.name}: {what}"):
                return method(channel, *words, **options)

        return told

    def _track(self, items: Iterable[Any], what: str, total: int) -> Iterator[Any]:
        if not what.startswith(OPENING):
            yield from items
            return
        with self.of("opening images, copies"):
            yield from items


def sets_of(options: argparse.Namespace) -> tuple[ImageSet, ImageSet]:
    """Images to learn from and to ask about."""
    rng = np.random.default_rng(options.seed)
    if options.whole:
        folder = options.data / "caltech101"
        images = image_set_from_class_folders(folder if folder.is_dir() else options.data)
        return images, images.select([])
    if options.crops is not None:
        with (options.crops / "tests.csv").open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        tests = ImageSet([ImageFile(row["file"]) for row in rows], [row["category"] for row in rows])
        train = image_set_from_class_folders(options.crops / "images")
    else:
        images = images_of(options.data)
        order = rng.permutation(len(images))
        train = images.select(np.sort(order[: options.photographs]))
        tests = images.select(np.sort(order[options.photographs :]))
    return train, tests.select(np.sort(rng.permutation(len(tests))[:MOST_TESTS]))


def cell(options: argparse.Namespace, learner: str) -> dict[str, Any]:
    """One learner, in this process."""
    train, tests = sets_of(options)
    cache = FeatureCache()
    channels = [make_channel(name, cache=cache, n_jobs=1) for name in options.channels]
    stages, start, wall = Stages(), time.process_time(), time.perf_counter()
    with stages.watched(), mock.patch.object(histogram_input, "FITTED_ON", options.fitted_on):
        learned = learn(train, channels, learner=learner)
    seconds = time.process_time() - start
    clock = time.perf_counter() - wall
    model, peak = learned.model, peak_gigabytes()
    tests = tests.select(np.flatnonzero(np.isin(tests.labels, model.classes_)))
    start = time.process_time()
    save(model, options.work / f"{learner}.fewsight")
    saving = time.process_time() - start
    return {
        "learner": learner,
        "images": sum(learned.counts.values()),
        "categories": len(learned.counts),
        "tests": len(tests),
        "processor_seconds": seconds,
        "wall_seconds": clock,
        "stages": stages.seconds,
        "milliseconds_per_image": 1e3 * seconds / len(train),
        "stage_milliseconds_per_image": {name: 1e3 * each / len(train) for name, each in stages.seconds.items()},
        "saving_seconds": saving,
        "peak_gigabytes": peak,
        "shares": learned.shares,
        **(quality(model, tests) if len(tests) else {}),
    }


def quality(model: Learner, tests: ImageSet) -> dict[str, float]:
    """Of what a model says about images that it has not seen."""
    batches = [tests.images[at : at + BATCH] for at in range(0, len(tests), BATCH)]
    probabilities = np.concatenate([model.predict_proba(batch) for batch in batches])
    right = model.classes_[probabilities.argmax(axis=1)] == tests.labels
    recalls = [right[tests.labels == name].mean() for name in np.unique(tests.labels)]
    return {
        "accuracy": float(right.mean()),
        "mean_accuracy_of_categories": float(np.mean(recalls)),
        "log_loss": float(log_loss(tests.labels, probabilities, model.classes_)),
    }


def kept(options: argparse.Namespace, learner: str) -> dict[str, Any]:
    """From the work folder, or by a process of its own."""
    source = f"photographs{options.photographs}" if options.crops is None else f"crops_{options.crops.name}"
    source = "whole" if options.whole else source
    if options.fitted_on != histogram_input.FITTED_ON:
        source += f"_fitted_on{options.fitted_on}"
    path = options.work / f"{learner}_{source}_{'_'.join(options.channels)}_{options.seed}.json"
    if not path.exists():
        words = [word for word in sys.argv[1:] if word != "--only"]
        command = [sys.executable, "-m", "experiments.scale.learn", *words, "--only", learner]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        path.write_text(done.stdout.splitlines()[-1])
    found: dict[str, Any] = json.loads(path.read_text())
    return {"source": source, **found}


def main() -> None:
    made = parser(__doc__ or "", "learn.json")
    made.add_argument("data", type=Path)
    made.add_argument("--work", type=Path, required=True)
    made.add_argument("--photographs", type=int, default=5_000)
    made.add_argument("--crops", type=Path)
    made.add_argument("--whole", action="store_true", help="all images of Caltech-101, none to test on")
    made.add_argument("--learners", nargs="+", default=["sparse_gp", "gp"])
    made.add_argument("--channels", nargs="+", default=["pretrained", "spatial_pmk"])
    made.add_argument("--seed", type=int, default=0)
    usual = histogram_input.FITTED_ON
    made.add_argument(
        "--fitted-on", type=int, default=usual, help=f"images histogram_gp's codebook is made from ({usual})"
    )
    made.add_argument("--only", help="one learner, in this process, to standard output")
    options = made.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.only:
        print(json.dumps(cell(options, options.only)))
        return
    checked(options)
    records = []
    for learner in options.learners:
        records.append(kept(options, learner))
        print(records[-1], flush=True)
    write(options.json, {"channels": options.channels, "seed": options.seed, "fitted_on": options.fitted_on}, records)


if __name__ == "__main__":
    main()
