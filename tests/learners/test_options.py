"""Options that cannot be used are refused in one sentence by whoever has them: nothing is taken for True in silence."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.kernels import RBF, Linear
from fewsight.learners import GPClassifier, HistogramGPClassifier, KernelCombination, SparseGPClassifier

X = np.abs(np.random.default_rng(0).normal(size=(20, 3)))
Y = np.repeat(["ant", "bee"], 10)


@pytest.mark.parametrize("wrong", ["no", 1, None])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (GPClassifier, "balanced"),
        (GPClassifier, "calibrated"),
        (SparseGPClassifier, "balanced"),
        (SparseGPClassifier, "calibrated"),
        (HistogramGPClassifier, "balanced"),
        (HistogramGPClassifier, "calibrated"),
        (HistogramGPClassifier, "noise_per_class"),
        (KernelCombination, "warm_start"),
    ],
)
def test_a_flag_is_true_or_false(kind, name, wrong):
    with pytest.raises(InvalidInput, match=f"{kind.__name__}: {name} must be True or False, got {wrong!r}"):
        kind(**{name: wrong}).fit(X, Y)
    kind(**{name: np.bool_(False)}).fit(X, Y)


def test_the_mean_of_a_combination_is_free_or_not():
    with pytest.raises(InvalidInput, match="KernelCombination: free_mean must be True or False, got 3"):
        KernelCombination(free_mean=3).fit(X, Y)


@pytest.mark.parametrize("kind", [GPClassifier, SparseGPClassifier, HistogramGPClassifier])
@pytest.mark.parametrize("rate", [0, 1, "a", None, float("nan"), True])
def test_a_rate_of_false_alarms_lies_between_0_and_1(kind, rate):
    with pytest.raises(InvalidInput, match=f"{kind.__name__}: false_alarm_rate must be a number between 0 and 1, got"):
        kind(false_alarm_rate=rate).fit(X, Y)


@pytest.mark.parametrize("weights", [[1.0], [1.0, 2.0, 3.0], [1.0, "a"], 3.0, [[1.0, 2.0]], [1.0, None]])
def test_weights_are_a_number_for_each_kernel(weights):
    with pytest.raises(InvalidInput, match="GPClassifier: weights must be 2 numbers, one for each kernel, got"):
        GPClassifier([RBF(1.0), Linear()], weights=weights).fit(X, Y)
