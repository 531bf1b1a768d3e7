"""Labels: strings, integers or booleans; None means not labelled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from fewsight._base.checks import check_choice, owner_name
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices

Label: TypeAlias = str | int | bool | float
Labels: TypeAlias = npt.NDArray[Any]
LabelsLike: TypeAlias = npt.ArrayLike | Sequence[Label | None]
LABEL_TYPES = {"U": "string", "i": "integer", "u": "integer", "b": "boolean", "f": "number"}


def labelled(owner: object, y: LabelsLike | None, n: int) -> tuple[Labels, Indices]:
    """The labels that are there, and the positions they stand at."""
    if y is None:
        raise InvalidInput(f"{owner_name(owner)}: requires y to be passed, but the target y is None.")
    labels = np.asarray(y)
    if labels.dtype != object:
        labels = column_or_1d(labels, warn=True)
    elif labels.ndim != 1:
        raise InvalidInput(f"{owner_name(owner)}: labels must be a list, got shape {labels.shape}.")
    if len(labels) != n:
        raise InvalidInput(f"{owner_name(owner)}: X and y must have the same length, got {n} and {len(labels)}.")
    if labels.dtype == object:
        positions = np.flatnonzero([label is not None for label in labels])
        labels = np.array(list(labels[positions]))
    else:
        positions = np.arange(n)
    if not len(positions):
        raise InvalidInput(f"{owner_name(owner)}: at least one example must have a label, got none.")
    if labels.dtype.kind not in "Ubiu":  # those are classes for certain, however many of them have one example only
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
    return labels, positions


def targets_of(labels: Labels, classes: Labels) -> Array:
    """+1 in the column of an example's class, -1 in all others."""
    return np.where(labels[:, None] == classes, 1.0, -1.0)


def classes_header(classes: Labels) -> dict[str, Any]:
    """Classes for the header of a model file."""
    label_type = LABEL_TYPES.get(classes.dtype.kind)
    if label_type is None:
        raise InvalidInput(
            f"a model file holds classes that are strings, numbers or booleans, got {classes.dtype}; learn it with such labels."
        )
    return {"classes": classes.tolist(), "label_type": label_type}


def classes_from(header: dict[str, Any]) -> Labels:
    """The classes of a model file, checked, as it may have been edited."""
    kinds: dict[str, Any] = {"string": str, "integer": int, "boolean": bool, "number": (int, float)}
    classes, label_type = header["classes"], check_choice("model", "label_type", header["label_type"], kinds)
    fitting = isinstance(classes, list) and all(isinstance(label, kinds[label_type]) for label in classes)
    if not fitting or not classes:
        raise InvalidInput(f"the classes must be a list of labels of type {label_type}.")
    if len(set(classes)) != len(classes):
        raise InvalidInput("the classes must differ from each other.")
    return np.array(classes, dtype=float if label_type == "number" else None)
