"""What learning curves over labels have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fewsight._base.types import Array

ROUNDING = 1e-12


def labels_until(target: float, labels: Sequence[int], curve: Array) -> int | None:
    """The number of labels after which a curve stays at the target or above; None if it ends below."""
    below = np.flatnonzero(curve < target - ROUNDING)
    place = below[-1] + 1 if len(below) else 0
    return labels[place] if place < len(labels) else None
