"""The sparse Gaussian process classifier: as the exact one where it can be, close to it with far fewer inducing points."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fewsight import NONE_OF_THESE, GPClassifier, SpatialPmk, sample_set
from fewsight._base.errors import InvalidInput
from fewsight.channels import Colour
from fewsight.gp import SparsePosterior
from fewsight.kernels import RBF, Linear
from fewsight.learners import SparseGPClassifier, inducing_rows
from fewsight.learners.sparse_gp import spread_over_classes
from fewsight.metrics import log_loss
from fewsight.persistence import load, save

X, Y = load_digits(return_X_y=True)
X = X / 16.0
TRAIN, TEST = np.arange(0, 1_797, 3), np.arange(1, 1_797, 6)
KERNEL = RBF(scale=1.8)


@pytest.fixture(scope="module")
def exact():
    return GPClassifier(KERNEL).fit(X[TRAIN], Y[TRAIN])


@pytest.fixture(scope="module")
def sparse():
    return SparseGPClassifier(KERNEL, n_inducing=300).fit(X[TRAIN], Y[TRAIN])


def test_with_few_examples_latent_values_are_those_of_the_exact_classifier():
    some, noise = TRAIN[:120], 0.1
    exact = GPClassifier(KERNEL, noise_variance=noise).fit(X[some], Y[some]).latent(X[TEST])
    sparse = SparseGPClassifier(KERNEL, noise_variance=noise).fit(X[some], Y[some]).latent(X[TEST])
    np.testing.assert_allclose(sparse.mean, exact.mean, atol=1e-6)
    np.testing.assert_allclose(sparse.std, exact.std, atol=1e-5)


def test_half_of_the_examples_as_inducing_points_is_nearly_as_good(exact, sparse):
    assert len(sparse.points_) == 300
    assert sparse.n_examples_ == len(TRAIN)
    assert sparse.score(X[TEST], Y[TEST]) >= exact.score(X[TEST], Y[TEST]) - 0.015
    losses = [log_loss(Y[TEST], each.predict_proba(X[TEST]), each.classes_) for each in (exact, sparse)]
    assert losses[1] < losses[0] + 0.05


def test_all_examples_teach_and_not_the_inducing_points_alone():
    points = spread_over_classes(Y[TRAIN], 50, np.random.default_rng(0))
    alone = GPClassifier(KERNEL).fit(X[TRAIN][points], Y[TRAIN][points])
    sparse = SparseGPClassifier(KERNEL, n_inducing=50).fit(X[TRAIN], Y[TRAIN])
    assert sparse.score(X[TEST], Y[TEST]) > alone.score(X[TEST], Y[TEST]) + 0.02


def test_unknown_digits_score_higher_and_known_ones_are_seldom_called_unknown():
    known = Y[TRAIN] < 7
    learner = SparseGPClassifier(KERNEL, n_inducing=120).fit(X[TRAIN][known], Y[TRAIN][known])
    unknown = learner.is_unknown(X[TEST])
    assert unknown[Y[TEST] < 7].mean() < 0.12
    assert unknown[Y[TEST] >= 7].mean() > 0.4
    assert learner.left_out().accuracy > 0.9


def test_adding_equals_counting_all_at_once_with_the_same_inducing_points(sparse):
    first, rest = TRAIN[:400], TRAIN[400:]
    grown = SparseGPClassifier(KERNEL, n_inducing=100).fit(X[first], Y[first])
    before = grown.score(X[TEST], Y[TEST])
    rows = grown._comparison().of(grown.input_.read(X[rest])).features
    expected = np.tril(grown.sums_.products + rows.T @ rows)
    grown.add(X[rest], Y[rest])
    np.testing.assert_allclose(np.tril(grown.sums_.products), expected, atol=1e-9)
    assert grown.n_examples_ == len(TRAIN)
    assert grown.score(X[TEST], Y[TEST]) >= before - 0.01


def test_a_new_category_is_welcome(tmp_path):
    old = Y[TRAIN] < 9
    learner = SparseGPClassifier(KERNEL, n_inducing=150).fit(X[TRAIN][old], Y[TRAIN][old])
    learner.add(X[TRAIN][~old], Y[TRAIN][~old])
    assert learner.classes_.tolist() == list(range(10))
    assert (learner.predict(X[TEST][Y[TEST] == 9]) == 9).mean() > 0.8
    save(learner, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X[TEST]), learner.predict(X[TEST]))


def test_none_of_these_is_no_category_and_pushes_its_like_away():
    labels = [NONE_OF_THESE if digit >= 8 else int(digit) for digit in Y[TRAIN]]
    learner = SparseGPClassifier(KERNEL, n_inducing=150).fit(X[TRAIN], labels)
    assert learner.classes_.tolist() == list(range(8))
    strange = learner.unknown_score(X[TEST])
    assert strange[Y[TEST] >= 8].mean() > strange[Y[TEST] < 8].mean() + 1


def test_images_are_described_once_each():
    tiles = sample_set()
    chosen = [place for place, label in enumerate(tiles.labels) if label in tiles.classes[:3]][:60]
    images, labels = [tiles.images[place] for place in chosen], [tiles.labels[place] for place in chosen]
    seen: list[str] = []

    class Counted(Colour):
        name = "colour"

        def _describe(self, image):
            seen.append(image.name)
            return super()._describe(image)

    learner = SparseGPClassifier([Counted(cache=None, n_jobs=1)], n_inducing=12).fit(images, labels)
    assert len(learner.points_) == 12
    assert max(seen.count(name) for name in set(seen)) <= 2  # an inducing point to fit the channel, others once
    assert sum(seen.count(name) == 2 for name in set(seen)) <= 12
    assert np.mean(learner.predict(images) == labels) > 0.8


def test_several_kernels_are_weighed():
    learner = SparseGPClassifier([KERNEL, Linear()], weights="evidence", n_inducing=80).fit(X[TRAIN], Y[TRAIN])
    assert learner.shares(2).sum() == pytest.approx(1.0)
    assert learner.score(X[TEST], Y[TEST]) > 0.9


def test_inducing_points_are_spread_over_the_classes():
    numbers = np.repeat([0, 1, 2, -1], [50, 5, 30, 15])
    chosen = spread_over_classes(numbers, 32, np.random.default_rng(1))
    assert np.unique(numbers[chosen], return_counts=True)[1].tolist() == [9, 9, 5, 9]
    assert len(np.unique(chosen)) == 32
    assert spread_over_classes(numbers, 100, np.random.default_rng(1)).tolist() == list(range(100))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_inducing": 0}, "n_inducing must be"),
        ({"noise_variance": -1}, "noise_variance must be"),
        ({"noise_variance": "evidence"}, "noise_variance must be"),
        ({"unknown_rule": "auto"}, "unknown_rule must be"),
        ({"false_alarm_rate": 1.5}, "false_alarm_rate must be a number between 0 and 1, got 1.5"),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(options, said):
    with pytest.raises(InvalidInput, match=f"SparseGPClassifier: {said}"):
        SparseGPClassifier(**options).fit(X[:20], Y[:20])


def test_a_channel_that_is_passed_stays_as_it_was():
    tiles = sample_set()
    channel = SpatialPmk(n_words=20, n_descriptors=1_000, scales=(1.0,), longest_side=64)
    SparseGPClassifier(channel, n_inducing=4).fit(tiles.images[:10], ["a", "b"] * 5)
    assert not hasattr(channel, "learned_")


def test_answers_come_block_by_block_and_probabilities_ask_for_no_variance(monkeypatch):
    learner = SparseGPClassifier(RBF(scale=3.0), n_inducing=40).fit(X[TRAIN], Y[TRAIN])
    before = learner.assess(X)
    widest = []
    variance = SparsePosterior.variance
    monkeypatch.setattr(inducing_rows, "BLOCK", 32)
    monkeypatch.setattr(SparsePosterior, "variance", lambda *given: widest.append(len(given[1])) or variance(*given))
    np.testing.assert_allclose(learner.predict_proba(X), before.probabilities, atol=1e-12)
    assert not widest, "calibrated probabilities need no variance"
    after = learner.assess(X)
    assert max(widest) == 32
    np.testing.assert_allclose(after.latent.std, before.latent.std, atol=1e-10)
    np.testing.assert_allclose(after.unknown_score, before.unknown_score, atol=1e-8)
