"""Which categories show photographs of which: crops, other sizes and mirror images included.

Of each target some of the images that take part are compared, by their points, with all images that take part of all other
categories, or with `--named` of those that share a word of their name (`fewsight.images.photographs`); and all images of all
categories with each other as wholes, mirrored or not (`fewsight.images.find_duplicates`). What is found is kept for each
target in the work folder.

python -m experiments.rodner2010.shared_photographs DATA --work FOLDER
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.command import commit_of_tree, run
from experiments.rodner2010.command import pool_arguments, pool_of
from experiments.rodner2010.grams import BACKGROUND, Pool
from fewsight._base.progress import silent, track
from fewsight._base.replacement import write_text
from fewsight.evaluation.provenance import package_version, versions
from fewsight.evaluation.results import json_text
from fewsight.images import FeatureCache, find_duplicates, image_set_from_class_folders
from fewsight.images.photographs import shared_photographs

LOOKED_AT = 15  # images of each target
RESULTS = Path("experiments/results/rodner2010/shared_photographs.json")


def namesakes(name: str, among: list[str]) -> list[str]:
    """The other categories that share a word of their name: `crocodile_head` of `crocodile`."""
    words = set(name.lower().split("_"))
    return [other for other in among if other != name and words & set(other.lower().split("_"))]


def shared_by_points(
    pool: Pool, target: str, among: list[str], looked_at: int, cache: FeatureCache
) -> list[dict[str, Any]]:
    """Pairs of an image of the target and one of these categories that show the same photograph."""
    own = np.flatnonzero(pool.labels == target)[:looked_at]
    others = np.flatnonzero(np.isin(pool.labels, among))
    images = pool.images.images
    found = shared_photographs([images[i] for i in own], [images[i] for i in others], cache=cache, n_jobs=1)
    return [
        {
            "images": [_short(images[own[match.one]].name), _short(images[others[match.other]].name)],
            "category": str(pool.labels[others[match.other]]),
            "correlation": round(match.correlation, 4),
            "mirrored": match.mirrored,
        }
        for match in found
    ]


def shared_as_wholes(data: Path, cache: FeatureCache) -> list[list[str]]:
    """Sets of whole images that are the same picture, mirrored or not, and lie in more than one category."""
    images = image_set_from_class_folders(data)
    found = find_duplicates(images.images, mirrored=True, cache=cache, n_jobs=1)
    sets = [rows for rows in found.sets if len({images.labels[i] for i in rows}) > 1]
    return [[_short(images.images[i].name) for i in rows] for rows in sets]


def _short(name: str) -> str:
    return "/".join(Path(name).parts[-2:])


def work(options: argparse.Namespace) -> None:
    """Look, print, write."""
    pool, cache = pool_of(options), FeatureCache()
    data = options.data / "caltech101" if (options.data / "caltech101").is_dir() else options.data
    found = {}
    for target in track(pool.targets, "targets", len(pool.targets)):
        everyone = [name for name in pool.images.classes if name != target]
        among = namesakes(target, everyone) if options.named else everyone
        path = options.work / "photographs" / f"{target}-{options.looked_at}{'-named' if options.named else ''}.json"
        if not path.exists():
            with silent():
                content = shared_by_points(pool, target, among, options.looked_at, cache)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, json_text(content))
        found[target] = json.loads(path.read_text())
    wholes = shared_as_wholes(data, cache)
    for target, pairs in found.items():
        for category, count in Counter(pair["category"] for pair in pairs).most_common():
            print(f"{target}: {count} pairs with {category}{' (background)' if category == BACKGROUND else ''}")
    for names in wholes:
        print("the same picture:", *names)
    content = {
        "protocol": {
            "images_of_each_target": options.looked_at,
            "compared_with": "categories that share a word of their name" if options.named else "all categories",
            "images_per_class_at_most": options.most_images,
            "command": options.command,
            "commit": commit_of_tree(),
            "fewsight": package_version(),
            "versions": versions(),
        },
        "pairs_by_points": found,
        "same_pictures_in_several_categories": wholes,
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    write_text(options.json, json_text(content))


def parser() -> argparse.ArgumentParser:
    """The options of this experiment."""
    options = pool_arguments("shared_photographs", __doc__, seeds=None)
    options.add_argument(
        "--looked-at", type=int, default=LOOKED_AT, help=f"images of each target to look at ({LOOKED_AT})"
    )
    options.add_argument(
        "--named", action="store_true", help="compare only with categories that share a word of their name"
    )
    options.add_argument("--json", type=Path, default=RESULTS, help=f"where the results go ({RESULTS})")
    return options


if __name__ == "__main__":
    run(parser(), work)
