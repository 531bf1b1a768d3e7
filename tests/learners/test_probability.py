"""The probability of being the largest, counted and in closed form."""

import numpy as np
import pytest
from scipy.stats import norm

from fewsight.learners.probability import largest_probability


def test_probabilities_are_those_of_the_largest_of_independent_gaussians():
    mean, std = np.array([[0.3, -0.2, 0.1, -1.0], [-3.0, 4.0, 3.5, 0.0]]), np.array([0.7, 1.3])
    rng = np.random.default_rng(0)
    draws = mean[:, None, :] + std[:, None, None] * rng.standard_normal((2, 400_000, 4))
    counted = np.stack([(draws.argmax(axis=2) == column).mean(axis=1) for column in range(4)], axis=1)
    np.testing.assert_allclose(largest_probability(mean, std), counted, atol=3e-3)


def test_two_classes_have_the_probability_of_the_sign():
    mean, std = np.array([[0.4, -0.4]]), np.array([0.5])
    np.testing.assert_allclose(largest_probability(mean, std)[0, 0], norm.cdf(0.8))


def test_probabilities_stay_probabilities_when_the_latent_values_are_extreme():
    mean = np.array([[1e6, 0.0, -1e6], [0.0, 0.0, 0.0]])
    probability = largest_probability(mean, np.array([1e-9, 1e9]))
    np.testing.assert_allclose(probability, [[1, 0, 0], [1 / 3, 1 / 3, 1 / 3]], atol=1e-9)


@pytest.mark.parametrize("columns", [3, 10, 11, 100])
@pytest.mark.parametrize("spread", [0.0, 0.3, 3.0])
def test_the_integral_is_exact_to_ten_digits(columns: int, spread: float) -> None:
    scaled = spread * np.random.default_rng(columns).standard_normal((5, columns))
    t = np.arange(-15.0, 25.0, 0.01)
    gaps = t - scaled[:, :, None]
    others = norm.logcdf(gaps).sum(axis=1, keepdims=True) - norm.logcdf(gaps)
    exact = np.exp(others + norm.logpdf(gaps)).sum(axis=2) * 0.01
    np.testing.assert_allclose(largest_probability(scaled, np.ones(5)), exact, atol=1e-10)
