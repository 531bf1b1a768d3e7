"""Points, parts, Gram matrices and scores as figures."""

import io

import numpy as np
import pytest
from matplotlib.patches import Circle

from fewsight._base.errors import InvalidInput
from fewsight.channels import FisherHarris
from fewsight.evaluation.report.parts_pictures import gram_figure, parts_figure, plane_of, points_figure, scores_figure
from fewsight.images import sample_set

QUICK = {"width": 64, "smallest": 3.0, "n_starts": 1, "n_parts": 2, "max_points": 9}


@pytest.fixture(scope="module")
def images():
    return sample_set().images[:12]


def circles(axes):
    return [patch for patch in axes.patches if isinstance(patch, Circle)]


def is_drawn(figure):
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    return len(stream.getvalue()) > 1_000


def test_every_point_is_a_circle_where_it_was_found(images):
    channel = FisherHarris(**QUICK)
    figure = points_figure(channel, images[:2])
    features = channel.local_features(images[:2])
    for axes, found in zip(figure.axes, features, strict=True):
        drawn = circles(axes)
        assert len(drawn) == len(found) > 0
        height, width = axes.images[0].get_array().shape
        expected = found.locations * (width, height) - 0.5
        np.testing.assert_allclose([circle.center for circle in drawn], expected, atol=1e-3)
    assert is_drawn(figure)


def test_every_part_has_its_colour_and_a_blank_image_has_none(images):
    channel = FisherHarris(**QUICK).fit(images)
    figure = parts_figure(channel, [images[0], images[1], np.full((40, 40), 90, np.uint8)])
    counts = [len(circles(axes)) for axes in figure.axes[:3]]
    assert counts == [2, 2, 0]
    assert len({circle.get_edgecolor() for circle in circles(figure.axes[0])}) == 2
    with pytest.raises(InvalidInput, match="needs at least one, got none"):
        parts_figure(channel, [])


def test_a_gram_matrix_is_shown_class_by_class_without_its_diagonal():
    K = np.array([[9.0, 1, 5], [1, 9, 2], [5, 2, 9]])
    figure = gram_figure(K, ["a", "b", "a"])
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), [[0, 5, 1], [5, 0, 2], [1, 2, 0]])
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["a", "b"]
    assert is_drawn(figure)
    with pytest.raises(InvalidInput, match="gram_figure: labels must name each of 3 examples, got 2"):
        gram_figure(K, ["a", "b"])


def test_points_of_a_plane_keep_their_distances():
    X = np.random.default_rng(0).normal(size=(8, 2))
    found = plane_of(X @ X.T)
    apart, expected = (np.linalg.norm(A[:, None] - A, axis=2) for A in (found, X))
    np.testing.assert_allclose(apart, expected, atol=1e-9)
    figure = scores_figure(X @ X.T, ["a"] * 4 + ["b"] * 4)
    assert len(figure.axes[0].collections) == 2
    assert is_drawn(figure)
