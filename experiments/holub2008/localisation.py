"""Are the parts on the object? Parts of a model of car_side and of airplanes against the annotated boxes. [Holub2008, Fig. 5]

A model is learned from half of the annotated images, and its parts are looked for in the others. Beside it: detected points drawn
at random, as many as there are parts.

    python -m experiments.holub2008.localisation DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from experiments.common.command import base_arguments, run, words
from experiments.holub2008.table1 import channel_of
from experiments.rodner2012.results import kept, record, write_results
from fewsight._base.progress import silent, track
from fewsight._base.types import Array
from fewsight.evaluation import parts_figure
from fewsight.evaluation.provenance import settings_of
from fewsight.images import FeatureCache, Image, images_in

CATEGORIES = ("car_side", "airplanes")
# Chosen on seed 100.
MODEL = {"models": "one", "n_parts": 5, "max_points": 40, "smallest": 6.0, "n_components": 10, "n_starts": 10}
MOST = 200  # images of a category


def annotated(data: Path, category: str) -> tuple[list[Image], Array]:
    """Images and their boxes (n, 4): left, right, top and bottom as fractions of width and height."""
    folder = data / "caltech101_annotations" / category
    images, boxes = [], []
    for image in images_in(data / "caltech101" / category).images:
        number = Path(image.name).stem.removeprefix("image_")
        path = folder / f"annotation_{number}.mat"
        if path.exists() and len(images) < MOST:
            top, bottom, left, right = loadmat(path)["box_coord"].ravel().astype(float)
            height, width = image.pixels().shape[:2]
            images.append(image)
            boxes.append([left / width, right / width, top / height, bottom / height])
    return images, np.array(boxes)


def inside(places: Array, box: Array) -> Array:
    """Whether places (n, 2) are in a box."""
    x, y = places.T
    return (x >= box[0]) & (x <= box[1]) & (y >= box[2]) & (y <= box[3])


def cell(data: Path, cache: FeatureCache, category: str, detector: str, clutter: bool, seed: int) -> dict[str, float]:
    """Shares of parts and of random points that are inside the box, on images that nothing was learned from."""
    images, boxes = annotated(data, category)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(images))
    train, test = order[: len(order) // 2], order[len(order) // 2 :]
    channel = channel_of(detector, cache, clutter=clutter, random_state=seed, **MODEL)
    channel.fit([images[i] for i in train])
    found = channel.localise([images[i] for i in test])
    features = channel.local_features([images[i] for i in test])
    parts = np.concatenate([inside(each[:, :2], boxes[i]) for each, i in zip(found, test, strict=True)])
    points = [inside(each.locations.astype(float), boxes[i]).mean() for each, i in zip(features, test, strict=True)]
    return {"parts": float(parts.mean()), "random points": float(np.mean(points))}


def work(options: argparse.Namespace) -> None:
    """All draws, the file of results and a picture of parts."""
    cache, records = FeatureCache(options.work / "features"), []
    places = [(c, d, k) for c in options.categories for d in options.detectors for k in (True, False)]
    for category, detector, clutter in track(places, "models", len(places)):
        cells = []
        settings = settings_of(channel_of(detector, cache, clutter=clutter, **MODEL))
        for seed in options.seeds:
            named = {"category": category, "seed": seed, "most": MOST, "channel": settings}
            with silent():
                cells.append(
                    kept(
                        options.work,
                        "localisation",
                        named,
                        lambda c=category, d=detector, k=clutter, s=seed: cell(options.data, cache, c, d, k, s),
                    )
                )
        head = {"category": category, "detector": detector, "clutter": clutter, "control": "none"}
        for method, name in (("generative", "parts"), ("random", "random points")):
            records.append(record({**head, "method": method}, "inside the box", [each[name] for each in cells]))
            print(f"{category:10} {detector:8} {clutter!s:6} {name:14} {100 * records[-1]['mean']:.1f}", flush=True)
    write_results(options, records, protocol={"model": MODEL, "most_images": MOST})
    images, _ = annotated(options.data, options.categories[0])
    channel = channel_of(options.detectors[0], cache, **MODEL).fit(images[::2])
    options.figure.parent.mkdir(parents=True, exist_ok=True)
    parts_figure(channel, images[1:16:2]).savefig(options.figure, dpi=90)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    folder = "the folder that holds caltech101 and caltech101_annotations"
    made = base_arguments("localisation", __doc__, folder=folder, seeds="0-4", of="draws", paper="holub2008")
    results, figure = Path("experiments/results/holub2008/localisation.json"), Path("docs/images/holub2008_parts.png")
    made.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    made.add_argument("--figure", type=Path, default=figure, help=f"where the picture of parts goes ({figure})")
    made.add_argument("--categories", type=words, default=CATEGORIES, help="joined by commas")
    made.add_argument("--detectors", type=words, default=("kb",), help="joined by commas (kb)")
    return made


if __name__ == "__main__":
    run(parser(), work)
