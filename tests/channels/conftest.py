"""Images of the sample set, and a table with a vector for each."""

import pytest

from fewsight.images import sample_set
from small_networks import write_vectors


@pytest.fixture(scope="module")
def tiles():
    return sample_set().select(range(0, 550, 25))


@pytest.fixture
def table(tiles, tmp_path):
    return write_vectors(tmp_path / "vectors.npz", tiles.images)
