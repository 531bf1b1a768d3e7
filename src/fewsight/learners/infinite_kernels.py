"""Support vector machines that ask a kernel family for the kernels they need. [Gehler2009, algorithm 1]

A kernel improves on the present weights of a class if its T is above lambda, the largest T of the kernels there are. So each
round solves the weights of the kernels at hand, asks the family for parameters with a larger T, and takes in the best for each
class; all classes may then use it. When none is found, max T - lambda says how far every kernel looked at is from helping; T has
many maxima, so wide rounds, with many more starts, look once more before that is believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

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

WIDE = 10  # times as many starts and climbs as in a plain round
NOTHING = 1e-12  # of the objective: a threshold below it is none


class InfiniteKernelClassifier(WeightedMachines):
    """One support vector machine for each class against all others, whose kernels come from a family.

    Parameters
    ----------
    kernel : the kernels to begin with, and what X is: None (a Gaussian kernel as wide as the data), a kernel or a list of
        kernels for rows of numbers (n, d); a channel or a list of channels for images; "precomputed" for a Gram matrix (n, n) or
        a list of them.
    family : where further ones come from. None: no others, where kernels or channels are given; otherwise Gaussians with one
        relevance per dimension, `RelevanceFamily()`.
    C : penalty of a training error, for kernels whose training diagonal has mean 1.
    gap : a kernel joins if its T is larger than lambda by more than this share; also the relative duality gap of the weights.
    n_starts : parameters that the family proposes in each round; every class looks at all of them.
    n_climbs : of these, how many with the largest T of a class the family improves, where it can; of those in use as many.
    n_wide : when a round finds nothing, this many wide rounds in a row, with 10 times as many starts and climbs, must find
        nothing either before the search ends. 0 believes the first round.
    max_kernels : no more kernels join when there are this many.
    random_state : seed of the proposals.

    Attributes
    ----------
    classes_ : (n_classes,), labels in the order of the columns of `predict_proba` and `latent`.
    kernels_ : the kernels or channels that have weight.
    chosen_ : (n_kernels,), their numbers among all that were generated.
    weights_ : (n_classes, n_kernels), of these.
    thresholds_ : (n_classes,), lambda at the end.
    excess_ : (n_classes,), max T / lambda - 1 over all parameters looked at in the last round: the certificate.
    dual_weights_ : (n, n_classes), what each training example counts for each class.
    intercepts_ : (n_classes,), what is added for each class.
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
        n_wide: int = 0,
        max_kernels: int = 10,
        random_state: int = 0,
    ) -> None:
        self.kernel = kernel
        self.family = family
        self.C = C
        self.gap = gap
        self.n_starts = n_starts
        self.n_climbs = n_climbs
        self.n_wide = n_wide
        self.max_kernels = max_kernels
        self.random_state = random_state

    @property
    def kernels_(self) -> list[Made]:
        """The kernels or channels that have weight."""
        given = self.input_.parameter
        return list(given) if isinstance(given, (list, tuple)) else [given]

    def _weigh(self, grams: Grams, tasks: Sequence[Task], gap: float) -> tuple[Grams, list[Weighted]]:
        family = self._family()
        search = self._search()
        seed = check_integer(self, "random_state", self.random_state, least=0)
        found = learn_l1(grams, tasks, gap=gap)
        if family is None:
            self._note(found, np.zeros(len(tasks)))
            return grams, found
        growing = _Growing(family, self.input_, grams, gap)
        rng = np.random.default_rng(seed)
        n_quiet = 0  # rounds in a row in which nothing was found
        while True:
            excess = growing.look(found, search.widened if n_quiet else search, rng)
            n_quiet = n_quiet + 1 if excess.max() <= gap else 0
            if n_quiet > search.n_wide or len(growing.grams) >= search.most:
                break
            if not n_quiet:
                growing.take(search.most)
                found = learn_l1(growing.grams, tasks, gap=gap, starts=found)
        self._note(found, excess)
        self.input_ = self.input_.joined(growing.made)
        return growing.grams, found

    def _search(self) -> _Search:
        return _Search(
            check_integer(self, "n_starts", self.n_starts, least=1),
            check_integer(self, "n_climbs", self.n_climbs, least=0),
            check_integer(self, "n_wide", self.n_wide, least=0),
            check_integer(self, "max_kernels", self.max_kernels, least=1),
        )

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


