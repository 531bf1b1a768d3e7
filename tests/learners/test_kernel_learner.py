"""Learners that see Gram matrices only: what X may be, and what comes back from a model file."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.gp import Posterior
from fewsight.kernels import RBF, Linear
from fewsight.learners import GPClassifier, SVMClassifier
from fewsight.learners.kernel_learner import check_sizes

X = np.random.default_rng(0).normal(size=(12, 3)) + np.repeat([[0.0], [2.0]], 6, axis=0)
Y = np.repeat(["a", "b"], 6)


def test_the_number_of_examples_is_that_of_rows_of_gram_matrices():
    K = RBF(scale=1.0).gram(X)
    for grams in (K, [K, K], np.stack([K, K]), K.tolist()):
        assert SVMClassifier("precomputed").fit(grams, Y).input_.n_training == 12


def test_parameters_of_a_kernel_are_searched_over_and_no_kernel_is_changed():
    kernel = RBF(scale=1e-3)
    search = GridSearchCV(GPClassifier(kernel), {"kernel__scale": [1e-3, 2.0]}, cv=2).fit(X, Y)
    assert search.best_estimator_.kernel == RBF(scale=2.0)
    assert kernel == RBF(scale=1e-3)
    learner = GPClassifier(Linear()).set_params(kernel=kernel, kernel__scale=3.0)
    assert learner.get_params()["kernel__scale"] == 3.0
    with pytest.raises(InvalidInput, match=r"a parameter of RBF\(scale=3.0\) must be one of 'scale', got 'width'"):
        learner.set_params(kernel__width=1.0)
    for given, shown in ((None, "None"), ("precomputed", "'precomputed'"), ([kernel], r"\[RBF\(scale=0.001\)\]")):
        with pytest.raises(
            InvalidInput, match=f"GPClassifier: kernel must be a kernel to have a parameter 'scale', got {shown}"
        ):
            GPClassifier(given).set_params(kernel__scale=1.0)


def test_a_learner_of_vectors_has_no_channels():
    assert SVMClassifier(Linear()).fit(X, Y).channels == []


def test_what_x_is_comes_back_from_the_state():
    again = SVMClassifier.from_state(SVMClassifier(RBF(scale=2.0)).fit(X, Y).state())
    assert again.kernel == RBF(scale=2.0)
    assert again.n_features_in_ == 3
    with pytest.raises(ValueError, match="expecting 3 features"):
        again.predict(X[:, :2])


def test_numpy_options_are_stored_as_plain_numbers():
    state = SVMClassifier(Linear(), C=np.float64(3.0)).fit(X, Y).state()
    assert type(state.header["options"]["C"]) is float


def test_classes_and_training_examples_of_a_file_fit_the_posterior():
    posterior = Posterior.condition(np.eye(3), np.ones((3, 2)), 0.1)
    check_sizes(posterior, 2, 3)
    with pytest.raises(InvalidInput, match="a column per class: 3, got 2"):
        check_sizes(posterior, 3, 3)
    with pytest.raises(InvalidInput, match="a row per training example: 4, got 3"):
        check_sizes(posterior, 2, 4)


def test_an_input_of_another_size_is_refused():
    few, many = (GPClassifier(RBF(scale=1.0)).fit(X[rows], Y[rows]).state() for rows in (slice(3, 9), slice(0, 12)))
    mixed = State({**few.header, "input": many.header["input"]}, {**few.arrays, **inputs_of(many)})
    with pytest.raises(InvalidInput, match="a row per training example: 12, got 6"):
        GPClassifier.from_state(mixed)


def inputs_of(state):
    return {name: array for name, array in state.arrays.items() if name.startswith("input/")}
