"""Which cue decides for which class: weights of classes and channels as a picture. [Kapoor2010, section 6]"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fewsight._base.checks import check_matrix
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.evaluation.report.wording import shown_name
from fewsight.learners.labels import Label

ROW, COLUMN, LETTER = 0.22, 0.9, 0.08  # of a class, of a channel and of a letter in their names, in inches
COLOURS = "viridis"
DARK = 0.5  # of the range of colours: below it, figures are white
LONGEST_NAME = 40  # of a class or channel, in characters; what is longer is cut, or the picture would have no room


def weights_heatmap(weights: npt.ArrayLike, classes: Sequence[Label], channels: Sequence[str]) -> Figure:
    """A row for each class, a column for each channel; the colour and the figure are the channel's share in per cent.

    Parameters
    ----------
    weights : (n_classes, n_channels) numbers >= 0, as `KernelCombination(scope="classwise").weights_`. Each row is divided by
        its sum.
    classes : names of the rows, as `KernelCombination.classes_`.
    channels : names of the columns.

    Classes that the same channel decides stand together, in the order of the channels, those with the largest share of it
    first. The figure can be written with its method `savefig`, as SVG, PNG or PDF.
    """
    shares = _shares(weights, len(classes), len(channels))
    order = _grouped(shares)
    rows, columns = [_short(classes[row]) for row in order], [_short(channel) for channel in channels]
    with matplotlib.rc_context({"text.parse_math": False}):
        figure = Figure(figsize=_size(rows, columns), layout="constrained")
        _draw(figure, 100 * shares[order], rows, columns)
    return figure


def _size(classes: list[str], channels: list[str]) -> tuple[float, float]:
    """Width and height in inches, with room for the longest names; those of the channels lean."""
    beside, below = (LETTER * max(map(len, names)) for names in (classes, channels))
    return 1.5 + max(beside, below) + COLUMN * len(channels), 1.0 + below / 2 + ROW * len(classes)


def _draw(figure: Figure, shares: Array, classes: list[str], channels: list[str]) -> None:
    axes = figure.add_subplot()
    picture = axes.imshow(shares, cmap=COLOURS, vmin=0.0, vmax=shares.max(), aspect="auto", interpolation="nearest")
    axes.set_xticks(range(len(channels)), channels, rotation=30, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(classes)), classes, fontsize=9)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    _write_figures(axes, shares)
    figure.colorbar(picture, ax=axes, label="share (%)")


def _write_figures(axes: Axes, shares: Array) -> None:
    for (row, column), share in np.ndenumerate(shares):
        colour = "white" if share < DARK * shares.max() else "black"
        axes.text(column, row, f"{share:.0f}", ha="center", va="center", fontsize=8, color=colour)


def _short(name: Label) -> str:
    text = shown_name(name)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def _grouped(shares: Array) -> Indices:
    """Rows by the channel that counts most, then by its share, the largest first; equal ones as they came."""
    return np.lexsort((-shares.max(axis=1), shares.argmax(axis=1)))


def _shares(weights: npt.ArrayLike, n_classes: int, n_channels: int) -> Array:
    who = "weights_heatmap"
    matrix = check_matrix(who, "weights", weights, shape=(n_classes, n_channels))
    if not matrix.size or (matrix < 0).any() or not matrix.any(axis=1).all():
        raise InvalidInput(
            f"{who}: weights must be >= 0 and in no row all zero, for one class and one channel or more."
        )
    return matrix / matrix.sum(axis=1, keepdims=True)
