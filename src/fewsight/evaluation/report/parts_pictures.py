"""Models of parts as pictures: interest points and parts over images, Gram matrices, and scores in two dimensions.

[Holub2008, Fig. 3, 5, 11 and 12]
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from fewsight._base.checks import check_gram
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, LabelsLike
from fewsight.channels import FisherChannel
from fewsight.evaluation.report.wording import shown_name
from fewsight.images import as_image

PICTURE = 2.4  # inches, of an image
ACROSS = 4  # images in a row
LONGEST_SIDE = 400  # pixels of an image as it is shown
COLOURS = ("#d62728", "#1f77b4", "#2ca02c", "#ff7f0e", "#9467bd", "#17becf")  # of the parts
POINTS = "#ffd400"


def points_figure(channel: FisherChannel, images: Sequence[Any]) -> Figure:
    """The interest points of images, as circles of the size of their patches. The channel need not be fitted.

    Parameters
    ----------
    channel : says which detector, and how many points.
    images : n images: paths, arrays (h, w) or (h, w, 3), or `Image` objects. At least one.
    """
    found = channel.local_features(images)
    circles = [np.column_stack([each.locations, _scales(each.scales, len(each))]) for each in found]
    return _over_images(images, circles, [[POINTS] * len(each) for each in circles])


def parts_figure(channel: FisherChannel, images: Sequence[Any], model: int = 0) -> Figure:
    """Where the parts of a model most probably are: a circle for each part, in its colour.

    Parameters
    ----------
    channel : a fitted channel.
    images : n images: paths, arrays (h, w) or (h, w, 3), or `Image` objects. At least one.
    model : the number of the model.
    """
    found = channel.localise(images, model)
    return _over_images(images, found, [list(COLOURS[: len(each)]) for each in found])


def gram_figure(K: npt.ArrayLike, labels: LabelsLike) -> Figure:
    """A Gram matrix, examples of a class together; its diagonal is left out, or it would outshine the rest.

    Parameters
    ----------
    K : kernel values of n examples with each other (n, n).
    labels : of the n examples.
    """
    gram, names, order = _grouped("gram_figure", K, labels)
    shown = gram[np.ix_(order, order)].copy()
    np.fill_diagonal(shown, 0.0)
    ends = np.flatnonzero([one != other for one, other in itertools.pairwise(names)]) + 0.5
    with matplotlib.rc_context({"text.parse_math": False}):
        figure = Figure(figsize=(4.6, 4.0), layout="constrained")
        axes = figure.add_subplot()
        picture = axes.imshow(shown, cmap="viridis", interpolation="nearest")
        for end in ends:
            axes.axhline(end, color="white", linewidth=0.8)
            axes.axvline(end, color="white", linewidth=0.8)
        borders = [-0.5, *ends, len(names) - 0.5]
        middles = [(low + high) / 2 for low, high in itertools.pairwise(borders)]
        axes.set_yticks(middles, [names[int(np.ceil(low))] for low in borders[:-1]])
        axes.set_xticks([])
        figure.colorbar(picture)
    return figure


def scores_figure(K: npt.ArrayLike, labels: LabelsLike) -> Figure:
    """Examples in the plane, as far apart as the kernel says, as nearly as a plane allows: classical scaling.

    Parameters
    ----------
    K : kernel values of n examples with each other (n, n).
    labels : of the n examples.
    """
    gram, names, order = _grouped("scores_figure", K, labels)
    places = plane_of(gram)[order]
    with matplotlib.rc_context({"text.parse_math": False}):
        figure = Figure(figsize=(4.6, 4.0), layout="constrained")
        axes = figure.add_subplot()
        for number, name in enumerate(dict.fromkeys(names)):
            own = np.array([each == name for each in names])
            marker, colour = "o^sDv*"[number % 6], COLOURS[number % len(COLOURS)]
            axes.scatter(places[own, 0], places[own, 1], marker=marker, color=colour, label=name, s=22)
        axes.set(xticks=[], yticks=[], aspect="equal")
        axes.legend(fontsize=8)
    return figure


def plane_of(K: Array) -> Array:
    """Places (n, 2) whose distances come nearest to those that the kernel spans; signs are such that the largest is positive."""
    n = len(K)
    centring = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(centring @ K @ centring)
    places = np.zeros((n, 2))
    for axis in range(min(2, n)):
        column = vectors[:, -1 - axis] * np.sqrt(max(values[-1 - axis], 0.0))
        places[:, axis] = column * (-1.0 if column[np.abs(column).argmax()] < 0 else 1.0)
    return places


def _grouped(owner: str, K: npt.ArrayLike, labels: LabelsLike) -> tuple[Array, list[str], npt.NDArray[np.intp]]:
    """The checked matrix, the names in the order shown, and that order: classes as they come first."""
    gram = check_gram(owner, "K", K)
    names = [shown_name(label) for label in labels]
    if len(names) != len(gram) or not names:
        raise InvalidInput(f"{owner}: labels must name each of {len(gram)} examples, got {len(names)}.")
    places = {name: number for number, name in enumerate(dict.fromkeys(names))}
    order = np.argsort([places[name] for name in names], kind="stable")
    return gram, [names[index] for index in order], order


def _over_images(images: Sequence[Any], circles: Sequence[Array], colours: Sequence[Sequence[str]]) -> Figure:
    """Images beside each other, with circles (x, y, radius) as fractions of width, height and width."""
    if not len(images):
        raise InvalidInput("a figure of images needs at least one, got none.")
    rows, columns = -(-len(images) // ACROSS), min(len(images), ACROSS)
    figure = Figure(figsize=(PICTURE * columns, PICTURE * 0.85 * rows), layout="constrained")
    panels: list[Axes] = list(np.ravel(figure.subplots(rows, columns, squeeze=False)))
    for panel in panels:
        panel.axis("off")
    for panel, image, found, colour in zip(panels, images, circles, colours, strict=False):
        pixels = as_image(image).pixels(LONGEST_SIDE)
        height, width = pixels.shape[:2]
        panel.imshow(pixels.mean(axis=2), cmap="gray", vmin=0.0, vmax=1.0)
        for (x, y, radius), each in zip(found, colour, strict=True):
            centre = x * width - 0.5, y * height - 0.5
            panel.add_patch(Circle(centre, radius * width, fill=False, edgecolor=each, linewidth=1.5))
    return figure


def _scales(scales: npt.NDArray[np.float32] | None, n: int) -> Array:
    return np.zeros(n) if scales is None else scales.astype(np.float64)
