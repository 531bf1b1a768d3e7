"""What the experiments on judging share: simulated runs, kept in the work folder one by one, options, the file of results."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.active.pools import POOLS, Source, VectorSource, source
from experiments.common.command import base_arguments, commit_of_tree, words
from experiments.kapoor2010.asking import summary
from fewsight._base.archive import pack
from fewsight._base.progress import silent, track
from fewsight._base.replacement import write_text
from fewsight.active import ActiveLearner, GramPool
from fewsight.evaluation.provenance import package_version, settings_of, versions
from fewsight.evaluation.results import json_text
from fewsight.images.hashing import hash_of
from fewsight.learners import GPClassifier

Run = dict[str, Any]  # what one run found


@dataclass(frozen=True)
class Experiment:
    """One claim: what a run does, and what is asked of it. `settings` is all that decides what a run finds."""

    name: str
    run: Callable[[Any, int], Run]  # of a source and a seed
    settings: dict[str, Any]

    def runs(self, where: Source | VectorSource, seeds: Sequence[int], work: Path) -> list[Run]:
        """One for each seed; what is there is not computed again."""
        settings = {**self.settings, "learner": settings_of(new_learner(0)), "channel": where.channel}
        folder = work / "active" / self.name / f"{where.name}-{hash_of(pack(settings))[:12]}"
        missing = [seed for seed in seeds if not (folder / f"seed{seed}.json").exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for seed in track(missing, f"{self.name}: {where.name}", len(missing)):
            with silent():
                found = self.run(where, seed)
            write_text(folder / f"seed{seed}.json", json_text(found))
        return [json.loads((folder / f"seed{seed}.json").read_text()) for seed in seeds]


def new_learner(seed: int, rule: str = "uncertainty") -> ActiveLearner:
    """As a user gets it: noise by the evidence, every fifth question a check."""
    return ActiveLearner(GPClassifier("precomputed"), rule, random_state=seed)


def answer(active: ActiveLearner, told: Any) -> None:
    """One question and its answer."""
    query = active.query()
    active.teach(query.indices, told[query.indices])


def right(active: ActiveLearner, truth: Any, where: Any) -> float:
    """The share of right decisions among some examples."""
    decisions = np.array(active.view_.classes)[active.view_.decisions()[where]]
    return float(np.mean(decisions == truth[where]))


def fitted(active: ActiveLearner, K: Any, **options: Any) -> ActiveLearner:
    """On a pool whose Gram matrix was checked when it was made."""
    return active.fit(GramPool(K), **options)


def record(where: Source | VectorSource, metric: str, values: Sequence[float], **more: Any) -> dict[str, Any]:
    """In the shape of `fewsight evaluate --json`."""
    head = {"data": where.name, "channels": where.channel, "learner": "gp", "combine": "none", "rule": "uncertainty"}
    numbers = np.array(values, dtype=np.float64)
    return {**head, **more, "metric": metric, **summary(numbers), "values": numbers.round(6).tolist()}


def work_of(
    experiment: Experiment, describe: Callable[[Any, list[Run]], list[dict[str, Any]]]
) -> Callable[[argparse.Namespace], None]:
    """The command: run, print, write."""

    def work(options: argparse.Namespace) -> None:
        rows: list[dict[str, Any]] = []
        for name in options.pools:
            where = source(name, options)
            rows += describe(where, experiment.runs(where, options.seeds, options.work))
        for row in rows:
            at = f" at {row['labels']} labels" if "labels" in row else ""
            print(f"{row['data']}, {row['rule']}, {row['metric']}{at}: {row['mean']:.4g} ± {row['standard_error']:.2g}")
        options.json.parent.mkdir(parents=True, exist_ok=True)
        write_text(options.json, json_text({"protocol": _protocol(experiment, options), "records": rows}))

    return work


def parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """The options of the commands."""
    folder = "the folder that holds caltech101 and caltech4_cars_rear"
    options = base_arguments(name, description, folder=folder, seeds="0-99", of="runs", paper="active")
    options.add_argument("--pools", type=words, default=POOLS, help=f"joined by commas ({','.join(POOLS)})")
    options.add_argument("--channel", default="dense_pmk", help="that compares images (dense_pmk)")
    options.add_argument(
        "--n-jobs", type=int, default=-1, help="images worked on at the same time (-1: all processors)"
    )
    results = Path(f"experiments/results/active/{name}.json")
    options.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    return options


def _protocol(experiment: Experiment, options: argparse.Namespace) -> dict[str, Any]:
    return {
        "seeds": list(options.seeds),
        "repeats": len(options.seeds),
        "settings": experiment.settings,
        "learner": settings_of(new_learner(0)),
        "chosen_on_seeds": "100-199",
        "command": options.command,
        "commit": commit_of_tree(),
        "fewsight": package_version(),
        "versions": versions(),
    }
