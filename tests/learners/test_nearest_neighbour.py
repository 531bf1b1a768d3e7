"""The nearest example and the nearest class mean are those of the vectors, for a linear kernel."""

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestCentroid

from fewsight.kernels import Linear
from fewsight.learners import NearestMeanClassifier, NearestNeighbourClassifier

X, Y = make_blobs(120, 5, centers=4, cluster_std=4.0, random_state=2)
X = X / np.sqrt((X[:80] ** 2).sum(axis=1).mean())  # such that the training diagonal of the linear kernel has mean 1
TRAIN, TEST = slice(0, 80), slice(80, 120)


def test_the_nearest_mean_is_that_of_the_vectors():
    ours = NearestMeanClassifier(Linear()).fit(X[TRAIN], Y[TRAIN])
    theirs = NearestCentroid().fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(ours.predict(X[TEST]), theirs.predict(X[TEST]))
    squared = ((X[TEST, None] - theirs.centroids_[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(ours.latent(X[TEST]).mean, -squared, atol=1e-9)


def test_the_nearest_example_is_that_of_the_vectors():
    learner = NearestNeighbourClassifier(Linear()).fit(X[:80], Y[:80])
    squared = ((X[80:, None] - X[None, :80]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(learner.predict(X[80:]), Y[squared.argmin(axis=1)])
    nearest = np.stack([squared[:, Y[:80] == label].min(axis=1) for label in learner.classes_], axis=1)
    np.testing.assert_allclose(-learner.latent(X[80:]).mean, nearest, atol=1e-9)
