"""From pixels to what a network takes: resized, normalised, with its axes and colours in the order of the network."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import final

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow

from fewsight._base.types import Pixels, Recipe

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # what most networks were trained with
VERSION = 1  # of what is computed, for the cache


@final
@dataclass(frozen=True)
class Preparation:
    """How pixels become the input of a network.

    Values in [0, 1] become (value - mean) / std; a network that takes bytes gets 0 to 255. With `crop` None the whole image is
    stretched to the network's size; a number is a share of the largest part in the middle with the network's proportions.
    """

    height: int
    width: int
    mean: tuple[float, ...] = IMAGENET_MEAN
    std: tuple[float, ...] = IMAGENET_STD
    crop: float | None = None
    layout: str = "nchw"
    colours: str = "rgb"
    element: str = "float32"

    def recipe(self) -> Recipe:
        """All that decides what `tensor` returns."""
        return {"version": VERSION, **asdict(self)}

    def tensor(self, pixels: Pixels) -> npt.NDArray[np.generic]:
        """One image, as the network takes it: (1, 3, h, w) or (1, h, w, 3)."""
        resized = self._resized(pixels)
        if self.element == "uint8":
            values = resized
        else:
            scale, shift = self._scale_and_shift()
            values = (resized * scale - shift).astype(self.element)
        values = values[:, :, ::-1] if self.colours == "bgr" else values
        values = values.transpose(2, 0, 1) if self.layout == "nchw" else values
        return np.ascontiguousarray(values[None])

    def _scale_and_shift(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        mean, std = np.asarray(self.mean), np.asarray(self.std)
        return (1 / (255 * std)).astype(np.float32), (mean / std).astype(np.float32)

    def _resized(self, pixels: Pixels) -> npt.NDArray[np.uint8]:
        """Bytes, which is what most images are made of: with an antialiasing filter, as networks are trained."""
        image = Pillow.fromarray(np.rint(pixels * np.float32(255)).astype(np.uint8))
        box = self._box(image.width, image.height)
        return np.asarray(image.resize((self.width, self.height), Pillow.Resampling.BICUBIC, box=box))

    def _box(self, width: int, height: int) -> tuple[float, float, float, float]:
        if self.crop is None:
            return 0, 0, width, height
        share = self.crop * min(width / self.width, height / self.height)
        half_width, half_height = share * self.width / 2, share * self.height / 2
        return width / 2 - half_width, height / 2 - half_height, width / 2 + half_width, height / 2 + half_height
