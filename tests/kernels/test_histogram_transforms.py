"""The functions g of histogram values: what they are, how they change with their parameter, and their limits."""

from __future__ import annotations

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.kernels.histogram_transforms import Exponential, Plain, Power, transform_named

X = np.array([0.0, 1e-9, 1e-3, 0.2, 0.5, 1.0, 1.5])


def test_the_paper_s_definitions() -> None:
    np.testing.assert_allclose(Power(0.3)(X), X**0.3)
    for rate in (0.5, 4.0, -3.0):
        np.testing.assert_allclose(Exponential(rate)(X), (np.exp(rate * X) - 1) / (np.exp(rate) - 1), rtol=1e-6)
    np.testing.assert_array_equal(Plain()(X), X)


@pytest.mark.parametrize("transform", [Power(1.0), Exponential(0.0)])
def test_the_plain_kernel_is_among_both(transform) -> None:
    np.testing.assert_array_equal(transform(X), X)


@pytest.mark.parametrize("rate", [1e-12, -1e-12, 1e-5])
def test_a_small_rate_is_close_to_none_at_all(rate: float) -> None:
    np.testing.assert_allclose(Exponential(rate)(X), X, rtol=1e-5)
    np.testing.assert_allclose(Exponential(rate).derivative(X), X * (X - 1) / 2, rtol=1e-4, atol=1e-14)


@pytest.mark.parametrize("kind", [Power, Exponential])
@pytest.mark.parametrize("parameter", [0.05, 0.4, 1.0, 3.0, 20.0])
def test_derivatives_match_finite_differences(kind, parameter: float) -> None:
    step = 1e-6
    numeric = (kind(parameter + step)(X) - kind(parameter - step)(X)) / (2 * step)
    np.testing.assert_allclose(kind(parameter).derivative(X), numeric, rtol=1e-5, atol=1e-9 * np.abs(numeric).max())


@pytest.mark.parametrize(
    "transform", [Power(0.3), Power(30.0), Exponential(800.0), Exponential(-800.0), Exponential(3.0)]
)
def test_order_and_zero_stay(transform) -> None:
    values = transform(np.linspace(0, 1, 1001))
    assert values[0] == 0
    assert np.isfinite(values).all()
    assert (np.diff(values) >= 0).all()
    assert np.isfinite(transform.derivative(np.linspace(0, 1, 1001))).all()


@pytest.mark.parametrize("transform", [Power(200.0), Exponential(100.0)])
def test_values_beyond_all_floats_are_refused(transform) -> None:
    with (
        pytest.raises(InvalidInput, match="parameter must keep all transformed values finite"),
        np.errstate(over="ignore"),
    ):
        transform(np.array([0.5, 100.0]))


@pytest.mark.parametrize("parameter", [True, "1", None, np.nan])
def test_what_is_no_parameter_is_refused(parameter) -> None:
    for name in ("power", "exponential"):
        with pytest.raises(InvalidInput, match="HistogramOperator: parameter must be a finite number"):
            transform_named(name, parameter)
