"""Products of groups of columns: slopes against differences, and a climb that finds the group that tells."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.kernels.families import ProductFamily

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("distance", ["euclidean", "chi_square"])
def test_the_slopes_are_those_of_t(distance):
    family = ProductFamily(2, distance)
    rows = RNG.uniform(size=(12, 5)) * [1.0, 2.0, 0.1, 3.0, 1.0]
    columns = RNG.normal(size=(12, 2))
    numbers = np.array([0.4, 0.0, 1.3])

    def gain(at):
        K = family.make(family.theta(at, rows)).gram(rows)
        return 0.5 * sum(a @ K @ a for a in columns.T)

    value, slopes = family.value_and_slopes(numbers, rows, columns)
    assert value == pytest.approx(gain(numbers), rel=1e-9)
    for g, slope in enumerate(slopes):
        step = 1e-6 * np.eye(3)[g]
        below = numbers if numbers[g] == 0 else numbers - step
        difference = (gain(numbers + step) - gain(below)) / (1e-6 if numbers[g] == 0 else 2e-6)
        assert slope == pytest.approx(difference, rel=1e-4, abs=1e-6)


def test_a_climb_leaves_out_groups_that_do_not_tell():
    rows = RNG.normal(size=(80, 6))
    y = np.sign(rows[:, 2] * rows[:, 3])
    family = ProductFamily(2)
    climbed = family.climb({"exponents": [0.1, 0.1, 0.1], "n_columns": 6}, rows, y - y.mean())
    exponents = family.make(climbed).exponents
    assert exponents[1] > 10 * max(exponents[0], exponents[2])


def test_what_is_no_distance_is_refused():
    with pytest.raises(InvalidInput, match="distance must be euclidean or chi_square, got 'manhattan'"):
        ProductFamily(2, "manhattan")
