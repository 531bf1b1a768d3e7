"""Prototypes of latent values: what they are by definition, and what they do for a learner."""

import numpy as np
import pytest

from fewsight import RBF, GPClassifier, InvalidInput, SparseGPClassifier, load, save
from fewsight._base.state import State
from fewsight.learners.calibration import Calibration, fit_calibration, judged_calibration
from fewsight.learners.prototypes import HALF, NONE_YET, Prototypes
from fewsight.metrics import log_loss


def some_latents(c: int = 4, per_class: int = 7, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Left-out latent means (n, c): every class claims its own, the first one the second's as well."""
    rng = np.random.default_rng(seed)
    classes = np.repeat(np.arange(c), per_class)
    mean = 1.2 * np.eye(c)[classes] - 0.6 + 0.3 * rng.normal(size=(len(classes), c))
    mean[classes == 1, 0] += 0.9
    return mean, classes


def by_definition(mean: np.ndarray, classes: np.ndarray, asked: np.ndarray, strength: float) -> np.ndarray:
    """s_k = (|f|^2 - |f - p_k|^2) / 2 a, one class and one example after the other."""
    c = mean.shape[1]
    f = mean - mean.mean(axis=1, keepdims=True)
    own = np.array([f[classes == k].mean(axis=0) for k in range(c)])
    level = np.mean([own[k, k] for k in range(c)]) / (1 - 1 / c)
    found = np.empty((len(asked), c))
    for row, g in enumerate(asked - asked.mean(axis=1, keepdims=True)):
        for k in range(c):
            n = int((classes == k).sum())
            share = strength * max(n - NONE_YET, 0) / (max(n - NONE_YET, 0) + HALF)
            expected = level * (np.eye(c)[k] - 1 / c)
            p = expected + share * (own[k] - expected)
            found[row, k] = (g @ g - (g - p) @ (g - p)) / (2 * level)
    return found


@pytest.mark.parametrize("strength", [0.25, 1.0])
@pytest.mark.parametrize(("c", "per_class"), [(3, 3), (4, 7), (20, 5)])
def test_values_are_those_of_the_definition(c, per_class, strength):
    mean, classes = some_latents(c, per_class)
    asked = np.random.default_rng(1).normal(size=(6, c))
    values = Prototypes.of(mean, classes).with_strength(strength).values(asked)
    np.testing.assert_allclose(values, by_definition(mean, classes, asked, strength), atol=1e-12)


def test_a_left_out_example_has_no_part_in_the_prototype_of_its_class():
    mean, classes = some_latents()
    prototypes = Prototypes.of(mean, classes).with_strength(1.0)
    found = prototypes.left_out_values(mean, classes)
    for i, k in enumerate(classes):
        others = np.delete(np.arange(len(classes)), i)
        means = prototypes.means.copy()
        means[k] = (mean - mean.mean(axis=1, keepdims=True))[others[classes[others] == k]].mean(axis=0)
        counts = np.bincount(classes[others])
        without = Prototypes(prototypes.level, means, counts, 1.0).values(mean[i : i + 1])[0]
        np.testing.assert_allclose(found[i, k], without[k], atol=1e-12)
        np.testing.assert_allclose(np.delete(found[i], k), np.delete(prototypes.values(mean[i : i + 1])[0], k))


def test_prototypes_that_do_not_count_leave_the_largest_mean_to_decide():
    mean, classes = some_latents()
    values = Prototypes.of(mean, classes).with_strength(0.0).values(mean)
    np.testing.assert_array_equal(values.argmax(axis=1), mean.argmax(axis=1))
    np.testing.assert_allclose(np.ptp(values - mean, axis=1), 0.0, atol=1e-12)


def test_a_class_that_claims_another_s_examples_loses_them_to_prototypes():
    mean, classes = some_latents(per_class=20)
    new, truth = some_latents(per_class=50, seed=1)
    plain = fit_calibration(mean, classes)
    better = judged_calibration(mean, classes, with_prototypes=True).calibration
    assert better.prototypes is not None
    assert (better.values(new).argmax(axis=1) == truth).mean() > (new.argmax(axis=1) == truth).mean() + 0.01
    labels = np.arange(4)
    assert log_loss(truth, better.probabilities(new), labels) < 0.5 * log_loss(truth, plain.probabilities(new), labels)


def test_classes_that_are_all_alike_gain_and_lose_little():
    rng = np.random.default_rng(2)

    def draw(per_class):
        classes = np.repeat(np.arange(5), per_class)
        return 1.5 * np.eye(5)[classes] - 1 + 0.4 * rng.normal(size=(len(classes), 5)), classes

    (mean, classes), (new, truth) = draw(6), draw(400)
    stated = [
        judged_calibration(mean, classes, with_prototypes=way).calibration.probabilities(new) for way in (False, True)
    ]
    plain, better = (log_loss(truth, each, np.arange(5)) for each in stated)
    assert abs(better - plain) < 0.02


@pytest.mark.parametrize(
    ("mean", "classes"),
    [
        (np.eye(2)[[0, 1] * 5], np.array([0, 1] * 5)),  # two classes
        (np.eye(3)[[0, 1, 2] * 2], np.array([0, 1, 2] * 2)),  # two of each
        (-np.eye(3)[[0, 1, 2] * 4], np.array([0, 1, 2] * 4)),  # a learner that is always wrong
        (np.zeros((0, 3)), np.zeros(0, np.intp)),
        (np.zeros((9, 3)), np.repeat(np.arange(3), 3)),
    ],
)
def test_where_left_out_examples_say_nothing_there_are_no_prototypes(mean, classes):
    assert Prototypes.of(mean, classes) is None
    assert judged_calibration(mean, classes, with_prototypes=True).calibration.prototypes is None


def test_a_class_that_came_later_and_examples_of_none():
    mean, classes = some_latents()
    prototypes = Prototypes.of(np.vstack([mean, np.zeros((2, 4))]), np.append(classes, [-1, -1]))
    np.testing.assert_allclose(prototypes.means, Prototypes.of(mean, classes).means)
    later = np.column_stack([mean, np.full(len(mean), 5.0)])  # far ahead in a fifth column
    assert (prototypes.values(later).argmax(axis=1) == 4).all()
    assert prototypes.left_out_values(mean[:2], np.array([-1, -1])) == pytest.approx(prototypes.values(mean[:2]))


def test_prototypes_come_back_from_their_state_and_damaged_ones_are_refused():
    mean, classes = some_latents()
    known = Calibration(2.0, -0.1, 28, prototypes=Prototypes.of(mean, classes))
    np.testing.assert_array_equal(Calibration.from_state(known.state()).probabilities(mean), known.probabilities(mean))
    state = known.prototypes.state()
    damaged = [
        ({"level": 0.0}, {}),
        ({"level": float("nan")}, {}),
        ({"strength": 1.5}, {}),
        ({}, {"means": np.ones((4, 3))}),
        ({}, {"means": np.full((4, 4), np.inf)}),
        ({}, {"counts": np.array([1, 2, 3])}),
        ({}, {"counts": np.array([1, -2, 3, 4])}),
    ]
    for header, arrays in damaged:
        with pytest.raises(InvalidInput):
            Prototypes.from_state(State({**state.header, **header}, {**state.arrays, **arrays}))


@pytest.fixture(scope="module")
def shirts():
    """Rows of four classes, of which two overlap and one is scattered."""
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0, 0], [1.2, 0, 0], [0, 4, 0], [0, 0, 4]])
    spread = np.array([0.6, 1.1, 0.5, 2.5])
    classes = np.tile(np.arange(4), 60)
    X = np.hstack([centres[classes], np.zeros((240, 3))]) + spread[classes, None] * rng.normal(size=(240, 6))
    return X, np.array(["shirt", "pullover", "shoe", "other"])[classes]


