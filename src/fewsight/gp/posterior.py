"""The exact posterior of a zero-mean Gaussian process under Gaussian noise, for many columns of targets at once.

All columns (one per class, +1 / -1) share the covariance A = K + diag(noise), so one factorisation serves them all
[Kapoor2010, section 6.1]. Adding, removing and relabelling examples and adding classes reuse it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_indices, check_matrix, owner_name
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, State
from fewsight.gp._checks import check_covariance, check_per_example
from fewsight.gp._cholesky import CholeskyFactor, announce_jitter, factorise, log_density, with_diagonal
from fewsight.gp.correlation_path import Inverted

MOST_ROWS = 2**31  # a larger factor fits nowhere
LEAST_DIAGONAL = 1e-150  # of a stored factor: what is divided by less is soon infinite


@final
@dataclass(frozen=True)
class LeaveOneOut:
    """What the other examples say about each: mean (n, c), and variance (n,) of its noisy target."""

    mean: Array
    variance: Array


@final
@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """Made by `condition` or `from_state`; never changes. All arrays are read-only.

    Attributes
    ----------
    targets, dual_weights : (n, c); dual_weights = A^-1 targets with A = K + diag(noise_variance + jitters).
    noise_variance : (n,)
    jitters : (n,), what had to be added to the diagonal to make A positive definite; `jitter` is the largest.
    """

    targets: Array
    dual_weights: Array
    noise_variance: Array
    jitters: Array
    _factor: CholeskyFactor = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("targets", "dual_weights", "noise_variance", "jitters"):
            array = np.asfortranarray(getattr(self, name))  # one layout, so that a reloaded posterior rounds alike
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __repr__(self) -> str:
        return f"Posterior(n={self.n}, n_targets={self.n_targets})"

    @classmethod
    def condition(cls, K: Array, targets: Array, noise_variance: float | Array) -> Posterior:
        """The posterior given the Gram matrix K (n, n), targets (n, c) and noise: one number, or one per example (n,).

        K is not modified. n = 0 gives the prior. Where A is not positive definite, the least of a few amounts of jitter
        is added, with a JitterWarning; a matrix that needs more than a hundredth of its mean diagonal is refused.

        Parameters
        ----------
        K : the Gram matrix (n, n) of the training examples, symmetric and positive semi-definite.
        targets : (n, c), a column for each class.
        noise_variance : a number > 0, or one for each example (n,).
        """
        K = check_covariance(cls.__name__, "K", K)
        n = len(K)
        targets = np.array(check_matrix(cls.__name__, "targets", targets, shape=(n, None)), order="F")
        noise = check_per_example(cls.__name__, "noise_variance", noise_variance, n)
        symmetric = K.T if K.flags.c_contiguous else K
        factor, jitter = factorise(cls.__name__, lambda: with_diagonal(np.array(symmetric, order="F"), noise))
        announce_jitter(cls.__name__, jitter, f"all {n}")
        return cls(targets, factor.solve(targets), noise, np.full(n, jitter), factor)

    @property
    def n(self) -> int:
        """The number of examples."""
        return len(self.targets)

    @property
    def n_targets(self) -> int:
        """The number of columns of targets."""
        return self.targets.shape[1]

    @property
    def jitter(self) -> float:
        """The most that was added to any diagonal entry; 0 where nothing was."""
        return float(self.jitters.max(initial=0.0))

    @property
    def log_evidence(self) -> float:
        """log p(targets), summed over the columns. [Kapoor2010, section 6.1]"""
        return log_density(self._factor, self.targets, self.dual_weights)

    def mean(self, K_test: Array) -> Array:
        """Posterior mean (m, c) where the covariances with the n examples are K_test (m, n). [Kapoor2010, eq. 5]

        Parameters
        ----------
        K_test : kernel values of m examples with the n training examples (m, n).

        Returns
        -------
        array (m, c)
            A column for each class.
        """
        return check_matrix(self, "K_test", K_test, shape=(None, self.n)) @ self.dual_weights

    def variance(self, K_test: Array, diagonal: Array) -> Array:
        """Variance (m,) of the latent function, the same for every class, never below 0. [Kapoor2010, eq. 6]

        `diagonal` (m,) holds the prior variances, the kernel of each test point with itself.

        Parameters
        ----------
        K_test : kernel values of m examples with the n training examples (m, n).
        diagonal : kernel value of each with itself (m,).

        Returns
        -------
        array (m,)
            Variances >= 0.
        """
        K_test = check_matrix(self, "K_test", K_test, shape=(None, self.n))
        prior = check_matrix(self, "diagonal", np.reshape(diagonal, (-1, 1)), shape=(len(K_test), 1))[:, 0]
        half_solved = self._factor.half_solve(K_test.T)
        return np.maximum(prior - np.einsum("ij,ij->j", half_solved, half_solved), 0.0)

    def leave_one_out(self) -> LeaveOneOut:
        """Each example predicted from all others, without refitting: a block inverse of A, bordered by that example.

        With a = [A^-1]_ii its noisy target has variance 1 / a and mean t_i - dual_weights_i / a.

        Returns
        -------
        LeaveOneOut
            `mean` (n, c) and `variance` (n,).
        """
        variance = 1.0 / self._factor.inverse_diagonal
        return LeaveOneOut(self.targets - self.dual_weights * variance[:, None], variance)

    def leave_group_out(self, groups: npt.ArrayLike) -> LeaveOneOut:
        """Each example predicted from those of all other groups (n,), without refitting.

        As leave-one-out with blocks: with B = ([A^-1]_gg)^-1 for the rows of a group g, its noisy targets have mean
        t_g - B dual_weights_g and the variances on the diagonal of B.

        Parameters
        ----------
        groups : a whole number for each example (n,); those that share one are left out together.

        Returns
        -------
        LeaveOneOut
            `mean` (n, c) and `variance` (n,).
        """
        labels = np.asarray(groups)
        if labels.shape != (self.n,):
            raise InvalidInput(
                f"{owner_name(self)}: groups must have one entry per example, {self.n}, got {labels.shape}."
            )
        inverse = self._factor.inverse_lower()
        mean, variance = np.empty_like(self.targets), np.empty(self.n)
        for label in np.unique(labels):
            rows = np.flatnonzero(labels == label)
            block = inverse[np.ix_(rows, rows)]
            B = np.linalg.inv(np.tril(block) + np.tril(block, -1).T)
            mean[rows] = self.targets[rows] - B @ self.dual_weights[rows]
            variance[rows] = B.diagonal()
        return LeaveOneOut(mean, variance)

    @property
    def prior_variance(self) -> Array:
        """The diagonal of K (n,): squared row lengths of the factor, less noise and jitter."""
        lower = self._factor.lower
        return np.einsum("ij,ij->i", lower, lower) - self.noise_variance - self.jitters

    def covariance(self) -> Array:
        """The Gram matrix K (n, n) of the examples, put together again from the factor.

        Returns
        -------
        array (n, n)
            Symmetric.
        """
        A: Array = self._factor.lower @ self._factor.lower.T
        return with_diagonal(A, -(self.noise_variance + self.jitters))

    def inverted(self, column: int) -> Inverted:
        """The whole inverse, with one column of targets.

        Parameters
        ----------
        column : the number of a column of targets, from 0.
        """
        A: Array = self._factor.lower @ self._factor.lower.T
        targets, dual_weights = self.targets[:, column], self.dual_weights[:, column]
        return Inverted(A, self._factor.inverse(), self._factor.log_determinant, targets, dual_weights)

    def append(self, K_new: Array, K_new_new: Array, targets: Array, noise_variance: float | Array) -> Posterior:
        """With m more examples, in O(n^2 m): K_new (m, n) against the old ones, K_new_new (m, m) among themselves.

        Jitter that is needed goes to the new examples only.

        Parameters
        ----------
        K_new : kernel values of m new examples with the n old ones (m, n).
        K_new_new : kernel values among the new ones (m, m).
        targets : of the new ones (m, c).
        noise_variance : of the new ones: a number > 0, or one for each (m,).
        """
        K_new = check_matrix(self, "K_new", K_new, shape=(None, self.n))
        m = len(K_new)
        K_new_new = check_covariance(self, "K_new_new", K_new_new, n=m)
        targets = check_matrix(self, "targets", targets, shape=(m, self.n_targets))
        noise = check_per_example(self, "noise_variance", noise_variance, m)
        half_solved = self._factor.half_solve(K_new.T)
        corner, jitter = factorise(
            self,
            lambda: with_diagonal(np.asfortranarray(K_new_new - half_solved.T @ half_solved), noise),
            scale=K_new_new.diagonal(),
            size=self.n,
        )
        announce_jitter(self, jitter, f"{m} new")
        new_weights = corner.solve(targets - K_new @ self.dual_weights)
        old_weights = self.dual_weights - self._factor.back_solve(half_solved) @ new_weights
        return Posterior(
            np.vstack([self.targets, targets]),
            np.vstack([old_weights, new_weights]),
            np.concatenate([self.noise_variance, noise]),
            np.concatenate([self.jitters, np.full(m, jitter)]),
            self._factor.append(half_solved, corner),
        )

    def remove(self, indices: npt.ArrayLike) -> Posterior:
        """Without these examples, in O(n^2) for each.

        Parameters
        ----------
        indices : positions of examples (k,), from 0, each once.
        """
        removed = check_indices(self, indices, self.n)
        kept = np.delete(np.arange(self.n), removed)
        chosen = np.zeros((self.n, len(removed)), order="F")
        chosen[removed, np.arange(len(removed))] = 1.0
        inverse_columns = self._factor.solve(chosen)
        shares = np.linalg.solve(inverse_columns[removed], self.dual_weights[removed])
        return Posterior(
            self.targets[kept],
            self.dual_weights[kept] - inverse_columns[kept] @ shares,
            self.noise_variance[kept],
            self.jitters[kept],
            self._factor.remove(removed),
        )

    def relabel(self, indices: npt.ArrayLike, targets: Array) -> Posterior:
        """With other targets (m, c) for these m examples; only the columns that change are solved again, in O(n^2).

        Parameters
        ----------
        indices : positions of m examples, from 0, each once.
        targets : their new targets (m, c).
        """
        indices = check_indices(self, indices, self.n)
        relabelled = self.targets.copy(order="F")
        relabelled[indices] = check_matrix(self, "targets", targets, shape=(len(indices), self.n_targets))
        changed = (relabelled != self.targets).any(axis=0)
        dual_weights = self.dual_weights.copy(order="F")
        dual_weights[:, changed] = self._factor.solve(relabelled[:, changed])
        return replace(self, targets=relabelled, dual_weights=dual_weights)

    def add_targets(self, columns: Array) -> Posterior:
        """With k more columns of targets (n, k), in O(n^2 k): new classes.

        Parameters
        ----------
        columns : targets of k new classes (n, k).
        """
        columns = check_matrix(self, "columns", columns, shape=(self.n, None))
        return replace(
            self,
            targets=np.hstack([self.targets, columns]),
            dual_weights=np.hstack([self.dual_weights, self._factor.solve(columns)]),
        )

    def state(self) -> State:
        """All of it; the factor as its lower triangle, column after column."""
        header = {"n": self.n, "n_targets": self.n_targets}
        arrays: dict[str, npt.NDArray[Any]] = {
            "targets": self.targets,
            "dual_weights": self.dual_weights,
            "noise_variance": self.noise_variance,
            "jitters": self.jitters,
            "factor": self._factor.packed(),
        }
        return State(header, arrays)

    @classmethod
    def from_state(cls, state: State) -> Posterior:
        """The posterior that `state()` described, to the last bit; InvalidInput if it cannot have come from there.

        Parameters
        ----------
        state : what `state` returned; it may come from a file.
        """
        n, n_targets = state.integer("n", most=MOST_ROWS), state.integer("n_targets", most=MOST_ROWS)
        packed = state.array("factor", (n * (n + 1) // 2,), np.float64)
        factor = CholeskyFactor.unpack(packed, n)
        if not (factor.lower.diagonal() > LEAST_DIAGONAL).all():
            raise InvalidInput(f"{cls.__name__}: the diagonal of the stored factor must be > {LEAST_DIAGONAL:g}.")
        targets, dual_weights = (
            state.array(name, (n, n_targets), np.float64).copy(order="F") for name in ("targets", "dual_weights")
        )
        noise_variance = state.array("noise_variance", (n,), np.float64, above=0.0).copy()
        return cls(
            targets, dual_weights, noise_variance, state.array("jitters", (n,), np.float64, least=0.0).copy(), factor
        )
