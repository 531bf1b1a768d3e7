"""A pool as a Gaussian process sees it: exact means and variances after every label, see `fewsight.gp.growing_posterior`."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from fewsight._base.none_of_these import NoneOfThese, is_none_of_these
from fewsight._base.types import Array, Indices
from fewsight.active.pools import Pool, pool_of_input
from fewsight.active.views.base import Answer, Label
from fewsight.active.views.labelled import OUTSIDE, ClosedForm, LabelledView, targets_for
from fewsight.gp import GrowingPosterior, Posterior
from fewsight.learners import GPClassifier, Loan
from fewsight.learners.balance import TargetLevels, is_balanced
from fewsight.learners.calibration import Calibration
from fewsight.learners.examples import Examples
from fewsight.learners.familiarity import Familiarity
from fewsight.learners.loans import lent_column
from fewsight.learners.novelty import RULES, largest_cosine

AT_A_TIME = 256  # labels that are learned as one block
ROWS_AT_A_TIME = 2_048  # examples of the pool that are compared with all labelled ones together


@final
@dataclass(frozen=True)
class Hyperparameters:
    """All that a posterior needs beside examples and labels.

    factors : (k,), weight over scale of each kernel of the pool.
    noise_variance : of every label.
    balanced : whether rare classes have larger targets, see `fewsight.learners.balance`.
    """

    factors: Array
    noise_variance: float
    balanced: bool = False


@dataclass(frozen=True)
class _Outside:
    """Labelled examples that are not in the pool: covariance (n, n), noise and jitters (n,), kernel with the pool (n, m)."""

    covariance: Array
    noise: Array
    jitters: Array
    with_pool: Array

    def joined(self, K: Array, where: Indices, diagonal: Array, noise: Array) -> tuple[Array, Array]:
        """Covariance with noise of these and of pool examples `where`, whose kernel with the pool is K; and that of both."""
        beside = self.with_pool[:, where]
        among = np.block([[self.covariance, beside], [beside.T, _among(K, where, diagonal)]])
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

    Attributes
    ----------
    diagonal : (m,), the kernel of each example with itself.
    """

    def __init__(self, pool: Pool, settings: Hyperparameters, calibration: Calibration | None = None) -> None:
        super().__init__(pool.diagonal(settings.factors))
        self.pool, self.settings, self.calibration = pool, settings, calibration
        self.noise_variance = settings.noise_variance
        self._grown: GrowingPosterior | None = GrowingPosterior(self.diagonal)  # None: to be learned when read
        self._outside: _Outside | None = None
        self._mean: tuple[tuple[int, int], Array] | None = None  # for this number of labels and this size of pool

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
        balanced = bool(learner.balanced) and is_balanced(learner.posterior_)
        settings = Hyperparameters(learner.weights_ / learner.input_.scales, learner.noise_variance_, balanced)
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
        if self._mean is None or self._mean[0] != (self.n_labelled, len(self)):
            balanced = self._balanced(self._posterior.mean, self._posterior.mean_of_ones)
            self._mean = (self.n_labelled, len(self)), self._borrowing(balanced) if self.loans else balanced
        return self._mean[1]

    def _counts(self) -> Indices:
        """How many labels each class has (c,)."""
        counts = Counter(label for label in self.labels if not isinstance(label, NoneOfThese))
        return np.array([counts[label] for label in self.classes], dtype=np.intp)

    def _levels(self, counts: Indices | None = None) -> TargetLevels:
        """Of the targets of each class, by these numbers of labels, or by those there are."""
        if not self.settings.balanced:
            return TargetLevels(np.ones(len(self.classes)), np.ones(len(self.classes)))
        return TargetLevels.of(self._counts() if counts is None else counts)

    def _balanced(self, mean: Array, of_ones: Array) -> Array:
        """Means (m, c) by targets of +1 and -1 with the levels of balanced ones."""
        levels = self._levels()
        return mean if levels.plain else (mean.T * levels.scale[:, None] + np.multiply.outer(levels.shift, of_ones)).T

    def _borrowing(self, mean: Array) -> Array:
        """Means in which the columns of categories that borrow are those with their loans."""
        mean, numbers, known = mean.copy(), self.labelled.numbers(), self.closed_form()
        rows = self.pool.rows(self.positions, self.settings.factors)
        column_of: dict[object, int] = {label: column for column, label in enumerate(self.classes)}
        for name, loan in self.loans.items():
            column, lender = column_of[name], column_of[loan.lender]
            lent = lent_column(known.covariance, known.noise, numbers, column, lender, loan, balanced=known.balanced)
            mean[:, column] = lent.weights @ rows
        return mean

    def targets_if(self, column: int) -> Array:
        levels = self._levels()
        return np.where(np.arange(len(self.classes)) == column, levels.own, -levels.others)

    def lend(self, loans: Mapping[Label, Loan]) -> None:
        super().lend(loans)
        self._mean = None

    @property
    def variance(self) -> Array:
        return self._posterior.variance

    @property
    def covariance_is_quick(self) -> bool:
        return True

    def kernel(self, rows: Indices, columns: Indices) -> Array:
        return self.pool.block(rows, columns, self.settings.factors)

    def covariance(self, rows: Indices, columns: Indices) -> Array:
        return self._posterior.covariance(self.kernel(rows, columns), rows, columns)

    def covariance_with(self, rows: Indices, sample: Indices) -> Array:
        K = self.pool.with_sample(rows, sample, self.settings.factors)
        return self._posterior.covariance(K, rows, sample)

    def _familiarity(self, rows: Indices) -> tuple[Array, Array | None]:
        """By the examples of classes alone, as a `GPClassifier` sees it; worked out where labels of none, or distances, count."""
        outside = any(map(is_none_of_these, self.labels))
        if self.novelty is None or not (outside or "distance" in RULES[self.novelty.rule]):
            return self.variance[rows], None
        known = self.positions
        whole = None if len(rows) < len(known) else self.pool.rows(known, self.settings.factors)
        # Without labels of none, all labels make their like familiar.
        inside = Familiarity.of(self.closed_form().posterior()) if outside else None
        parts = []
        for some in np.array_split(rows, max(1, -(-len(rows) // ROWS_AT_A_TIME))):
            K = self.kernel(some, known) if whole is None else whole[:, some].T
            if inside is None:
                parts.append((self.variance[some], largest_cosine(K, self.diagonal[some], self.diagonal[known])))
            else:
                parts.append(inside.of_new(K, self.diagonal[some]))
        variance, cosine = (np.concatenate(each) for each in zip(*parts, strict=True))
        return variance, cosine

    # What changes it.

    def append(self, position: int, label: Answer) -> None:
        """Learn one label, in O(n m)."""
        grown = self._posterior
        super().append(position, label)
        row = self.pool.rows(np.array([position]), self.settings.factors)[0]
        grown.append(position, row, targets_for(label, self.classes), self.noise_variance)

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
        grown, n, levels, counts = self._posterior, self.n_labelled, [], self._counts()
        for position, label in zip(positions, labels, strict=True):
            levels.append(self._levels(counts))
            super().append(position, label)
            if not isinstance(label, NoneOfThese):
                counts = np.append(counts, np.zeros(len(self.classes) - len(counts), np.intp))
                counts[self.classes.index(label)] += 1
        where = np.array(positions, dtype=np.intp)
        rows, targets = self.pool.rows(where, self.settings.factors), self.labelled.targets()[n:]
        ahead = grown.append_block(where, rows, targets, self.noise_variance)
        return [self._name(*each) for each in zip(ahead.mean, ahead.of_ones.tolist(), levels, strict=True)]

    def _name(self, mean: Array, of_ones: float, levels: TargetLevels) -> Label | None:
        """What an example with these plain means was taken for, when the targets of the first classes had these levels."""
        known = levels.scale * mean[: len(levels.own)] + levels.shift * of_ones
        return self.classes[int(known.argmax())] if len(known) else None

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
                self._mean = None
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
        self._grown, self._mean = grown if same else None, None
        return label

    def _forget(self) -> None:
        self._grown = self._mean = None

    def closed_form(self) -> ClosedForm:
        known = self.positions
        K = _among(self.kernel(known, known), np.arange(self.n_labelled), self.diagonal[known])
        noise = np.full(self.n_labelled, self.noise_variance)
        return ClosedForm(K, self.labelled.targets(), noise, self.settings.balanced)

    @property
    def _posterior(self) -> GrowingPosterior:
        if self._grown is None:
            self._grown = self._conditioned()
        return self._grown

    def _conditioned(self) -> GrowingPosterior:
        """All labels learned at once."""
        where = self.positions[self.positions != OUTSIDE]
        K, targets = self.pool.rows(where, self.settings.factors), self.labelled.targets()
        noise = np.full(len(where), self.noise_variance)
        if self._outside is None:
            among = _among(K, where, self.diagonal[where])
            jitters = Posterior.condition(among, targets, noise).jitters if len(where) else noise
            A = among + np.diag(noise + jitters)
        else:
            A, K = self._outside.joined(K, where, self.diagonal[where], noise)
        grown = GrowingPosterior(self.diagonal)
        grown.condition(A, K, targets)
        return grown


def _among(K: Array, where: Indices, diagonal: Array) -> Array:
    """The kernel among labelled examples (n, n), from their rows of the pool (n, m), their places in it and their diagonal.

    The two values of a pair may differ by rounding, most where a pool compares in single precision. That in the row of the
    example that was labelled first counts: the one that is there when labels come one by one.
    """
    upper = np.triu(K[:, where], 1)
    among: Array = upper + upper.T + np.diag(diagonal)
    return among
