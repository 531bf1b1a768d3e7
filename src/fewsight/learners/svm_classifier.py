"""Support vector machines, one against all, by LIBSVM through scikit-learn. [Kapoor2010, section 8]"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from fewsight._base.checks import check_positive
from fewsight._base.parallel import map_pieces
from fewsight._base.types import Array
from fewsight.learners.base import KernelLearner, Latent
from fewsight.learners.labels import Labels
from fewsight.learners.probability import softmax


class SVMClassifier(KernelLearner):
    """One support vector machine for each class against all others; the largest margin decides.

    Parameters
    ----------
    kernel : what X is, as for every learner; several Gram matrices are averaged.
    C : penalty of a training error, for a kernel whose training diagonal has mean 1.
    n_jobs : classes trained at the same time, as in joblib.
    """

    def __init__(self, kernel: Any = None, *, C: float = 10_000.0, n_jobs: int | None = None) -> None:
        self.kernel = kernel
        self.C = C
        self.n_jobs = n_jobs

    def latent(self, X: Any) -> Latent:
        """Margins. A support vector machine states no uncertainty of its own: the standard deviations are zero."""
        margins = self._decide(X)
        return Latent(margins, np.zeros_like(margins))

    def predict_proba(self, X: Any) -> Array:
        """A softmax of the margins: it keeps their order, and is not calibrated."""
        return softmax(self._decide(X))

    def _learn(self, grams: list[Array], labels: Labels) -> None:
        C = check_positive(self, "C", self.C)
        K = grams[0] if len(grams) == 1 else np.mean(grams, axis=0)

        def train(label: Any) -> tuple[Array, float]:
            if len(self.classes_) == 1:
                return np.zeros(len(K)), 1.0
            machine = SVC(C=C, kernel="precomputed").fit(K, np.where(labels == label, 1, -1))
            dual = np.zeros(len(K))
            dual[machine.support_] = machine.dual_coef_[0]
            return dual, float(machine.intercept_[0])

        results = map_pieces(train, list(self.classes_), n_jobs=self.n_jobs, what="support vector machines")
        self.dual_weights_ = np.stack([dual for dual, _ in results], axis=1)
        self.intercepts_ = np.array([intercept for _, intercept in results])

    def _decide(self, X: Any) -> Array:
        rows = self._read(X)
        blocks = self.input_.compare(rows)
        K_test = blocks[0] if len(blocks) == 1 else np.mean(blocks, axis=0)
        return K_test @ self.dual_weights_ + self.intercepts_
