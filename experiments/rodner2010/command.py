"""What the commands share: options and the images."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.kapoor2010.command import base_arguments, words
from experiments.rodner2010.grams import MOST_IMAGES, Pool, drawn
from fewsight.channels import make_channel
from fewsight.images import FeatureCache, image_set_from_class_folders

CHANNELS = ("phog", "opponent_sift")


def arguments(name: str, description: str | None, *, seeds: str) -> argparse.ArgumentParser:
    """The options of every command here."""
    folder = (
        "the folder of Caltech-101's category folders with BACKGROUND_Google, or the one that holds it as caltech101"
    )
    parser = base_arguments(name, description, folder=folder, seeds=seeds, of="splits", paper="rodner2010")
    default = ",".join(CHANNELS)
    parser.add_argument("--channels", type=words, default=CHANNELS, help=f"joined by commas ({default})")
    parser.add_argument(
        "--most-images", type=int, default=MOST_IMAGES, help=f"of a category that take part ({MOST_IMAGES})"
    )
    parser.add_argument(
        "--n-jobs", type=int, default=1, help="images worked on at the same time; -1: as many as processors"
    )
    return parser


def pool_of(options: argparse.Namespace) -> Pool:
    """The images and channels that the options name."""
    data: Path = options.data
    images = image_set_from_class_folders(data / "caltech101" if (data / "caltech101").is_dir() else data)
    cache = FeatureCache()
    channels = {name: make_channel(name, cache=cache, n_jobs=options.n_jobs) for name in options.channels}
    return Pool(drawn(images, options.most_images), channels, options.work)
