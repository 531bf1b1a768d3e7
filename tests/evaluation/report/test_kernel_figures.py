"""Figures of what was learned of many kernels show what the learner says."""

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from fewsight._base.errors import InvalidInput
from fewsight.channels import Windows
from fewsight.evaluation.report import class_windows, gain_figure, gain_slice, kernel_count_figure, windows_figure
from fewsight.images import sample_set
from fewsight.kernels import RBF, RelevanceRBF
from fewsight.learners import InfiniteKernelClassifier, MKLClassifier

SMALL = {"n_words": 15, "n_descriptors": 1_000, "longest_side": 48}


@pytest.fixture(scope="module")
def tiles():
    return sample_set().select(range(0, 550, 25))


@pytest.fixture(scope="module")
def learner(tiles):
    boxes = [((0.0, 0.0, 0.5, 1.0),), ((0.5, 0.0, 1.0, 1.0),), ((0.0, 0.0, 0.5, 1.0), (0.0, 0.0, 1.0, 1.0))]
    channels = [Windows(**SMALL, boxes=box) for box in boxes]
    return MKLClassifier(channels, norm="l2", C=10.0).fit(list(tiles.images), list(tiles.labels))


def test_windows_of_a_class_have_the_weights_of_the_learner(learner):
    found = class_windows(learner)
    assert list(found) == learner.classes_.tolist()
    first = learner.weights_[0] / learner.weights_[0].sum()
    expected = {
        (0.0, 0.0, 0.5, 1.0): first[0] + first[2] / 2,
        (0.5, 0.0, 1.0, 1.0): first[1],
        (0.0, 0.0, 1.0, 1.0): first[2] / 2,
    }
    assert found[learner.classes_[0]] == pytest.approx(expected)


def test_the_figure_has_an_outline_for_each_window_of_each_class(learner, tiles):
    some = learner.classes_[:3].tolist()
    figure = windows_figure(learner, list(tiles.images), list(tiles.labels), some)
    assert [axes.get_title() for axes in figure.axes[:3]] == [str(name) for name in some]
    for axes, name in zip(figure.axes, some, strict=False):
        assert len([patch for patch in axes.patches if isinstance(patch, Rectangle)]) == len(
            class_windows(learner)[name]
        )
    with pytest.raises(InvalidInput, match="classes must be some of the learner's"):
        windows_figure(learner, list(tiles.images), list(tiles.labels), ["no such class"])


def test_a_slice_of_t_reaches_lambda_at_a_kernel_in_use():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] * X[:, 1] > 0
    learner = InfiniteKernelClassifier(RelevanceRBF((1.0, 1.0)), C=10.0, gap=1e-4).fit(X, y)
    values = np.array([0.0, 0.5, 1.0, 2.0])
    T = gain_slice(learner.dual_weights_[:, 1], X, lambda a, b: RelevanceRBF((a, b)), values, values)
    assert T[2, 2] == pytest.approx(learner.thresholds_[1], rel=1e-6)
    assert T[1, 2] == pytest.approx(
        0.5 * learner.dual_weights_[:, 1] @ RelevanceRBF((1.0, 0.5)).gram(X) @ learner.dual_weights_[:, 1]
    )
    figure = gain_figure(T, values, values, float(learner.thresholds_[1]))
    assert "lambda" in figure.axes[0].get_title()


def test_error_against_kernels_shows_the_curve_and_what_was_learned():
    figure = kernel_count_figure({1: 40.0, 10: 20.0}, {"l1": (4.2, 22.0)}, {"best pyramid": 25.0}, "tiles")
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["average", "l1", "best pyramid"]
    assert axes.lines[0].get_ydata().tolist() == [40.0, 20.0]


def test_other_learners_have_no_windows():
    rng = np.random.default_rng(0)
    learner = MKLClassifier([RBF()], C=1.0).fit(rng.normal(size=(10, 2)), np.arange(10) % 2)
    with pytest.raises(InvalidInput, match="the learner must have windows channels only"):
        class_windows(learner)
