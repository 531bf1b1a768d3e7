"""How what a user passes becomes histograms: rows already, or images through channels that compare by intersection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
import scipy.sparse
from sklearn.base import clone

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Indices, State
from fewsight.channels import CHANNELS, Channel, fit_channel
from fewsight.kernels import HistogramIntersection
from fewsight.learners.histograms.column_layout import Narrowing, SideBySide

WHO = "HistogramGPClassifier"
Rows = Any  # a dense float64 array or a CSR matrix


@final
class HistogramInput:
    """Rows of histograms as they are, or images through one or several channels: then their encodings side by side.

    The intersection of encodings side by side is the sum of the channels' kernels; each is divided by its mean training
    diagonal.
    """

    def __init__(self, channels: Sequence[Channel] = (), given_groups: Indices | None = None) -> None:
        self.channels = list(channels)
        self.given_groups = given_groups
        self.layout = SideBySide(np.ones(len(self.channels)), [])
        self.n_columns: int | None = None

    @classmethod
    def chosen(cls, kernel: Any, groups: Any = None) -> HistogramInput:
        """The input that the parameters `kernel` and `groups` of the learner ask for."""
        if kernel is None or isinstance(kernel, HistogramIntersection):
            return cls((), None if groups is None else _checked_groups(groups))
        if groups is not None:
            raise InvalidInput(f"{WHO}: groups are for rows of numbers; channels are groups of their own.")
        channels = [kernel] if isinstance(kernel, Channel) else kernel
        if not isinstance(channels, (list, tuple)) or not channels or not all(isinstance(c, Channel) for c in channels):
            raise InvalidInput(
                f"{WHO}: kernel must be None for rows of histograms, a channel or a list of channels, got {shown(kernel)}."
            )
        wrong = [channel.name for channel in channels if not compares_by_intersection(channel)]
        if wrong:
            raise InvalidInput(f"{WHO}: channels must compare by histogram intersection, got {', '.join(wrong)}.")
        return cls(channels)

    def fit(self, X: Any, labels: Any, positions: Indices) -> Rows:
        """The histograms of the examples at these positions, whose labels these are."""
        if not self.channels:
            self.n_columns = int(X.shape[1])
            if self.given_groups is not None and len(self.given_groups) != self.n_columns:
                raise InvalidInput(
                    f"{WHO}: groups must be one number for each of {self.n_columns} columns, got {len(self.given_groups)}."
                )
            return X if len(positions) == X.shape[0] else X[positions]
        self.channels = [fit_channel(clone(channel), X, labels, positions) for channel in self.channels]
        images = [X[position] for position in positions]
        parts = [channel.encode(images) for channel in self.channels]
        self.layout = SideBySide.of(parts)
        return self.layout.rows(parts)

    def read(self, X: Any) -> Rows:
        """The histograms of new examples."""
        return self.layout.rows([channel.encode(X) for channel in self.channels]) if self.channels else X

    @property
    def groups(self) -> Indices:
        """The channel of each column; of rows of numbers the group that is given, or one for all."""
        if self.given_groups is not None:
            return self.given_groups
        return self.layout.groups if self.channels else np.zeros(self.n_columns or 0, dtype=np.intp)

    @property
    def parameter(self) -> Any:
        """What to pass as `kernel` to get an input like this one."""
        return self.channels or None

    def state(self) -> State:
        header = {"n_channels": len(self.channels), "n_columns": self.n_columns}
        given = {} if self.given_groups is None else {"groups": self.given_groups}
        state = State(header, {"scales": self.layout.scales, **given})
        if self.layout.narrowing is not None:
            state = state.join("narrowing", self.layout.narrowing.state())
        for number, channel in enumerate(self.channels):
            CHANNELS.check_registered(channel)
            state = state.join(f"channel{number}", channel.state())
        return state

    @classmethod
    def from_state(cls, state: State) -> Self:
        parts = [state.nested(f"channel{number}") for number in range(state.header["n_channels"])]
        restored = cls([CHANNELS.find(part.header["name"]).from_state(part) for part in parts])
        restored.n_columns, scales = state.header["n_columns"], state.arrays["scales"]
        if "groups" in state.arrays:
            restored.given_groups = _checked_groups(state.arrays["groups"])
        if scales.shape != (len(parts),) or not (scales > 0).all():
            raise InvalidInput("the scales of the channels must be one positive number for each.")
        widths = [channel.n_columns for channel in restored.channels]
        narrowing = Narrowing.from_state(state.nested("narrowing")) if "narrowing" in state.header else None
        if narrowing is not None and np.diff(narrowing.bounds).tolist() != widths:
            raise InvalidInput("the columns that are kept must be those of the channels.")
        restored.layout = SideBySide(scales, widths, narrowing)
        return restored


def _checked_groups(groups: Any) -> Indices:
    numbers = np.asarray(groups)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not numbers.size or numbers.min() < 0:
        raise InvalidInput(f"{WHO}: groups must be a list of whole numbers >= 0, got {shown(groups)}.")
    return numbers.astype(np.intp)


def check_histograms(rows: Rows) -> Rows:
    """Rows of finite numbers >= 0, as they are."""
    numbers = rows.data if scipy.sparse.issparse(rows) else rows
    lowest, sum_of_all = numbers.min(initial=0.0), numbers.sum()
    if not np.isfinite(sum_of_all) and not np.isfinite(numbers).all():
        bad = "NaN" if np.isnan(numbers).any() else "infinity"
        raise InvalidInput(f"{WHO}: X must hold finite numbers only, got {bad}.")
    if lowest < 0:
        raise InvalidInput(f"{WHO}: Negative values in data: X must hold numbers >= 0 only, got {lowest:g}.")
    return rows


def compares_by_intersection(channel: Any) -> bool:
    """Whether a channel's kernel is plain histogram intersection; one that learns its kernel is asked unfitted."""
    try:
        return isinstance(channel.kernel, HistogramIntersection)
    except (AttributeError, ValueError):  # a kernel whose scale is learned is none of ours
        return False