@pytest.mark.parametrize("learner", [GPClassifier, SparseGPClassifier])
def test_decisions_are_the_most_probable_classes_and_come_back_from_a_file(shirts, learner, tmp_path):
    X, y = shirts
    model = learner(RBF(2.0)).fit(X[:80], y[:80])
    assert model.calibration_.prototypes is not None
    stated, decided = model.predict_proba(X[80:]), model.predict(X[80:])
    np.testing.assert_array_equal(model.classes_[stated.argmax(axis=1)], decided)
    assert (decided != model.classes_[model.latent(X[80:]).mean.argmax(axis=1)]).any()
    save(model, tmp_path / "m.fewsight")
    back = load(tmp_path / "m.fewsight")
    np.testing.assert_array_equal(back.predict(X[80:]), decided)
    np.testing.assert_allclose(back.predict_proba(X[80:]), stated, rtol=1e-12)


@pytest.mark.parametrize("options", [{"prototypes": False}, {"calibrated": False}])
def test_without_prototypes_the_largest_latent_mean_decides(shirts, options):
    X, y = shirts
    model = GPClassifier(RBF(2.0), **options).fit(X[:80], y[:80])
    assert model.calibration_.prototypes is None
    np.testing.assert_array_equal(model.predict(X[80:]), model.classes_[model.latent(X[80:]).mean.argmax(axis=1)])


def test_prototypes_are_learned_again_from_examples_that_were_added(shirts):
    X, y = shirts
    grown = GPClassifier(RBF(2.0), noise_variance=0.2).fit(X[:60], y[:60]).add(X[60:120], y[60:120]).recalibrate()
    whole = GPClassifier(RBF(2.0), noise_variance=0.2).fit(X[:120], y[:120])
    np.testing.assert_allclose(grown.predict_proba(X[120:]), whole.predict_proba(X[120:]), atol=1e-6)


def test_prototypes_of_another_number_of_classes_are_refused_in_a_model_file(shirts):
    X, y = shirts
    state = GPClassifier(RBF(2.0)).fit(X[:80], y[:80]).state()
    arrays = {**state.arrays, "calibration/prototypes/means": np.eye(5), "calibration/prototypes/counts": np.full(5, 9)}
    with pytest.raises(InvalidInput, match="the calibration must be of 4 classes or fewer, got 5"):
        GPClassifier.from_state(State(state.header, arrays))
