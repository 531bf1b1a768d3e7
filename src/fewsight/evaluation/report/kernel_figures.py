"""What a learner made of many kernels, to look at: its windows, what further kernels would gain, and how many are enough.
[Gehler2009, Figs. 1, 3, 4 and 5]"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from fewsight._base.checks import check_matrix
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.channels import Windows
from fewsight.encodings import Box
from fewsight.evaluation.report.wording import shown_name
from fewsight.images import as_image
from fewsight.kernels import Kernel
from fewsight.learners.labels import Label
from fewsight.learners.weighted_machines import WeightedMachines

SIDE = 64  # of a mean image, in pixels
IN_A_ROW = 5
MOST_IMAGES = 50  # of a class that are averaged
LEAST_LINE, MOST_LINE = 0.3, 4.0  # width of an outline, in points
FAINTEST = 0.01  # of the largest weight: what counts less is not drawn


def windows_figure(
    learner: WeightedMachines, images: Sequence[Any], labels: Sequence[Label], classes: Sequence[Label] | None = None
) -> Figure:
    """The windows that each class looks at, over the mean of its images; the heavier, the thicker. [Gehler2009, Fig. 5]

    Parameters
    ----------
    learner : an `MKLClassifier` or `InfiniteKernelClassifier` that was fitted with `windows` channels.
    images : images of the classes: paths, arrays or `Image` objects.
    labels : the class of each.
    classes : which to show; None for all.
    """
    windows = class_windows(learner)
    wanted = list(windows) if classes is None else list(classes)
    unknown = [name for name in wanted if name not in windows]
    if unknown or not wanted:
        raise InvalidInput(f"windows_figure: classes must be some of the learner's, got {unknown or 'none'}.")
    n_rows = -(-len(wanted) // IN_A_ROW)
    with matplotlib.rc_context({"text.parse_math": False}):
        figure = Figure(figsize=(2.2 * min(IN_A_ROW, len(wanted)), 2.4 * n_rows), layout="constrained")
        grid = figure.subplots(n_rows, min(IN_A_ROW, len(wanted)), squeeze=False).ravel()
        for axes in grid:
            axes.set_axis_off()
        for axes, name in zip(grid, wanted, strict=False):
            members = [image for image, label in zip(images, labels, strict=True) if label == name]
            _draw_windows(axes, members, windows[name])
            axes.set_title(shown_name(name), fontsize=9)
    return figure


def class_windows(learner: WeightedMachines) -> dict[Label, dict[Box, float]]:
    """The windows of each class and their weights, which add up to 1; windows of several codebooks are one.

    Parameters
    ----------
    learner : a fitted learner of `windows` channels.
    """
    channels = learner.channels
    if not channels or not all(isinstance(channel, Windows) for channel in channels):
        raise InvalidInput("class_windows: the learner must have windows channels only.")
    found: dict[Label, dict[Box, float]] = {}
    for name, weights in zip(learner.classes_.tolist(), learner.weights_, strict=True):
        boxes: dict[Box, float] = {}
        for channel, weight in zip(channels, weights, strict=True):
            if isinstance(channel, Windows):
                for box, share in zip(channel.layout, channel.shares, strict=True):
                    boxes[box] = boxes.get(box, 0.0) + float(weight) * float(share)
        total = sum(boxes.values())
        found[name] = {box: weight / total for box, weight in boxes.items() if weight > 0}
    return found


def gain_slice(
    dual_weights: Array, examples: Any, make: Callable[[float, float], Kernel], first: Array, second: Array
) -> Array:
    """T = a^T K a / 2 of kernels with two parameters, at each pair of values: (len(second), len(first)).

    Parameters
    ----------
    dual_weights : a (n,), of one class: a column of the learner's `dual_weights_`.
    examples : the training examples (n, d).
    make : the kernel with a value of the first and one of the second parameter.
    first : values of the first parameter.
    second : values of the second parameter.
    """
    return np.array(
        [
            [0.5 * float(dual_weights @ make(float(a), float(b)).gram(examples) @ dual_weights) for a in first]
            for b in second
        ]
    )


def gain_figure(
    gains: npt.ArrayLike, first: Array, second: Array, threshold: float, names: tuple[str, str] = ("theta 1", "theta 2")
) -> Figure:
    """T over two parameters, with a line at lambda: kernels inside it would lower the objective. [Gehler2009, Fig. 1]

    Parameters
    ----------
    gains : T, as `gain_slice` gives it.
    first : values of the first parameter.
    second : values of the second parameter.
    threshold : lambda of the class, as the learner's `thresholds_`.
    names : of the two parameters.
    """
    figure = Figure(figsize=(4.6, 3.8), layout="constrained")
    draw_gains(figure.subplots(), gains, first, second, threshold, names)
    return figure


def draw_gains(
    axes: Axes, gains: npt.ArrayLike, first: Array, second: Array, threshold: float, names: tuple[str, str]
) -> None:
    """`gain_figure` as a part of a larger one."""
    T = check_matrix("gain_figure", "gains", gains, shape=(len(second), len(first)))
    filled = axes.contourf(first, second, T, levels=20)
    if T.min() < threshold < T.max():
        axes.contour(first, second, T, levels=[threshold], colors="white")
    axes.set(xlabel=names[0], ylabel=names[1], title=f"T; white: lambda = {threshold:.3g}")
    axes.figure.colorbar(filled, ax=axes)


def kernel_count_figure(
    curve: Mapping[int, float], learned: Mapping[str, tuple[float, float]], lines: Mapping[str, float], title: str = ""
) -> Figure:
    """Error against the number of kernels. [Gehler2009, Figs. 3 and 4]

    Parameters
    ----------
    curve : the error of the average in per cent, by the number of its kernels.
    learned : by name, the kernels in use and the error of learned weights.
    lines : by name, errors to compare with.
    title : above the figure.
    """
    figure = Figure(figsize=(5, 3.8), layout="constrained")
    draw_kernel_counts(figure.subplots(), curve, learned, lines, title)
    return figure


def draw_kernel_counts(
    axes: Axes,
    curve: Mapping[int, float],
    learned: Mapping[str, tuple[float, float]],
    lines: Mapping[str, float],
    title: str,
) -> None:
    """`kernel_count_figure` as a part of a larger one."""
    counts = sorted(curve)
    axes.plot(counts, [curve[count] for count in counts], "--", marker=".", label="average")
    for (name, (count, error)), marker in zip(learned.items(), "*osv^", strict=False):
        axes.plot(count, error, marker, ms=9, label=name)
    for number, (name, error) in enumerate(lines.items()):
        axes.axhline(error, color="grey", ls=("-", ":", "-.")[number % 3], label=name)
    axes.set(xscale="log", xlabel="kernels", ylabel="error (%)", title=title)
    axes.legend()


def _draw_windows(axes: Axes, images: Sequence[Any], windows: Mapping[Box, float]) -> None:
    axes.imshow(_mean_image(images), cmap="gray", vmin=0, vmax=1, extent=(0, 1, 1, 0))
    largest = max(windows.values(), default=1.0)
    for (left, top, right, bottom), weight in windows.items():
        if weight >= FAINTEST * largest:
            width = LEAST_LINE + (MOST_LINE - LEAST_LINE) * weight / largest
            axes.add_patch(
                Rectangle((left, top), right - left, bottom - top, fill=False, edgecolor="tab:orange", linewidth=width)
            )


def _mean_image(images: Sequence[Any]) -> Array:
    """Grey values (SIDE, SIDE); middle grey where there are no images."""
    if not images:
        return np.full((SIDE, SIDE), 0.5)
    total = np.zeros((SIDE, SIDE))
    some = images[:MOST_IMAGES]
    for image in some:
        grey = as_image(image).pixels(4 * SIDE).mean(axis=2, dtype=np.float64)
        rows, columns = (np.arange(SIDE) * length // SIDE for length in grey.shape)
        total += grey[np.ix_(rows, columns)]
    return total / len(some)
