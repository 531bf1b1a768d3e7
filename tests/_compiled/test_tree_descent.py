"""The descent of points through a tree against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from fewsight._compiled.tree_descent import node_counts, node_counts_reference


def random_tree(n_nodes: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Starts and children of a tree in which every node has some earlier one as its parent."""
    parents = np.array([rng.integers(0, node) for node in range(1, n_nodes)], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(np.bincount(parents, minlength=n_nodes))])
    return starts, 1 + np.argsort(parents, kind="stable")


@pytest.mark.parametrize(("n_nodes", "n_points", "d"), [(1, 5, 2), (2, 1, 1), (40, 0, 3), (40, 60, 3), (300, 70, 12)])
def test_counts_equal_their_reference(n_nodes: int, n_points: int, d: int) -> None:
    rng = np.random.default_rng(n_nodes)
    tree = random_tree(n_nodes, rng)
    words, points = (rng.normal(size=(n, d)).astype(np.float32) for n in (n_nodes, n_points))
    np.testing.assert_array_equal(node_counts(points, words, *tree), node_counts_reference(points, words, *tree))


def test_of_children_at_one_distance_the_first_is_taken() -> None:
    words, starts, children = np.zeros((4, 2), np.float32), np.array([0, 3, 3, 3, 3]), np.array([1, 2, 3])
    np.testing.assert_array_equal(node_counts(np.ones((5, 2), np.float32), words, starts, children), [5, 5, 0, 0])


def test_a_point_that_is_no_number_goes_to_a_leaf_all_the_same() -> None:
    words, starts, children = np.eye(3, dtype=np.float32), np.array([0, 2, 2, 2]), np.array([1, 2])
    points = np.full((2, 3), np.nan, np.float32)
    np.testing.assert_array_equal(node_counts(points, words, starts, children), [2, 2, 0])
