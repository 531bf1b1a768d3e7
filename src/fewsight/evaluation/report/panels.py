"""The comparison with baselines as one picture: a panel for each question, the same lines in all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fewsight.evaluation.baselines import Arm, Comparison

WIDTH, HEIGHT = 7.6, 2.9  # of a row of two panels, in inches
DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)))


@dataclass(frozen=True)
class Panel:
    """A metric as its panel names it; per cent where it is a share."""

    metric: str
    title: str
    factor: float = 1.0


PANELS = (
    Panel("accuracy", "Test images right (%)", 100.0),
    Panel("log_loss", "Surprise at the truth (log loss)"),
    Panel("calibration_error", "Percentages off by (%)", 100.0),
    Panel("unknown_auroc", "Unknown told from known (%)", 100.0),
)
BETTER = {"accuracy": "more", "log_loss": "less", "calibration_error": "less", "unknown_auroc": "more"}


@dataclass(frozen=True)
class Line:
    """How an arm is drawn: the number of its colour and of its dashes."""

    label: str
    colour: int
    dashes: int


def comparison_panels(
    comparison: Comparison, lines: dict[Arm, Line], colour: Callable[[int], str], *, ink: str, faint: str
) -> Figure:
    """Means over the number of labels, with a band of one standard error; `colour` knows the colours by their numbers."""
    shown = [panel for panel in PANELS if panel.metric in comparison.metrics]
    rows = -(-len(shown) // 2)
    figure = Figure(figsize=(WIDTH, HEIGHT * rows), layout="constrained")
    FigureCanvasSVG(figure)
    figure.patch.set_alpha(0.0)
    grid = figure.subplots(rows, 2, squeeze=False)
    for axes, panel in zip(grid.flat, shown, strict=False):
        _draw(axes, comparison, lines, panel, colour)
        _dress(axes, panel, ink, faint)
    for axes in list(grid.flat)[len(shown) :]:
        axes.set_axis_off()
    for axes in grid[-1]:
        axes.set_xlabel("labels given")
    return figure


def _draw(
    axes: Axes, comparison: Comparison, lines: dict[Arm, Line], panel: Panel, colour: Callable[[int], str]
) -> None:
    """What is drawn last lies on top: the first line."""
    for arm, line in reversed(lines.items()):
        points = comparison.curve(arm, panel.metric)
        labels = [count for count, _ in points]
        means = panel.factor * np.array([found.mean for _, found in points])
        errors = panel.factor * np.array([found.standard_error or 0.0 for _, found in points])
        axes.fill_between(labels, means - errors, means + errors, color=colour(line.colour), alpha=0.18, linewidth=0)
        axes.plot(
            labels,
            means,
            color=colour(line.colour),
            linestyle=DASHES[line.dashes],
            linewidth=2.4 if line.colour == 0 else 1.5,
        )


def _dress(axes: Axes, panel: Panel, ink: str, faint: str) -> None:
    axes.set_title(f"{panel.title}\n", loc="left", fontsize=11, color=ink)
    axes.text(0.0, 1.02, f"{BETTER[panel.metric]} is better", transform=axes.transAxes, fontsize=9, color=ink)
    axes.patch.set_alpha(0.0)
    axes.grid(axis="y", color=faint, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_xlim(left=0)
    if panel.metric in ("log_loss", "calibration_error"):
        axes.set_ylim(bottom=0)


def with_legend(figure: Figure, lines: Sequence[Line], colour: Callable[[int], str]) -> Figure:
    """The same picture with its legend under it, for where no page writes one."""
    with matplotlib.rc_context():
        handles = [
            matplotlib.lines.Line2D([], [], color=colour(line.colour), linestyle=DASHES[line.dashes], linewidth=2.0)
            for line in lines
        ]
        figure.legend(handles, [line.label for line in lines], loc="outside lower center", ncols=2, frameon=False)
    return figure
