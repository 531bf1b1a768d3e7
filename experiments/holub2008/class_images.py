"""Images of a category and of the campus background: what is learned from, what is tested on, and what is taken away from them.

Leopards k and k + 100 are mirror images and stay on one side. `trimmed` images lose the white or black frame around them, and a
background is cropped to the aspect of an image of the category, so that neither the frame nor the aspect tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.images import Image, images_in
from fewsight.images.image import ImageArray

CATEGORIES = ("Faces", "Motorbikes", "airplanes", "Leopards")
BACKGROUND = "background"
MIRRORED = {"Leopards": 100}  # how far apart by number an image and its mirror image are
LONGEST_SIDE = 500  # of an image that is trimmed or cropped, in pixels
FRAME = 0.06  # how far from white or black a pixel of a frame is, at most
FRAMED = 0.9  # of a row or a column, the share that such pixels have
MARGIN = 0.02  # of width and height, that is cut off behind a frame: its soft edge

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Split:
    """Images of two or more classes to learn from and to test on."""

    train: list[Image]
    train_labels: list[str]
    test: list[Image]
    test_labels: list[str]


def category_images(data: Path, category: str) -> list[Image]:
    """In the order of their names."""
    folder = data / "caltech_background" if category == BACKGROUND else data / "caltech101" / category
    return list(images_in(folder).images)


def sides(category: str, n: int, n_train: int, n_test: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Which of n images are learned from and which are tested on; mirror images are on one side."""
    apart = MIRRORED.get(category)
    units = (
        [np.array([k, k + apart]) for k in range(n // 2)] if apart and n == 2 * apart else list(np.arange(n)[:, None])
    )
    order = rng.permutation(len(units))
    if n < n_train + n_test:
        raise InvalidInput(f"{category} must have {n_train + n_test} images to learn from and to test on, got {n}.")
    members = np.concatenate([units[i] for i in order])
    return members[:n_train], members[n_train : n_train + n_test]


def against_background(data: Path, category: str, seed: int, *, n_train: int, n_test: int, trimmed: bool) -> Split:
    """A category and the background, as many images of each."""
    rng = np.random.default_rng(seed)
    parts = {}
    for label in (category, BACKGROUND):
        images = category_images(data, label)
        parts[label] = [[images[i] for i in side] for side in sides(label, len(images), n_train, n_test, rng)]
    if trimmed:
        parts[category] = [[trimmed_image(image) for image in side] for side in parts[category]]
        aspects = np.array([aspect_of(image) for image in parts[category][0]])
        parts[BACKGROUND] = [
            [cropped_image(trimmed_image(image), float(rng.choice(aspects))) for image in side]
            for side in parts[BACKGROUND]
        ]
    return joined(parts)


def several_categories(data: Path, categories: tuple[str, ...], seed: int, *, n_train: int, n_test: int) -> Split:
    """As many images of each category."""
    rng, parts = np.random.default_rng(seed), {}
    for label in categories:
        images = category_images(data, label)
        parts[label] = [[images[i] for i in side] for side in sides(label, len(images), n_train, n_test, rng)]
    return joined(parts)


def joined(parts: dict[str, list[list[Image]]]) -> Split:
    """Both sides of all classes."""
    train, test = ([(image, label) for label, both in parts.items() for image in both[side]] for side in (0, 1))
    return Split(
        [i for i, _ in train], [label for _, label in train], [i for i, _ in test], [label for _, label in test]
    )


def aspect_of(image: Image) -> float:
    """Width through height."""
    height, width = image.pixels(LONGEST_SIDE).shape[:2]
    return width / height


def trimmed_image(image: Image) -> Image:
    """Without the white or black rows and columns around it."""
    pixels = image.pixels(LONGEST_SIDE)
    rows, columns = inside_frame(pixels.mean(axis=2))
    return _as_image(pixels[rows, columns], image.name)


def cropped_image(image: Image, aspect: float) -> Image:
    """The largest part in the middle that has this aspect."""
    pixels = image.pixels(LONGEST_SIDE)
    height, width = pixels.shape[:2]
    w, h = max(1, min(width, round(height * aspect))), max(1, min(height, round(width / aspect)))
    top, left = (height - h) // 2, (width - w) // 2
    return _as_image(pixels[top : top + h, left : left + w], image.name)


def inside_frame(grey: Array) -> tuple[slice, slice]:
    """The rows and columns inside a frame that is white or black; all but the margin where there is none."""
    found = []
    for axis in (1, 0):
        plain = np.maximum((grey > 1 - FRAME).mean(axis=axis), (grey < FRAME).mean(axis=axis)) > FRAMED
        kept = np.flatnonzero(~plain)
        first, last = (kept[0], kept[-1] + 1) if len(kept) else (0, len(plain))
        margin = int(np.ceil(MARGIN * len(plain))) if last - first > 10 else 0
        found.append(slice(first + margin, last - margin))
    return found[0], found[1]


def _as_image(pixels: npt.NDArray[np.float32], name: str) -> Image:
    return ImageArray(np.ascontiguousarray(np.rint(255 * pixels).astype(np.uint8)), name)
