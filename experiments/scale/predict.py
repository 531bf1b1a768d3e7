"""How long a prediction takes with 102 categories and histograms like those of `spatial_pmk`, whatever the number of images.

The histograms are made up: 8,400 bins, of which 2,042 are not zero, as an image of Caltech-101 has them on average. Dual weights
are random numbers. Times are medians, of one thread: making the table, one image exactly (before there is a table), one image
and 64 images by table (all different, so that each reads other entries); what the table may be off by at most, and was, in
units of the standard deviation of the values.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse

from experiments.scale.result_file import checked, parser, peak_gigabytes, write
from fewsight._base.types import Array
from fewsight.kernels import HistogramOperator, LookupTable
from fewsight.kernels.histogram_tables import bins_within, few_products

WIDTH, NON_ZEROS, CATEGORIES, BINS = 8_400, 2_042, 102, 100


def histograms(n: int, rng: np.random.Generator) -> scipy.sparse.csr_array:
    """n rows whose frequent bins are frequent in all of them, each of sum 1."""
    likely = rng.gamma(0.5, size=WIDTH)
    chosen = [np.sort(np.argpartition(-likely * rng.random(WIDTH), NON_ZEROS)[:NON_ZEROS]) for _ in range(n)]
    values = rng.gamma(1.0, size=(n, NON_ZEROS))
    values /= values.sum(axis=1, keepdims=True)
    starts = np.arange(n + 1) * NON_ZEROS
    return scipy.sparse.csr_array((values.ravel(), np.concatenate(chosen), starts), shape=(n, WIDTH))


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """The median."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return median(found)


def measured(n: int, categories: int, seed: int) -> dict[str, Any]:
    """One number of training images."""
    rng = np.random.default_rng(seed)
    rows, new = histograms(n, rng), histograms(64, rng)
    start = time.perf_counter()
    operator = HistogramOperator.from_rows(rows)
    build = time.perf_counter() - start
    V: Array = rng.normal(size=(n, categories)) / np.sqrt(n)
    bins = bins_within(WIDTH, BINS, categories)
    each = [new[at : at + 1] for at in range(64)]
    exact_seconds = seconds(lambda: [few_products(operator, one, V) for one in each[:8]], 3) / 8
    start = time.perf_counter()
    table = LookupTable.from_operator(operator, V, bins)
    made = time.perf_counter() - start
    exact, found = few_products(operator, new, V), table.product(new)
    single = seconds(lambda: [table.product(one) for one in each], 5) / 64
    batch = seconds(lambda: table.product(new), 5)
    return {
        "images": n,
        "categories": categories,
        "bins": table.bins,
        "bytes_per_entry": table.table.itemsize,
        "table_megabytes": table.table.nbytes / 2**20,
        "sort_seconds": build,
        "table_seconds": made,
        "exact_one_ms": 1e3 * exact_seconds,
        "one_ms": 1e3 * single,
        "batch_of_64_ms": 1e3 * batch,
        "batch_over_64_of_one": batch / (64 * single),
        "greatest_error_bound": float(table.greatest_error(operator, V).max() / exact.std()),
        "greatest_error_seen": float(np.abs(found - exact).max() / exact.std()),
        "peak_gigabytes": peak_gigabytes(),
    }


def main() -> None:
    made = parser(__doc__ or "", "predict.json")
    made.add_argument("--sizes", type=int, nargs="+", default=[1_000, 5_000, 20_000])
    made.add_argument("--more-categories", type=int, default=1_000, help="a second table, at the first size")
    made.add_argument("--seed", type=int, default=0)
    options = checked(made.parse_args())
    measured(50, 3, options.seed)  # compiles what is timed
    cells = [(n, CATEGORIES) for n in options.sizes] + [(options.sizes[0], options.more_categories)]
    records = []
    for n, categories in cells:
        records.append(measured(n, categories, options.seed))
        print(records[-1], flush=True)
    write(options.json, {"width": WIDTH, "non_zeros": NON_ZEROS, "seed": options.seed}, records)


if __name__ == "__main__":
    main()
