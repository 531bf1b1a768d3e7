"""Active learning on Caltech-4: Gaussian processes and support vector machines, by every rule. [Kapoor2010, Fig. 10]

    python -m experiments.kapoor2010.fig10 DATA --work FOLDER

DATA holds caltech101 and caltech4_cars_rear. Every run starts with one label per category and asks in the pool of its draw (see
`caltech4`); accuracy is that on the test images of the draw. Runs are seeds 0-39; mode and noise were chosen on seeds 100-109.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.common.caltech4 import BLOCK, RUNS_PER_DRAW, Caltech4, caltech4, draw_of
from experiments.common.cells import standard_error
from experiments.common.command import add_outputs, base_arguments, commit_of_tree, run, words, write_figure
from experiments.kapoor2010.asking import (
    NOISES,
    Asking,
    Curves,
    Found,
    all_ways,
    at,
    difference,
    label_counts,
    records,
    summary,
)
from fewsight._base.archive import write_text
from fewsight.channels import Channel, make_channel
from fewsight.evaluation.provenance import package_version, versions
from fewsight.evaluation.results import json_text
from fewsight.images import FeatureCache

MODE, NOISE = "overall", "paper"  # chosen on seeds 100-109, by accuracy at 20 labels
EVERY = 4  # labels between two records: a round of the paper
REPORTED = [
    {"channels": "dense_pmk", "rule": "uncertainty", "labels": 120, "mean": 0.9848, "reported": True},
    {"channels": "all", "rule": "uncertainty", "labels": 20, "mean": 0.90, "approximate": True, "reported": True},
    {"channels": "all", "rule": "random", "labels": 20, "mean": 0.85, "approximate": True, "reported": True},
]


def stores(options: argparse.Namespace) -> list[Caltech4]:
    """One for each channel that the options name."""
    images = caltech4(options.data)
    return [
        Caltech4(images, channel, options.work, options.block, options.most_images, options.cars, options.tested)
        for channel in (channel_of(name, options) for name in options.channels)
    ]


def channel_of(name: str, options: argparse.Namespace) -> Channel:
    """With one size of patches where the options say so and patches have sizes."""
    channel = make_channel(name, cache=FeatureCache(), n_jobs=options.n_jobs)
    return channel.set_params(scales=(1.0,)) if options.one_patch and name != "harris_pmk" else channel


def shown_ways(mode: str, noise: str) -> dict[str, Asking]:
    """The curves of the figure, by what they are called there."""
    return {
        "GP, uncertainty": Asking("gp", "uncertainty", mode, noise),
        "GP, margin": Asking("gp", "margin", mode, noise),
        "GP, variance": Asking("gp", "variance", noise=noise),
        "GP, random": Asking("gp", "random", noise=noise),
        "SVM, margin": Asking("svm", "margin", mode),
        "SVM, random": Asking("svm", "random"),
    }


def ways_of(options: argparse.Namespace) -> list[Asking]:
    """All, or those of the figure alone."""
    return list(shown_ways(options.mode, options.noise).values()) if options.shown_only else all_ways()


def comparisons(found: Found, options: argparse.Namespace, counts: Sequence[int]) -> list[dict[str, Any]]:
    """Uncertainty against the other rules of the Gaussian process, at 20 labels and at the end."""
    ways = shown_ways(options.mode, options.noise)
    others = [way for name, way in ways.items() if name.startswith("GP") and way.rule != "uncertainty"]
    marks = sorted({min(counts, key=lambda n: abs(n - 20)), counts[-1]})
    rows = [difference(found, ways["GP, uncertainty"], other, labels) for labels in marks for other in others]
    return [{**row, **_by_draws(np.array(row["values"]), options.seeds)} for row in rows]


def _by_draws(values: Any, seeds: Sequence[int]) -> dict[str, float]:
    """The standard error where the runs of a draw count as one: they share their pool and test images."""
    draws = np.array([draw_of(seed) for seed in seeds])
    means = np.array([values[draws == draw].mean() for draw in dict.fromkeys(draws.tolist())])
    return {"standard_error_over_draws": standard_error(means)}


def draw(panels: dict[str, tuple[Found, list[int]]], options: argparse.Namespace) -> Figure:
    """A panel for each channel: accuracy over labels, with standard errors."""
    figure = Figure(figsize=(1.5 + 5.5 * len(panels), 4.8), layout="constrained")
    for axes, (channel, (found, counts)) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
    ):
        for label, way in shown_ways(options.mode, options.noise).items():
            _curve(axes, found, way, counts, label)
        axes.set(title=channel, xlabel="labels", ylabel="mean accuracy per category (%)")
        axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    return figure


def _curve(axes: Axes, found: Found, way: Asking, counts: list[int], label: str) -> None:
    values = [at(found, way, n) for n in counts]
    style = "--" if way.rule == "random" else "-"
    means, errors = [100 * v.mean() for v in values], [100 * standard_error(v) for v in values]
    axes.errorbar(counts, means, errors, label=label, linestyle=style, capsize=1.5, linewidth=1.3, elinewidth=0.8)


def print_table(channel: str, found: Found, counts: Sequence[int], compared: Sequence[dict[str, Any]]) -> None:
    """Accuracy in per cent with standard errors, then the differences in points."""
    marks = [n for n in counts if n in (20, 40, 60, counts[-1])]
    print(f"{channel}: labels {', '.join(map(str, marks))}")
    for way in dict.fromkeys(way for way, _ in found):
        values = [summary(at(found, way, n)) for n in marks]
        print(
            f"  {way.name:32}" + "".join(f"{100 * v['mean']:8.2f} ± {100 * v['standard_error']:4.2f}" for v in values)
        )
    for row in compared:
        errors = f"± {100 * row['standard_error']:.2f} (over draws {100 * row['standard_error_over_draws']:.2f})"
        print(f"  {row['labels']:4} labels: {row['ours']} - {row['theirs']}: {100 * row['mean']:+.2f} {errors}")


def protocol(options: argparse.Namespace, made: Sequence[Caltech4]) -> dict[str, Any]:
    """What is needed to repeat it."""
    images = made[0].images
    pool, test = made[0].split(draw_of(options.seeds[0]))
    return {
        "seeds": list(options.seeds),
        "repeats": len(options.seeds),
        "runs_per_draw": RUNS_PER_DRAW,
        "tested": options.tested,
        "cars_halved_by": options.cars,
        "block_of_car_frames": options.block,
        "start_per_class": 1,
        "n_images": len(images.images),
        "n_pool": len(pool),
        "n_test": len(test),
        "classes": {label: list(images.labels).count(label) for label in images.classes},
        "mode": options.mode,
        "noise": {"shown": options.noise, **NOISES},
        "chosen_on_seeds": "100-109",
        "channels": {store.channel.name: store.settings for store in made},
        "learners": {way.name: way.settings()["estimator"] for way in ways_of(options)},
        "command": options.command,
        "commit": commit_of_tree(),
        "fewsight": package_version(),
        "versions": versions(),
    }


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    made, rows, compared, panels = stores(options), [], [], {}
    for store in made:
        name = store.channel.name
        found = Curves(store, ways_of(options), options.seeds, options.labels).fill()
        counts = label_counts(found, EVERY)
        differences = comparisons(found, options, counts)
        print_table(name, found, counts, differences)
        rows += records(found, name, counts)
        compared += [{"channels": name, **row} for row in differences]
        panels[name] = found, counts
    content = {"protocol": protocol(options, made), "records": rows, "comparisons": compared, "paper": REPORTED}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    write_text(options.json, json_text(content))
    write_figure(draw(panels, options), options.figure)


def asking_arguments(name: str, description: str | None) -> argparse.ArgumentParser:
    """The options of the commands on Caltech-4."""
    folder = "the folder that holds caltech101 and caltech4_cars_rear"
    options = base_arguments(name, description, folder=folder, seeds="0-39", of="runs")
    options.add_argument("--channels", type=words, default=("dense_pmk",), help="joined by commas (dense_pmk)")
    options.add_argument("--labels", type=int, default=120, help="at the end of a run (120)")
    options.add_argument("--block", type=int, default=BLOCK, help=f"car frames that stay on one side ({BLOCK})")
    options.add_argument(
        "--cars", choices=("blocks", "twins"), default="blocks", help="what of the cars stays on one side (blocks)"
    )
    options.add_argument(
        "--tested",
        choices=("half", "rest"),
        default="half",
        help="on a half that is kept back, or on all without a label",
    )
    options.add_argument("--one-patch", action="store_true", help="one size of patches, as in the paper, not three")
    options.add_argument("--most-images", type=int, help="of a category that take part; all unless given")
    options.add_argument("--mode", choices=("each", "overall"), default=MODE, help=f"that is compared ({MODE})")
    options.add_argument("--noise", choices=sorted(NOISES), default=NOISE, help=f"that is compared ({NOISE})")
    options.add_argument(
        "--n-jobs", type=int, default=-1, help="images worked on at the same time (-1: all processors)"
    )
    options.set_defaults(sizes=(), shown_only=False)
    return options


def parser() -> argparse.ArgumentParser:
    """The options of this figure."""
    options = asking_arguments("fig10", __doc__)
    options.add_argument("--shown-only", action="store_true", help="leave out modes and noises that are not compared")
    add_outputs(options, "fig10")
    return options


if __name__ == "__main__":
    run(parser(), work)