@final
@dataclass(frozen=True)
class _Search:
    """How far a round looks."""

    n_starts: int
    n_climbs: int
    n_wide: int
    most: int

    @property
    def widened(self) -> _Search:
        return replace(self, n_starts=WIDE * self.n_starts, n_climbs=WIDE * self.n_climbs)


@final
class _Growing:
    """The kernels there are, and those that a family offers."""

    def __init__(self, family: KernelFamily[Any, Made], side: Input, grams: Grams, gap: float) -> None:
        self.family, self.input, self.gap = family, side, gap
        self.examples = self.input.examples
        self.grams = grams
        self.n_given = len(grams)
        self.made: list[Made] = []
        self._thetas: list[Theta] = []
        self._offers: list[Theta] = []

    def look(self, found: Sequence[Weighted], search: _Search, rng: np.random.Generator) -> Array:
        """max T / lambda - 1 for each task over what the family offers; the best offers are remembered."""
        proposed = [self.family.propose(self.examples, rng) for _ in range(search.n_starts)]
        duals = np.stack([one.dual for one in found], axis=1)
        forms = np.array([self._forms(theta, duals) for theta in proposed])  # (starts, tasks)
        self._offers = []
        excess = np.zeros(len(found))
        for number, one in enumerate(found):
            best, theta = self._best(one, proposed, forms[:, number], search.n_climbs)
            excess[number] = (best - one.threshold) / max(one.threshold, NOTHING * one.primal, np.finfo(float).tiny)
            if excess[number] > self.gap and theta not in self._offers:
                self._offers.append(theta)
        return excess

    def take(self, most: int) -> None:
        """Let the offers join, as far as there is room."""
        for theta in self._offers[: most - len(self.grams)]:
            made = self.family.make(theta)
            self._thetas.append(theta)
            self.made.append(made)
            self.grams = _with(self.grams, self.input.gram(made))

    def _best(self, one: Weighted, proposed: Sequence[Theta], forms: Array, n_climbs: int) -> tuple[float, Theta]:
        """The largest T of one task over all proposals and what the family makes better of the best, and its parameters."""
        order = np.argsort(-forms, kind="stable")
        offers = [(float(forms[order[0]]), proposed[order[0]])]
        if self.family.climbs:
            starts = [*self._in_use(one, n_climbs), *(proposed[start] for start in order[:n_climbs])]
            climbed = [self.family.climb(theta, self.examples, one.dual) for theta in starts]
            offers += [(float(self._forms(theta, one.dual[:, None])[0]), theta) for theta in climbed]
        return max(offers, key=lambda offer: offer[0])

    def _in_use(self, one: Weighted, most: int) -> list[Theta]:
        """The parameters of the generated kernels with the most weight."""
        weights = one.weights[self.n_given :]
        largest = np.argsort(-weights, kind="stable")[:most]
        return [self._thetas[number] for number in largest if weights[number] > 0]

    def _forms(self, theta: Theta, duals: Array) -> Array:
        """T of each column (n, c)."""
        K = self.input.gram(self.family.make(theta))
        return 0.5 * np.einsum("ij,ij->j", duals, K @ duals)


def _with(grams: Grams, K: Array) -> Grams:
    """The Gram matrices and one more: a list, or packed where there are many."""
    if isinstance(grams, GramStack):
        grams.append(K)
        return grams
    longer = [*grams, K]
    return GramList(longer) if len(longer) <= MOST_LISTED else GramStack.of(longer)
