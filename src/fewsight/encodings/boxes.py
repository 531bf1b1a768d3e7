"""Boxes in an image, in relative coordinates, and the words inside them. [Gehler2009, section 5]"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import is_number, owner_name, shown
from fewsight._base.errors import InvalidInput

Box: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom, as shares of width and height
WHOLE: Box = (0.0, 0.0, 1.0, 1.0)
LEAST_SIDE = 0.1  # of a box that is drawn: a smaller one holds next to nothing


def check_boxes(owner: object, boxes: Any) -> tuple[Box, ...]:
    """One or more boxes, each four numbers from 0 to 1: left < right and top < bottom."""
    if not isinstance(boxes, (tuple, list)) or not boxes:
        raise InvalidInput(f"{owner_name(owner)}: boxes must be a list of one or more boxes, got {shown(boxes)}.")
    return tuple(_checked(owner, box) for box in boxes)


def _checked(owner: object, box: Any) -> Box:
    numbers = isinstance(box, (tuple, list)) and len(box) == 4 and all(is_number(side) for side in box)
    if not numbers or not (0 <= box[0] < box[2] <= 1 and 0 <= box[1] < box[3] <= 1):
        raise InvalidInput(
            f"{owner_name(owner)}: a box must be left, top, right, bottom as shares of the image from 0 to 1, left < right and "
            f"top < bottom, got {shown(box)}."
        )
    left, top, right, bottom = (float(side) for side in box)
    return left, top, right, bottom


def draw_box(rng: np.random.Generator) -> Box:
    """A box, drawn evenly from all that lie in the image and are a tenth of it wide and high or more."""
    (left, right), (top, bottom) = _interval(rng), _interval(rng)
    return left, top, right, bottom


def _interval(rng: np.random.Generator) -> tuple[float, float]:
    while True:
        first, last = np.sort(rng.uniform(size=2)).round(4).tolist()
        if last - first >= LEAST_SIDE:
            return first, last


def cell_boxes(side: int) -> Iterator[Box]:
    """The cells of a grid of side x side, row by row: those of a level of the spatial pyramid."""
    for row in range(side):
        for column in range(side):
            yield column / side, row / side, (column + 1) / side, (row + 1) / side


def inside(locations: npt.NDArray[np.floating[Any]], box: Box) -> npt.NDArray[np.bool_]:
    """Which locations (n, 2) lie in a box; what lies on its left or upper edge does, on the others only at the image's end."""
    left, top, right, bottom = box
    x, y = locations[:, 0], locations[:, 1]
    across = (x >= left) & ((x < right) if right < 1 else (x <= 1))
    return across & (y >= top) & ((y < bottom) if bottom < 1 else (y <= 1))
