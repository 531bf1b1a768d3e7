"""A Gaussian process that many examples reach through a few of them, the inducing points: any kernel, any number of examples.

The latent function is taken for what its values at m inducing points Z make of it [Rasmussen2006, section 8.3.4]. With
K_ZZ = L L^T an example x has the m features phi(x) = L^-1 k(Z, x), and what is left is a linear model whose weights are N(0, I)
beforehand. For the features Phi (n, m) of n examples, targets t and the noise s,

    B = I + Phi^T Phi / s,    weights = B^-1 Phi^T t / s,
    mean(x) = phi(x) weights,    variance(x) = k(x, x) - |phi(x)|^2 + phi(x) B^-1 phi(x)^T,

so that the variance is again that of the prior far from all inducing points. Where every example is one of them, this is the
exact posterior. All that is kept of the examples is Phi^T Phi and the sum of the features of each class (`FeatureSums`): their
number costs no memory, another noise costs one factorisation of m rows, and an example is added by adding to the sums.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from scipy.linalg import blas

from fewsight._base.checks import check_matrix, check_positive, owner_name
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.gp._checks import check_covariance
from fewsight.gp._cholesky import CholeskyFactor, factorise, with_diagonal
from fewsight.gp.posterior import LEAST_DIAGONAL, MOST_ROWS, LeaveOneOut

MOST_COUNT = 2**53  # of examples


@final
@dataclass(frozen=True, eq=False, repr=False)
class InducingPoints:
    """The factor L of their Gram matrix, which turns kernel values with them into features."""

    _factor: CholeskyFactor

    @classmethod
    def of(cls, K: Array) -> Self:
        """From the Gram matrix K (m, m) of the inducing points.

        Parameters
        ----------
        K : symmetric and positive semi-definite. Where rounding leaves it not quite positive definite, as it does for points
            that are close to each other, the least of a few amounts is added to the diagonal.
        """
        K = check_covariance(cls.__name__, "K", K)
        return cls(factorise(cls.__name__, lambda: np.array(K.T if K.flags.c_contiguous else K, order="F"))[0])

    def __len__(self) -> int:
        return len(self._factor)

    def features(self, K_new: Array) -> Array:
        """Features (n, m) of examples whose kernel values with the inducing points are K_new (n, m).

        Parameters
        ----------
        K_new : (n, m).

        Returns
        -------
        array (n, m)
            Their inner products approach kernel values from below.
        """
        K_new = check_matrix(self, "K_new", K_new, shape=(None, len(self)))
        return self._factor.half_solve(K_new.T).T

    def state(self) -> State:
        return State({"m": len(self)}, {"factor": self._factor.packed()})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """What `state` described; InvalidInput if it cannot have come from there."""
        m = state.integer("m", least=1, most=MOST_ROWS)
        return cls(_unpacked(state, "factor", m))


@final
@dataclass(frozen=True, eq=False, repr=False)
class FeatureSums:
    """What is kept of the features of examples, of c classes or of none.

    Attributes
    ----------
    products : Phi^T Phi (m, m), of which the lower triangle counts.
    sums : the sum of the features of each class (m, c + 1); the last column is that of the examples of no class.
    counts : how many examples each class has (c + 1,).
    """

    products: Array
    sums: Array
    counts: Indices

    @classmethod
    def empty(cls, m: int, n_classes: int) -> Self:
        """Of no examples, with m features.

        Parameters
        ----------
        m : the number of features.
        n_classes : the number of classes.
        """
        return cls(np.zeros((m, m), order="F"), np.zeros((m, n_classes + 1)), np.zeros(n_classes + 1, np.intp))

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.counts) - 1

    def add(self, features: Array, classes: Indices) -> None:
        """Count more examples, in place: features (n, m) and the number of the class of each (n,), -1 for none.

        Parameters
        ----------
        features : (n, m).
        classes : whole numbers from -1 to c - 1.
        """
        rows = check_matrix(self, "features", features, shape=(len(classes), len(self.sums)))
        blas.dsyrk(1.0, np.asfortranarray(rows.T), 1.0, self.products, trans=0, lower=1, overwrite_c=1)
        for column in np.unique(classes):
            self.sums[:, column] += rows[classes == column].sum(axis=0)
        self.counts[:] += np.bincount(classes % len(self.counts), minlength=len(self.counts))

    def __add__(self, other: FeatureSums) -> FeatureSums:
        """Of the examples of both, of the same classes."""
        products = np.asfortranarray(self.products + other.products)
        return FeatureSums(products, self.sums + other.sums, self.counts + other.counts)

    def with_classes(self, n_new: int) -> FeatureSums:
        """A copy with n_new more classes, of no example yet.

        Parameters
        ----------
        n_new : how many come after the others.
        """
        sums = np.insert(self.sums, [self.n_classes] * n_new, 0.0, axis=1)
        counts = np.insert(self.counts, [self.n_classes] * n_new, 0)
        return FeatureSums(self.products.copy(order="F"), sums, counts)

    def state(self) -> State:
        rows, columns = np.tril_indices(len(self.products))
        arrays: dict[str, npt.NDArray[Any]] = {
            "products": self.products[rows, columns],
            "sums": self.sums,
            "counts": self.counts,
        }
        return State({}, arrays)

    @classmethod
    def from_state(cls, state: State, m: int, n_classes: int) -> Self:
        """What `state` described, of m features and these classes; InvalidInput if it cannot have come from there."""
        packed = state.array("products", (m * (m + 1) // 2,), np.float64)
        products = np.zeros((m, m), order="F")
        products[np.tril_indices(m)] = packed
        if not (products.diagonal() >= 0).all():
            raise InvalidInput(f"{cls.__name__}: the diagonal of the stored products must be >= 0.")
        sums = state.array("sums", (m, n_classes + 1), np.float64).copy()
        counts = state.array("counts", (n_classes + 1,), np.intp, least=0, most=MOST_COUNT).copy()
        return cls(products, sums, counts)


@final
@dataclass(frozen=True, eq=False, repr=False)
class SparsePosterior:
    """Made by `condition`; never changes.

    Attributes
    ----------
    weights : (m, c), of the features.
    noise_variance : the noise, one for all examples.
    own, others : (c,): a class has the target `own` for its own examples and -`others` for all others.
    """

    weights: Array
    noise_variance: float
    own: Array
    others: Array
    _precision: CholeskyFactor = field(repr=False)

    @classmethod
    def condition(cls, sums: FeatureSums, noise_variance: float, own: Array, others: Array) -> Self:
        """The posterior given the sums of the features of all examples.

        Parameters
        ----------
        sums : of features and classes.
        noise_variance : a number > 0.
        own, others : (c,), targets of each class: `own` for its examples, -`others` for all others.
        """
        noise = check_positive(cls.__name__, "noise_variance", noise_variance)
        if not own.shape == others.shape == (sums.n_classes,):
            raise InvalidInput(
                f"{cls.__name__}: own and others must have one entry per class, {sums.n_classes}, "
                f"got {own.shape} and {others.shape}."
            )
        precision, _ = factorise(cls.__name__, lambda: with_diagonal(np.asfortranarray(sums.products / noise), 1.0))
        inside, total = sums.sums[:, :-1], sums.sums.sum(axis=1, keepdims=True)
        products = (own + others) * inside - others * total
        return cls(precision.solve(np.asfortranarray(products / noise)), noise, own, others, precision)

    @property
    def n_targets(self) -> int:
        """The number of classes."""
        return self.weights.shape[1]

    def mean(self, features: Array) -> Array:
        """Posterior means (n, c) of examples with these features (n, m).

        Parameters
        ----------
        features : (n, m).

        Returns
        -------
        array (n, c)
            A column for each class.
        """
        return self._checked(features) @ self.weights

    def variance(self, features: Array, diagonal: Array) -> Array:
        """Variance (n,) of the latent values, the same for every class, never below 0.

        Parameters
        ----------
        features : (n, m).
        diagonal : the kernel value of each example with itself (n,).

        Returns
        -------
        array (n,)
            Variances >= 0.
        """
        rows = self._checked(features)
        return _missed(rows, diagonal) + _squared_columns(self._precision.half_solve(rows.T))

    def leave_group_out(self, features: Array, classes: Indices, groups: Indices, diagonal: Array) -> LeaveOneOut:
        """Training examples as if those of their group had never been counted; the inducing points stay where they are.

        With H = Phi_g B^-1 Phi_g^T / s for the rows of a group g, means are t_g - (I - H)^-1 (t_g - mean_g).

        Parameters
        ----------
        features : (n, m), of some of the examples that were counted.
        classes : the number of the class of each (n,), -1 for none.
        groups : a whole number for each (n,); those that share one are left out together.
        diagonal : the kernel value of each with itself (n,).

        Returns
        -------
        LeaveOneOut
            `mean` (n, c) and `variance` (n,), of noisy targets.
        """
        rows = self._checked(features)
        targets = self.targets(classes)
        mean, variance = np.empty_like(targets), _missed(rows, diagonal) + self.noise_variance
        halves = self._precision.half_solve(rows.T)
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            H = halves[:, members].T @ halves[:, members] / self.noise_variance
            rest = np.linalg.inv(np.eye(len(members)) - H)
            mean[members] = targets[members] - rest @ (targets[members] - rows[members] @ self.weights)
            variance[members] += self.noise_variance * np.einsum("ij,ji->i", H, rest)
        return LeaveOneOut(mean, variance)

    def targets(self, classes: Indices) -> Array:
        """Targets (n, c) of examples of these classes (n,), -1 for none.

        Parameters
        ----------
        classes : whole numbers from -1 to c - 1.

        Returns
        -------
        array (n, c)
            `own` in the column of an example's class, -`others` elsewhere.
        """
        return np.where(classes[:, None] == np.arange(self.n_targets), self.own, -self.others)

    def _checked(self, features: Array) -> Array:
        return check_matrix(self, "features", features, shape=(None, len(self.weights)))


def _missed(features: Array, diagonal: Array) -> Array:
    """The part of the prior variance (n,) that the inducing points say nothing about."""
    return np.maximum(diagonal - np.einsum("ij,ij->i", features, features), 0.0)


def _squared_columns(halves: Array) -> Array:
    return np.einsum("ij,ij->j", halves, halves)


def _unpacked(state: State, name: str, m: int) -> CholeskyFactor:
    factor = CholeskyFactor.unpack(state.array(name, (m * (m + 1) // 2,), np.float64), m)
    if not (factor.lower.diagonal() > LEAST_DIAGONAL).all():
        raise InvalidInput(
            f"{owner_name(InducingPoints)}: the diagonal of the stored factor must be > {LEAST_DIAGONAL:g}."
        )
    return factor
