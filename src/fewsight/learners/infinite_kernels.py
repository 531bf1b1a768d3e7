"""Support vector machines that ask a kernel family for the kernels they need. [Gehler2009, algorithm 1]

A kernel improves on the present weights of a class if its T is above lambda, the largest T of the kernels there are. So each
round solves the weights of the kernels at hand, asks the family for parameters with a larger T, and takes in the best for each
class; all classes may then use it. When none is found, max T - lambda says how far every kernel looked at is from helping.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from fewsight._base.checks import check_integer, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, State
from fewsight.gp import GramList, Grams, GramStack
from fewsight.kernels.families import KernelFamily, RelevanceFamily, Theta, family_from_recipe
from fewsight.learners.examples import KernelLike
from fewsight.learners.inputs.base import MOST_LISTED, Input, Made
from fewsight.learners.mkl import Task, Weighted, learn_l1
from fewsight.learners.weighted_machines import WeightedMachines

NOTHING = 1e-12  # of the objective: a threshold below it is none


class InfiniteKernelClassifier(WeightedMachines):
    """One support vector machine for each class against all others, whose kernels come from a family.

    Parameters
    ----------
    kernel : what X is, as for every learner: the kernels or channels to begin with.
    family : where further ones come from. None: no others, where kernels or channels are given; otherwise Gaussians with one
        relevance per dimension, `RelevanceFamily()`.
    C : penalty of a training error, for kernels whose training diagonal has mean 1.
    gap : a kernel joins if its T is larger than lambda by more than this share; also the relative duality gap of the weights.
    n_starts : parameters that the family proposes for each class in each round.
    n_climbs : of these, how many with the largest T the family improves, where it can; of those in use as many.
    max_kernels : no more kernels join when there are this many.
    random_state : seed of the proposals.

    Attributes
    ----------
    classes_ : labels in the order of the columns of `predict_proba` and `latent`.
    kernels_ : the kernels or channels that have weight.
    weights_ : (n_classes, n_kernels), of these.
    thresholds_ : (n_classes,), lambda at the end.
    excess_ : (n_classes,), max T / lambda - 1 over all parameters looked at in the last round: the certificate.
    gaps_ : (n_classes,), how far the weights of the kernels there are can be from the best, relative to the objective.
    objectives_ : (n_classes,), the objective at the end; further kernels only ever lower it.
    """

    name: ClassVar[str] = "infinite"
    title: ClassVar[str] = "SVM, generated kernels"
    note: ClassVar[str] = "support vector machines, one against all, that ask a family of kernels for those that help."

    thresholds_: Array
    excess_: Array
    objectives_: Array

    def __init__(
        self,
        kernel: KernelLike = None,
        family: KernelFamily[Any, Made] | None = None,
        *,
        C: float = 1_000.0,
        gap: float = 1e-2,
        n_starts: int = 20,
        n_climbs: int = 1,
        max_kernels: int = 10,
        random_state: int = 0,
    ) -> None:
        self.kernel = kernel
        self.family = family
        self.C = C
        self.gap = gap
        self.n_starts = n_starts
        self.n_climbs = n_climbs
        self.max_kernels = max_kernels
        self.random_state = random_state

    @property
    def kernels_(self) -> list[Made]:
        """The kernels or channels that have weight."""
        given = self.input_.parameter
        return list(given) if isinstance(given, (list, tuple)) else [given]

    def _weigh(self, grams: Grams, tasks: Sequence[Task], gap: float) -> tuple[Grams, list[Weighted]]:
        family = self._family()
        n_starts = check_integer(self, "n_starts", self.n_starts, least=1)
        most = check_integer(self, "max_kernels", self.max_kernels, least=1)
        rng = np.random.default_rng(self.random_state)
        found, excess = learn_l1(grams, tasks, gap=gap), np.zeros(len(tasks))
        n_climbs = check_integer(self, "n_climbs", self.n_climbs, least=0)
        growing = None if family is None else _Growing(family, self.input_, grams, gap, n_climbs)
        while growing is not None:
            excess = growing.look(found, n_starts, rng)
            if excess.max() <= gap or len(growing.grams) >= most:
                break
            growing.take(most)
            found = learn_l1(growing.grams, tasks, gap=gap, starts=found)
        self._note(found, excess)
        if growing is None:
            return grams, found
        self.input_ = self.input_.joined(growing.made)
        return growing.grams, found

    def _family(self) -> KernelFamily[Any, Made] | None:
        if self.family is None:
            return RelevanceFamily() if self.kernel is None else None
        if not isinstance(self.family, KernelFamily):
            raise InvalidInput(f"{owner_name(self)}: family must be a kernel family or None, got {shown(self.family)}.")
        return self.family

    def _note(self, found: Sequence[Weighted], excess: Array) -> None:
        times = 2 if len(self.classes_) == 2 else 1
        self.thresholds_ = np.repeat([one.threshold for one in found], times)
        self.objectives_ = np.repeat([one.primal for one in found], times)
        self.excess_ = np.repeat(excess, times)

    def _options(self) -> dict[str, Any]:
        family = self.family
        return {**super()._options(), "family": None if family is None else family.recipe()}

    def _restore_options(self, state: State) -> None:
        super()._restore_options(state)
        recipe: Any = self.family
        self.family = None if recipe is None else family_from_recipe(recipe)

    def _learned(self) -> State:
        state = super()._learned()
        more = {name: getattr(self, f"{name}_") for name in ("thresholds", "excess", "objectives")}
        return State(state.header, {**state.arrays, **more})

    def _restore(self, state: State) -> None:
        super()._restore(state)
        c = len(self.classes_)
        self.thresholds_ = state.array("thresholds", (c,), np.float64)
        self.excess_ = state.array("excess", (c,), np.float64)
        self.objectives_ = state.array("objectives", (c,), np.float64)


class _Growing:
    """The kernels there are, and those that a family offers."""

    def __init__(self, family: KernelFamily[Any, Made], side: Input, grams: Grams, gap: float, n_climbs: int) -> None:
        self.family, self.input, self.gap, self.n_climbs = family, side, gap, n_climbs
        self.examples = self.input.examples
        self.grams = grams
        self.n_given = len(grams)
        self.made: list[Made] = []
        self._thetas: list[Theta] = []
        self._offers: list[tuple[Theta, Array]] = []

    def look(self, found: Sequence[Weighted], n_starts: int, rng: np.random.Generator) -> Array:
        """max T / lambda - 1 for each task over what the family offers; the best offers are remembered."""
        self._offers = []
        excess = np.zeros(len(found))
        for number, one in enumerate(found):
            best, offer = self._best(one, n_starts, rng)
            excess[number] = (best - one.threshold) / max(one.threshold, NOTHING * one.primal, np.finfo(float).tiny)
            if excess[number] > self.gap:
                self._offers.append(offer)
        return excess

    def take(self, most: int) -> None:
        """Let the offers join, as far as there is room."""
        for theta, K in self._offers[: most - len(self.grams)]:
            self._thetas.append(theta)
            self.made.append(self.family.make(theta))
            self.grams = _with(self.grams, K)

    def _best(self, one: Weighted, n_starts: int, rng: np.random.Generator) -> tuple[float, tuple[Theta, Array]]:
        """The largest T of all offers, the parameters and the Gram matrix it belongs to."""
        proposed = [self._offer(self.family.propose(self.examples, rng), one) for _ in range(n_starts)]
        proposed.sort(key=lambda offer: -offer[0])
        starts = [theta for _, (theta, _) in proposed[: self.n_climbs]]
        return max([proposed[0], *self._climbed(one, starts)], key=lambda offer: offer[0])

    def _offer(self, theta: Theta, one: Weighted) -> tuple[float, tuple[Theta, Array]]:
        K = self.input.gram(self.family.make(theta))
        return 0.5 * float(one.dual @ K @ one.dual), (theta, K)

    def _climbed(self, one: Weighted, starts: Sequence[Theta]) -> list[tuple[float, tuple[Theta, Array]]]:
        """What the family makes better of these parameters, and of those in use."""
        if not self.family.climbs:
            return []
        weights = one.weights[self.n_given :]
        largest = np.argsort(-weights, kind="stable")[: self.n_climbs]
        own = [self._thetas[number] for number in largest if weights[number] > 0]
        climbed = [self.family.climb(theta, self.examples, one.dual) for theta in (*own, *starts)]
        return [self._offer(theta, one) for theta in climbed]


def _with(grams: Grams, K: Array) -> Grams:
    """The Gram matrices and one more: a list, or packed where there are many."""
    if isinstance(grams, GramStack):
        grams.append(K)
        return grams
    longer = [*grams, K]
    return GramList(longer) if len(longer) <= MOST_LISTED else GramStack.of(longer)
