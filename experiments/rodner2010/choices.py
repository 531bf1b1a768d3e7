"""Ways of deciding what is borrowed, on one grid of all support tasks and eleven correlations.

The best by a criterion (the paper's way is average precision); the best by average precision among those that leave the
predictive probability of left-out examples no worse than learning alone ("guard"); the best sum of the ranks by both ("rank_sum",
the paper's outlook); and averages over all, weighted by a criterion; that by separation with three sharpnesses.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax
from scipy.stats import rankdata

from experiments.rodner2010.tasks import Split
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.gp import NOISE_LADDER, CorrelationPaths, paths_beside
from fewsight.metrics import average_precisions
from fewsight.transfer import CRITERIA, LOG_WEIGHTS
from fewsight.transfer.support_search import SCAN

SHARPER = {"average_separation_half": 0.5, "average_separation_double": 2.0}  # times the sharpness of the default
DEFAULT = "average_separation"
WAYS = (
    "independent",
    *(f"best_{name}" for name in CRITERIA),
    "guard",
    "rank_sum",
    *(f"average_{name}" for name in LOG_WEIGHTS),
    *SHARPER,
)


def precision_of_choices(split: Split, K: Array, n: int) -> dict[str, float]:
    """Average precision on the test images of each way, with n examples of the target."""
    candidates = split.candidates(K, n)
    paths = _paths(K, candidates.target, candidates.targets, candidates.supports)
    rhos = np.broadcast_to(SCAN, (paths.n_tasks, len(SCAN)))
    left_out = paths.leave_one_out(rhos)
    values = {name: criterion(paths, rhos, left_out) for name, criterion in CRITERIA.items()}
    own, lent = paths.weights(rhos)
    scores = np.einsum("tm,jmg->jtg", K[np.ix_(split.test, candidates.target)], own, optimize=True)
    for task, support in enumerate(candidates.supports):
        scores[task] += K[np.ix_(split.test, support)] @ lent[task, : len(support)]
    single = average_precisions(split.positive, scores)
    found = {"independent": float(single[0, 0])}
    probability, precision = values["predictive_probability"], values["average_precision"]
    guarded = np.where(probability >= probability[:, :1] - 1e-12, precision, -np.inf)
    both = rankdata(precision) + rankdata(probability)
    choices = {f"best_{name}": value for name, value in values.items()}
    for way, value in {**choices, "guard": guarded, "rank_sum": both.reshape(precision.shape)}.items():
        found[way] = float(single[_best(value, probability, rhos)])
    for name, scale in LOG_WEIGHTS.items():
        log_weights = scale(n, len(candidates.targets)) * values[name]
        found[f"average_{name}"] = split.precision(np.einsum("jg,jtg->t", softmax(log_weights), scores))
        if f"average_{name}" == DEFAULT:
            for way, factor in SHARPER.items():
                found[way] = split.precision(np.einsum("jg,jtg->t", softmax(factor * log_weights), scores))
    return {way: found[way] for way in WAYS}


def _paths(K: Array, target: Array, targets: Array, supports: list[Array]) -> CorrelationPaths:
    for noise in NOISE_LADDER:
        paths = paths_beside(K, target, targets, supports, noise)
        if paths is not None:
            return paths
    raise InvalidInput("the Gram matrix must be positive semi-definite, got one that is not even with noise.")


def _best(value: Array, tie: Array, rhos: Array) -> tuple[int, int]:
    """Support task and correlation; ties go to the larger probability, then to the smaller correlation."""
    first = int(np.lexsort((rhos.ravel(), -tie.ravel(), -value.ravel()))[0])
    task, column = np.unravel_index(first, value.shape)
    return int(task), int(column)
