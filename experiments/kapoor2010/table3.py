"""Kernel combination beside what others reported, and beside SimpleMKL on the same kernels. [Kapoor2010, table 3]

python -m experiments.kapoor2010.table3 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from experiments.common.cells import Cells, Table, Way, standard_error, values_of
from experiments.common.command import arguments, run, store_of, write_results
from experiments.kapoor2010.ways import FOUR, MEANING, combined, peer

REPORTED = {  # in per cent: mean and standard deviation, as the paper prints them
    "Kapoor et al., four kernels": (73.95, 1.13),
    "Boiman et al. (2008)": (72.80, 0.39),
    "Varma and Ray (2007), four kernels": (68.82, 1.00),
    "Frome et al. (2007)": (60.30, 0.70),
    "Lin et al. (2007)": (59.80, None),
    "Zhang et al. (2006)": (59.08, 0.37),
    "Kumar and Sminchisescu (2007)": (57.83, None),
}
OURS = ("average", "evidence", "auto")
RESULTS = Path("experiments/results/kapoor2010/table3.json")


def ways_of(channels: tuple[str, ...]) -> dict[str, Way]:
    """Ours, and support vector machines that learn the weights class by class, as Varma and Ray do."""
    every = combined(channels, "auto", "auto")
    return {**{name: every[name] for name in OURS}, "simple_mkl": peer(channels)}


def rows_of(cells: Cells, ways: dict[str, Way], per_class: int) -> list[dict[str, Any]]:
    """What was measured, then what the paper prints; in per cent, the best first."""
    rows: list[dict[str, Any]] = []
    for name, way in ways.items():
        values = 100 * values_of(cells, way, per_class, "accuracy")
        rows.append({"method": name, "mean": float(values.mean()), "standard_error": standard_error(values)})
    rows += [{"method": name, "mean": mean, "std": std, "reported": True} for name, (mean, std) in REPORTED.items()]
    return sorted(rows, key=lambda row: -row["mean"])


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    store, per_class = store_of(options), max(options.sizes)
    ways = ways_of(options.channels)
    cells = Table(store, list(ways.values()), options.places).fill()
    rows = rows_of(cells, ways, per_class)
    for row in rows:
        print(f"{row['method']:40} {row['mean']:6.2f}   {'as printed in the paper' if 'reported' in row else ''}")
    write_results(options, store, cells, meaning=MEANING, rows=rows)


def parser() -> argparse.ArgumentParser:
    """The options of this table."""
    options = arguments("table3", __doc__, sizes="15", channels=FOUR)
    options.add_argument("--json", type=Path, default=RESULTS, help=f"where the results go ({RESULTS})")
    return options


if __name__ == "__main__":
    run(parser(), work)
