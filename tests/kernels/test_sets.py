"""Kernels of sets of descriptors."""

import numpy as np
import pytest
from example_parts.set_channel import MeanOfGaussians

from fewsight._base.encodings import DescriptorSets, SparseRows
from fewsight._base.errors import InvalidInput
from fewsight.kernels import Linear

RNG = np.random.default_rng(0)
MATRICES = [RNG.random((count, 3)) for count in (2, 5, 1, 4)]
SETS = DescriptorSets.stack([DescriptorSets.entry(matrix) for matrix in MATRICES], 3)
KERNEL = MeanOfGaussians(0.4)


def definition(A, B):
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2) / (2 * 0.4**2)).mean()


def test_sets_may_be_passed_as_a_list_of_matrices():
    expected = [[definition(A, B) for B in MATRICES] for A in MATRICES]
    np.testing.assert_allclose(KERNEL.gram(SETS), expected, rtol=1e-10)
    np.testing.assert_allclose(KERNEL.gram(MATRICES, SETS), expected, rtol=1e-10)
    np.testing.assert_allclose(KERNEL.diag(MATRICES), np.diag(expected), rtol=1e-10)
    np.testing.assert_allclose(KERNEL.against(SETS).gram(MATRICES[:1]), expected[:1], rtol=1e-10)


def test_they_are_added_multiplied_and_scaled_as_other_kernels_are():
    K, other = KERNEL.gram(SETS), MeanOfGaussians(2.0).gram(SETS)
    np.testing.assert_allclose((2 * KERNEL + MeanOfGaussians(2.0)).gram(SETS), 2 * K + other)
    np.testing.assert_allclose((KERNEL * MeanOfGaussians(2.0)).diag(SETS), np.diag(K * other))


def test_kernels_of_rows_and_of_sets_are_not_combined():
    with pytest.raises(InvalidInput, match="must all compare the same, got rows of numbers and sets of descriptors"):
        _ = KERNEL + Linear()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ([np.zeros((2, 4))], "the descriptors of B must have 3 numbers, got 4"),
        ([np.zeros(3)], "B must be sets of descriptors"),
        ([np.zeros((2, 3)), np.zeros((2, 4))], "B must be sets of descriptors"),
        ([], "B must be sets of descriptors"),
        ("word", "B must be sets of descriptors"),
        ([np.full((2, 3), np.nan)], "descriptors must be finite"),
    ],
)
def test_what_is_no_set_of_descriptors_is_refused(wrong, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        KERNEL.gram(SETS, wrong)


def test_a_kernel_of_rows_refuses_sets_and_takes_rows_of_a_channel():
    with pytest.raises(InvalidInput, match="Linear: A must be rows of numbers, got DescriptorSets"):
        Linear().gram(SETS)
    rows = SparseRows.stack([SparseRows.entry(np.array([1]), np.array([2.0]))], 3)
    np.testing.assert_array_equal(Linear().gram(rows), [[4.0]])
