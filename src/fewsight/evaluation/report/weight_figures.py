"""Weights of several models or features as pictures, and how a descent found them. [Holub2008, Fig. 14 to 16]"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.evaluation.report.wording import shown_name

BAR = 0.34  # inches of width, of a bar with a name
MOST_NAMED = 40  # bars; the names of more could not be read
LINES = 10  # models of a descent that have a line of their own colour


def weights_figure(weights: npt.ArrayLike, names: Sequence[str] | None = None) -> Figure:
    """A bar for each model or feature, as high as its weight.

    Parameters
    ----------
    weights : (k,) numbers >= 0, as `SpanBoundClassifier.weights_` or its `shares(k)`.
    names : of the bars; None for their numbers.
    """
    heights = _checked("weights_figure", "weights", weights, 1)
    k = len(heights)
    named = _names("weights_figure", names, k)
    with matplotlib.rc_context({"text.parse_math": False}):
        figure = Figure(figsize=(1.2 + BAR * min(k, MOST_NAMED), 3.0), layout="constrained")
        axes = figure.add_subplot()
        axes.bar(range(k), heights, color="#1f77b4")
        axes.set_ylabel("weight")
        axes.spines[["top", "right"]].set_visible(False)
        if k <= MOST_NAMED:
            axes.set_xticks(range(k), named, rotation=90)
        else:
            axes.set_xlabel("feature")
    return figure


def descent_figure(
    path: npt.ArrayLike,
    bounds: npt.ArrayLike,
    names: Sequence[str] | None = None,
    test_errors: npt.ArrayLike | None = None,
) -> Figure:
    """How weights and bound changed from step to step, and the error on other examples where it was measured.

    Parameters
    ----------
    path : (steps + 1, k) weights > 0, as `SpanBoundClassifier.path_`.
    bounds : (steps + 1,) of the bound, as `SpanBoundClassifier.bounds_`.
    names : of the k models; None for their numbers. The ten that weigh most at the end are named.
    test_errors : (steps + 1,) shares of wrong answers, or None.
    """
    weights, values = _checked("descent_figure", "path", path, 2), _checked("descent_figure", "bounds", bounds, 1)
    errors = None if test_errors is None else _checked("descent_figure", "test_errors", test_errors, 1)
    for name, other in (("bounds", values), ("test_errors", errors)):
        if other is not None and len(other) != len(weights):
            raise InvalidInput(f"descent_figure: {name} must be of {len(weights)} steps, as path is, got {len(other)}.")
    named = _names("descent_figure", names, weights.shape[1])
    with matplotlib.rc_context({"text.parse_math": False}):
        figure = Figure(figsize=(8.4, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.plot(values, color="#333333", label="bound")
        if errors is not None:
            left.plot(errors, color="#d62728", linestyle="--", label="error on test examples")
        left.set(xlabel="step", ylabel="share of errors")
        left.legend(fontsize=8)
        heaviest = np.argsort(-weights[-1], kind="stable")[:LINES]
        for number, column in enumerate(weights.T):
            chosen = number in heaviest
            right.semilogy(
                np.maximum(column, np.finfo(float).tiny),
                linewidth=1.4 if chosen else 0.6,
                color=None if chosen else "#bbbbbb",
                label=named[number] if chosen else None,
            )
        right.set(xlabel="step", ylabel="weight")
        right.legend(fontsize=7)
        for axes in (left, right):
            axes.spines[["top", "right"]].set_visible(False)
    return figure


def _checked(owner: str, name: str, values: npt.ArrayLike, ndim: int) -> Array:
    """Finite numbers >= 0 of as many dimensions, and one at least."""
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != ndim or not found.size or not np.isfinite(found).all() or (found < 0).any():
        raise InvalidInput(f"{owner}: {name} must be finite numbers >= 0 in {ndim} dimension(s), got {shown(values)}.")
    return found


def _names(owner: str, names: Sequence[str] | None, k: int) -> list[str]:
    if names is None:
        return [str(number + 1) for number in range(k)]
    if len(names) != k:
        raise InvalidInput(f"{owner}: names must be {k}, one for each weight, got {len(names)}.")
    return [shown_name(name) for name in names]
