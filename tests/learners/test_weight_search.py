"""Noise and weights that are chosen by left-out examples."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from fewsight._base.errors import InvalidInput
from fewsight.gp import learn_noise
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier
from fewsight.learners.sharpness import USUAL_NOISE
from fewsight.learners.weight_search import NOISES

X, Y = make_blobs(60, 3, centers=4, cluster_std=3.0, random_state=0)
KERNEL = RBF(scale=4.0)


def test_the_noise_is_one_of_a_few_and_follows_the_scale_of_the_weights():
    K = KERNEL.gram(X)
    plain = GPClassifier("precomputed").fit(K, Y)
    assert plain.noise_variance_ in NOISES
    double = GPClassifier("precomputed", weights=[2.0]).fit(K, Y)
    assert double.noise_variance_ == pytest.approx(2 * plain.noise_variance_)


def test_overlapping_classes_get_more_noise_than_separate_ones():
    apart, labels = make_blobs(60, 3, centers=4, cluster_std=0.5, random_state=0)
    noises = [GPClassifier(KERNEL).fit(rows, names).noise_variance_ for rows, names in ((X, Y), (apart, labels))]
    assert noises[0] > noises[1]


def test_with_one_example_of_each_class_the_noise_is_the_usual_one():
    first = [int(np.flatnonzero(label == Y)[0]) for label in range(4)]
    assert GPClassifier(KERNEL).fit(X[first], Y[first]).noise_variance_ == USUAL_NOISE


def test_the_evidence_is_asked_where_it_is_named():
    targets = np.where(Y[:, None] == np.unique(Y), 1.0, -1.0)
    expected = learn_noise(KERNEL.gram(X), targets).level
    assert GPClassifier(KERNEL, noise_variance="evidence").fit(X, Y).noise_variance_ == pytest.approx(expected)
    with pytest.raises(
        InvalidInput, match=r"^GPClassifier: noise_variance must be one of 'left-out', 'evidence', got 'guess'"
    ):
        GPClassifier(KERNEL, noise_variance="guess").fit(X, Y)
