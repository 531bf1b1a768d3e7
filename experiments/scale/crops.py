"""A large folder of photographs from a small one: crops and mirror images of training photographs, never of those kept for tests.

Each picture is a random part, 70 to 100 % of either side, of a photograph of Caltech-101, mirrored or not: a folder of class
folders for `fewsight learn`. With `--longest` a picture whose longer side has more pixels is made smaller, which saves time in
describing it. The photographs that are left for tests are listed in a table (file, category) beside it, as they are.

    python -m experiments.scale.crops DATA FOLDER --images 50000 --longest 200
    fewsight learn FOLDER/images --channels pretrained,spatial_pmk -o model.fewsight
"""

from __future__ import annotations

import argparse
import csv
import itertools
from pathlib import Path

import numpy as np
from PIL import Image as Pillow

from experiments.common.command import images_of
from fewsight._base.progress import track
from fewsight.apps.cli.console import progress_bars
from fewsight.images import ImageFile

TEST_PER_CLASS = 15
LEAST_SIDE = 0.7


def crop(path: str, rng: np.random.Generator, longest: int) -> Pillow.Image:
    """A part of a photograph, mirrored or not, whose sides are no longer."""
    with Pillow.open(path) as opened:
        photograph = opened.convert("RGB")
    sides = np.array(photograph.size)
    size = np.maximum(np.ceil(sides * rng.uniform(LEAST_SIDE, 1.0, 2)), 1).astype(int)
    corner = rng.integers(0, sides - size + 1)
    part = photograph.crop((*corner.tolist(), *(corner + size).tolist()))
    part.thumbnail((longest, longest))
    return part.transpose(Pillow.Transpose.FLIP_LEFT_RIGHT) if rng.random() < 0.5 else part


def make(data: Path, folder: Path, n_images: int, longest: int, seed: int) -> None:
    """Write the pictures, as many of each photograph as of any other, and the table of tests."""
    images, rng = images_of(data), np.random.default_rng(seed)
    order = rng.permutation(len(images))
    turn = {category: itertools.count() for category in images.classes}
    tests = [place for place in order if next(turn[images.labels[place]]) < TEST_PER_CLASS]
    training = np.setdiff1d(order, tests)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "tests.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["file", "category"])
        table.writerows([_path(images.images[place]), images.labels[place]] for place in sorted(tests))
    places = np.resize(rng.permutation(training), n_images)
    for number, place in enumerate(track(places, "pictures", n_images)):
        target = folder / "images" / str(images.labels[place])
        target.mkdir(parents=True, exist_ok=True)
        own = np.random.default_rng([seed, number])
        crop(_path(images.images[place]), own, longest).save(target / f"{number:06d}.jpg", quality=92)


def _path(image: object) -> str:
    assert isinstance(image, ImageFile)
    return image.path


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("data", type=Path)
    made.add_argument("folder", type=Path)
    made.add_argument("--images", type=int, default=50_000)
    made.add_argument("--longest", type=int, default=10_000, help="pixels of the longer side, at most")
    made.add_argument("--seed", type=int, default=0)
    options = made.parse_args()
    with progress_bars():
        make(options.data, options.folder, options.images, options.longest, options.seed)


if __name__ == "__main__":
    main()
