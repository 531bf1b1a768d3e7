"""Logistic regression in the space that the kernel spans; what most people fit to embeddings today."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_choice, check_integer, check_positive
from fewsight._base.types import Array, Indices, State
from fewsight.learners.baseline import DualLearner, averaged
from fewsight.learners.examples import KernelLike
from fewsight.learners.folds import predictable
from fewsight.learners.labels import Labels

GRID = tuple(10.0**power for power in range(7))  # of C, for a kernel whose training diagonal has mean 1
PLAIN_C = 1.0  # where nothing can be left out: scikit-learn's own default
RANK_TOLERANCE = 1e-10  # of the largest eigenvalue: directions below it hold rounding errors
CURVATURE = 0.02  # p (1 - p) of a typical example and class: sets the length of the first steps, not where they lead
ROUGH = {"maxcor": 15, "maxiter": 200, "ftol": 1e-5, "gtol": 1e-2}  # to compare penalties
FINE = {"maxcor": 15, "maxiter": 1000, "ftol": 1e-9, "gtol": 1e-5}
# To end at the one minimum, whatever way the search took: steps, and the largest entry of the gradient.
NEWTON_STEPS, CLOSE = 10, 1e-11


class LogisticClassifier(DualLearner):
    """Multinomial logistic regression with an L2 penalty. For a linear kernel it is that of the vectors themselves.

    With K = F F^T the rows of F stand for the examples: a penalised linear model depends on inner products alone.

    Parameters
    ----------
    kernel : what X is: None (a Gaussian kernel as wide as the data), a kernel or a list of kernels for rows of numbers (n, d); a
        channel or a list of channels for images; "precomputed" for a Gram matrix (n, n) or a list of them;
        several are averaged.
    C : inverse strength of the penalty, for a kernel whose training diagonal has mean 1, or "cross-validation": the one of
        1, 10, ... 1,000,000 under which left-out examples are most probable; 1 where no class has two examples.
    n_folds : of the cross-validation.

    Attributes
    ----------
    classes_ : (n_classes,), labels in the order of the columns of `predict_proba` and `latent`.
    C_ : the C that is used.
    dual_weights_ : (n, n_classes), what each training example counts for each class.
    intercepts_ : (n_classes,), what is added for each class.
    """

    name: ClassVar[str] = "logistic"
    title: ClassVar[str] = "Logistic regression"
    note: ClassVar[str] = "its penalty is chosen by cross-validation where a category has two images or more."

    def __init__(self, kernel: KernelLike = None, *, C: float | str = "cross-validation", n_folds: int = 5) -> None:
        self.kernel = kernel
        self.C = C
        self.n_folds = n_folds

    def _learn(self, grams: Sequence[Array], labels: Labels) -> None:
        n_folds = check_integer(self, "n_folds", self.n_folds, least=2)
        if isinstance(self.C, str):
            check_choice(self, "C", self.C, ["cross-validation"])
        else:
            check_positive(self, "C", self.C)
        rows, to_dual = spanned(averaged(grams))
        codes = np.searchsorted(self.classes_, labels)
        problem = _Problem(rows, codes, len(self.classes_))
        self.C_ = problem.best_C(n_folds) if isinstance(self.C, str) else float(self.C)
        found = problem.polished(problem.solve(self.C_, np.arange(len(codes)), FINE), self.C_)
        self.dual_weights_, self.intercepts_ = to_dual @ found[:-1], found[-1]

    def found(self) -> dict[str, float]:
        """The C that is used."""
        check_is_fitted(self)
        return {"C": self.C_}

    def _learned(self) -> State:
        state = super()._learned()
        return State({**state.header, "C": self.C_}, state.arrays)

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self.C_ = check_positive("model", "C", state.number("C"))


def spanned(K: Array) -> tuple[Array, Array]:
    """F (n, r) with K = F F^T, and G (n, r) such that K_test G are the rows of further examples."""
    values, vectors = eigh(K)
    kept = values > max(RANK_TOLERANCE * values[-1], 0.0)
    lengths = np.sqrt(values[kept])
    return vectors[:, kept] * lengths, vectors[:, kept] / lengths


class _Problem:
    """Examples as rows F = U diag(lengths) with U orthonormal, and the number of their classes."""

    def __init__(self, rows: Array, codes: Indices, n_classes: int) -> None:
        self.rows, self.codes, self.n_classes = rows, codes, n_classes
        self.squares = np.einsum("ij,ij->j", rows, rows)
        self.truth = np.eye(n_classes)[codes]

    def polished(self, found: Array, C: float) -> Array:
        """Newton's steps from a place near the minimum over all examples, for as long as they lead closer to it."""
        place, least = found, np.inf
        for _ in range(NEWTON_STEPS):
            gradient, curved = self._slope(place, C)
            size = float(np.abs(gradient).max())
            if size >= least:
                break  # rounding decides from here on
            found, least = place, size
            if size <= CLOSE:
                break
            hessian = LinearOperator((gradient.size,) * 2, curved, dtype=np.float64)
            step, _ = cg(hessian, gradient.ravel(), rtol=1e-6, maxiter=500)
            place = place - step.reshape(place.shape) / self._units(C, len(self.rows))
        return found

    def _slope(self, place: Array, C: float) -> tuple[Array, Callable[[Array], Array]]:
        """The gradient of loss + penalty over all examples, and what multiplies a step by the Hessian."""
        units = self._units(C, len(self.rows))
        rows = np.column_stack([self.rows, np.ones(len(self.rows))])
        penalty = np.append(np.full(self.rows.shape[1], 1.0 / C), 0.0)[:, None]
        logits = rows @ place
        P = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))

        def curved(flat: Array) -> Array:
            step = flat.reshape(place.shape) / units
            moved = P * (rows @ step)
            bent = rows.T @ (moved - P * moved.sum(axis=1, keepdims=True)) + penalty * step
            return np.asarray((bent / units).ravel())

        return (rows.T @ (P - self.truth) + penalty * place) / units, curved

    def _units(self, C: float, n: int) -> Array:
        """Of the coordinates in which the loss over n examples is about equally curved (r + 1, 1)."""
        return np.append(np.sqrt(CURVATURE * self.squares + 1.0 / C), np.sqrt(CURVATURE * n))[:, None]

    def solve(self, C: float, members: Indices, search: dict[str, Any], start: Array | None = None) -> Array:
        """Slopes, and under them a row of intercepts (r + 1, c), that minimise loss + |slopes|^2 / (2 C) over some examples.

        The search runs in coordinates in which the loss is about equally curved: with a weak penalty the directions of the rows
        differ by orders of magnitude, and a plain one takes hundreds of steps.
        """
        units = self._units(C, len(members))
        rows, truth = self.rows[members], self.truth[members]
        shape = (self.rows.shape[1] + 1, self.n_classes)

        def loss(flat: Array) -> tuple[float, Array]:
            both = flat.reshape(shape) / units
            slopes = both[:-1]
            logits = rows @ slopes + both[-1]
            logs = logits - logsumexp(logits, axis=1, keepdims=True)
            excess = np.exp(logs) - truth
            gradient = np.vstack([rows.T @ excess + slopes / C, excess.sum(axis=0)]) / units
            value = -float(np.einsum("ij,ij->", truth, logs)) + float(np.einsum("ij,ij->", slopes, slopes)) / (2 * C)
            return value, gradient.ravel()

        first = np.zeros(shape) if start is None else start * units
        found = minimize(loss, first.ravel(), jac=True, method="L-BFGS-B", options=search).x
        return np.asarray(found.reshape(shape) / units)

    def best_C(self, n_folds: int) -> float:
        """From strong to weak penalties, until left-out examples become less probable."""
        folds = _folds(self.codes, n_folds)
        scored = predictable(self.codes, folds)
        present = np.unique(folds[scored])
        starts: list[Array | None] = [None] * len(present)
        best, least = PLAIN_C, np.inf
        for C in GRID if len(scored) else ():
            starts = [
                self.solve(C, np.flatnonzero(folds != fold), ROUGH, at)
                for fold, at in zip(present, starts, strict=True)
            ]
            surprise = sum(
                self._surprise(found, np.intersect1d(np.flatnonzero(folds == fold), scored))
                for fold, found in zip(present, starts, strict=True)
                if found is not None
            )
            if surprise >= least:
                break
            best, least = C, surprise
        return best

    def _surprise(self, found: Array, asked: Indices) -> float:
        """In nats, over left-out examples."""
        logits = self.rows[asked] @ found[:-1] + found[-1]
        return float((logsumexp(logits, axis=1) - logits[np.arange(len(asked)), self.codes[asked]]).sum())


def _folds(codes: Indices, n_folds: int) -> Indices:
    """The members of every class take turns. A class of one goes with the first fold, and is not scored there."""
    folds = np.empty(len(codes), np.intp)
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        folds[members] = np.arange(len(members)) % n_folds
    return folds
