"""The labels of training images, as the channels that learn from them take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Indices


def groups_of(owner: object, labels: Any, n: int) -> Indices:
    """The number of each image's class, in the order of their first appearance; -1 where the label is None.

    What a class is called makes no difference to what is learned from it.
    """
    who = type(owner).__name__
    try:
        labels = list(labels)
        classes = list(dict.fromkeys(label for label in labels if label is not None))
    except TypeError:
        raise InvalidInput(f"{who}: labels must be a list of strings, integers or None, got {shown(labels)}.") from None
    if len(labels) != n:
        raise InvalidInput(f"{who}: images and labels must have the same length, got {n} and {len(labels)}.")
    numbers = {None: -1, **{label: number for number, label in enumerate(classes)}}
    return np.array([numbers[label] for label in labels], dtype=np.intp)
