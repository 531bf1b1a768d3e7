"""All correspondence distances of many sets of points, with and without positions, against their definition in NumPy.

The definition takes a pair at a time in double precision, and is timed on a sample of the pairs: its time for all is that for one
times their number. The sets have 250 points of 48 numbers and a position, as the channels `geometric_blur` have them.
"""

from __future__ import annotations

import time

import numpy as np

from fewsight._base.encodings import DescriptorSets
from fewsight._compiled.correspondence import distances_reference
from fewsight.kernels.set_distances import both_distances

from timing import arguments, record, write

POINTS, WIDTH = 250, 48


def some_sets(n: int) -> DescriptorSets:
    """Descriptors of unit length, not negative, around one of a few patterns, as those of images are."""
    rng = np.random.default_rng(0)
    patterns = rng.random((200, WIDTH)) ** 3
    rows = patterns[rng.integers(200, size=n * POINTS)] + 0.3 * rng.random((n * POINTS, WIDTH))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    positions = rng.random((n * POINTS, 2)).astype(np.float32)
    halves = rows.astype(np.float16).astype(np.float32)
    return DescriptorSets(halves, np.arange(n + 1) * POINTS, positions)


def seconds_by_definition(sets: DescriptorSets, found: np.ndarray, n_pairs: int) -> tuple[float, float]:
    """Of one pair, the mean over some; and how far the distances are apart at most, relative to the definition's."""
    rng = np.random.default_rng(1)
    total, apart = 0.0, 0.0
    for _ in range(n_pairs):
        i, j = rng.choice(len(sets), 2, replace=False)
        one, other = (sets.take(np.array([each])) for each in (i, j))
        start = time.perf_counter()
        expected = distances_reference(
            *(one.descriptors, one.positions, one.starts, other.descriptors, other.positions, other.starts, 1.0)
        )
        total += time.perf_counter() - start
        apart = max(apart, float(np.abs(found[:, i, j] / expected.ravel() - 1).max()))
    return total / n_pairs, apart


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sets", type=int, default=3030, help="how many sets there are (3030; 120 with --quick)")
    parser.add_argument("--n-jobs", type=int, default=1, help="sets compared at the same time (1)")
    options = parser.parse_args()
    n = 120 if options.quick else options.sets
    sets = some_sets(n)
    both_distances(sets.take(np.arange(2)), None, 1.0)  # compiles
    before, _ = seconds_by_definition(sets, np.ones((2, n, n)), 100)
    start = time.perf_counter()
    found = both_distances(sets, None, 1.0, n_jobs=options.n_jobs)
    ours = time.perf_counter() - start
    after, apart = seconds_by_definition(sets, found, 100)
    assert apart < 1e-4, apart
    theirs = (before + after) / 2 * n * (n + 1) / 2  # measured before and after: a busy moment hits both
    name = f"{n * (n + 1) // 2:,} pairs of {POINTS} x {WIDTH} + 2 numbers, both distances"
    more = {
        "largest_relative_error": apart,
        "microseconds_a_pair": ours / (n * (n + 1) / 2) * 1e6,
        "jobs": options.n_jobs,
    }
    write([record(name, ours, theirs, "the definition in NumPy, a pair at a time", **more)], options.json)


if __name__ == "__main__":
    main()
