"""Plots as SVG for the page: drawn without a display, the same bytes each time, coloured by the page's style sheet."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from fewsight._base.types import Array
from fewsight.evaluation.results import Summary
from fewsight.metrics import ReliabilityBins

# Stand-ins for colours of the style sheet, which differ between light and dark: `as_inline` puts the variables in.
INK, FAINT = "#fe1000", "#fe1001"
N_SERIES = 6
N_BINS = 24  # of a distribution of scores
LEAST_SHARE = 1e-3  # what counts less is drawn here: a weight at its lower bound would take most of the axis
SHARE_TICKS = (0.1, 0.3, 1, 3, 10, 30, 100)  # in per cent
DASHES = ("", "6 3", "2 2")  # beyond six lines the colours come again, dashed
STYLE = {
    "svg.fonttype": "none",  # text stays text, in the reader's fonts
    "svg.hashsalt": "fewsight",
    "font.family": "sans-serif",
    "font.size": 11.0,
    "text.parse_math": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "xtick.color": INK,
    "ytick.color": INK,
}


@dataclass(frozen=True)
class Curve:
    """Accuracy against examples per class, or against labels."""

    label: str
    points: list[tuple[int, Summary]]


def series_colour(position: int) -> str:
    """The style sheet's name for the colour of a line."""
    return f"var(--series-{position % N_SERIES})"


