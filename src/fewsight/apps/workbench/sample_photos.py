"""The sample set as a folder of photographs that nobody has labelled, to try labelling on."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from PIL import Image as Pillow

from fewsight._base.replacement import replacing
from fewsight.images import sample_set
from fewsight.images.image import thumbnail
from fewsight.images.sample_set import TILE_SIDE

CHANNELS = ("colour", "texture")  # what tells the tiles of the sample set apart
PHOTOS = "photos"  # the folder of them, in that of the demonstration
_SEED = 0  # of the order, so that no number tells a category


def write_sample_photos(folder: str | os.PathLike[str]) -> Path:
    """Write the sample images under numbers in random order; those that are there already stay. Returns the folder."""
    root = Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    images = list(sample_set())
    for number, place in enumerate(np.random.default_rng(_SEED).permutation(len(images)), start=1):
        path = root / f"photo_{number:03d}.png"
        if not path.exists():
            with replacing(path, durable=False) as stream:
                Pillow.fromarray(thumbnail(images[place], TILE_SIDE)).save(stream, "PNG")
    return root
