"""Weights of kernels that add up to 1, of which few are not zero. [Gehler2009, eq. 2-4]

For each class a working set of kernels grows, and a working set of examples with it. On these sets the weights are found by
Newton's method: with a the machine at weights d, F its free support vectors and M the inverse of K_FF among vectors that add up
to zero, the machine's objective J(d) has the slopes -T_k and the curvature (K_k a)_F^T M (K_l a)_F. The quadratic model is
minimised on the simplex by the same loop that trains machines. Then all kernels and all examples are looked at, for all classes
with one product for each Gram matrix: kernels whose T is largest and examples that violate their margin join.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import scipy.linalg

from fewsight._base.types import Array, Indices
from fewsight._compiled import pairwise_descent
from fewsight.gp import Grams
from fewsight.learners.mkl.machine import Machine, Task
from fewsight.learners.mkl.weighted import Weighted, l1_values

MAX_ROUNDS = 60
MAX_STEPS = 60  # of Newton's method within a round
MAX_TRIALS = 12  # of a line search
MODEL_STEPS = 20_000  # of two weights each
SUFFICIENT = 1e-4  # of the fall that the slope promises, by Armijo's rule
INNER_SHARE = 0.5  # of the gap that is asked for: what the working sets may leave
JOINING = 12  # kernels at most, in a round; or half as many as there are in the working set
NEAR = 1.1  # examples whose margin is below this begin in the working set
RIDGE = 1e-10  # of the mean diagonal, so that kernels of equal examples can be inverted
CLASSES_AT_A_TIME = 8  # whose small Gram matrices are in memory
MOST_BYTES = 2**27  # that these matrices take, unless those of one class take more


def learn_l1(
    grams: Grams, tasks: Sequence[Task], *, gap: float, starts: Sequence[Weighted] | None = None
) -> list[Weighted]:
    """The weights of each task to a relative duality gap, or as far as the rounds go; `gap` of the result says how far.

    `starts` are earlier results, about the first of the same Gram matrices.
    """
    searches = (
        _begun(grams, tasks, gap)
        if starts is None
        else [_Search.after(task, start, len(grams)) for task, start in zip(tasks, starts, strict=True)]
    )
    for number in range(MAX_ROUNDS + 1):
        open_ones = [search for search in searches if search.result is None or search.result.gap > gap]
        if not open_ones:
            break
        if number:
            _improve(grams, open_ones, gap)
        _look_at_all(grams, open_ones)
    return [search.found for search in searches]


@dataclass(eq=False)
class _Search:
    """One task and what is known of its solution."""

    task: Task
    weights: Array  # (k,)
    dual: Array  # (n,)
    intercept: float
    kernels: Indices  # that the weights are learned of
    examples: Indices  # that the machine is trained on
    n_machines: int = 0
    n_rounds: int = 0
    result: Weighted | None = None
    values: Array | None = None  # (n,), K a of all examples, where the machine that was trained last saw them all

    @classmethod
    def after(cls, task: Task, start: Weighted, n_kernels: int) -> _Search:
        """Begin where an earlier search ended, with more kernels."""
        weights = np.append(start.weights, np.zeros(n_kernels - len(start.weights)))
        none = np.zeros(0, np.intp)
        return cls(task, weights, start.dual, start.intercept, none, none, start.n_machines, start.n_rounds)

    @property
    def found(self) -> Weighted:
        assert self.result is not None  # all searches are looked at once
        return replace(self.result, n_machines=self.n_machines, n_rounds=self.n_rounds)

    def look(self, forms: Array, values: Array) -> None:
        """Take in T of all kernels and K a of all examples; what should join the working sets joins."""
        margins = values + self.intercept
        primal, bound = l1_values(self.task, self.weights, self.dual, margins, forms)
        self.n_rounds += 1
        self.result = Weighted(self.weights, self.dual, self.intercept, forms, primal, bound, 0, 0)
        limit = 1.0 if len(self.examples) else NEAR
        close = np.flatnonzero((self.task.signs * margins < limit) | (self.dual != 0))
        self.examples = np.union1d(self.examples, close)
        largest = np.argsort(-forms, kind="stable")[: max(JOINING, len(self.kernels) // 2)]
        above = largest[forms[largest] >= self.weights @ forms]
        self.kernels = np.union1d(np.union1d(self.kernels, above), np.flatnonzero(self.weights))

    def improve(self, matrices: Array, gap: float) -> None:
        """Learn the weights of the working sets, whose Gram matrices (s, e, e) these are."""
        small = _Small(matrices, self.task.of_examples(self.examples), gap)
        weights, machine = small.learn(self.weights[self.kernels], self.dual[self.examples])
        self.n_machines += small.n_machines
        self.weights, self.dual = np.zeros_like(self.weights), np.zeros_like(self.dual)
        self.weights[self.kernels], self.dual[self.examples] = weights, machine.dual
        self.intercept = machine.intercept


def _begun(grams: Grams, tasks: Sequence[Task], gap: float) -> list[_Search]:
    """Equal weights, and the machines that belong to them."""
    equal, none = np.full(len(grams), 1.0 / len(grams)), np.zeros(0, np.intp)
    K = grams.mean()
    searches = []
    for task in tasks:
        machine = task.train(K, gap=gap)
        search = _Search(task, equal, machine.dual, machine.intercept, none, none, 1)
        search.values = machine.margins - machine.intercept
        searches.append(search)
    return searches


def _look_at_all(grams: Grams, searches: Sequence[_Search]) -> None:
    """T of all kernels and K a of all examples, for all searches at once."""
    columns = np.stack([search.dual for search in searches], axis=1)
    known = [search.values for search in searches if search.values is not None]
    if len(known) == len(searches):
        squares, values = grams.quadratic_forms(columns), np.stack(known, axis=1)
    else:
        squares, values = grams.forms_and_products(columns, np.stack([search.weights for search in searches]))
    for search, forms, value in zip(searches, 0.5 * squares.T, values.T, strict=True):
        first = search.result is None and search.weights.all()
        search.look(forms, value)
        search.values = None
        if first:  # equal weights of all kernels are no working set
            _narrow(search, forms)


def _narrow(search: _Search, forms: Array) -> None:
    """Begin with the kernels of the largest T, equally weighted."""
    search.kernels = np.sort(np.argsort(-forms, kind="stable")[:JOINING])


def _improve(grams: Grams, searches: Sequence[_Search], gap: float) -> None:
    for some in _batches(searches):
        parts = [np.empty((len(search.kernels), len(search.examples), len(search.examples))) for search in some]
        for number in _union(search.kernels for search in some):
            for part, search in zip(parts, some, strict=True):
                at = np.flatnonzero(search.kernels == number)
                if len(at):
                    part[at[0]] = grams.part(int(number), search.examples)
        for search in some:
            search.improve(parts.pop(0), gap)


def _batches(searches: Sequence[_Search]) -> Iterator[list[_Search]]:
    """A few searches at a time, whose small Gram matrices fit into memory; one where not even two do."""
    batch: list[_Search] = []
    taken = 0
    for search in searches:
        needed = 8 * len(search.kernels) * len(search.examples) ** 2
        if batch and (taken + needed > MOST_BYTES or len(batch) == CLASSES_AT_A_TIME):
            yield batch
            batch, taken = [], 0
        batch.append(search)
        taken += needed
    if batch:
        yield batch


def _union(sets: Iterable[Indices]) -> Indices:
    return np.unique(np.concatenate(list(sets)))


@final
class _Small:
    """A few kernels of the examples that matter: their weights by Newton's method."""

    def __init__(self, matrices: Array, task: Task, gap: float) -> None:
        self.matrices, self.task, self.gap = matrices, task, INNER_SHARE * gap
        self.n_machines = 0

    def learn(self, weights: Array, dual: Array) -> tuple[Array, Machine]:
        total = weights.sum()
        weights = weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))
        machine, forms = self._at(weights, dual)
        for _ in range(MAX_STEPS):
            lacking = forms.max() - weights @ forms
            if lacking <= self.gap * max(machine.objective, np.finfo(float).tiny):
                break
            direction = self._best_of_model(weights, machine, forms) - weights
            step = self._line_search(weights, machine, forms, direction)
            if step is None:
                break  # machines are not exact enough to see the objective fall any further
            weights, machine, forms = step
        return weights, machine

    def _at(self, weights: Array, dual: Array) -> tuple[Machine, Array]:
        """The machine at these weights, and T of each kernel."""
        self.n_machines += 1
        machine = self.task.train(np.tensordot(weights, self.matrices, axes=1), dual, gap=self.gap)
        support = np.flatnonzero(machine.dual)
        among = self.matrices[:, support[:, None], support]
        return machine, 0.5 * np.einsum(
            "i,kij,j->k", machine.dual[support], among, machine.dual[support], optimize=True
        )

    def _best_of_model(self, weights: Array, machine: Machine, forms: Array) -> Array:
        """The lowest place on the simplex of the model with the slopes and the curvature here."""
        H = self._curvature(weights, machine)
        found = weights.copy()
        ones = np.ones(len(weights))
        scale = max(float(np.abs(forms).max()), np.finfo(float).tiny)
        slopes = (forms + H @ weights) / scale
        tolerance = 0.01 * self.gap * max(machine.objective, scale) / scale
        # Their sum bounds weights from above; a bound of their own would leave 1e-17 where one kernel takes all from another.
        pairwise_descent.descend(H / scale, slopes, 0.0 * ones, np.inf * ones, found, tolerance, MODEL_STEPS)
        return found / found.sum()

    def _curvature(self, weights: Array, machine: Machine) -> Array:
        low, high = self.task.bounds()
        free = np.flatnonzero((machine.dual > low) & (machine.dual < high))
        if len(free) < 2:
            return np.zeros((len(weights), len(weights)))
        support = np.flatnonzero(machine.dual)
        U = self.matrices[:, free[:, None], support] @ machine.dual[support]  # (s, f)
        K = np.tensordot(weights, self.matrices[:, free[:, None], free], axes=1)
        K[np.diag_indices_from(K)] += RIDGE * max(K.diagonal().mean(), np.finfo(float).tiny)
        factor = scipy.linalg.cho_factor(K + _spread(K))
        solved = scipy.linalg.cho_solve(factor, np.column_stack([U.T, np.ones(len(free))]))
        Z, one = solved[:, :-1], solved[:, -1]
        Z = Z - np.outer(one, Z.sum(axis=0) / one.sum())
        H = U @ Z
        return np.ascontiguousarray(0.5 * (H + H.T))

    def _line_search(
        self, weights: Array, machine: Machine, forms: Array, direction: Array
    ) -> tuple[Array, Machine, Array] | None:
        """The first step along the direction that lowers the objective; shorter ones go where the slopes predict zero."""
        slope, length = -float(forms @ direction), 1.0
        if slope >= 0:
            return None
        for _ in range(MAX_TRIALS):
            there = np.maximum(weights + length * direction, 0.0)
            there /= there.sum()
            found, theirs = self._at(there, machine.dual)
            if found.objective <= machine.objective + SUFFICIENT * length * slope:
                return there, found, theirs
            steep = -float(theirs @ direction)
            share = slope / (slope - steep) if steep > slope else 0.5
            length *= float(np.clip(share, 0.05, 0.7))
        return None


def _spread(K: Array) -> Array:
    """A constant of the size of K: among vectors that add up to zero it changes nothing, and K may be singular without it."""
    return np.full_like(K, max(float(K.diagonal().mean()), np.finfo(float).tiny))
