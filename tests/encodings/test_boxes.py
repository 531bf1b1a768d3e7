"""Boxes are shares of the image, and cells of a grid of boxes are those of the spatial pyramid."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.encodings import cell_boxes, check_boxes, draw_box, inside
from fewsight.encodings.spatial_pyramid import cells_of


@pytest.mark.parametrize("side", [1, 2, 4])
def test_cells_of_a_grid_are_those_of_the_pyramid(side):
    locations = np.random.default_rng(0).uniform(size=(500, 2)).astype(np.float32)
    locations[:4] = [[0, 0], [1, 1], [0.5, 0.25], [0.25, 1]]
    cells = cells_of(locations, side)
    for number, box in enumerate(cell_boxes(side)):
        np.testing.assert_array_equal(inside(locations, box), cells == number)


def test_boxes_that_are_drawn_lie_in_the_image_and_cover_the_middle_most():
    rng = np.random.default_rng(0)
    boxes = check_boxes("test", [draw_box(rng) for _ in range(500)])
    middle, corner = ([inside(np.array([place]), box)[0] for box in boxes] for place in ((0.5, 0.5), (0.02, 0.02)))
    assert np.mean(middle) > 0.2 > 0.05 > np.mean(corner)


@pytest.mark.parametrize(
    "box", [(0, 0, 1), (0.5, 0, 0.5, 1), (0, 0, 1, 1.1), (0, 0, 1, "b"), None, (0, 0, 1, float("nan"))]
)
def test_what_is_no_box_is_refused(box):
    with pytest.raises(InvalidInput, match="test: a box must be left, top, right, bottom as shares"):
        check_boxes("test", [box])
