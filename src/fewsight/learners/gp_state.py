"""What a Gaussian-process classifier keeps in a model file, and how it comes back. All is checked: a file may be edited."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from fewsight._base.checks import check_choice, check_matrix, check_positive
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, State
from fewsight.gp import Posterior
from fewsight.learners.calibration import Calibration
from fewsight.learners.inputs import INPUTS
from fewsight.learners.labels import Labels
from fewsight.learners.novelty import Novelty

LABEL_TYPES = {"U": "string", "i": "integer", "u": "integer", "b": "boolean", "f": "number"}
Classifier = TypeVar("Classifier", bound=Any)


def state_of(classifier: Any) -> State:
    """Of a fitted classifier."""
    header = {
        "classes": classifier.classes_.tolist(),
        "label_type": LABEL_TYPES[classifier.classes_.dtype.kind],
        "noise_variance": classifier.noise_variance_,
        "balanced": bool(classifier.balanced),
        "calibrated": bool(classifier.calibrated),
        "false_alarm_rate": float(classifier.false_alarm_rate),
    }
    arrays = {"weights": classifier.weights_}
    if classifier.loans_:
        header["loans"], arrays["borrowed"] = classifier._loans_state()
    state = State(header, arrays)
    parts = ("input", "posterior", "calibration", "novelty")
    for part in parts:
        state = state.join(part, getattr(classifier, f"{part}_").state())
    return state


def restored(classifier: Classifier, state: State) -> Classifier:
    """The classifier, new until now, as the one that the state was made from."""
    header, inputs = state.header, state.nested("input")
    classifier.balanced, classifier.calibrated = bool(header["balanced"]), bool(header["calibrated"])
    classifier.false_alarm_rate = float(header["false_alarm_rate"])
    classifier.calibration_ = Calibration.from_state(state.nested("calibration"))
    classifier.novelty_ = Novelty.from_state(state.nested("novelty"))
    classifier.unknown_rule = classifier.novelty_.rule
    classifier.input_ = INPUTS[check_choice("model", "input", inputs.header["kind"], INPUTS)].from_state(inputs)
    classifier.kernel = classifier.input_.parameter
    classifier.posterior_ = Posterior.from_state(state.nested("posterior"))
    classifier.noise_variance_ = check_positive("model", "noise_variance", header["noise_variance"])
    classifier.noise_variance = classifier.noise_variance_
    classifier.weights_ = checked_weights(state.arrays["weights"], len(classifier.input_.scales))
    classifier.weights = classifier.weights_.tolist()
    classifier.classes_ = _checked_classes(header["classes"], header["label_type"])
    if isinstance(classifier.input_.n_columns, int):
        classifier.n_features_in_ = classifier.input_.n_columns
    _check_consistent(classifier)
    loans = header.get("loans", [])
    classifier._restore_loans(loans, state.arrays["borrowed"] if loans else np.zeros((classifier.posterior_.n, 0)))
    return classifier


def checked_weights(weights: Any, count: int) -> Array:
    """One weight >= 0 for each of `count` kernels, not all zero."""
    row = check_matrix("GPClassifier", "weights", [weights], shape=(1, count))[0]
    if (row < 0).any() or not row.any():
        raise InvalidInput(f"GPClassifier: weights must be >= 0 and not all zero, got {row.tolist()}.")
    return row


def _checked_classes(classes: Any, label_type: Any) -> Labels:
    kinds: dict[str, Any] = {"string": str, "integer": int, "boolean": bool, "number": (int, float)}
    kind = kinds[check_choice("model", "label_type", label_type, kinds)]
    if not isinstance(classes, list) or not classes or not all(isinstance(label, kind) for label in classes):
        raise InvalidInput(f"the classes must be a list of labels of type {label_type}.")
    if len(set(classes)) != len(classes):
        raise InvalidInput("the classes must differ from each other.")
    return np.array(classes, dtype=float if label_type == "number" else None)


def _check_consistent(classifier: Any) -> None:
    posterior, n_classes, n_training = classifier.posterior_, len(classifier.classes_), classifier.input_.n_training
    if posterior.n_targets != n_classes:
        raise InvalidInput(f"the posterior must have a column per class: {n_classes}, got {posterior.n_targets}.")
    if posterior.n != n_training:
        raise InvalidInput(f"the posterior must have a row per training example: {n_training}, got {posterior.n}.")
