"""What a learner asks of its input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn, Self, TypeAlias

import numpy as np

from fewsight._base.checks import owner_name
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.channels import Channel
from fewsight.gp import BlockStack, GramStack
from fewsight.kernels import Kernel

MOST_LISTED = 32  # Gram matrices that are a list in double precision; more of them are packed, see `GramStack`
Made: TypeAlias = Kernel | Channel  # what a kernel family makes: a kernel of rows, or an unfitted channel of images


class Input(ABC):
    """The training side of a learner, and what new examples are compared with."""

    scales: Array  # (k,): mean training diagonal of each Gram matrix
    pictures: Indices | None = (
        None  # (n,): the same number for training images of the same picture; None without images
    )
    channels: Sequence[Channel] = ()  # fitted, through which images are seen; none where examples are no images

    @abstractmethod
    def fit(self, X: Any, labels: Any, positions: Indices) -> Sequence[Array]:
        """Remember the examples at these positions, whose labels these are; their scaled Gram matrices.

        A list, or a stack that offers sums: `fewsight.gp.weighted_sum` and `mean_of` take both.
        """

    @abstractmethod
    def read(self, X: Any) -> Any:
        """New examples in the form that `compare`, `diagonals` and `extend` take: images are encoded here, once."""

    def read_once(self, X: Any) -> Any:
        """As `read`, of examples that nobody will read again: what is computed on the way is not kept."""
        return self.read(X)

    @abstractmethod
    def compare(self, rows: Any) -> Sequence[Array]:
        """Scaled Gram matrices new x training."""

    @abstractmethod
    def diagonals(self, rows: Any) -> list[Array]:
        """Scaled kernel values of each new example with itself."""

    @abstractmethod
    def extend(self, X: Any) -> tuple[Input, Sequence[Array], Sequence[Array]]:
        """An input that also remembers X; its Gram matrices new x old and new x new."""

    def beside(self, X: Any, positions: Indices) -> tuple[Sequence[Array], Sequence[Array]]:
        """Of some further examples of what `fit` was given: Gram matrices further x training and further x further."""
        further = [X[position] for position in positions] if isinstance(X, (list, tuple)) else X[positions]
        return self.extend(further)[1:]

    @abstractmethod
    def select(self, indices: Indices) -> Input:
        """An input that remembers these training examples only."""

    @property
    def examples(self) -> Any:
        """The training examples as a kernel family takes them: rows of numbers, or images."""
        self._refuse_further()

    def gram(self, made: Made) -> Array:
        """The scaled training Gram matrix (n, n) under a further kernel or channel, which a learner asks for while it learns."""
        self._refuse_further()

    def taking(self, made: Sequence[Made]) -> Input:
        """An input of the same training examples that are compared by these kernels or channels, and no others."""
        self._refuse_further()

    def joined(self, made: Sequence[Made]) -> Input:
        """An input of the same training examples that are also compared by these kernels or channels."""
        self._refuse_further()

    def keeping(self, numbers: Indices) -> Input:
        """An input of the same training examples that are compared by these of its kernels or channels only.

        Of Gram matrices all stay, for the user brings all of them.
        """
        return self

    def release(self) -> None:
        """Let go of what only further kernels or channels would need: learning is over."""
        return

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

    def _refuse_further(self) -> NoReturn:
        raise InvalidInput(
            f"{owner_name(self)}: kernels can only be made for rows of numbers or images, got Gram matrices."
        )

    def _scaled_grams(self, grams: Iterable[Array]) -> Sequence[Array]:
        """Training Gram matrices; they are asked for one by one, so that many of them are never there unpacked."""
        scaled = self._each_scaled(grams)
        return list(scaled) if len(self.scales) <= MOST_LISTED else GramStack.of(scaled)

    def _scaled_blocks(self, blocks: Iterable[Array]) -> Sequence[Array]:
        """Kernel values of new examples, likewise."""
        scaled = self._each_scaled(blocks)
        return list(scaled) if len(self.scales) <= MOST_LISTED else BlockStack.of(scaled)

    def _each_scaled(self, matrices: Iterable[Array]) -> Iterator[Array]:
        """Matrices that a kernel just made; one that needs no scale is not copied, for it may be as large as memory allows."""
        pairs = zip(matrices, self.scales, strict=True)
        return (matrix if scale == 1.0 else matrix / scale for matrix, scale in pairs)

    def copies(self) -> Indices | None:
        """`pictures`, if some of the training images are the same picture; else None."""
        some = self.pictures is not None and len(np.unique(self.pictures)) < len(self.pictures)
        return self.pictures if some else None

    def _scaled(self, grams: Sequence[Array]) -> list[Array]:
        return [gram / scale for gram, scale in zip(grams, self.scales, strict=True)]

    def _set_scales(self, diagonals: Sequence[Array]) -> None:
        means = np.array([float(np.mean(diagonal)) if len(diagonal) else 1.0 for diagonal in diagonals])
        self.scales = np.where(means > 0, means, 1.0)
