"""Training and test images drawn at random, by class and by seed, so that every method sees the same draw.

The draw of a class depends on the seed, on its name and on its own images alone: leaving out or adding other classes
does not change it. For one seed, smaller training sets are the beginning of larger ones. [Kapoor2010, section 8]
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Indices


@dataclass(frozen=True)
class Split:
    """Positions of the training and of the test images; no position is in both.

    Training images take turns: the first of every class, then the second of every class, and so on.
    """

    train: Indices
    test: Indices


def draw_split(
    labels: Sequence[Hashable] | npt.NDArray[Any],
    *,
    images_per_class: int | None = None,
    per_class: int,
    test_per_class: int | None = None,
    seed: int,
    reserve: int | None = None,
) -> Split:
    """Draw `images_per_class` images of each class (None: all), of these `per_class` to train and others to test.

    `test_per_class` limits the test images of a class (None: all that remain). `reserve`, at least `per_class`, is the
    number of images of each class kept out of the test: with the largest `per_class` of a learning curve, all its
    points share their test images. A class with fewer than `images_per_class` images takes part with all it has, but at
    least one must remain to test on. Unlabelled images (None) are never drawn.
    """
    per_class = check_integer("a split", "per_class", per_class, least=1)
    seed = check_integer("a split", "seed", seed, least=0)
    reserve = check_integer("a split", "reserve", per_class if reserve is None else reserve, least=per_class)
    if test_per_class is not None:
        check_integer("a split", "test_per_class", test_per_class, least=1)
    if images_per_class is not None:
        check_integer("a split", "images_per_class", images_per_class, least=reserve + 1)
    positions = _positions_by_class(labels)
    draws = [_shuffled(label, members, seed)[:images_per_class] for label, members in positions.items()]
    _check_sizes(dict(zip(positions, draws, strict=True)), reserve)
    last = None if test_per_class is None else reserve + test_per_class
    train = np.stack([draw[:per_class] for draw in draws], axis=1)  # (per_class, classes)
    return Split(train.ravel(), np.concatenate([draw[reserve:last] for draw in draws]))


def _positions_by_class(labels: Sequence[Hashable] | npt.NDArray[Any]) -> dict[Hashable, Indices]:
    members: dict[Hashable, list[int]] = {}
    for position, label in enumerate(labels):
        if label is not None:
            members.setdefault(label, []).append(position)
    if not members:
        raise InvalidInput("a split: labels must name at least one class, got none.")
    return {label: np.array(members[label], dtype=np.intp) for label in sorted(members, key=str)}


def _shuffled(label: Hashable, members: Indices, seed: int) -> Indices:
    name = str(label).encode("utf-8", "surrogatepass")
    stream = int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")
    return np.random.default_rng([seed, stream]).permutation(members)


def _check_sizes(draws: dict[Hashable, Indices], reserve: int) -> None:
    small = {label: len(draw) for label, draw in draws.items() if len(draw) <= reserve}
    if small:
        listed = ", ".join(f"{label} ({count})" for label, count in list(small.items())[:5])
        more = f" and {len(small) - 5} more" if len(small) > 5 else ""
        raise InvalidInput(
            f"a split: every class must have at least {reserve + 1} images, {reserve} to train on and one to test "
            f"on, got {listed}{more}."
        )
