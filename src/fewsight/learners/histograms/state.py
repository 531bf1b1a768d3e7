"""What the large-scale learner keeps in a model file, and how it comes back. All is checked: a file may be edited."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import scipy.sparse

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.gp import IterativePosterior
from fewsight.gp.preconditioning import AUTO
from fewsight.kernels import HistogramOperator
from fewsight.learners.calibration import Calibration
from fewsight.learners.histograms.input import HistogramInput
from fewsight.learners.histograms.validation import options_of
from fewsight.learners.histograms.variance import FastVariance
from fewsight.learners.inputs.stored import matrix_from_state, matrix_state
from fewsight.learners.labels import classes_from, classes_header
from fewsight.learners.novelty import Novelty

Classifier = TypeVar("Classifier", bound=Any)
OPTIONS = (
    "tolerance",
    "max_iterations",
    "preconditioner",
    "quantization_bins",
    "variance",
    "calibrated",
    "false_alarm_rate",
    "random_state",
)


def state_of(classifier: Any) -> State:
    """Of a fitted classifier."""
    posterior = classifier.posterior_
    operator = posterior.operator
    header = {
        **classes_header(classifier.classes_),
        "options": {name: _plain(getattr(classifier, name)) for name in OPTIONS},
        "transform": operator.transform.kind,
        "parameter": classifier.transform_parameter_,
        "balanced": bool(classifier.balanced),
        **posterior.state().header,
        "left_out_accuracy": classifier.left_out_accuracy_,
        "log_evidence": classifier.log_evidence_,
    }
    arrays = {
        "levels": np.atleast_1d(classifier.noise_variance_),
        "relevance": operator.weights,
        **posterior.state().arrays,
    }
    state = State(header, arrays).join("training", matrix_state(rows_of(operator)))
    for part in ("input", "calibration", "novelty"):
        state = state.join(part, getattr(classifier, f"{part}_").state())
    return state.join("variance", classifier.variances_.fast.state())


def rows_of(operator: HistogramOperator) -> Any:
    """The rows that an operator was made from, as CSR."""
    columns, shape = operator.histograms.columns, (operator.n, operator.width)
    by_dimension = scipy.sparse.csc_array((columns.values, columns.rows.astype(np.int64), columns.starts), shape=shape)
    return by_dimension.tocsr()


def restored(classifier: Classifier, state: State) -> Classifier:
    """The classifier, new until now, as the one that the state was made from."""
    header, arrays = state.header, state.arrays
    known = {"preconditioner": AUTO, **header["options"]}  # which older files do not name
    classifier.set_params(**{name: known[name] for name in OPTIONS})
    classifier.classes_ = classes_from(header)
    classifier.input_ = HistogramInput.from_state(state.nested("input"))
    classifier.kernel, classifier.groups = classifier.input_.parameter, classifier.input_.given_groups
    classifier.calibration_ = Calibration.from_state(state.nested("calibration"))
    if len(classifier.calibration_.leanings) > len(classifier.classes_):
        raise InvalidInput("the calibration must have no more leanings than there are classes.")
    classifier.novelty_ = Novelty.from_state(state.nested("novelty"))
    classifier.unknown_rule = classifier.novelty_.rule
    operator = HistogramOperator.from_rows(
        matrix_from_state(state.nested("training")),
        transform=header["transform"],
        parameter=header["parameter"],
        weights=arrays["relevance"],
    )
    classifier.feature_transform = header["transform"]
    classifier.transform_parameter_ = header["parameter"]
    given = classifier.transform_parameter_
    classifier.transform_parameter = "left-out" if given is None else given
    classifier.relevance = classifier.relevance_ = operator.weights
    levels = arrays["levels"]
    classifier.noise_variance_ = float(levels[0]) if len(levels) == 1 else levels
    classifier.noise_variance, classifier.noise_per_class = float(np.exp(np.log(levels).mean())), len(levels) > 1
    classifier.balanced = bool(header["balanced"])
    classifier.left_out_accuracy_, classifier.log_evidence_ = header["left_out_accuracy"], header["log_evidence"]
    if not classifier.input_.channels:
        classifier.n_features_in_ = operator.width
    if (levels <= 0).any():
        raise InvalidInput("the noise must be > 0.")
    classifier.posterior_ = IterativePosterior.from_state(
        state, operator, len(classifier.classes_), options_of(classifier)
    )
    classifier._set_variance(FastVariance.from_state(state.nested("variance"), operator))
    return classifier


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
