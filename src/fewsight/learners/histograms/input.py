"""How what a user passes becomes histograms: rows already, or images through channels that compare by intersection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self, cast, final

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from fewsight._base.checks import shown
from fewsight._base.encodings import MOST_COLUMNS
from fewsight._base.errors import InvalidInput
from fewsight._base.state import INTEGERS
from fewsight._base.types import Indices, Rows, State
from fewsight.channels import CHANNELS, Channel, Encodings, fit_channel, stored_channels
from fewsight.images import as_image, find_duplicates
from fewsight.kernels import HistogramIntersection
from fewsight.learners.examples import Examples, Images, KernelLike
from fewsight.learners.histograms.column_layout import Narrowing, SideBySide
from fewsight.learners.inputs.stored import checked_scales
from fewsight.learners.labels import Labels

WHO = "HistogramGPClassifier"
FITTED_ON = 4_000  # images at most that channels learn from, such as a codebook; of more, as many drawn at random
LARGEST_GROUP = 1_000_000  # there is a weight for each number up to the largest


@final
@dataclass(eq=False)
class HistogramInput:
    """Rows of histograms as they are, or images through one or several channels: then their encodings side by side.

    The intersection of encodings side by side is the sum of the channels' kernels; each is divided by its mean training
    diagonal.
    """

    channels: list[Channel] = field(default_factory=list)
    given_groups: Indices | None = None  # of the columns of rows of numbers
    n_columns: int | None = None  # of rows of numbers
    layout: SideBySide = field(default_factory=lambda: SideBySide(np.empty(0), []))  # of the channels' encodings
    pictures: Indices | None = None  # of the images of the last `fit`: the same number for those of the same picture

    @classmethod
    def chosen(cls, kernel: KernelLike, groups: npt.ArrayLike | None = None) -> HistogramInput:
        """The input that the parameters `kernel` and `groups` of the learner ask for."""
        if kernel is None or isinstance(kernel, HistogramIntersection):
            return cls([], None if groups is None else _checked_groups(groups))
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
        return cls(list(channels))

    def fit(self, X: Rows | Examples, labels: Labels, positions: Indices) -> Rows:
        """The histograms of the examples at these positions, whose labels these are: rows that are checked, or images."""
        if not self.channels:
            rows = cast(Rows, X)
            self.n_columns = int(rows.shape[1])
            if self.given_groups is not None and len(self.given_groups) != self.n_columns:
                raise InvalidInput(
                    f"{WHO}: groups must be one number for each of {self.n_columns} columns, got {len(self.given_groups)}."
                )
            return rows if len(positions) == rows.shape[0] else rows[positions]
        given = cast(Images, X)
        images = [given[position] for position in positions]
        if len(images) <= FITTED_ON:
            self.channels = [fit_channel(clone(channel), given, labels, positions) for channel in self.channels]
            parts = [channel.encode(images) for channel in self.channels]
        else:
            parts = self._fit_on_some(given, labels, positions)
        first = self.channels[0]
        self.pictures = find_duplicates(
            [as_image(image) for image in images], cache=first.cache, n_jobs=first.n_jobs
        ).pictures
        self.layout = SideBySide.of(parts)
        return self.layout.rows(parts)

    def _fit_on_some(self, given: Images, labels: Labels, positions: Indices) -> list[Encodings]:
        """The encodings of all images at these positions, each described once: channels learn from FITTED_ON of them, spread
        over all, whose local features the cache keeps; the others are encoded as soon as they are described.

        Those that the channels learned from come first, while the cache still has what it kept of them.
        """
        some = np.sort(np.random.default_rng(0).permutation(len(positions))[:FITTED_ON])
        rest = np.setdiff1d(np.arange(len(positions)), some)
        order = np.argsort(np.concatenate([some, rest]))
        parts = []
        for number, unfitted in enumerate(self.channels):
            channel = self.channels[number] = clone(unfitted)
            if channel.learns_from_unlabelled:
                fit_channel(channel, given, labels, positions)
            else:
                fit_channel(channel, given, labels[some], positions[some])
            first = channel.encode([given[position] for position in positions[some]])
            others = channel.encode([given[position] for position in positions[rest]], keep_features=False)
            parts.append(first.join(others).take(order))
        return parts

    def read(self, X: Rows | Examples) -> Rows:
        """The histograms of new examples: rows that are checked, or images."""
        if not self.channels:
            return cast(Rows, X)
        return self.layout.rows([channel.encode(cast(Images, X)) for channel in self.channels])

    @property
    def groups(self) -> Indices:
        """The channel of each column; of rows of numbers the group that is given, or one for all."""
        if self.given_groups is not None:
            return self.given_groups
        return self.layout.groups if self.channels else np.zeros(self.n_columns or 0, dtype=np.intp)

    @property
    def width(self) -> int:
        """How many numbers a histogram has."""
        return self.layout.width if self.channels else self.n_columns or 0

    @property
    def parameter(self) -> list[Channel] | None:
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
        restored = cls(stored_channels(state, least=0))
        if not restored.channels:
            restored.n_columns = state.integer("n_columns", least=1, most=MOST_COLUMNS)
        if "groups" in state:
            restored.given_groups = _checked_groups(state.array("groups", (restored.n_columns,), INTEGERS))
        scales = checked_scales(state, len(restored.channels))
        widths = [channel.n_columns for channel in restored.channels]
        narrowing = Narrowing.from_state(state.nested("narrowing")) if "narrowing" in state.header else None
        if narrowing is not None and np.diff(narrowing.bounds).tolist() != widths:
            raise InvalidInput("the columns that are kept must be those of the channels.")
        restored.layout = SideBySide(scales, widths, narrowing)
        return restored


def _checked_groups(groups: npt.ArrayLike) -> Indices:
    numbers = np.asarray(groups)
    whole = numbers.ndim == 1 and numbers.dtype.kind in "iu" and numbers.size > 0
    if not whole or numbers.min() < 0 or numbers.max() > LARGEST_GROUP:
        raise InvalidInput(
            f"{WHO}: groups must be a list of whole numbers from 0 to {LARGEST_GROUP:,}, got {shown(groups)}."
        )
    return numbers.astype(np.intp)


def check_histograms(rows: Rows) -> Rows:
    """Rows of finite numbers >= 0, as they are."""
    numbers = rows if isinstance(rows, np.ndarray) else rows.data
    lowest, sum_of_all = numbers.min(initial=0.0), numbers.sum()
    if not np.isfinite(sum_of_all) and not np.isfinite(numbers).all():
        bad = "NaN" if np.isnan(numbers).any() else "infinity"
        raise InvalidInput(f"{WHO}: X must hold finite numbers only, got {bad}.")
    if lowest < 0:
        raise InvalidInput(f"{WHO}: Negative values in data: X must hold numbers >= 0 only, got {lowest:g}.")
    return rows


def compares_by_intersection(channel: Channel) -> bool:
    """Whether a channel's kernel is plain histogram intersection; one that learns its kernel is asked unfitted."""
    try:
        return isinstance(channel.kernel, HistogramIntersection)
    except (AttributeError, ValueError):  # a kernel whose scale is learned is none of ours
        return False
