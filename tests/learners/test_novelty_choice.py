"""What a Gaussian process chooses by itself: its noise by left-out examples, its rule for unknowns by left-out classes."""

import numpy as np
from sklearn.datasets import make_blobs

from fewsight.kernels import RBF
from fewsight.learners import GPClassifier
from fewsight.learners.novelty import CANDIDATES, COMBINED, Signs, choose_rule, without_own_class

X, Y = make_blobs(60, 3, centers=4, cluster_std=3.0, random_state=0)
KERNEL = RBF(scale=4.0)


def test_signs_of_a_left_out_class_are_those_of_a_classifier_that_never_saw_it():
    gp = GPClassifier(KERNEL, noise_variance=0.1).fit(X, Y)
    strange = gp._signs_of_left_out_classes(KERNEL.gram(X), Y)
    for label in range(4):
        others = label != Y
        stranger = GPClassifier(KERNEL, noise_variance=0.1, calibrated=False).fit(X[others], Y[others])
        seen = stranger._look(X[~others])
        contrast = seen.mean.mean(axis=1) - seen.mean.max(axis=1)
        np.testing.assert_allclose(strange.values["contrast"][~others], contrast, atol=1e-8)
        np.testing.assert_allclose(strange.values["variance"][~others], seen.variance, atol=1e-8)
        np.testing.assert_allclose(strange.values["distance"][~others], -seen.similarity, atol=1e-12)


def test_the_rule_is_the_one_that_notices_left_out_classes():
    rng = np.random.default_rng(0)
    calm, loud = rng.normal(size=200), rng.normal(size=200) + 2
    names = ("variance", "latent", "contrast", "probability", "distance")

    def signs(**values):
        return Signs({name: values.get(name, np.zeros(200)) for name in names})

    misled = rng.normal(size=200) - 2  # a sign by which what is strange looks familiar
    both = signs(contrast=calm, variance=calm, distance=calm)
    assert choose_rule(both, signs(contrast=loud, variance=misled, distance=misled)) == "contrast"
    assert choose_rule(both, signs(contrast=calm, variance=loud, distance=misled)) == "contrast+variance"
    assert choose_rule(both, signs(contrast=loud, variance=loud, distance=loud)) == COMBINED


def test_the_chosen_rule_is_one_of_the_candidates_and_two_classes_leave_no_choice():
    assert GPClassifier(KERNEL).fit(X, Y).novelty_.rule in CANDIDATES
    assert GPClassifier(KERNEL).fit(X, Y == 1).novelty_.rule == COMBINED
    assert GPClassifier(KERNEL, unknown_rule="latent").fit(X, Y).novelty_.rule == "latent"


def test_the_own_column_is_taken_out():
    mean = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(without_own_class(mean, np.array([0, 2])), [[1, 2], [3, 4]])
