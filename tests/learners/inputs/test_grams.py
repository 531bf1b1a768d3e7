"""Gram matrices that the user brings as a stack: the same answers as from a list."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from fewsight._base.errors import FewsightError, InvalidInput
from fewsight._base.types import State
from fewsight.gp import BlockStack, GramsOnRequest, GramStack
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, KernelCombination, NearestMeanClassifier, SVMClassifier
from fewsight.learners.inputs import GramInput
from fewsight.persistence import load, save

X, Y = make_blobs(70, 4, centers=3, cluster_std=3.0, random_state=1)
KERNELS = [7.0 * RBF(scale) for scale in np.geomspace(0.5, 20.0, 40)]
GRAMS = [kernel.gram(X[:45]) for kernel in KERNELS]
BLOCKS = [kernel.gram(X[45:], X[:45]) for kernel in KERNELS]
LEARNERS = [
    GPClassifier("precomputed"),
    GPClassifier("precomputed", weights="evidence"),
    KernelCombination("precomputed", penalty="even", strength=1e-3, noise_variance=0.1),
    SVMClassifier("precomputed"),
    NearestMeanClassifier("precomputed"),
]


@pytest.fixture(params=LEARNERS, ids=lambda learner: f"{type(learner).__name__} {getattr(learner, 'weights', '')}")
def learner(request):
    return clone(request.param)


def test_a_stack_is_taken_where_a_list_is(learner, tmp_path):
    listed = clone(learner).fit(GRAMS, Y[:45]).latent(BLOCKS).mean
    stacked = clone(learner).fit(GramStack.of(GRAMS), Y[:45])
    np.testing.assert_allclose(stacked.latent(BlockStack.of(BLOCKS)).mean, listed, atol=2e-3)
    np.testing.assert_allclose(stacked.latent(BLOCKS).mean, listed, atol=2e-3)
    np.testing.assert_array_equal(stacked.predict(BLOCKS), clone(learner).fit(GRAMS, Y[:45]).predict(BLOCKS))
    save(stacked, tmp_path / "model")
    np.testing.assert_allclose(load(tmp_path / "model").latent(BLOCKS).mean, stacked.latent(BLOCKS).mean, atol=1e-9)


def test_matrices_on_request_are_taken_as_well():
    asked = GramsOnRequest(lambda number: GRAMS[number], len(GRAMS), 45)
    listed = GPClassifier("precomputed", noise_variance=0.1).fit(GRAMS, Y[:45]).latent(BLOCKS).mean
    on_request = GPClassifier("precomputed", noise_variance=0.1).fit(asked, Y[:45]).latent(BLOCKS).mean
    np.testing.assert_allclose(on_request, listed, atol=1e-8)


def test_examples_without_a_label_are_left_out_of_a_stack():
    labels = Y[:45].astype(object)
    labels[::3] = None
    some = GPClassifier("precomputed", noise_variance=0.1).fit(GramStack.of(GRAMS), labels)
    expected = GPClassifier("precomputed", noise_variance=0.1).fit(GRAMS, labels).latent(BLOCKS).mean
    for blocks in (BLOCKS, BlockStack.of(BLOCKS)):
        np.testing.assert_allclose(some.latent(blocks).mean, expected, atol=1e-4)


def test_blocks_that_do_not_fit_are_refused():
    fitted = GPClassifier("precomputed").fit(GramStack.of(GRAMS), Y[:45])
    with pytest.raises(InvalidInput, match="fitted on 40 Gram matrices, so X must be a list of as many"):
        fitted.predict(BlockStack.of(BLOCKS[:3]))
    with pytest.raises(InvalidInput, match=r"X \(test x training\) must be a matrix of any x 45, got 25 x 44"):
        fitted.predict(BlockStack.of([block[:, 1:] for block in BLOCKS]))


@pytest.mark.parametrize("learner", [GPClassifier, SVMClassifier, NearestMeanClassifier, KernelCombination])
def test_a_negative_diagonal_is_named_as_what_is_wrong(learner):
    K = np.diag([1.0, 1.0, -0.5, 1.0])
    with pytest.raises(
        InvalidInput, match=rf"{learner.__name__}: the diagonal of a Gram matrix X must be >= 0, got -0\.5\."
    ):
        learner("precomputed").fit(K, ["a", "b", "a", "b"])


def test_a_file_that_speaks_of_more_examples_than_any_gram_matrix_has_is_refused() -> None:
    state = GPClassifier("precomputed").fit(np.eye(4), ["a", "a", "b", "b"]).input_.state()
    with pytest.raises(FewsightError, match="width must be"):
        GramInput.from_state(State({**state.header, "width": 2**31}, state.arrays))
