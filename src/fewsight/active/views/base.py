"""What a query rule sees of a pool."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from fewsight._base.errors import InvalidInput
from fewsight._base.none_of_these import NoneOfThese
from fewsight._base.types import Array, Indices

Mask = npt.NDArray[np.bool_]
Label = str | int | bool
Answer = Label | NoneOfThese


class View(ABC):
    """What a learner says about each of m examples, and how alike they are. Rules only read it."""

    classes: list[Label]  # in the order of the columns of `mean`
    noise_variance: float
    diagonal: Array  # the kernel of each example with itself (m,)
    unlabelled: Mask  # which examples of the pool have no label (m,)

    @property
    @abstractmethod
    def mean(self) -> Array:
        """Latent means (m, c)."""

    @property
    @abstractmethod
    def variance(self) -> Array:
        """Latent variances (m,), the same for every class."""

    @property
    @abstractmethod
    def n_labelled(self) -> int:
        """How many labels were learned from."""

    @property
    def can_compare(self) -> bool:
        """Whether kernel values between pool examples are available."""
        return True

    @property
    def covariance_is_quick(self) -> bool:
        """Whether posterior covariances are known, at little more than the cost of comparing the examples."""
        return False

    @abstractmethod
    def kernel(self, rows: Indices, columns: Indices) -> Array:
        """Kernel values between examples of the pool (r, s).

        Parameters
        ----------
        rows : positions (r,), from 0.
        columns : positions (s,), from 0.
        """

    @abstractmethod
    def covariance(self, rows: Indices, columns: Indices) -> Array:
        """Posterior covariances between examples of the pool (r, s); refused by a learner that does not know them.

        Parameters
        ----------
        rows : positions (r,), from 0.
        columns : positions (s,), from 0.
        """

    def covariance_with(self, rows: Indices, sample: Indices) -> Array:
        """As `covariance`, with a sample of the pool that is mostly the same when it is asked for again (r, s).

        Parameters
        ----------
        rows : positions (r,), from 0.
        sample : positions (s,), from 0.
        """
        return self.covariance(rows, sample)

    @abstractmethod
    def probabilities_of(self, mean: Array, variance: Array) -> Array:
        """Probabilities (r, c) of any latent means (r, c) and variances (r,).

        Parameters
        ----------
        mean : latent means (r, c).
        variance : latent variances (r,), >= 0.
        """

    def probabilities(self, rows: Indices | None = None) -> Array:
        """Probability of each class (r, c), of these examples or of all.

        Parameters
        ----------
        rows : positions (r,), from 0; None for all m.
        """
        chosen = slice(None) if rows is None else rows
        return self.probabilities_of(self.mean[chosen], self.variance[chosen])

    def targets_if(self, column: int) -> Array:
        """What the means of an example are drawn to if it gets the label of this column (c,).

        Parameters
        ----------
        column : the number of a class, from 0.
        """
        return np.where(np.arange(len(self.classes)) == column, 1.0, -1.0)

    def __len__(self) -> int:
        return len(self.diagonal)

    def distances(self, rows: Indices, columns: Indices) -> Array:
        """Squared distances in the space that the kernel spans (r, s).

        Parameters
        ----------
        rows : positions (r,), from 0.
        columns : positions (s,), from 0.
        """
        squared = self.diagonal[rows][:, None] + self.diagonal[columns][None, :] - 2 * self.kernel(rows, columns)
        return np.maximum(squared, 0.0)

    def decisions(self) -> Indices:
        """The class of each example by its largest mean, as a column number.

        Returns
        -------
        array (m,)
            Column numbers from 0.
        """
        if not self.classes:
            raise InvalidInput("View: at least one example must have a label before anything is decided, got none.")
        return two_largest(self.mean)[2]

    def gaps(self) -> Array:
        """Distance between the two largest means of each example (m,)."""
        largest, second, _ = two_largest(self.mean)
        return largest - second


def two_largest(mean: Array) -> tuple[Array, Array, Indices]:
    """The largest and second largest of each row of (m, c), and the column of the largest; -inf with no second."""
    largest, second = mean[:, 0].copy(), np.full(len(mean), -np.inf)
    where = np.zeros(len(mean), dtype=np.intp)
    for column in range(1, mean.shape[1]):
        values = mean[:, column]
        ahead = values > largest
        second = np.maximum(second, np.where(ahead, largest, values))
        largest = np.where(ahead, values, largest)
        where[ahead] = column
    return largest, second, where
