"""Which learner suits a number of images: the one with a kernel matrix, or the one that never forms it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fewsight._base.checks import check_choice, check_integer
from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.channel_options import AUTO
from fewsight.apps.workbench.memory import memory_of_this_machine
from fewsight.channels import CHANNELS, Channel
from fewsight.learners.histograms import compares_by_intersection

GP, HISTOGRAM_GP = "gp", "histogram_gp"
LEARNER_NAMES = (AUTO, GP, HISTOGRAM_GP)
# Images from which on HISTOGRAM_GP learns in less time, of one category and more for each factor of e: see docs/large_scale.md.
MANY_OF_ONE, MORE_PER_FACTOR = 1_750, 750
BYTES_PER_PAIR = 64  # of images, while learning: a number in each of about eight matrices
BYTES_PER_PAIR_AND_CHANNEL = 16  # and, with every further channel, in its Gram matrix and a copy to add it up from


@dataclass(frozen=True)
class LearnerChoice:
    """The name of a learner and, where a person should know why, a sentence."""

    name: str
    remarks: tuple[str, ...] = ()


def choose_learner(
    wanted: str,
    n_images: int,
    n_categories: int,
    channels: Sequence[Channel],
    *,
    borrows: bool = False,
    many: int | None = None,
    who: str = "learn",
) -> LearnerChoice:
    """GP or HISTOGRAM_GP as wanted or, with AUTO, as so many labelled images and these channels suit.

    `many` is the number of images from which on AUTO takes HISTOGRAM_GP, where it can; None for `many_images`, or fewer where the
    memory of this machine is too small for GP.
    """
    check_choice(who, "learner", wanted, LEARNER_NAMES)
    obstacle = _obstacle(channels, borrows)
    if wanted != AUTO:
        if many is not None:
            raise InvalidInput(f"{who}: many says what {AUTO} does, so the learner must be {AUTO}, got {wanted}.")
        if wanted == HISTOGRAM_GP and obstacle:
            raise InvalidInput(f"{who}: {HISTOGRAM_GP} cannot be used: {obstacle}.")
        return LearnerChoice(wanted)
    least = many_images(n_categories) if many is None else check_integer(who, "many", many, least=1)
    if n_images < least and (many is not None or fits(n_images, len(channels))):
        return LearnerChoice(GP)
    if obstacle:
        return LearnerChoice(
            GP, (f"Stayed with {GP}, which is slow with {n_images:,} images; {HISTOGRAM_GP} is not, but {obstacle}.",)
        )
    return LearnerChoice(
        HISTOGRAM_GP,
        (f"Took {HISTOGRAM_GP}, the Gaussian process for many images: there are {n_images:,} to learn from.",),
    )


def many_images(n_categories: int) -> int:
    """Of how many images HISTOGRAM_GP learns so many categories in less time than GP."""
    return 100 * round((MANY_OF_ONE + MORE_PER_FACTOR * math.log(max(n_categories, 1))) / 100)


def fits(n_images: int, n_channels: int) -> bool:
    """Whether this machine can hold what learning with a kernel matrix takes, as far as it says."""
    memory = memory_of_this_machine()
    return memory is None or _bytes_per_pair(n_channels) * n_images**2 <= memory


def intersection_channels() -> list[str]:
    """The names of all channels that HISTOGRAM_GP takes."""
    return [name for name, kind in CHANNELS.items() if compares_by_intersection(kind())]


def check_memory(n_images: int, channels: Sequence[Channel]) -> None:
    """GP compares every image with every other: what cannot end well is refused before hours of work."""
    if fits(n_images, len(channels)):
        return
    memory, per_pair = memory_of_this_machine() or 1, _bytes_per_pair(len(channels))
    remedy = "" if _obstacle(channels, False) else f", or --learner {HISTOGRAM_GP}"
    raise InvalidInput(
        f"learn: {n_images:,} images would need about {per_pair * n_images**2 / 2**30:,.0f} gigabytes of memory, and there are "
        f"{memory / 2**30:,.0f}; use at most {int((memory / per_pair) ** 0.5):,} images{remedy}."
    )


def _bytes_per_pair(n_channels: int) -> int:
    return BYTES_PER_PAIR + BYTES_PER_PAIR_AND_CHANNEL * (n_channels - 1)


def _obstacle(channels: Sequence[Channel], borrows: bool) -> str:
    """Why HISTOGRAM_GP cannot serve, or nothing."""
    others = [channel.name for channel in channels if not compares_by_intersection(channel)]
    if others:
        named = ", ".join(others)
        verb = "does" if len(others) == 1 else "do"
        return f"{named} {verb} not compare by histogram intersection, as {', '.join(intersection_channels())} do"
    return "its categories cannot borrow" if borrows else ""
