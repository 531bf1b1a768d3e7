"""A support vector machine is LIBSVM's, wherever it begins."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from fewsight.learners.mkl import Task, machine


def libsvm(K, signs, C):
    return SVC(C=C, kernel="precomputed", tol=1e-10).fit(K, signs)


# LIBSVM keeps kernel values in single precision: at C = 1000 that moves its margins by a thousandth.
@pytest.mark.parametrize(("number", "tolerance"), [(0, 1e-6), (1, 3e-3), (2, 1e-6)])
def test_margins_are_libsvms(problem, number, tolerance):
    grams, tasks = problem
    task = tasks[number]
    found = task.train(grams[0], gap=1e-8)
    expected = libsvm(grams[0], task.signs, task.C)
    np.testing.assert_allclose(found.margins, expected.decision_function(grams[0]), atol=tolerance)
    np.testing.assert_allclose(found.margins, grams[0] @ found.dual + found.intercept, atol=1e-8)
    signed, size = task.signs * found.margins, np.abs(found.dual)
    assert (signed[size < task.C] > 1 - 1e-8).all()  # the optimality conditions, which need no LIBSVM
    assert (signed[size > 0] < 1 + 1e-8).all()


def test_a_machine_that_begins_elsewhere_ends_in_the_same_place(problem):
    grams, (task, *_) = problem
    there = task.train(grams[3], gap=1e-8).dual
    cold, warm = task.train(grams[0], gap=1e-8), task.train(grams[0], there, gap=1e-8)
    np.testing.assert_allclose(warm.margins, cold.margins, atol=1e-7)
    assert np.isclose(warm.objective, cold.objective, rtol=1e-9)


def test_left_out_examples_have_no_say(problem):
    grams, (task, *_) = problem
    out = np.arange(80) % 5 == 0
    whole = task.train(grams[0], gap=1e-8)
    found = task.train(grams[0], whole.dual, gap=1e-8, left_out=out)
    rest = libsvm(grams[0][np.ix_(~out, ~out)], task.signs[~out], task.C)
    np.testing.assert_allclose(found.margins, rest.decision_function(grams[0][:, ~out]), atol=1e-6)
    assert (found.dual[out] == 0).all()


def test_examples_of_one_side_alone_claim_everything():
    found = Task(np.ones(4), 1.0).train(np.eye(4), gap=1e-6)
    np.testing.assert_array_equal(found.margins, np.ones(4))


def test_a_machine_that_does_not_get_there_says_so(problem, monkeypatch):
    grams, (task, *_) = problem
    monkeypatch.setattr(machine, "MAX_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match="stopped after 2 steps with margins off by"):
        task.train(grams[0], gap=1e-8)
