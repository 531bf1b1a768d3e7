"""A thousand Gram matrices of 1,515 images in one stack: its memory, and sums over all of it against reading it once.

Both sides read the same memory with as many threads as NUMBA_NUM_THREADS says (all unless it is set).
"""

from __future__ import annotations

import resource
from collections.abc import Callable

import numba
import numpy as np
import numpy.typing as npt

from fewsight._compiled._loops import in_shares
from fewsight.gp import GramStack

from timing import arguments, record, side_by_side, write

Work = Callable[[], object]

MOST_BYTES = 5e9
MOST_TIMES = 1.5  # reading all matrices once, for a weighted sum of them
N_CLASSES = 101


@numba.njit(nogil=True, fastmath=True)
def read(numbers: npt.NDArray[np.float32]) -> float:
    """The least that has to be done to see every number."""
    total = np.float32(0.0)
    for place in range(len(numbers)):
        total += numbers[place]
    return total


def read_once(stack: GramStack) -> None:
    for _, block in stack._rows.blocks():
        numbers = block.reshape(-1)
        starts = np.linspace(0, len(numbers), 65).astype(np.intp)
        in_shares(lambda first, last, n=numbers, s=starts: read(n[s[first] : s[last]]), starts)


def made(side: int, count: int) -> GramStack:
    """Gaussian kernels of random rows, of ever other widths."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(side, 20))
    squares = (X**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * X @ X.T
    distances = np.maximum(distances + distances.T, 0.0) / 2
    return GramStack.of(np.exp(-distances * width) for width in np.geomspace(1e-3, 1.0, count))


def main() -> None:
    parser = arguments(__doc__ or "")
    options = parser.parse_args()
    side, count, repeats = (800, 400, 5) if options.quick else (1515, 1000, 7)
    stack = made(side, count)
    size = f"{count:,} Gram matrices of {side:,} examples"
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{size}: {stack.nbytes / 1e9:.2f} GB packed; this process took {peak / 1e9:.2f} GB at most.")
    memory = {"bytes": stack.nbytes, "peak_bytes": peak, "limit_bytes": MOST_BYTES}
    rng = np.random.default_rng(1)
    weights, columns = rng.random(count), rng.normal(size=(side, N_CLASSES))
    exact = sum(weight * stack[number] for number, weight in enumerate(weights[:9]))
    np.testing.assert_allclose(stack.weighted_sum(np.where(np.arange(count) < 9, weights, 0.0)), exact, rtol=1e-12)
    W = stack.weighted_sum(weights)

    eight = rng.random((8, count))

    def one_by_one() -> None:
        for number in range(count):
            np.einsum("ij,ij->j", columns, stack[number] @ columns)

    def compare(name: str, ours: Work, theirs: Work, peer: str, repeats: int, **more: float) -> dict[str, object]:
        ours(), theirs()
        return record(f"{name}, {size}", *side_by_side(ours, theirs, repeats), peer, **more)

    reading = (lambda: read_once(stack)), "reading them once", repeats
    records = [
        compare("weighted sum", lambda: stack.weighted_sum(weights), *reading, limit_ratio=1 / MOST_TIMES, **memory),
        compare("inner products with one matrix (slopes of the evidence)", lambda: stack.inners(W), *reading),
        compare(
            "eight weighted sums",
            lambda: stack.weighted_sums(eight),
            lambda: [stack.weighted_sum(row) for row in eight],
            "one after the other",
            3,
        ),
        compare(
            f"quadratic forms of {N_CLASSES} columns",
            lambda: stack.quadratic_forms(columns),
            one_by_one,
            "a product for each matrix",
            1,
        ),
    ]
    write(records, options.json)


if __name__ == "__main__":
    main()
