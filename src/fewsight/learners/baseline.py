"""What learners have in common that state no uncertainty of their own: the baselines."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.gp import mean_of
from fewsight.kernels import RBF, Kernel, Linear
from fewsight.learners.base import Assessment, Latent
from fewsight.learners.examples import Examples
from fewsight.learners.kernel_learner import KernelLearner
from fewsight.learners.labels import Labels
from fewsight.learners.probability import softmax


class Baseline(KernelLearner):
    """A learner whose values decide, and are all that it knows. Several Gram matrices are averaged."""

    def latent(self, X: Examples) -> Latent:
        """The values that decide. Such a learner states no uncertainty: the standard deviations are zero."""
        return self.assess(X).latent

    def predict_proba(self, X: Examples) -> Array:
        """A softmax of the values that decide: it keeps their order."""
        return softmax(self._decide(X))

    def usual_kernel(self, kernel: Kernel) -> Kernel:
        """The channel's own; but where that is a Gaussian of plain vectors, a baseline gets the vectors as they are.

        That is what people do with embeddings. Other encodings are histograms, whose kernel a baseline needs as much as we do.
        """
        return Linear() if isinstance(kernel, RBF) else kernel

    def assess(self, X: Examples) -> Assessment:
        """Values and probabilities, reading X once."""
        values = self._decide(X)
        return Assessment(Latent(values, np.zeros_like(values)), softmax(values))


class DualLearner(Baseline):
    """A learner that is linear in the space that the kernel spans: K_test @ dual_weights_ + intercepts_."""

    dual_weights_: Array  # (n, c)
    intercepts_: Array  # (c,)

    @abstractmethod
    def _learn(self, grams: Sequence[Array], labels: Labels) -> None:
        """Find `dual_weights_` and `intercepts_`."""

    def _decide(self, X: Examples) -> Array:
        rows = self._read(X)
        return averaged(self.input_.compare(rows)) @ self.dual_weights_ + self.intercepts_

    def _learned(self) -> State:
        return State({"options": self._options()}, {"dual_weights": self.dual_weights_, "intercepts": self.intercepts_})

    def _restore(self, state: State) -> None:
        n, c = self.input_.n_training, len(self.classes_)
        self._restore_options(state)
        self.dual_weights_ = state.array("dual_weights", (n, c), np.float64)
        self.intercepts_ = state.array("intercepts", (c,), np.float64)


class MemberLearner(Baseline):
    """A learner that needs to know no more than which class each training example belongs to, and numbers about them."""

    members_: Indices  # (n,), the number of each training example's class

    def _restore_members(self, state: State) -> None:
        """The class of each training example, checked: every class has one."""
        n, c = self.input_.n_training, len(self.classes_)
        self.members_ = state.array("members", (n,), np.intp, least=0, most=c - 1)
        if len(np.unique(self.members_)) < c:
            raise InvalidInput(f"the stored members must name each of {c} classes.")


def squared_distances(K: Array, lengths: Array, others: Array) -> Array:
    """(m, n): in the space that a kernel spans, from its values K (m, n) and those of examples with themselves."""
    return np.maximum(lengths[:, None] + others[None, :] - 2 * K, 0.0)


def averaged(blocks: Sequence[Array]) -> Array:
    """The mean of scaled Gram matrices, or of their diagonals."""
    return blocks[0] if len(blocks) == 1 else mean_of(blocks)
