"""A pool as a Gaussian process sees it: exact means and variances after every label, see `fewsight.gp.growing_posterior`."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from fewsight._base.none_of_these import NoneOfThese, is_none_of_these
from fewsight._base.types import Array, Indices
from fewsight.active.pools import Pool, pool_of_input
from fewsight.active.views.base import Answer, Label
from fewsight.active.views.labelled import OUTSIDE, ClosedForm, LabelledView, targets_for
from fewsight.gp import GrowingPosterior, Posterior, borrowed_column
from fewsight.learners import GPClassifier, Loan
from fewsight.learners.balance import noise_factors
from fewsight.learners.calibration import Calibration
from fewsight.learners.examples import Examples
from fewsight.learners.familiarity import Familiarity
from fewsight.learners.novelty import RULES, largest_cosine

AT_A_TIME = 256  # labels that are learned as one block


def balance_of(labels: Sequence[Answer]) -> dict[Label, float]:
    """Factors on the noise of each class of these labels; those of no class have none."""
    counts: Counter[Label] = Counter(label for label in labels if not isinstance(label, NoneOfThese))
    factors = noise_factors(np.array(list(counts.values())))
    return dict(zip(counts, factors.tolist(), strict=True))


@final
@dataclass(frozen=True)
class Hyperparameters:
    """All that a posterior needs beside examples and labels.

    factors : (k,), weight over scale of each kernel of the pool.
    balance : factors on the noise of the examples of each class, as `fewsight.learners.balance` makes them of some labels; a
        class that is not among them has that of the rarest. They stay while labels come, so that none changes another.
    """

    factors: Array
    noise_variance: float
    balance: Mapping[Label, float] = field(default_factory=dict)

    def noise_for(self, label: Answer) -> float:
        """The noise variance of examples of a class, or of none."""
        if isinstance(label, NoneOfThese):
            return self.noise_variance
        return self.noise_variance * self.balance.get(label, min(self.balance.values(), default=1.0))


@dataclass(frozen=True)
class _Outside:
    """Labelled examples that are not in the pool: covariance (n, n), noise and jitters (n,), kernel with the pool (n, m)."""

    covariance: Array
    noise: Array
    jitters: Array
    with_pool: Array

    def joined(self, K: Array, where: Indices, noise: Array) -> tuple[Array, Array]:
        """Covariance with noise of these and of pool examples `where`, whose kernel with the pool is K; and that of both."""
        beside = self.with_pool[:, where]
        among = np.block([[self.covariance, beside], [beside.T, K[:, where]]])
        jitters = np.concatenate([self.jitters, np.zeros(len(where))])
        return among + np.diag(np.concatenate([self.noise, noise]) + jitters), np.vstack([self.with_pool, K])


@final
class PoolView(LabelledView):
    """Means and variances of a pool under a Gaussian process; `append` and `take_back` change it, rules only read it.

    A label costs O(n m).

    Parameters
    ----------
    pool : the examples.
    settings : weights, scales and noise.
    calibration : how latent values become probabilities; None for the posterior alone.
    """

    def __init__(self, pool: Pool, settings: Hyperparameters, calibration: Calibration | None = None) -> None:
        super().__init__(pool.diagonal(settings.factors))
        self.pool, self.settings, self.calibration = pool, settings, calibration
        self.noise_variance = settings.noise_variance
        self._grown: GrowingPosterior | None = GrowingPosterior(self.diagonal)  # None: to be learned when read
        self._outside: _Outside | None = None
        self._with_loans: tuple[tuple[int, int], Array] | None = None  # for this number of labels and this size of pool

    @classmethod
    def of(cls, learner: GPClassifier, examples: Examples, pool_gram: Array | None = None) -> PoolView:
        """The pool as a fitted `GPClassifier` sees it; for "precomputed", `examples` (m, n) and `pool_gram` (m, m).

        Parameters
        ----------
        learner : a fitted `GPClassifier`.
        examples : m examples of the form it was fitted with; for "precomputed" kernel values (m, n).
        pool_gram : for "precomputed" the Gram matrix of the pool (m, m).
        """
        rows = learner.input_.read(examples)
        with_pool = np.tensordot(learner.weights_, learner.input_.compare(rows), axes=1).T
        balance = balance_of(learner.labels_.tolist()) if learner.balanced else {}
        settings = Hyperparameters(learner.weights_ / learner.input_.scales, learner.noise_variance_, balance)
        pool = pool_of_input(learner.input_, rows, pool_gram)
        view = cls(pool, settings, learner.calibration_ if learner.calibrated else None)
        posterior = learner.posterior_
        view.labels, view.classes = learner.labels_.tolist(), learner.classes_.tolist()
        view._positions = [OUTSIDE] * len(view.labels)
        view._outside = _Outside(posterior.covariance(), posterior.noise_variance, posterior.jitters, with_pool)
        view._forget()
        return view

    # What rules read.

    @property
    def mean(self) -> Array:
        if not self.loans:
            return self._posterior.mean
        if self._with_loans is None or self._with_loans[0] != (self.n_labelled, len(self)):
            self._with_loans = (self.n_labelled, len(self)), self._borrowing()
        return self._with_loans[1]

    def _borrowing(self) -> Array:
        """Means in which the columns of categories that borrow are those with their loans."""
        mean, numbers = self._posterior.mean.copy(), self.labelled.numbers()
        K, targets, noise = self.closed_form()
        rows = self.pool.rows(self.positions, self.settings.factors)
        column_of: dict[object, int] = {label: column for column, label in enumerate(self.classes)}
        for name, loan in self.loans.items():
            column, lender = column_of[name], np.flatnonzero(numbers == column_of[loan.lender])
            mean[:, column] = borrowed_column(K, noise, targets[:, column], lender, loan.rho).weights @ rows
        return mean

    def lend(self, loans: Mapping[Label, Loan]) -> None:
        super().lend(loans)
        self._with_loans = None

    @property
    def variance(self) -> Array:
        return self._posterior.variance

    def kernel(self, rows: Indices, columns: Indices) -> Array:
        return self.pool.block(rows, columns, self.settings.factors)

    def covariance(self, rows: Indices, columns: Indices) -> Array:
        return self._posterior.covariance(self.kernel(rows, columns), rows, columns)

    def _familiarity(self, rows: Indices) -> tuple[Array, Array | None]:
        """By the examples of classes alone, as a `GPClassifier` sees it; worked out where labels of none, or distances, count."""
        outside = any(map(is_none_of_these, self.labels))
        if self.novelty is None or not (outside or "distance" in RULES[self.novelty.rule]):
            return self.variance[rows], None
        few = len(rows) < len(self.positions)
        K = (
            self.kernel(rows, self.positions)
            if few
            else self.pool.rows(self.positions, self.settings.factors)[:, rows].T
        )
        if not outside:  # all labels make their like familiar
            return self.variance[rows], largest_cosine(K, self.diagonal[rows], self.diagonal[self.positions])
        return Familiarity.of(Posterior.condition(*self.closed_form())).of_new(K, self.diagonal[rows])

    # What changes it.

    def append(self, position: int, label: Answer) -> None:
        """Learn one label, in O(n m)."""
        grown = self._posterior
        super().append(position, label)
        row = self.pool.rows(np.array([position]), self.settings.factors)[0]
        grown.append(position, row, targets_for(label, self.classes), self.settings.noise_for(label))

    def extend(self, positions: Sequence[int], labels: Sequence[Answer]) -> list[Label | None]:
        """Learn some labels as blocks; of each example, what it was taken for before its own label came."""
        if self.loans or len(labels) < 2:
            return super().extend(positions, labels)
        believed: list[Label | None] = []
        for start in range(0, len(labels), AT_A_TIME):
            some = slice(start, start + AT_A_TIME)
            believed += self._learn_block(positions[some], labels[some])
        return believed

    def _learn_block(self, positions: Sequence[int], labels: Sequence[Answer]) -> list[Label | None]:
        grown, n, n_known = self._posterior, self.n_labelled, []
        for position, label in zip(positions, labels, strict=True):
            n_known.append(len(self.classes))
            super().append(position, label)
        where = np.array(positions, dtype=np.intp)
        rows, targets = self.pool.rows(where, self.settings.factors), self.labelled.targets()[n:]
        noise = np.array([self.settings.noise_for(label) for label in labels])
        means = grown.append_block(where, rows, targets, noise)
        pairs = zip(means, n_known, strict=True)
        return [self.classes[int(mean[:c].argmax())] if c else None for mean, c in pairs]

    @contextlib.contextmanager
    def supposing(self, positions: Indices) -> Iterator[bool]:
        """For a while, these examples have the labels that they are taken for, unless all labels had to be learned anew."""
        with super().supposing(positions):
            if not self.classes or not len(positions):
                yield False
                return
            n, posterior, saved = self.n_labelled, self._posterior, self._posterior.saved()
            try:
                for position in positions.tolist():
                    guess = self.guess(position)
                    assert guess is not None  # as there are classes
                    self.append(position, guess)
                yield True
            finally:
                posterior.restore(saved)
                self._with_loans = None
                self._grown, self.labels, self._positions = posterior, self.labels[:n], self._positions[:n]

    def grow(self, pool: Pool) -> bool:
        """Go on with a pool that has further examples behind those that there are."""
        if self._outside is not None:
            return False
        m, positions = len(self), self.positions
        diagonal = pool.diagonal(self.settings.factors)
        if self._grown is not None:
            self._grown.widen(diagonal[m:], positions, pool.rows(positions, self.settings.factors)[:, m:])
        self.pool, self.diagonal = pool, diagonal
        self.unlabelled = np.append(self.unlabelled, np.ones(len(pool) - m, dtype=bool))
        return True

    def take_back(self) -> Answer:
        grown, before = self._posterior, list(self.classes)
        label = super().take_back()
        same = before[: len(self.classes)] == self.classes  # else a column in the middle is gone
        if same:
            grown.take_back(len(self.classes))
        self._grown, self._with_loans = grown if same else None, None
        return label

    def _forget(self) -> None:
        self._grown = self._with_loans = None

    def closed_form(self) -> ClosedForm:
        positions = self.positions
        return ClosedForm(self.kernel(positions, positions), self.labelled.targets(), self.noise_of_labelled())

    def noise_of_labelled(self) -> Array:
        """The noise variance of each labelled example (n,)."""
        return np.array([self.settings.noise_for(label) for label in self.labels], dtype=np.float64)

    @property
    def _posterior(self) -> GrowingPosterior:
        if self._grown is None:
            self._grown = self._conditioned()
        return self._grown

    def _conditioned(self) -> GrowingPosterior:
        """All labels learned at once."""
        where = self.positions[self.positions != OUTSIDE]
        K, targets, noise = (
            self.pool.rows(where, self.settings.factors),
            self.labelled.targets(),
            self.noise_of_labelled(),
        )
        if self._outside is None:
            among = K[:, where]
            jitters = Posterior.condition(among, targets, noise).jitters if len(where) else noise
            A = among + np.diag(noise + jitters)
        else:
            A, K = self._outside.joined(K, where, noise[len(noise) - len(where) :])
        grown = GrowingPosterior(self.diagonal)
        grown.condition(A, K, targets)
        return grown
