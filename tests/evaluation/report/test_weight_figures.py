"""Weights as bars, and the way to them as lines."""

import io

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.evaluation import descent_figure, weights_figure
from fewsight.kernels import Columns, Linear
from fewsight.learners import SpanBoundClassifier


def is_drawn(figure):
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    return len(stream.getvalue()) > 1_000


def test_every_weight_is_a_bar_with_its_name():
    figure = weights_figure([0.5, 0.0, 2.0], ["kb", "$dog$", "harris"])
    (axes,) = figure.axes
    assert [bar.get_height() for bar in axes.patches] == [0.5, 0.0, 2.0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["kb", "$dog$", "harris"]
    assert is_drawn(figure)


def test_many_features_are_bars_without_names():
    (axes,) = weights_figure(np.arange(200.0)).axes
    assert len(axes.patches) == 200
    assert axes.get_xlabel() == "feature"


def test_a_descent_shows_the_bound_the_weights_and_what_was_wrong_on_other_examples():
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.where(X[:, 1] > 0, 1, 0)
    learner = SpanBoundClassifier([Columns((column,), Linear()) for column in range(3)]).fit(X, y)
    steps = len(learner.bounds_)
    figure = descent_figure(learner.path_, learner.bounds_, ["a", "b", "c"], np.full(steps, 0.25))
    left, right = figure.axes
    np.testing.assert_array_equal(left.lines[0].get_ydata(), learner.bounds_)
    assert {line.get_label() for line in left.lines} == {"bound", "error on test examples"}
    assert {line.get_label() for line in right.lines} == {"a", "b", "c"}
    np.testing.assert_array_equal(right.lines[1].get_ydata(), learner.path_[:, 1])
    assert is_drawn(figure)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: weights_figure([]), "weights_figure: weights must be finite numbers >= 0 in 1 dimension"),
        (lambda: weights_figure([1.0, -1.0]), "weights_figure: weights must be finite numbers >= 0"),
        (lambda: weights_figure([1.0], ["a", "b"]), "weights_figure: names must be 1, one for each weight, got 2"),
        (lambda: descent_figure([[1.0]], [1.0, 2.0]), "descent_figure: bounds must be of 1 steps, as path is, got 2"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(draw, message):
    with pytest.raises(InvalidInput, match=message):
        draw()
