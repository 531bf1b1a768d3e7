"""Families of drawn columns and directions."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.kernels import RBF, Columns, Linear
from fewsight.kernels.families import ColumnFamily, ProjectionFamily

X = np.random.default_rng(0).normal(size=(50, 6)) * np.geomspace(0.1, 100.0, 6)


def test_columns_are_drawn_without_repetition_and_all_come_up():
    rng = np.random.default_rng(0)
    drawn = [ColumnFamily(2).propose(X, rng)["columns"] for _ in range(60)]
    assert all(len(set(columns)) == 2 for columns in drawn)
    assert {column for columns in drawn for column in columns} == set(range(6))
    assert ColumnFamily(10).propose(X, rng)["columns"] == list(range(6))


def test_without_a_kernel_a_gaussian_as_wide_as_the_columns_compares_them():
    theta = ColumnFamily(2).propose(X, np.random.default_rng(0))
    chosen = X[:, theta["columns"]]
    assert ColumnFamily(2).make(theta) == Columns(tuple(theta["columns"]), RBF.as_wide_as(chosen))
    given = ColumnFamily(2, Linear()).propose(X, np.random.default_rng(0))
    np.testing.assert_allclose(ColumnFamily(2, Linear()).make(given).gram(X), chosen @ chosen.T, rtol=1e-12)


def test_no_column_drowns_the_others_in_a_projection():
    rng = np.random.default_rng(0)
    directions = np.concatenate([ProjectionFamily(5).propose(X, rng)["directions"] for _ in range(40)])
    shares = np.mean(directions**2, axis=0) * X.var(axis=0)
    np.testing.assert_allclose(shares, 1 / 6, rtol=0.3)


def test_options_that_are_none_are_refused():
    with pytest.raises(InvalidInput, match="ColumnFamily: size must be a whole number >= 1, got 0"):
        ColumnFamily(0)
    with pytest.raises(InvalidInput, match="ProjectionFamily: part must be a kernel or None, got 'rbf'"):
        ProjectionFamily(2, "rbf")
    with pytest.raises(InvalidInput, match=r"ColumnFamily: theta must have columns, scale, got \{'columns'"):
        ColumnFamily(2).make({"columns": [1]})
