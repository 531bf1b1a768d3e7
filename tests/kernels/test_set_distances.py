"""The correspondence kernel of sets of descriptors."""

import numpy as np
import pytest

from fewsight._base.encodings import DescriptorSets
from fewsight._base.errors import InvalidInput
from fewsight.kernels import Correspondence
from fewsight.kernels.set_distances import both_distances

RNG = np.random.default_rng(0)
MATRICES = [RNG.random((count, 3)).astype(np.float32) for count in (2, 5, 1, 4)]
POSITIONS = [RNG.random((len(matrix), 2)).astype(np.float32) for matrix in MATRICES]
PLACED = DescriptorSets.stack([DescriptorSets.entry(*each) for each in zip(MATRICES, POSITIONS, strict=True)], 3)


def definition(i, j, w=0.0):
    squares = ((MATRICES[i][:, None].astype(float) - MATRICES[j][None]) ** 2).sum(axis=2)
    squares = squares + w**2 * ((POSITIONS[i][:, None].astype(float) - POSITIONS[j][None]) ** 2).sum(axis=2)
    return (squares.min(axis=1).mean() + squares.min(axis=0).mean()) / 2


@pytest.mark.parametrize("distortion", [0.0, 0.8])
def test_its_values_are_those_of_the_definition(distortion):
    D = np.array([[definition(i, j, distortion) for j in range(4)] for i in range(4)])
    kernel = Correspondence(2.0, distortion)
    np.testing.assert_allclose(kernel.distances(PLACED), D, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(kernel.gram(PLACED), np.exp(-2.0 * D), rtol=1e-5)
    np.testing.assert_array_equal(kernel.distances(PLACED, PLACED, n_jobs=2), kernel.distances(PLACED))


def test_without_a_distortion_positions_are_not_needed():
    np.testing.assert_array_equal(Correspondence().gram(MATRICES), Correspondence().gram(PLACED))
    with pytest.raises(InvalidInput, match=r"Correspondence: with a distortion of 0\.5, sets must have positions"):
        Correspondence(distortion=0.5).gram(MATRICES)


def test_an_empty_set_is_like_empty_ones_only():
    K = Correspondence().gram([MATRICES[0], np.empty((0, 3)), np.empty((0, 3))])
    np.testing.assert_array_equal(K, [[1, 0, 0], [0, 1, 1], [0, 1, 1]])


def test_sets_of_a_file_may_be_read_only():
    frozen = PLACED.descriptors.copy()
    frozen.flags.writeable = False
    again = DescriptorSets(frozen, PLACED.starts, PLACED.positions)
    np.testing.assert_array_equal(both_distances(again, None, 1.0), both_distances(PLACED, None, 1.0))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"gamma": 0}, "Correspondence: gamma must be a finite number > 0, got 0"),
        ({"distortion": -1}, "Correspondence: distortion must be a finite number >= 0, got -1"),
    ],
)
def test_wrong_options_are_one_sentence(options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        Correspondence(**options)
