"""What a learner asks of its input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from fewsight._base.types import Array, Indices, State
from fewsight.channels import Channel


class Input(ABC):
    """The training side of a learner, and what new examples are compared with."""

    scales: Array  # (k,): mean training diagonal of each Gram matrix
    pictures: Indices | None = (
        None  # (n,): the same number for training images of the same picture; None without images
    )
    channels: Sequence[Channel] = ()  # fitted, through which images are seen; none where examples are no images

    @abstractmethod
    def fit(self, X: Any, labels: Any, positions: Indices) -> list[Array]:
        """Remember the examples at these positions, whose labels these are; their scaled Gram matrices."""

    @abstractmethod
    def read(self, X: Any) -> Any:
        """New examples in the form that `compare`, `diagonals` and `extend` take: images are encoded here, once."""

    @abstractmethod
    def compare(self, rows: Any) -> list[Array]:
        """Scaled Gram matrices new x training."""

    @abstractmethod
    def diagonals(self, rows: Any) -> list[Array]:
        """Scaled kernel values of each new example with itself."""

    @abstractmethod
    def extend(self, X: Any) -> tuple[Input, list[Array], list[Array]]:
        """An input that also remembers X; its Gram matrices new x old and new x new."""

    @abstractmethod
    def select(self, indices: Indices) -> Input:
        """An input that remembers these training examples only."""

    @property
    @abstractmethod
    def n_training(self) -> int:
        """How many examples are remembered."""

    @property
    @abstractmethod
    def parameter(self) -> Any:
        """What to pass as `kernel` to get an input like this one."""

    @property
    def n_columns(self) -> int | None:
        """Width of a row of X, where that is fixed."""
        return None

    @abstractmethod
    def state(self) -> State:
        """For the model file."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: State) -> Self:
        """From the model file."""

    def copies(self) -> Indices | None:
        """`pictures`, if some of the training images are the same picture; else None."""
        some = self.pictures is not None and len(np.unique(self.pictures)) < len(self.pictures)
        return self.pictures if some else None

    def _scaled(self, grams: Sequence[Array]) -> list[Array]:
        return [gram / scale for gram, scale in zip(grams, self.scales, strict=True)]

    def _set_scales(self, diagonals: Sequence[Array]) -> None:
        means = np.array([float(np.mean(diagonal)) if len(diagonal) else 1.0 for diagonal in diagonals])
        self.scales = np.where(means > 0, means, 1.0)
