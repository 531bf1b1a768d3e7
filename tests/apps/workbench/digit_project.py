"""Projects of digits: their images count as read, and the cache has their encodings, as a session leaves both.

Nothing is decoded, so that a session over hundreds of them opens at once; scanning, learning and asking are the real ones.
"""

from __future__ import annotations

import os
from functools import cache as cached
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from fewsight._base.encodings import SparseRows
from fewsight._base.types import State
from fewsight.apps.workbench.feature_supply import SETTING, FeatureSupply
from fewsight.apps.workbench.fitted_channels import write_channels
from fewsight.apps.workbench.project import ProjectFile
from fewsight.apps.workbench.project.catalogue import Reading, known_files, record
from fewsight.apps.workbench.scan import scan
from fewsight.apps.workbench.stored_image import StoredImage
from fewsight.channels import Channel, make_channel
from fewsight.images import FeatureCache, ImageArray
from fewsight.images.hashing import hash_of

PAGE = "0123456789abcdef"
OTHER_PAGE = "fedcba9876543210"
CHANNELS = ["colour"]


def known_project(folder: Path, n: int) -> list[str]:
    """A folder of n files whose project has read them; the hashes of their contents, by name."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(n):
        path = folder / f"{number:04}.png"
        path.write_bytes(number.to_bytes(4, "big"))
        os.utime(path, (1_600_000_000, 1_600_000_000))
    with ProjectFile(folder / "fewsight.sqlite") as project:
        scan(project, folder)
        rows = [
            Reading(
                path, file.stamp, hash_of((folder / os.fsdecode(path)).read_bytes()), None, 8, 8, read_at_ns=2 * 10**18
            )
            for path, file in known_files(project).items()
        ]
        record(project, rows)
    return [str(row.hash) for row in rows]


def digit_project(folder: Path, cache: Path, n: int) -> dict[str, str]:
    """The same with features: image n is the n-th digit. What each image shows, by its hash."""
    images = known_project(folder, n)
    pixels, digits = load_digits(return_X_y=True)
    kept = FeatureCache(cache, 2**30)
    channel = _fitted()
    channel.set_workplace(cache=kept, n_jobs=1)
    with ProjectFile(folder / "fewsight.sqlite") as project:
        project.set(SETTING, {"channels": CHANNELS, "seed": 0, "images": images[:200]})
        supply = FeatureSupply(project, kept, lambda: None, channels=CHANNELS, seed=0)
        supply.fitted = supply._file(images[:200])
        supply.fitted.parent.mkdir(parents=True, exist_ok=True)
        write_channels(supply.fitted, [channel])
        supply.keep_order(images)
    for image, row in zip(images, pixels, strict=False):
        columns = np.flatnonzero(row)
        entry = SparseRows.entry(columns, row[columns] / row.sum())
        kept.put(channel._encoding_key(StoredImage(image)), State({}, dict(entry)))
    return {image: f"digit {digit}" for image, digit in zip(images, digits, strict=False)}


@cached
def _fitted() -> Channel:
    rng = np.random.default_rng(0)
    arrays = [ImageArray(rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)) for _ in range(4)]
    return make_channel("colour").fit(arrays)
