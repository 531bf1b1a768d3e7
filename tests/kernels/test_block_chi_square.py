"""Histograms side by side are compared block by block, and raised to powers part by part."""

import numpy as np
import pytest
import scipy.sparse

from fewsight._base.errors import InvalidInput
from fewsight.kernels import RBF, BlockChiSquare, Columns, ExponentialChiSquare, Linear, PowerProduct

RNG = np.random.default_rng(0)
X, Z = RNG.uniform(size=(7, 6)) * (RNG.uniform(size=(7, 6)) > 0.4), RNG.uniform(size=(4, 6))


def test_a_block_kernel_is_the_weighted_sum_of_the_kernels_of_its_blocks():
    kernel = BlockChiSquare(2, (0.5, 1.0, 4.0), (0.2, 0.0, 3.0))
    parts = [(0.2, Columns((0, 1), ExponentialChiSquare(0.5))), (3.0, Columns((4, 5), ExponentialChiSquare(4.0)))]
    np.testing.assert_allclose(kernel.gram(X), sum(w * part.gram(X) for w, part in parts), rtol=1e-13)
    np.testing.assert_allclose(kernel.gram(X, Z), sum(w * part.gram(X, Z) for w, part in parts), rtol=1e-13)
    np.testing.assert_allclose(kernel.gram(scipy.sparse.csr_array(X), Z), kernel.gram(X, Z), rtol=1e-13)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ((0, (1.0,), (1.0,)), "width must be a whole number"),
        ((2, (), ()), "gammas must be one or more numbers, got"),
        ((2, (1.0, -1.0), (1.0, 1.0)), "a gamma must be a finite number > 0, got -1"),
        ((2, (1.0, 1.0), (1.0,)), "there must be a weight for each of 2 gammas"),
        ((2, (1.0, 1.0), (0.0, 0.0)), "one or more of them above zero"),
    ],
)
def test_parameters_that_are_none_are_refused(parameters, message):
    with pytest.raises(InvalidInput, match=message):
        BlockChiSquare(*parameters)


def test_a_product_of_powers_adds_distances():
    kernel = PowerProduct((RBF(1.0), Columns((0, 2), RBF(1.0))), (0.5, 2.0))
    squares = [
        ((X[:, None] - X[None]) ** 2).sum(axis=2),
        ((X[:, None, [0, 2]] - X[None][:, :, [0, 2]]) ** 2).sum(axis=2),
    ]
    np.testing.assert_allclose(kernel.gram(X), np.exp(-0.25 * squares[0] - squares[1]), rtol=1e-12)


def test_only_kernels_whose_powers_are_kernels_make_a_product_of_powers():
    with pytest.raises(InvalidInput, match="parts must be RBF, RelevanceRBF or ExponentialChiSquare"):
        PowerProduct((Linear(),), (0.5,))
    with pytest.raises(InvalidInput, match="exponents must be 1 numbers, got"):
        PowerProduct((RBF(),), (0.5, 1.0))
