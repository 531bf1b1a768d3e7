"""What fewsight is measured against on the same vectors, and fewsight itself: from a task to what is said about its test rows.

Peers choose their settings by cross-validation where a category has two labels; with one label they take the usual default.
Only logistic regression and linear discriminant analysis state probabilities. scikit-learn shrinks the covariance of each
category by itself, which fails with two rows of each; `pooled_lda` shrinks that of all rows less their category's mean.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from experiments.domains.tasks import Task
from fewsight._base.types import Array
from fewsight.channels.pretrained import Pretrained
from fewsight.channels.vector_channel import scale_by_evidence
from fewsight.kernels import RBF
from fewsight.kernels.rbf import squared_distances
from fewsight.learners import (
    GPClassifier,
    LogisticClassifier,
    NearestMeanClassifier,
    NearestNeighbourClassifier,
)
from fewsight.learners.logistic import spanned

FOLDS = 5
PENALTIES = (0.1, 1.0, 10.0, 100.0)
WIDTHS = (0.25, 1.0, 4.0)  # squared scales of the Gaussian, in mean squared distances
MOST_STEPS = 10_000
USUAL = 1.0  # of C and of the width, where nothing can be left out


@dataclass(frozen=True)
class Answers:
    """What a learner says about m test rows."""

    scores: Array  # (m, c), the largest decides
    probabilities: Array | None = None  # (m, c), where the learner states any


Learner = Callable[[Task], Answers]


def rbf_kernel(task: Task) -> RBF:
    """What the channel `pretrained` compares by: a Gaussian whose width the evidence of the labels chooses."""
    return RBF(scale_by_evidence(task.train, task.codes, np.random.default_rng(0), Pretrained.usual_squared_scale))


def rbf_grams(task: Task) -> tuple[Array, Array]:
    """K and K_test under `rbf_kernel`."""
    kernel = rbf_kernel(task)
    return kernel.gram(task.train), kernel.gram(task.test, task.train)


def gp(task: Task) -> Answers:
    """fewsight with its defaults."""
    K, K_test = rbf_grams(task)
    stated = GPClassifier("precomputed").fit(K, task.codes).predict_proba(K_test)
    return Answers(stated, stated)


def logistic(task: Task) -> Answers:
    """C by cross-validated log loss; found in the span of the training rows."""
    model = LogisticClassifier("precomputed").fit(task.train @ task.train.T, task.codes)
    K_test = task.test @ task.train.T
    return Answers(model.latent(K_test).mean, model.predict_proba(K_test))


def balanced_logistic(task: Task) -> Answers:
    """With every category counting alike, by scikit-learn, and the C of the plain one; of one size, that itself."""
    counts, K = np.bincount(task.codes), task.train @ task.train.T
    if counts.min() == counts.max():
        return logistic(task)
    rows, to_rows = spanned(K)
    C = LogisticClassifier("precomputed").fit(K, task.codes).C_
    model = LogisticRegression(C=C, class_weight="balanced", max_iter=MOST_STEPS).fit(rows, task.codes)
    logs = model.predict_log_proba((task.test @ task.train.T) @ to_rows)
    return Answers(logs, np.exp(logs))


def linear_svm(task: Task) -> Answers:
    """C by cross-validated accuracy."""
    return _best_svm(task, {USUAL: (task.train @ task.train.T, task.test @ task.train.T)})


def rbf_svm(task: Task) -> Answers:
    """C and the width of the Gaussian by cross-validated accuracy."""
    distances, asked = squared_distances(task.train, None), squared_distances(task.test, task.train)
    mean = distances.sum() / (len(distances) * (len(distances) - 1))
    grams = {width: (np.exp(-distances / (2 * width * mean)), np.exp(-asked / (2 * width * mean))) for width in WIDTHS}
    return _best_svm(task, grams)


def _best_svm(task: Task, grams: Mapping[float, tuple[Array, Array]]) -> Answers:
    """The most accurate on left-out rows of one machine for each pair of categories, over C and some Gram matrices."""
    counts = np.bincount(task.codes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of categories with fewer rows than folds, and of many categories
        if counts.max() < 2:
            K, K_test = grams[USUAL]
            decided = SVC(C=USUAL, kernel="precomputed").fit(K, task.codes).predict(K_test)
        else:
            folds = StratifiedKFold(min(FOLDS, int(counts.max())), shuffle=True, random_state=0)
            searches = {width: _search(folds).fit(K, task.codes) for width, (K, _) in grams.items()}
            best = max(searches, key=lambda width: float(searches[width].best_score_))
            decided = searches[best].predict(grams[best][1])
    return Answers(np.eye(task.n_classes)[decided])


def _search(folds: StratifiedKFold) -> GridSearchCV:
    """A fold without one of two categories counts as wrong."""
    return GridSearchCV(SVC(kernel="precomputed"), {"C": PENALTIES}, cv=folds, error_score=0.0)


def shrunk_lda(task: Task) -> Answers:
    """Linear discriminant analysis with the covariance of [LedoitWolf2004]; the nearest mean where no category has two rows."""
    if np.bincount(task.codes).max() < 2:
        return nearest_mean(task)
    n_classes = task.n_classes
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto", priors=np.full(n_classes, 1.0 / n_classes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of categories with one row
        model.fit(task.train, task.codes)
    stated = model.predict_proba(task.test)
    return Answers(stated, stated)


def pooled_lda(task: Task) -> Answers:
    """The same with one covariance, of all rows less the mean of their category; solved in the span of these rows."""
    if np.bincount(task.codes).max() < 2:
        return nearest_mean(task)
    n, n_classes = len(task.codes), task.n_classes
    means = np.array([task.train[task.codes == code].mean(axis=0) for code in range(n_classes)])
    rest = task.train - means[task.codes]
    share = ledoit_wolf_shrinkage(rest, assume_centered=True)
    ridge = share * (rest**2).mean()
    span = np.sqrt((1.0 - share) / n) * rest
    inner = span @ span.T + ridge * np.eye(n)
    directions = (means - (means @ span.T) @ np.linalg.solve(inner, span)) / ridge * (n - n_classes) / n
    scores = task.test @ directions.T - 0.5 * (directions * means).sum(axis=1)
    return Answers(scores, softmax(scores, axis=1))


def nearest_mean(task: Task) -> Answers:
    """The nearest category mean."""
    model = NearestMeanClassifier("precomputed").fit(task.train @ task.train.T, task.codes)
    return Answers(model.latent(task.test @ task.train.T).mean)


def nearest_neighbour(task: Task) -> Answers:
    """The nearest training row."""
    model = NearestNeighbourClassifier("precomputed").fit(task.train @ task.train.T, task.codes)
    return Answers(model.latent(task.test @ task.train.T).mean)


LEARNERS: dict[str, Learner] = {
    "gp": gp,
    "logistic": logistic,
    "balanced_logistic": balanced_logistic,
    "linear_svm": linear_svm,
    "rbf_svm": rbf_svm,
    "shrunk_lda": shrunk_lda,
    "pooled_lda": pooled_lda,
    "nearest_mean": nearest_mean,
    "nearest_neighbour": nearest_neighbour,
}
PEERS = tuple(name for name in LEARNERS if name != "gp")
