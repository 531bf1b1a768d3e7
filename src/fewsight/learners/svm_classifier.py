"""Support vector machines, one against all, by LIBSVM through scikit-learn. [Kapoor2010, section 8]"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from sklearn.svm import SVC

from fewsight._base.checks import check_positive
from fewsight._base.parallel import map_pieces
from fewsight._base.types import Array
from fewsight.learners.baseline import DualLearner, averaged
from fewsight.learners.examples import KernelLike
from fewsight.learners.labels import Label, Labels


class SVMClassifier(DualLearner):
    """One support vector machine for each class against all others; the largest margin decides.

    `latent` gives margins; `predict_proba` is a softmax of them and is not calibrated.

    Parameters
    ----------
    kernel : what X is, as for every learner; several Gram matrices are averaged.
    C : penalty of a training error, for a kernel whose training diagonal has mean 1.
    n_jobs : classes trained at the same time, as in joblib.
    """

    name: ClassVar[str] = "svm"
    title: ClassVar[str] = "SVM"
    note: ClassVar[str] = "support vector machines, one against all."
    learns_none_of_these: ClassVar[bool] = True

    def __init__(self, kernel: KernelLike = None, *, C: float = 10_000.0, n_jobs: int | None = None) -> None:
        self.kernel = kernel
        self.C = C
        self.n_jobs = n_jobs

    def _learn(self, grams: Sequence[Array], labels: Labels) -> None:
        C = check_positive(self, "C", self.C)
        K = averaged(grams)

        def train(label: Label) -> tuple[Array, float]:
            if (labels == label).all():
                return np.zeros(len(K)), 1.0
            machine = SVC(C=C, kernel="precomputed").fit(K, np.where(labels == label, 1, -1))
            dual = np.zeros(len(K))
            dual[machine.support_] = machine.dual_coef_[0]
            return dual, float(machine.intercept_[0])

        results = map_pieces(train, list(self.classes_), n_jobs=self.n_jobs, what="support vector machines")
        self.dual_weights_ = np.stack([dual for dual, _ in results], axis=1)
        self.intercepts_ = np.array([intercept for _, intercept in results])
