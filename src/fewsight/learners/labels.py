"""Labels: strings, integers, booleans or whole-valued numbers, of one kind; None means not labelled, `NONE_OF_THESE` that an
example belongs to no class.

What NumPy would merge in silence (1 and "1", True and 1, "x" and "x" with a null character behind it) is refused, and so is what
no model file could keep or no terminal print.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from fewsight._base.checks import check_choice, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.none_of_these import NONE_OF_THESE, NoneOfThese, is_none_of_these
from fewsight._base.types import Array, Indices

Label: TypeAlias = str | int | bool | float
Labels: TypeAlias = npt.NDArray[Any]
LabelsLike: TypeAlias = npt.ArrayLike | Sequence[Label | NoneOfThese | None]
NO_CLASS = -1  # in place of the number of its class, for an example that belongs to none
LABEL_TYPES = {"U": "string", "i": "integer", "u": "integer", "b": "boolean", "f": "number"}  # by the kind of a dtype
PLURALS = {"string": "strings", "boolean": "booleans", "integer": "numbers", "number": "numbers"}
_STORED: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "number": (int, float),
}
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool, np.bool_),  # before number, which a bool is as well
    "number": (int, float, np.integer, np.floating),
}


def labelled(owner: object, y: LabelsLike | None, n: int) -> tuple[Labels, Indices]:
    """The labels that are there, and the positions they stand at."""
    if y is None:
        raise InvalidInput(f"{owner_name(owner)}: requires y to be passed, but the target y is None.")
    labels = _as_given(y)
    if labels.dtype != object or (labels.ndim == 2 and labels.shape[1] == 1):
        labels = column_or_1d(labels, warn=True)
    elif labels.ndim != 1:
        raise InvalidInput(f"{owner_name(owner)}: labels must be a list, got shape {labels.shape}.")
    if len(labels) != n:
        raise InvalidInput(f"{owner_name(owner)}: X and y must have the same length, got {n} and {len(labels)}.")
    if labels.dtype == object:
        positions = np.flatnonzero([label is not None for label in labels])
        given = labels[positions].tolist()
        named = [label for label in given if not is_none_of_these(label)]
        if len(named) < len(given) and not getattr(owner, "learns_none_of_these", False):
            raise InvalidInput(
                f"{owner_name(owner)}: every label must name a category, as this learner cannot learn from examples of none of "
                "them, got NONE_OF_THESE; leave these out, or use a GPClassifier."
            )
        labels = _of_one_kind(owner, named)
    else:
        positions, given = np.arange(n), labels
    if not len(positions):
        raise InvalidInput(f"{owner_name(owner)}: at least one example must have a label, got none.")
    if len(labels):
        _check_kind(owner, labels)
    return (labels if len(given) == len(labels) else with_outsiders(given)), positions


def with_outsiders(labels: Sequence[Any]) -> Labels:
    """Labels as an array; of objects if `NONE_OF_THESE` is among them."""
    if not any(map(is_none_of_these, labels)):
        return np.array(labels)
    found = np.empty(len(labels), dtype=object)
    found[:] = labels
    return found


def classes_in(labels: Labels) -> Labels:
    """The different classes, sorted; `NONE_OF_THESE` is not one."""
    if labels.dtype != object:
        return np.unique(labels)
    return np.unique(np.array([label for label in labels if not is_none_of_these(label)]))


def classes_to_learn(owner: object, labels: Labels) -> Labels:
    """The classes of a first training, of which there must be one."""
    classes = classes_in(labels)
    if not len(classes):
        raise InvalidInput(f"{owner_name(owner)}: at least one label must name a category, got NONE_OF_THESE only.")
    return classes


def classes_with(owner: object, known: Labels, labels: Labels) -> Labels:
    """The classes that are known, and after them those that further labels bring, which must be of the same kind."""
    named = classes_in(labels)
    if not len(named):
        return known
    wanted, got = (PLURALS[LABEL_TYPES[classes.dtype.kind]] for classes in (known, named))
    if wanted != got:
        raise InvalidInput(
            f"{owner_name(owner)}: labels must be {wanted}, as those learned before, such as {shown(known[0])}, "
            f"got {shown(named[0])}."
        )
    new = np.setdiff1d(named, known)
    return np.concatenate([known, new]) if len(new) else known


def checked_classes(owner: object, classes: Any) -> Labels:
    """Classes that a user lists, of which there may be no example."""
    listed = list(classes) if hasattr(classes, "__len__") and np.ndim(classes) == 1 else [None]
    if not len(listed) or any(label is None or is_none_of_these(label) for label in listed):
        raise InvalidInput(f"{owner_name(owner)}: classes must be a list of labels, got {shown(classes)}.")
    return labelled(owner, listed, len(listed))[0]


def targets_of(labels: Labels, classes: Labels) -> Array:
    """+1 in the column of an example's class, -1 in all others; -1 in all for an example of none."""
    return np.where(labels[:, None] == classes, 1.0, -1.0)


