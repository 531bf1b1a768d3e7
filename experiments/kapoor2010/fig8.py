"""What five active questions gain over five random ones, for each category against all others. [Kapoor2010, Fig. 8]

    python -m experiments.kapoor2010.fig8 DATA --work FOLDER

`--seeds` are the validation sets, 0-99 as in the paper; see `binary`. Fig. 9 draws some of the same runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.common.command import add_outputs, base_arguments, commit_of_tree, run, write_figure
from experiments.kapoor2010.asking import PAPER_NOISE, summary
from experiments.kapoor2010.binary import RULES, Binary, Found, complete, curve, gains
from fewsight._base.archive import write_text
from fewsight.channels import make_channel
from fewsight.evaluation.provenance import package_version, settings_of, versions
from fewsight.evaluation.results import json_text
from fewsight.images import FeatureCache


def problems(options: argparse.Namespace) -> Binary:
    """All that the options name."""
    channel = make_channel(options.channel, cache=FeatureCache(), n_jobs=options.n_jobs)
    return Binary(complete(options.data), channel, options.work, options.queries, options.test_per_class)


def record(problem: Binary, category: str, rule: str, n_queries: int, metric: str, values: Any) -> dict[str, Any]:
    """In the shape of `fewsight evaluate --json`."""
    head = {"channels": problem.channel.name, "learner": "gp", "combine": "none", "rule": rule, "category": category}
    return {
        **head,
        "labels": 2 + n_queries,
        "metric": metric,
        **summary(values),
        "values": values.round(6).tolist(),
    }


def records(problem: Binary, found: dict[int, Found], asked: int) -> list[dict[str, Any]]:
    """Accuracy of both rules and the gain, for every category."""
    rows = []
    for category in problem.classes:
        accuracies = {rule: curve(found, category, rule)[:, asked] for rule in RULES}
        rows += [record(problem, category, rule, asked, "accuracy", values) for rule, values in accuracies.items()]
        rows.append(record(problem, category, RULES[0], asked, "gain", gains(found, category, asked)))
    return rows


def overview(problem: Binary, found: dict[int, Found], asked: int) -> dict[str, Any]:
    """For how many categories the mean gain is positive, and by how much on average over categories."""
    each = np.array([gains(found, category, asked) for category in problem.classes])  # (categories, sets)
    means = each.mean(axis=1)
    return {
        "questions": asked,
        "categories": len(means),
        "positive": int((means > 0).sum()),
        "mean_gain": summary(each.mean(axis=0)),  # over validation sets
        "least": [problem.classes[int(means.argmin())], float(means.min())],
        "most": [problem.classes[int(means.argmax())], float(means.max())],
    }


def draw(problem: Binary, found: dict[int, Found], asked: int) -> Figure:
    """A bar for each category, in the order of gains, with standard errors."""
    each = [summary(gains(found, category, asked)) for category in problem.classes]
    order = np.argsort([-row["mean"] for row in each])
    figure = Figure(figsize=(15, 4.8), layout="constrained")
    axes = figure.add_subplot()
    means, errors = ([100 * each[i][key] for i in order] for key in ("mean", "standard_error"))
    axes.bar(range(len(order)), means, yerr=errors, error_kw={"elinewidth": 0.7})
    axes.set_xticks(range(len(order)), [problem.classes[i] for i in order], rotation=90, fontsize=6)
    axes.set(ylabel=f"gain over random after {asked} questions (points)")
    axes.grid(alpha=0.3, axis="y")
    return figure


def protocol(options: argparse.Namespace, problem: Binary) -> dict[str, Any]:
    """What is needed to repeat it."""
    return {
        "seeds": list(options.seeds),
        "repeats": len(options.seeds),
        "test_per_class": options.test_per_class,
        "start_per_class": 1,
        "noise_variance": PAPER_NOISE,
        "n_images": len(problem.members),
        "classes": problem.classes,
        "channels": {problem.channel.name: settings_of(problem.channel)},
        "fitted_on": "background images",
        "command": options.command,
        "commit": commit_of_tree(),
        "fewsight": package_version(),
        "versions": versions(),
    }


def write(options: argparse.Namespace, problem: Binary, rows: Sequence[dict[str, Any]], **more: Any) -> None:
    """The file of results."""
    options.json.parent.mkdir(parents=True, exist_ok=True)
    content = {"protocol": protocol(options, problem), "records": list(rows), **more}
    write_text(options.json, json_text(content))


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    problem = problems(options)
    found, asked = problem.runs(options.seeds), min(5, options.queries)
    seen = overview(problem, found, asked)
    gain = seen["mean_gain"]
    print(f"after {asked} questions: gain positive for {seen['positive']} of {seen['categories']} categories")
    print(f"mean gain {100 * gain['mean']:+.2f} ± {100 * gain['standard_error']:.2f} points")
    write(options, problem, records(problem, found, asked), overview=seen)
    write_figure(draw(problem, found, asked), options.figure)


def binary_arguments(name: str, description: str | None) -> argparse.ArgumentParser:
    """The options of the commands on the 101 problems."""
    folder = "the folder of Caltech-101 with its background, or the one that holds it as caltech101"
    options = base_arguments(name, description, folder=folder, seeds="0-99", of="validation sets")
    options.add_argument("--channel", default="dense_pmk", help="the kernel (dense_pmk)")
    options.add_argument("--queries", type=int, default=20, help="questions of a run (20)")
    options.add_argument("--test-per-class", type=int, default=10, help="images of each in a validation set (10)")
    options.add_argument(
        "--n-jobs", type=int, default=-1, help="images worked on at the same time (-1: all processors)"
    )
    options.set_defaults(sizes=())
    add_outputs(options, name)
    return options


def parser() -> argparse.ArgumentParser:
    """The options of this figure."""
    return binary_arguments("fig8", __doc__)


if __name__ == "__main__":
    run(parser(), work)
