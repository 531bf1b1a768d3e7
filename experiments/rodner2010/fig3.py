"""Average precision against the number of examples, and against how many categories WordNet selects. [Rodner2010, Fig. 3]

python -m experiments.rodner2010.fig3 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import ttest_1samp, wilcoxon

from experiments.common.cells import standard_error
from experiments.common.command import run, write_figure
from experiments.common.grams import Place
from experiments.rodner2010.command import add_outputs, arguments, pool_of, write_results
from experiments.rodner2010.measuring import CLOSEST, Bench, Cell, precisions, record
from fewsight._base.types import Array

WAYS = ("independent", "transfer", "transfer_wordnet_3", "transfer_wordnet_10")
Cells = dict[Place, Cell]


def difference(ours: Array, theirs: Array) -> dict[str, Any]:
    """Of average precision (splits, targets): the mean, with tests that are paired by target and by split."""
    apart = ours - theirs
    by_target, by_split = apart.mean(axis=0), apart.mean(axis=1)
    return {
        "mean": float(apart.mean()),
        "standard_error_over_targets": standard_error(by_target),
        "standard_error_over_splits": standard_error(by_split),
        "p_paired_t_over_targets": p_value(by_target, ttest_1samp, popmean=0.0),
        "p_wilcoxon_over_targets": p_value(by_target, wilcoxon),
        "p_paired_t_over_splits": p_value(by_split, ttest_1samp, popmean=0.0),
        "targets_that_gain": int((by_target > 0).sum()),
        "targets": by_target.size,
    }


def p_value(differences: Array, test: Callable[..., Any], **options: Any) -> float:
    """Of paired differences; 1 where there are none."""
    return float(test(differences, **options).pvalue) if len(differences) > 1 and np.ptp(differences) > 0 else 1.0


def hurt(cells: Cells, targets: list[str], seeds: list[int]) -> list[str]:
    """The targets that transfer makes worse on these splits."""
    chosen = {place: cell for place, cell in cells.items() if place.seed in seeds}
    gain = precisions(chosen, "transfer", 1, targets) - precisions(chosen, "independent", 1, targets)
    return [target for target, mean in zip(targets, gain.mean(axis=0), strict=True) if mean < 0]


def mended(cells: Cells, targets: list[str]) -> dict[str, Any]:
    """Targets that transfer hurts on the first half of the splits, measured on the second."""
    seeds = sorted({place.seed for place in cells})
    first, second = seeds[: len(seeds) // 2], seeds[len(seeds) // 2 :]
    chosen = hurt(cells, targets, first)
    later = {place: cell for place, cell in cells.items() if place.seed in second}
    if not chosen or not later:
        return {"targets": chosen}
    values = {way: precisions(later, way, 1, chosen) for way in WAYS}
    return {
        "targets": chosen,
        "seeds_of_the_choice": first,
        "seeds_of_the_figures": second,
        "means": {way: float(found.mean()) for way, found in values.items()},
        "wordnet_10_minus_transfer": difference(values["transfer_wordnet_10"], values["transfer"]),
        "wordnet_10_minus_independent": difference(values["transfer_wordnet_10"], values["independent"]),
        "by_target": {
            target: {way: float(found.mean(axis=0)[i]) for way, found in values.items()}
            for i, target in enumerate(chosen)
        },
    }


def draw(cells: Cells, targets: list[str], sizes: tuple[int, ...], about: dict[str, Any]) -> Figure:
    """Left: examples of the target. Right: how many categories WordNet selects, with one example."""
    figure = Figure(figsize=(11, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for way, marker in zip(WAYS, "osvD", strict=True):
        points = [precisions(cells, way, size, targets).mean(axis=1) for size in sizes]
        means, errors = [100 * p.mean() for p in points], [100 * standard_error(p) for p in points]
        left.errorbar(sizes, means, errors, label=way.replace("_", " "), marker=marker, capsize=2, linewidth=1.4)
    left.set(xlabel="training images of the category", ylabel="mean average precision (%)")
    groups = {"all targets": targets, "hurt by transfer alone": about.get("targets", []), "kangaroo": ["kangaroo"]}
    for (label, members), marker in zip(groups.items(), "osv", strict=True):
        if set(members) <= set(targets) and members:
            curve = [100 * precisions(cells, f"transfer_wordnet_{k}", 1, members).mean() for k in CLOSEST]
            everyone = 100 * precisions(cells, "transfer", 1, members).mean()
            right.plot([*CLOSEST, 100], [*curve, everyone], label=label, marker=marker, linewidth=1.4)
    right.set(xscale="log", xlabel="categories that WordNet selects (100: all)", ylabel="average precision (%)")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend()
    return figure


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    pool, sizes = pool_of(options), tuple(sorted(options.sizes))
    cells = Bench(pool).fill([Place(seed, size) for size in sizes for seed in options.seeds])
    targets = pool.targets
    rows, comparisons = [], []
    for size in sizes:
        values = {way: precisions(cells, way, size, targets) for way in (*WAYS, *_other_ways(size))}
        rows += [record(options.channels, way, size, found.mean(axis=1)) for way, found in values.items()]
        apart = values["transfer"] - values["independent"]
        by_target = dict(zip(targets, map(float, apart.mean(axis=0)), strict=True))
        compared = difference(values["transfer"], values["independent"])
        comparisons.append({"per_class": size, **compared, "by_target": by_target})
        texts = [f"{way} {100 * values[way].mean():.1f}" for way in WAYS]
        print(
            f"{size:3} examples: {', '.join(texts)}; transfer - alone {100 * compared['mean']:+.2f} ± "
            f"{100 * compared['standard_error_over_targets']:.2f} over targets, "
            f"p = {compared['p_paired_t_over_targets']:.2g}"
        )
    with_one = {place: cell for place, cell in cells.items() if place.per_class == 1}
    about = mended(with_one, targets) if with_one else {"targets": []}
    print(f"hurt by transfer on the first splits: {', '.join(about['targets'])}; later: {about.get('means')}")
    write_results(options, pool, rows, transfer_minus_independent=comparisons, mended=about)
    write_figure(draw(cells, targets, sizes, about), options.figure)


def _other_ways(size: int) -> list[str]:
    """With one example also every number of categories that WordNet selects."""
    return [f"transfer_wordnet_{k}" for k in CLOSEST if f"transfer_wordnet_{k}" not in WAYS] if size == 1 else []


def parser() -> argparse.ArgumentParser:
    """The options of this figure."""
    options = arguments("fig3", __doc__, seeds="10-29", sizes="1,2,3,5,10,15")
    add_outputs(options, "fig3")
    return options


if __name__ == "__main__":
    run(parser(), work)
