"""A thousand relevance weights on 10,090 histograms of which half the words are exchanged between images. [Rodner2012, section 7]

Weights are learned from one problem (100 images of a category against 9,990 of 999 others) or from all one-vs-all problems of
101 categories with 100 images each, at once; `oracle` knows which words were exchanged and gives them no weight.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from fewsight._base.progress import silent
from fewsight.gp import IterativePosterior
from fewsight.kernels import HistogramOperator
from fewsight.learners import HistogramGPClassifier
from fewsight.learners.histograms import Found, choose_kernel_and_noise

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from histogram_data import one_against_many

Cell = dict[str, float]
LEARNED: dict[str, Any] = {"relevance": "evidence"}  # all else as it comes
MANY_CATEGORIES, MANY_EACH, MANY_TEST = 101, 10, 20  # 100 images of each category, 20 to test
TOLERANCE = 1e-5  # of training: a rare category is a small part of its targets


def learned(X: Any, classes: Any, **options: Any) -> tuple[Found, IterativePosterior[HistogramOperator]]:
    """Kernel, noise and posterior of a learner with these options; no calibration, which no area under a curve needs."""
    learner = HistogramGPClassifier(noise_variance="evidence", tolerance=TOLERANCE, **options)
    n_classes = int(classes.max()) + 1
    operator = HistogramOperator.from_rows(X)
    groups = np.zeros(operator.width, np.intp)
    found = choose_kernel_and_noise(operator, X, classes, n_classes, groups, learner.settings())
    return found, IterativePosterior.condition(found.operator, classes, n_classes, found.noise, learner.options())


def thousand_weights(seed: int, problems: str, n_others: int, n_words: int, **more: Any) -> Cell:
    """Areas under the curve on new images, weights, their cost; `problems` is "one" or "all", `more` are options to learn."""
    n_noise, one = n_words // 2, problems == "one"
    many = {} if one else {"n_categories": MANY_CATEGORIES, "n_test": MANY_TEST}
    data = one_against_many(
        n_others=n_others if one else MANY_EACH * n_others, n_words=n_words, n_noise=n_noise, seed=seed, **many
    )
    classes, truth = (
        ((categories == 0) if one else categories).astype(np.intp)
        for categories in (data.categories, data.categories_test)
    )
    informative = np.arange(n_words) >= n_noise
    cell: Cell = {"n": float(data.X.shape[0])}
    known = {"relevance": informative.astype(float)}
    for way, options in (("plain", {}), ("weighted", {**LEARNED, **more}), ("oracle", known)):
        with silent(), threadpool_limits(1):
            start, cpu = perf_counter(), process_time()
            found, posterior = learned(data.X, classes, **options)
            cell[f"seconds_{way}"], cell[f"cpu_seconds_{way}"] = perf_counter() - start, process_time() - cpu
        cell |= {f"{name}_{way}": value for name, value in areas(posterior.exact_mean(data.X_test), truth).items()}
        cell[f"noise_{way}"] = float(found.levels[0])
        if found.relevance is not None:
            cell |= of_weights(found.operator.weights, informative)
            cell["steps"], cell["products"] = float(found.relevance.steps), float(found.relevance.products)
    return cell


def areas(means: Any, truth: Any) -> Cell:
    """Area under the ROC curve of the category with most images, and the mean of all others where there are any."""
    if means.shape[1] == 2:
        return {"auc": float(roc_auc_score(truth == 1, means[:, 1]))}
    each = [float(roc_auc_score(truth == c, means[:, c])) for c in range(means.shape[1])]
    return {"auc": each[0], "mean_auc": float(np.mean(each[1:]))}


def of_weights(weights: Any, informative: Any) -> Cell:
    """Mean weights of both kinds of words, and how well a weight tells which kind a word is of."""
    return {
        "mean_weight_informative": float(weights[informative].mean()),
        "mean_weight_noise": float(weights[~informative].mean()),
        "auc_of_weights": float(roc_auc_score(informative, weights)),
    }