def class_numbers(targets: Array) -> Indices:
    """The column of each example's class (n,), `NO_CLASS` for one that belongs to none."""
    if not targets.shape[1]:
        return np.full(len(targets), NO_CLASS, dtype=np.intp)
    return np.where(targets.max(axis=1) > 0, targets.argmax(axis=1), NO_CLASS).astype(np.intp)


def labels_of(numbers: Indices, classes: Labels) -> Labels:
    """The label of each example from the number of its class."""
    labels: Labels = classes[np.maximum(numbers, 0)]
    if (numbers != NO_CLASS).all():
        return labels
    return with_outsiders(
        [NONE_OF_THESE if n == NO_CLASS else label for n, label in zip(numbers, labels.tolist(), strict=True)]
    )


def classes_header(classes: Labels) -> dict[str, Any]:
    """Classes for the header of a model file."""
    label_type = LABEL_TYPES.get(classes.dtype.kind)
    if label_type is None:
        raise InvalidInput(
            f"a model file holds classes that are strings, numbers or booleans, got {classes.dtype}; learn it with such labels."
        )
    return {"classes": classes.tolist(), "label_type": label_type}


def classes_from(header: dict[str, Any]) -> Labels:
    """The classes of a model file: a list of different labels of one type, as `labelled` lets them through."""
    owner = "the stored classes"
    label_type = check_choice(owner, "label_type", header.get("label_type"), _STORED)
    classes = header.get("classes")
    if not isinstance(classes, list) or not classes or not all(isinstance(c, _STORED[label_type]) for c in classes):
        raise InvalidInput(f"{owner} must be a list of labels of type {label_type}, got {shown(classes)}.")
    if label_type == "string":
        _check_texts(owner, classes)
    labels = np.array(classes, dtype=float if label_type == "number" else None)
    if len(set(labels.tolist())) != len(classes) or LABEL_TYPES.get(labels.dtype.kind) != label_type:
        raise InvalidInput(f"{owner} must differ from each other, and all be of one type, got {shown(classes)}.")
    return labels


def _as_given(y: LabelsLike) -> Labels:
    """As an array; a list stays what it is, before NumPy makes one kind of all that is in it."""
    if isinstance(y, (list, tuple)) and not any(isinstance(label, (list, tuple, np.ndarray)) for label in y):
        labels = np.empty(len(y), dtype=object)
        labels[:] = y
        return labels
    return np.asarray(y)


def _of_one_kind(owner: object, labels: Sequence[Any]) -> Labels:
    """Labels that are not None as an array of strings, booleans or numbers."""
    first_of_type: dict[type, Any] = {}
    for label in labels:
        first_of_type.setdefault(type(label), label)
    first_of_kind: dict[str, Any] = {}
    for label in first_of_type.values():
        first_of_kind.setdefault(_kind_of(owner, label), label)
    if len(first_of_kind) > 1:
        listed = " and ".join(shown(label) for label in first_of_kind.values())
        raise InvalidInput(
            f"{owner_name(owner)}: labels must be of one kind (strings, booleans or numbers), got {listed}."
        )
    if "string" in first_of_kind:
        _check_texts(owner, labels)
    return np.array(list(labels))


def _kind_of(owner: object, label: Any) -> str:
    if type(label).__name__ in ("NAType", "NaTType") or (isinstance(label, (float, np.floating)) and math.isnan(label)):
        raise InvalidInput(
            f"{owner_name(owner)}: labels must not be NaN or NA, got {shown(label)}; "
            "an example without a label has the label None."
        )
    for kind, types in _KINDS.items():
        if isinstance(label, types):
            return kind
    raise InvalidInput(f"{owner_name(owner)}: labels must be strings, integers or booleans, got {shown(label)}.")


def _check_texts(owner: object, labels: Iterable[str]) -> None:
    """Texts that NumPy keeps as they are and that can be written anywhere."""
    for label in set(labels):
        if "\0" in label:
            raise InvalidInput(f"{owner_name(owner)}: a label must not hold a null character, got {shown(label)}.")
        if any("\ud800" <= character <= "\udfff" for character in label):
            raise InvalidInput(f"{owner_name(owner)}: a label must be text that can be printed, got {shown(label)}.")


def _check_kind(owner: object, labels: Labels) -> None:
    kind = labels.dtype.kind
    if kind not in LABEL_TYPES:
        raise InvalidInput(
            f"{owner_name(owner)}: labels must be strings, integers or booleans, got {labels.dtype} "
            f"such as {shown(labels[0])}."
        )
    if kind == "U":
        _check_texts(owner, np.unique(labels).tolist())
    elif kind == "f":  # numbers are classes only if they are whole, or few
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