def series_dashes(position: int) -> str:
    """The dash pattern of a line."""
    return DASHES[(position // N_SERIES) % len(DASHES)]


def channel_letter(position: int) -> str:
    """What a channel is called under its boxes: a letter, as numbers stand for examples."""
    return ascii_uppercase[position % len(ascii_uppercase)]


def learning_curves(curves: Sequence[Curve], chance: float) -> Markup:
    """Accuracy in per cent over the number of training images per class, with standard deviations."""
    with matplotlib.rc_context(STYLE):
        figure, axes = _axes(7.6, 4.0)
        sizes = sorted({size for curve in curves for size, _ in curve.points})
        _examples_axis(axes, sizes)
        has_bars = any(summary.std for curve in curves for _, summary in curve.points)
        for position, curve in enumerate(curves):
            steps = position - (len(curves) - 1) / 2 if has_bars else 0.0
            _draw_curve(axes, position, curve, _aside(sizes, steps))
        axes.axhline(100 * chance, color=INK, linewidth=0.8, linestyle=(0, (1, 3)))
        top = max(100 * (s.mean + (s.std or 0.0)) for curve in curves for _, s in curve.points)
        axes.set_ylim(0, min(102.0, 10 * np.ceil(top / 10 + 0.2)))
        axes.set_ylabel("test images right (%)")
        return as_inline(figure, "Learning curves: accuracy against the number of training images per category")


def asking_curves(curves: Sequence[Curve], target: float, needed: Sequence[int]) -> Markup:
    """Accuracy in per cent over the number of labels, with standard errors; dots where each curve has reached the target."""
    with matplotlib.rc_context(STYLE):
        figure, axes = _axes(7.6, 4.0)
        for position, curve in enumerate(curves):
            _draw_band(axes, position, curve)
        axes.plot([0, max(needed)], [100 * target] * 2, color=INK, linewidth=0.8, linestyle=(0, (1, 3)))
        for position, labels in enumerate(needed):
            axes.plot(labels, 100 * target, "o", color=series(position), markersize=8, zorder=4)
        axes.set_xlim(0, 1.02 * curves[0].points[-1][0])
        axes.set(xlabel="labels given", ylabel="test images right (%)")
        return as_inline(
            figure, "Labels that are asked for against labels picked at random: accuracy by number of labels"
        )


def reliability(bins: ReliabilityBins) -> Markup:
    """How often it was right against how sure it was; a larger dot stands for more images."""
    with matplotlib.rc_context(STYLE):
        figure, axes = _axes(4.6, 4.2)
        axes.plot([0, 100], [0, 100], color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
        filled = bins.counts > 0
        sure, right = 100 * bins.confidence[filled], 100 * bins.accuracy[filled]
        area = 20 + 260 * bins.counts[filled] / bins.counts.max()
        axes.plot(sure, right, color=series(0), linewidth=1.2)
        axes.scatter(sure, right, s=area, color=series(0), linewidths=0, zorder=3)
        axes.set(xlim=(-4, 104), ylim=(-4, 104), xlabel="how sure it was (%)", ylabel="how often it was right (%)")
        return as_inline(figure, "Reliability: how often answers were right against how sure they were")


def strangeness(known: Array, held_out: Array, *, has_threshold: bool) -> Markup:
    """How scores are spread over images of categories that were learned and of those that were not; the threshold is at 0."""
    with matplotlib.rc_context(STYLE):
        figure, axes = _axes(7.6, 3.4)
        edges = _edges(np.concatenate([known, held_out, [0.0] if has_threshold else []]))
        for position, (scores, line) in enumerate([(known, "-"), (held_out, (0, (5, 2)))]):
            shares = 100 * np.histogram(scores, edges)[0] / len(scores)
            axes.stairs(shares, edges, fill=True, color=series(position), alpha=0.22, linewidth=0)
            axes.stairs(shares, edges, color=series(position), linewidth=1.8, linestyle=line)
        axes.set_xlim(edges[0], edges[-1])
        axes.margins(y=0.25)
        axes.set_xticks([])
        axes.set(xlabel="stranger →", ylabel="images of its kind (%)")
        if has_threshold:
            _draw_threshold(axes)
        return as_inline(figure, "How strange known and unknown images look to it: two distributions of scores")


def shares(channels: Sequence[Mapping[int, Sequence[float]]]) -> Markup:
    """The share of each channel over the repeats, on a logarithmic axis, in groups by examples per class: boxes, or
    dots for one repeat. [Kapoor2010, fig. 7] Channels have letters here; their names are left to the page."""
    with matplotlib.rc_context(STYLE):
        figure, axes = _axes(7.6, 3.8)
        sizes, k = list(channels[0]), len(channels)
        width = min(0.8 / k, 0.12 * len(sizes))
        places = np.arange(len(sizes)) + width * (np.arange(k)[:, None] - (k - 1) / 2)
        for position, by_size in enumerate(channels):
            for place, size in zip(places[position], sizes, strict=True):
                _draw_shares(axes, position, place, 0.7 * width, _log_shares(by_size[size]))
        axes.axhline(-np.log10(k), color=INK, linewidth=0.8, linestyle=(0, (1, 3)))
        _groups_axis(axes, sizes, places)
        _share_axis(axes, np.array([share for by_size in channels for each in by_size.values() for share in each]))
        return as_inline(figure, "Which cue decides: the share of each channel, by training images per category")


def _axes(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height))
    margins = {"left": 0.75 / width, "bottom": 0.65 / height, "right": 1 - 0.1 / width, "top": 1 - 0.15 / height}
    figure.subplots_adjust(**margins)  # in inches: enough for the labels
    FigureCanvasSVG(figure)
    figure.patch.set_alpha(0.0)
    axes = figure.add_subplot()
    axes.patch.set_alpha(0.0)
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _draw_curve(axes: Axes, position: int, curve: Curve, places: dict[int, float]) -> None:
    sizes = [places[size] for size, _ in curve.points]
    means = [100 * summary.mean for _, summary in curve.points]
    stds = [100 * (summary.std or 0.0) for _, summary in curve.points]
    dashes = [float(length) for length in series_dashes(position).split()]
    axes.errorbar(
        sizes,
        means,
        yerr=stds if any(stds) else None,
        color=series(position),
        linestyle=(0, tuple(dashes)) if dashes else "-",
        linewidth=1.8,
        marker="o",
        markersize=5,
        capsize=3,
        elinewidth=1.0,
    )


def _draw_band(axes: Axes, position: int, curve: Curve) -> None:
    """The mean as a line, the standard error above and below it as a band; all but the first line are dashed."""
    sizes = [size for size, _ in curve.points]
    means = 100 * np.array([summary.mean for _, summary in curve.points])
    errors = 100 * np.array([summary.standard_error or 0.0 for _, summary in curve.points])
    axes.fill_between(sizes, means - errors, means + errors, color=series(position), alpha=0.22, linewidth=0)
    axes.plot(sizes, means, color=series(position), linewidth=1.8, linestyle=(0, (5, 2)) if position else "-")


def _log_shares(values: Sequence[float]) -> Array:
    return np.log10(np.maximum(values, LEAST_SHARE))


def _draw_shares(axes: Axes, position: int, place: float, width: float, logs: Array) -> None:
    colour = series(position)
    if len(logs) == 1:
        axes.plot(place, logs[0], "o", color=colour, markersize=7, clip_on=False)
        return
    line = {"color": colour, "linewidth": 1.4}
    drawn = axes.boxplot(
        logs,
        positions=[place],
        widths=width,
        manage_ticks=False,
        patch_artist=True,
        boxprops={"edgecolor": colour, "facecolor": colour, "linewidth": 1.4},
        medianprops={"color": INK, "linewidth": 1.6},
        whiskerprops=line,
        capprops=line,
        flierprops={"marker": "o", "markersize": 3.5, "markerfacecolor": colour, "markeredgewidth": 0},
    )
    drawn["boxes"][0].set_alpha(0.55)


def _groups_axis(axes: Axes, sizes: list[int], places: Array) -> None:
    """The letter of each channel under its boxes, and the number of examples under each group."""
    letters = [channel_letter(position) for position in range(len(places)) for _ in sizes]
    axes.set_xticks(range(len(sizes)), [str(size) for size in sizes])
    axes.set_xticks(places.ravel(), letters, minor=True)
    axes.xaxis.remove_overlapping_locs = False  # a letter may stand right above the number of examples
    axes.tick_params(axis="x", which="minor", length=0, pad=3, labelsize=9)
    axes.tick_params(axis="x", which="major", length=0, pad=15)
    axes.set_xlim(-0.5, len(sizes) - 0.5)
    axes.set_xlabel("training images per category")


def _share_axis(axes: Axes, values: Array) -> None:
    """From the tick below the smallest share to all; at the least share, the tick says that less stands there too."""
    smallest = 100 * max(float(values.min()), LEAST_SHARE)
    lowest = max(tick for tick in SHARE_TICKS if tick <= smallest * (1 + 1e-9))
    ticks = [tick for tick in SHARE_TICKS if tick >= lowest]
    names = [f"{tick:g}" for tick in ticks]
    if values.min() < LEAST_SHARE:
        names[0] = f"≤ {names[0]}"
    logs = np.log10(ticks) - 2
    axes.set_yticks(logs, names)
    axes.set_ylim(logs[0] - 0.12, 0.06)
    axes.set_ylabel("share (%)")


def _edges(scores: Array) -> Array:
    """Of bins of equal width, such that no bin lies on both sides of 0."""
    low, high = float(scores.min()), float(scores.max())
    width = (high - low) / N_BINS or 1.0
    return width * np.arange(np.floor(low / width), np.floor(high / width) + 2)


def _draw_threshold(axes: Axes) -> None:
    """A line at 0, with its words on the side where there is room."""
    low, high = axes.get_xlim()
    room = -low < 0.6 * (high - low)
    axes.axvline(0.0, color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
    axes.annotate(
        "called unknown →",
        (0.0, 0.98),
        (6 if room else -6, 0),
        ("data", "axes fraction"),
        "offset points",
        ha="left" if room else "right",
        va="top",
    )


def _examples_axis(axes: Axes, sizes: list[int]) -> None:
    if _is_logarithmic(sizes):
        axes.set_xscale("log")
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("training images per category")


def _aside(sizes: list[int], steps: float) -> dict[int, float]:
    """Where a line's points stand: a little beside their number, so that error bars do not cover each other."""
    if _is_logarithmic(sizes):
        return {size: size * (sizes[-1] / sizes[0]) ** (0.007 * steps) for size in sizes}
    return {size: size + 0.007 * steps * (sizes[-1] - sizes[0]) for size in sizes}


def _is_logarithmic(sizes: list[int]) -> bool:
    return sizes[-1] >= 8 * sizes[0]


def series(position: int) -> str:
    """The stand-in for the colour of a line."""
    return f"#fe20{position % N_SERIES:02x}"


def as_inline(figure: Figure, title: str) -> Markup:
    """The SVG element alone, without addresses, dates or fixed sizes. Its texts are ours, never a user's."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", text)
    text = re.sub(r'<svg [^>]*viewBox="([^"]*)"[^>]*>', rf'<svg viewBox="\1" role="img" aria-label="{title}">', text)
    text = text.replace(INK, "var(--ink)").replace(FAINT, "var(--line)")
    return Markup(re.sub(r"#fe20(\w\w)", lambda match: series_colour(int(match[1], 16)), text))
