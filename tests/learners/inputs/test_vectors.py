"""Rows compared by several kernels, and kernels that a learner asks for while it learns."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs

from fewsight import ActiveLearner
from fewsight._base.archive import read_archive, write_archive
from fewsight._base.errors import InvalidInput, ModelFileError
from fewsight.gp import BlockStack, GramStack
from fewsight.kernels import RBF, HistogramIntersection, Linear
from fewsight.kernels.families import RelevanceFamily
from fewsight.learners import GPClassifier, KernelCombination, NearestNeighbourClassifier, SVMClassifier
from fewsight.learners.inputs import GramInput, VectorInput
from fewsight.learners.inputs import base as inputs_base
from fewsight.persistence import load, save

X, Y = make_blobs(80, 3, centers=4, cluster_std=2.0, random_state=0)
KERNELS = [RBF(1.0), RBF(3.0), Linear()]
TRAIN, TEST = slice(0, 50), slice(50, 80)
LEARNERS = [
    GPClassifier(KERNELS, weights="average"),
    GPClassifier(KERNELS, weights="evidence"),
    GPClassifier(KERNELS, weights=[0.2, 0.5, 0.3]),
    KernelCombination(KERNELS),
    SVMClassifier(KERNELS),
    NearestNeighbourClassifier(KERNELS),
]


@pytest.fixture(params=LEARNERS, ids=lambda learner: f"{type(learner).__name__} {getattr(learner, 'weights', '')}")
def learner(request):
    return clone(request.param)


def grams(left, right):
    return [kernel.gram(left, right) for kernel in KERNELS]


def test_several_kernels_are_several_gram_matrices(learner):
    by_rows = clone(learner).fit(X[TRAIN], Y[TRAIN])
    by_grams = clone(learner).set_params(kernel="precomputed").fit(grams(X[TRAIN], X[TRAIN]), Y[TRAIN])
    found, expected = by_rows.predict_proba(X[TEST]), by_grams.predict_proba(grams(X[TEST], X[TRAIN]))
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_they_are_stored_and_opened_again(learner, tmp_path):
    learner.fit(X[TRAIN], Y[TRAIN])
    save(learner, tmp_path / "model")
    needed = 5 if getattr(learner, "prototypes", False) else 3  # which older readers say they cannot read
    assert read_archive(tmp_path / "model").header["version"] == needed
    again = load(tmp_path / "model")
    np.testing.assert_allclose(again.latent(X[TEST]).mean, learner.latent(X[TEST]).mean, atol=1e-10)
    assert again.kernel == KERNELS
    assert again.n_features_in_ == 3


@pytest.mark.parametrize("wrong", [[], "rbf", {}, [RBF().recipe()], [{"kind": "linear"}, 3, {}]])
def test_kernels_of_a_file_that_are_none_are_refused(wrong, tmp_path):
    save(GPClassifier(KERNELS).fit(X[TRAIN], Y[TRAIN]), tmp_path / "model")
    whole = read_archive(tmp_path / "model")
    whole.header["model"]["input"]["kernels"] = wrong
    write_archive(tmp_path / "model", whole)
    with pytest.raises(ModelFileError, match="damaged or edited by hand"):
        load(tmp_path / "model")


@pytest.mark.parametrize("weights", ["average", [0.2, 0.5, 0.3]])
def test_examples_come_and_go(weights):
    grown = GPClassifier(KERNELS, weights=weights, noise_variance=0.1, balanced=False).fit(X[:40], Y[:40])
    scales = grown.input_.scales
    grown.add(X[40:50], Y[40:50])
    weighted = grown.weights_ / scales
    K, K_test = (np.tensordot(weighted, grams(rows, X[TRAIN]), axes=1) for rows in (X[TRAIN], X[TEST]))
    targets = np.where(Y[TRAIN][:, None] == grown.classes_, 1.0, -1.0)
    expected = K_test @ np.linalg.solve(K + 0.1 * np.eye(50), targets)
    np.testing.assert_allclose(grown.latent(X[TEST]).mean, expected, atol=1e-8)
    grown.remove(np.arange(40, 50))
    first = GPClassifier(KERNELS, weights=weights, noise_variance=0.1, balanced=False).fit(X[:40], Y[:40])
    np.testing.assert_allclose(grown.latent(X[TEST]).mean, first.latent(X[TEST]).mean, atol=1e-8)


@pytest.mark.parametrize("weights", ["average", "evidence"])
def test_asking_takes_several_kernels(weights):
    learner = ActiveLearner(GPClassifier(KERNELS, weights=weights)).fit(X, [*Y[:12].tolist(), *[None] * 68])
    for _ in range(10):
        (place,) = learner.query().indices
        learner.teach(place, int(Y[place]))
    fitted = learner.learner_
    assert fitted.kernel == KERNELS
    assert fitted.weights_.shape == (3,)
    assert np.mean(fitted.predict(X) == Y) > 0.7


def test_sparse_rows_are_taken_where_all_kernels_take_them():
    H = np.abs(X) * (X > 0)
    kernels = [HistogramIntersection(), Linear()]
    dense = GPClassifier(kernels).fit(H[TRAIN], Y[TRAIN]).latent(H[TEST]).mean
    sparse = GPClassifier(kernels).fit(scipy.sparse.csr_array(H[TRAIN]), Y[TRAIN])
    np.testing.assert_allclose(sparse.latent(scipy.sparse.csr_array(H[TEST])).mean, dense, atol=1e-8)


@pytest.mark.parametrize("kernel", [[], [RBF(), "rbf"], [RBF(), None]])
def test_a_list_of_something_else_is_refused(kernel):
    with pytest.raises(
        InvalidInput, match="kernel must be a kernel object, a channel, a list of kernels or of channels"
    ):
        GPClassifier(kernel).fit(X, Y)


def fitted_input(kernels=KERNELS):
    side = VectorInput(kernels)
    side.fit(X[TRAIN], Y[TRAIN], np.arange(50))
    return side


def test_many_kernels_are_packed(monkeypatch):
    monkeypatch.setattr(inputs_base, "MOST_LISTED", 2)
    side = VectorInput(KERNELS)
    packed = side.fit(X[TRAIN], Y[TRAIN], np.arange(50))
    assert isinstance(packed, GramStack)
    assert isinstance(side.compare(X[TEST]), BlockStack)
    listed = GPClassifier(KERNELS, weights="evidence")
    expected = GPClassifier("precomputed", weights="evidence").fit(grams(X[TRAIN], X[TRAIN]), Y[TRAIN])
    found = listed.fit(X[TRAIN], Y[TRAIN]).latent(X[TEST]).mean
    np.testing.assert_allclose(found, expected.latent(grams(X[TEST], X[TRAIN])).mean, atol=1e-3)


def test_a_further_kernel_is_scaled_as_the_first_ones_were():
    side = fitted_input()
    for number, kernel in enumerate(KERNELS):
        np.testing.assert_allclose(side.gram(kernel), kernel.gram(X[TRAIN]) / side.scales[number], rtol=1e-12)
    assert side.kernels == KERNELS  # asking changes nothing


def test_what_was_chosen_is_an_input_like_any_other(tmp_path):
    side = fitted_input(RBF()).taking(KERNELS)
    direct = fitted_input()
    np.testing.assert_allclose(side.compare(X[TEST]), direct.compare(X[TEST]), rtol=1e-12)
    again = VectorInput.from_state(side.state())
    np.testing.assert_allclose(again.compare(X[TEST]), direct.compare(X[TEST]), rtol=1e-12)


def test_a_learner_can_ask_a_family_for_kernels_while_it_learns():
    """The one of many proposals that fits the labels best is found, and makes a better classifier than the first."""
    rng, family, side = np.random.default_rng(0), RelevanceFamily(), fitted_input(RBF())
    a = np.where(Y[TRAIN][:, None] == np.arange(4), 1.0, -1.0)
    thetas = [family.climb(family.propose(side.examples, rng), side.examples, a) for _ in range(5)]
    gains = [float((a * (side.gram(family.make(theta)) @ a)).sum()) for theta in thetas]
    chosen = side.taking([family.make(thetas[int(np.argmax(gains))])])
    assert chosen.compare(X[TEST])[0].shape == (30, 50)


def test_what_cannot_be_made_is_refused():
    with pytest.raises(InvalidInput, match="VectorInput: rows of numbers must be compared by kernels, got 'rbf'"):
        fitted_input().gram("rbf")
    for ask in (lambda side: side.gram(RBF()), lambda side: side.taking([RBF()]), lambda side: side.examples):
        with pytest.raises(InvalidInput, match="GramInput: kernels can only be made for rows of numbers or images"):
            ask(GramInput("GPClassifier"))


def test_kernels_join_and_are_dropped():
    side = VectorInput([RBF(scale=1.0), Linear()])
    rows = np.random.default_rng(0).normal(size=(12, 3))
    side.fit(rows, None, np.arange(12))
    longer = side.joined([RBF(scale=2.0)])
    assert longer.kernels == [RBF(scale=1.0), Linear(), RBF(scale=2.0)]
    shorter = longer.keeping(np.array([2, 1]))
    assert shorter.kernels == [RBF(scale=2.0), Linear()]
    for found, number in zip(shorter.compare(rows[:4]), (2, 1), strict=True):
        np.testing.assert_array_equal(found, longer.compare(rows[:4])[number])


def test_kernel_values_that_need_no_scale_are_not_copied(monkeypatch):
    rows, made = np.random.default_rng(0).normal(size=(12, 3)), []
    gram = RBF._gram
    monkeypatch.setattr(RBF, "_gram", lambda *given: made.append(gram(*given)) or made[-1])
    side = VectorInput(RBF(scale=1.0))
    (K,) = side.fit(rows[:8], None, np.arange(8))
    (block,) = side.compare(rows[8:])
    assert np.shares_memory(K, made[0])
    assert np.shares_memory(block, made[1])
