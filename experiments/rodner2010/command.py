"""What the commands share: options, the images, and the file of results."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from experiments.common.command import base_arguments, commit_of_tree, numbers, words
from experiments.rodner2010.grams import FIT_IMAGES, MOST_IMAGES, Pool, drawn, without_copies
from experiments.rodner2010.measuring import SENSES
from experiments.rodner2010.tasks import Sizes
from fewsight._base.replacement import write_text
from fewsight.channels import make_channel
from fewsight.evaluation.provenance import package_version, versions
from fewsight.evaluation.results import json_text
from fewsight.images import FeatureCache, image_set_from_class_folders

CHANNELS = ("phog",)


def pool_arguments(
    name: str, description: str | None, *, seeds: str | None, paper: str = "rodner2010"
) -> argparse.ArgumentParser:
    """The options of every command that looks at these images."""
    folder = (
        "the folder of Caltech-101's category folders with BACKGROUND_Google, or the one that holds it as caltech101"
    )
    parser = base_arguments(name, description, folder=folder, seeds=seeds, of="splits", paper=paper)
    parser.set_defaults(channels=CHANNELS)
    parser.add_argument(
        "--most-images", type=int, default=MOST_IMAGES, help=f"of a category that take part ({MOST_IMAGES})"
    )
    parser.add_argument(
        "--n-jobs", type=int, default=-1, help="images worked on at the same time; -1: as many as processors"
    )
    return parser


def arguments(
    name: str, description: str | None, *, seeds: str | None, sizes: str | None = None
) -> argparse.ArgumentParser:
    """As `pool_arguments`, for commands that may see the images by other channels; without sizes, one example is learned."""
    parser = pool_arguments(name, description, seeds=seeds)
    default = ",".join(CHANNELS)
    parser.add_argument("--channels", type=words, default=CHANNELS, help=f"joined by commas; their average ({default})")
    if sizes is None:
        parser.set_defaults(sizes=(1,))
    else:
        parser.add_argument("--sizes", type=numbers, default=numbers(sizes), help=f"examples of the target ({sizes})")
    return parser


def add_outputs(parser: argparse.ArgumentParser, name: str) -> None:
    """Where results and figure go."""
    results, figure = Path(f"experiments/results/rodner2010/{name}.json"), Path(f"docs/images/rodner2010_{name}.png")
    parser.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    parser.add_argument("--figure", type=Path, default=figure, help=f"where the figure goes ({figure})")


def pool_of(options: argparse.Namespace) -> Pool:
    """The images and channels that the options name."""
    data: Path = options.data
    images = image_set_from_class_folders(data / "caltech101" if (data / "caltech101").is_dir() else data)
    cache = FeatureCache()
    channels = {name: make_channel(name, cache=cache, n_jobs=options.n_jobs) for name in options.channels}
    return Pool(without_copies(drawn(images, options.most_images), cache, options.n_jobs), channels, options.work)


def write_results(
    options: argparse.Namespace, pool: Pool, records: list[dict[str, Any]], sizes: Sizes | None = None, **more: Any
) -> None:
    """The file of results: what is needed to repeat it, the records, and what more a figure has to say."""
    sizes = sizes or Sizes()
    protocol = {
        "targets": pool.targets,
        "seeds": list(options.seeds),
        "per_class": list(options.sizes),
        "support_images": sizes.support,
        "background_images": sizes.background,
        "kept_out_of_the_test": sizes.most,
        "images_per_class_at_most": options.most_images,
        "images_per_class_to_fit_channels_on": FIT_IMAGES,
        "senses": SENSES,
        "command": options.command,
        "commit": commit_of_tree(),
        "channels": pool.settings,
        "fewsight": package_version(),
        "versions": versions(),
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    write_text(options.json, json_text({"protocol": protocol, "records": records, **more}))
