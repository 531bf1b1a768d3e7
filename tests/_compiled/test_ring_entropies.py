"""Entropies of discs of grey levels: the compiled loop against its definition, and what they mean."""

import numpy as np
import pytest

from fewsight._compiled.ring_entropies import ring_entropies, ring_entropies_reference
from fewsight.features.saliency import discs


@pytest.mark.parametrize(
    ("shape", "radii", "step", "n_bins"),
    [((1, 1), (1, 2), 1, 2), ((13, 9), (1, 2, 4), 1, 7), ((20, 31), (2, 3, 7), 3, 16)],
)
def test_compiled_entropies_equal_their_reference(shape, radii, step, n_bins):
    levels = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    compared = zip(
        ring_entropies(levels, *discs(radii), step, n_bins),
        ring_entropies_reference(levels, *discs(radii), step, n_bins),
        strict=True,
    )
    for found, expected in compared:
        assert found.shape == (-(-shape[0] // step), -(-shape[1] // step), len(radii))
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_change_is_the_distance_of_the_gained_ring_from_the_disc_inside():
    """A white disc of radius 4 on black: the first ring outside shares no grey level with it."""
    row, column = np.indices((21, 21)) - 10
    levels = np.where(row**2 + column**2 <= 16, 255, 0).astype(np.uint8)
    entropies, changes = ring_entropies(levels, *discs((2, 4, 6)), 10, 8)
    np.testing.assert_allclose(entropies[1, 1, :2], 0, atol=1e-12)
    np.testing.assert_allclose(changes[1, 1], [0, 0, 2], atol=1e-12)
    share = 49 / 113  # pixels within 4 and within 6
    np.testing.assert_allclose(entropies[1, 1, 2], -share * np.log(share) - (1 - share) * np.log(1 - share))
