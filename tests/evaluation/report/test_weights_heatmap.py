"""Weights per class as a picture."""

import io
import re

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.evaluation import weights_heatmap
from fewsight.learners import KernelCombination


def test_weights_per_class_are_drawn_with_the_classes_of_one_channel_together():
    figure = weights_heatmap([[1, 3], [9, 1], [0, 2]], ["ant", "bee", "cat"], ["phog", "colour"])
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["bee", "cat", "ant"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["phog", "colour"]
    assert [text.get_text() for text in axes.texts] == ["90", "10", "0", "100", "25", "75"]


def test_weights_that_were_learned_per_class_can_be_written_as_svg_and_png():
    rng = np.random.default_rng(0)
    labels = np.repeat(["ant", "bee", "cat"], 6)
    vectors = [rng.normal(size=(18, 3)) + 2 * (labels == "ant")[:, None] for _ in range(2)]
    learner = KernelCombination("precomputed", scope="classwise").fit([X @ X.T + np.eye(18) for X in vectors], labels)
    figure = weights_heatmap(learner.weights_, learner.classes_, ["one", "other"])
    for form, start in (("svg", b"<?xml"), ("png", b"\x89PNG")):
        stream = io.BytesIO()
        figure.savefig(stream, format=form)
        assert stream.getvalue().startswith(start)


def test_names_in_the_picture_are_text_and_leave_it_room():
    figure = weights_heatmap([[1.0]], ["x" * 200], ["$x^2$ \\frac"])
    assert len(figure.axes[0].get_yticklabels()[0].get_text()) == 40
    figure.savefig(io.BytesIO(), format="svg")


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ([[1.0, 2.0]], "weights must be a matrix of 2 x 2, got 1 x 2."),
        ([[1.0, 2.0], [0.0, 0.0]], "weights must be >= 0 and in no row all zero"),
        ([[1.0, 2.0], [2.0, -1.0]], "weights must be >= 0 and in no row all zero"),
        ([[1.0, 2.0], [2.0, np.nan]], "weights must hold finite numbers only"),
    ],
)
def test_weights_that_cannot_be_shares_are_refused(weights, sentence):
    with pytest.raises(InvalidInput, match=re.escape(sentence)):
        weights_heatmap(weights, ["ant", "bee"], ["phog", "colour"])
