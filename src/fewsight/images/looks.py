"""The look of an image: a short vector that hardly changes with encoding, quality or size.

It holds the grey values at 12 x 12 pixels and two colours at 4 x 4, each less its mean and divided by the contrast of the grey
values, the means, and last the logarithm of the proportions. `duplicates.py` says what is the same picture by it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow

from fewsight._base.types import State
from fewsight.images.cache import FeatureCache
from fewsight.images.image import Image

GREY_SIDE, COLOUR_SIDE = 12, 4  # pixels
LEAST_CONTRAST = 0.06  # standard deviation of grey values in [0, 1]; what varies less is not made more of
COLOUR_WEIGHT, MEAN_WEIGHT = 0.5, 2.0
WORKING_SIDE = 96  # pixels of the longest side, at which an image is read
RECIPE = {"kind": "look", "version": 1}
LOOK_COLUMNS = GREY_SIDE**2 + 2 * COLOUR_SIDE**2 + 3  # before the proportions
_GREY = np.array([0.299, 0.587, 0.114], np.float32)
LookVector = npt.NDArray[np.float32]


def look_of(image: Image) -> LookVector:
    """The look of an image, and behind it the logarithm of its proportions. Raises UnreadableImage."""
    pixels = image.pixels(WORKING_SIDE)
    grey = pixels @ _GREY
    small = _resized(grey, GREY_SIDE)
    colours = [_resized(pixels[:, :, band] - grey, COLOUR_SIDE) for band in (0, 2)]
    contrast = max(float(small.std()), LEAST_CONTRAST)
    parts = [(small - small.mean()) / (contrast * GREY_SIDE)]
    parts += [COLOUR_WEIGHT * (colour - colour.mean()) / (contrast * COLOUR_SIDE * np.sqrt(2)) for colour in colours]
    means = MEAN_WEIGHT * np.array([each.mean() for each in (small, *colours)])
    proportions = np.log(pixels.shape[1] / pixels.shape[0])
    return np.concatenate([*(part.ravel() for part in parts), means, [proportions]]).astype(np.float32)


def kept_look(image: Image, cache: FeatureCache | None) -> LookVector:
    """The look of an image, from the cache where that has it. Raises UnreadableImage."""
    if cache is None:
        return look_of(image)
    kept = stored_look(image.content_hash, cache)
    if kept is not None:
        return kept
    look = look_of(image)
    cache.put(_key(image.content_hash), State({}, {"look": look}))
    return look


def stored_look(content_hash: str, cache: FeatureCache) -> LookVector | None:
    """The look of an image that was looked at before, if the cache still has it."""
    return cache.read(_key(content_hash), _look_from)


def _look_from(state: State) -> LookVector:
    return state.array("look", (LOOK_COLUMNS + 1,), np.float32, least=-100.0, most=100.0)


def _key(content_hash: str) -> str:
    return FeatureCache.key_of("look", content_hash, RECIPE)


def _resized(values: npt.NDArray[np.float32], side: int) -> npt.NDArray[np.float32]:
    """A triangle filter: where a pixel ends must not matter, for it ends elsewhere in a copy of another size."""
    return np.asarray(Pillow.fromarray(np.ascontiguousarray(values)).resize((side, side), Pillow.Resampling.BILINEAR))
