"""Learners as a person asks for them: by name and with a setting or two, or left to the number of images."""

from __future__ import annotations

import bisect
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature

from fewsight._base.checks import check_choice, check_integer, check_positive
from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.channel_options import AUTO, CLASSIC, chosen_channels, default_channels
from fewsight.channels import CHANNELS, Channel
from fewsight.evaluation import COMBINATIONS
from fewsight.images import Image
from fewsight.learners import (
    LEARNERS,
    GPClassifier,
    HistogramGPClassifier,
    Learner,
    SparseGPClassifier,
    SVMClassifier,
)
from fewsight.learners.needs import Needs

GP, SVM = GPClassifier.name, SVMClassifier.name
FOR_MANY: tuple[type[Learner], ...] = (HistogramGPClassifier, SparseGPClassifier)  # the first that takes the channels
DEFAULT_LEARNERS = (GP, SVM, "nn")
# The number of images above which either of the learners for many images trains faster, of one category and more for each factor
# of e: see docs/large_scale.md.
MANY_OF_ONE, MORE_PER_FACTOR = 1_750, 750
LOOKED_UP = 32  # images in the cache, to see whether they are described already
LITTLE = 2**28  # bytes that are never too much for a learner for many images, which is itself the remedy


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
    """The learner that is wanted or, with AUTO, GP or one of FOR_MANY by the number of labelled images and these channels.

    `many` is the number of images at which AUTO switches to one of FOR_MANY, where it can; None for `many_images`, or fewer
    where the memory of this machine is too small for GP.
    """
    check_choice(who, "learner", wanted, (AUTO, *LEARNERS))
    if wanted != AUTO:
        if many is not None:
            raise InvalidInput(f"{who}: many says what {AUTO} does, so the learner must be {AUTO}, got {wanted}.")
        obstacle = _obstacle(LEARNERS[wanted], channels, borrows)
        if obstacle:
            raise InvalidInput(f"{who}: {wanted} cannot be used: {obstacle}.")
        return LearnerChoice(wanted)
    least = many_images(n_categories) if many is None else check_integer(who, "many", many, least=1)
    if n_images < least and (many is not None or fits(GPClassifier.needs, n_images, len(channels))):
        return LearnerChoice(GP)
    obstacles = {learner.name: _obstacle(learner, channels, borrows) for learner in FOR_MANY}
    able = [name for name, obstacle in obstacles.items() if not obstacle]
    if not able:
        name, obstacle = list(obstacles.items())[-1]
        slow = f"Stayed with {GP}, which is slow with {n_images:,} images; {name} is not, but {obstacle}."
        return LearnerChoice(GP, (slow,))
    said = f"Took {able[0]}, the Gaussian process for many images: there are {n_images:,} to learn from."
    return LearnerChoice(able[0], (said,))


def learner_on_cluster(wanted: str, channels: Sequence[Channel], *, borrows: bool = False) -> str:
    """The learner whose work a cluster shares, whatever the number of images; another that is wanted is refused."""
    check_choice("learn", "learner", wanted, (AUTO, *LEARNERS))
    name = SparseGPClassifier.name
    if wanted not in (AUTO, name):
        raise InvalidInput(f"learn: a cluster shares the work of {name}, which takes any channels, got {wanted}.")
    obstacle = _obstacle(SparseGPClassifier, channels, borrows)
    if obstacle:
        raise InvalidInput(f"learn: {name}, which learns on a cluster, cannot be used: {obstacle}.")
    return name


def usual_channels(
    names: Sequence[str] | None, learners: Sequence[str] = (AUTO,)
) -> tuple[Sequence[str] | None, tuple[str, ...]]:
    """The channels that are named or, where none are, the default ones; and a sentence where that is another one alone.

    It is where a learner that is asked for cannot take them: CLASSIC, or the first that this learner takes.
    """
    if names is not None or chosen_channels():
        return names, ()
    usual = default_channels()
    for learner in (name for name in learners if name in LEARNERS):
        if any(not LEARNERS[learner].needs.accepts(CHANNELS[name]()) for name in usual):
            taken = channels_for(LEARNERS[learner])
            alone = CLASSIC if CLASSIC in taken else taken[0]
            return (alone,), (f"Took {alone} alone: {learner} cannot use {', '.join(usual)}.",)
    return usual, ()


def many_images(n_categories: int) -> int:
    """The number of images above which either learner of FOR_MANY trains faster than GP."""
    return 100 * round((MANY_OF_ONE + MORE_PER_FACTOR * math.log(max(n_categories, 1))) / 100)


def _obstacle(learner: type[Learner], channels: Sequence[Channel], borrows: bool) -> str:
    """Why a learner cannot serve, or nothing."""
    others = [channel.name for channel in channels if not learner.needs.accepts(channel)]
    if others:
        named, verb = ", ".join(others), "does" if len(others) == 1 else "do"
        return f"{named} {verb} not {learner.needs.channels_that}, as {', '.join(channels_for(learner))} do"
    return learner.why_no_loans() if borrows else ""


def channels_for(learner: type[Learner]) -> list[str]:
    """The names of all channels that a learner takes."""
    return [name for name, kind in CHANNELS.items() if learner.needs.accepts(kind())]


def new_learner(name: str, channels: Sequence[Channel], way: str, noise_variance: float | None) -> Learner:
    """Unfitted, for images; several channels are combined in this way, and the noise is the one given, or found."""
    made = make_learners([name], noise_variance=noise_variance)[name].set_params(kernel=list(channels))
    return made.weigh(way) if len(channels) > 1 else made


def way_of(learner: type[Learner], channels: Sequence[Channel], wanted: str | None) -> str:
    """How several channels are combined: as it is wanted, or by learning how much each counts where the learner can."""
    if wanted is None:
        return "evidence" if "evidence" in learner.ways else learner.ways[0]
    check_choice("learn", "combine", wanted, [way for way in COMBINATIONS if way != "none"])
    if len(channels) < 2:
        only = ", ".join(channel.name for channel in channels)
        raise InvalidInput(f"learn: combine {wanted!r} needs two or more channels, got only {only}.")
    return check_choice(f"learn: {learner.name}", "combine", wanted, learner.ways)


# Several learners, to be compared.


@dataclass(frozen=True)
class WantedLearners:
    """Names and settings; without names, DEFAULT_LEARNERS, or what suits many training images.

    `many` is the number of those at which a learner for many stands in for GP, see `choose_learner`.
    """

    names: tuple[str, ...] | None = None
    noise_variance: float | None = None
    svm_c: float | None = None
    many: int | None = None

    def made(
        self, n_images: int, n_categories: int, channels: Sequence[Channel]
    ) -> tuple[dict[str, Learner], tuple[str, ...]]:
        """The learners that suit these numbers of training images and categories, and what to say about the choice."""
        names, remarks = self._names(n_images, n_categories, channels)
        learners = make_learners(names, noise_variance=self.noise_variance, svm_c=self.svm_c)
        for learner in learners.values():
            check_memory(learner, n_images, n_categories, channels, "evaluate")
        return learners, remarks

    def _names(
        self, n_images: int, n_categories: int, channels: Sequence[Channel]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if self.names is not None:
            if self.many is not None:
                raise InvalidInput("learners: many says which are taken if none are named, got names as well.")
            return self.names, ()
        choice = choose_learner(AUTO, n_images, n_categories, channels, many=self.many, who="evaluate")
        if choice.name == GP:
            return DEFAULT_LEARNERS, choice.remarks
        others = [name for name in DEFAULT_LEARNERS if name != GP]
        fitting = [name for name in others if fits(LEARNERS[name].needs, n_images, len(channels))]
        if fitting == others:
            return (choice.name, *others), choice.remarks
        large = ", ".join(name for name in others if name not in fitting)
        left_out = f"Left out {large}: their matrix of all pairs of images does not fit into memory."
        return (choice.name, *fitting), (*choice.remarks, left_out)


def make_learners(
    names: Sequence[str], *, noise_variance: float | None = None, svm_c: float | None = None
) -> dict[str, Learner]:
    """Learners by name; the noise is that of the first that has one, C the support vector machine's."""
    if not names:
        raise InvalidInput("learners: at least one is needed, got none.")
    made = {name: LEARNERS[check_choice("learners", "a name", name, LEARNERS)]() for name in names}
    noisy = [name for name, learner in LEARNERS.items() if "noise_variance" in signature(learner).parameters]
    for option, value, takers in (("noise_variance", noise_variance, noisy), ("C", svm_c, [SVM])):
        if value is None:
            continue
        asked_for = [name for name in takers if name in made]
        if not asked_for:
            raise InvalidInput(f"learners: {option} is a setting of {takers[0]}, which is not asked for.")
        made[asked_for[0]].set_params(**{option: check_positive("learners", option, value)})
    return made


# Memory.


def memory_of_learning(
    learner: Learner, images: Sequence[Image], n_categories: int, channels: Sequence[Channel]
) -> int:
    """What learning from these images takes, as far as it is known before: a few are looked up in the cache."""
    return learner.memory_needed(len(images), n_categories, channels, share_described(images, channels))


def share_described(images: Sequence[Image], channels: Sequence[Channel]) -> float:
    """Of some images, evenly spaced: the share whose local features the cache has for every channel."""
    some = [images[place] for place in range(0, len(images), max(1, len(images) // LOOKED_UP))]
    return sum(all(channel.is_described(image) for channel in channels) for image in some) / max(len(some), 1)


def check_memory(
    learner: Learner,
    n_images: int,
    n_categories: int,
    channels: Sequence[Channel],
    who: str = "learn",
    described: float = 0.0,
) -> None:
    """What cannot end well is refused before hours of work, and what would fit is named.

    `described` is the share of the images whose local features the cache has, see `share_described`.
    """
    memory = memory_of_this_machine()
    if memory is None:
        return

    def bytes_of(n: int, candidate: Learner = learner) -> int:
        return candidate.memory_needed(n, n_categories, channels, described)

    def room(candidate: Learner) -> int:
        return max(memory, LITTLE) if isinstance(candidate, FOR_MANY) else memory

    if bytes_of(n_images) <= room(learner):
        return
    others = (each() for each in FOR_MANY if not isinstance(learner, each) and not _obstacle(each, channels, False))
    able = [other.name for other in others if bytes_of(n_images, other) <= room(other)]
    most = bisect.bisect_right(range(1, n_images), memory, key=bytes_of)
    remedies = [*([f"use at most {most:,} images"] if most else []), *(f"--learner {name}" for name in able[:1])]
    raise InvalidInput(
        f"{who}: {n_images:,} images would need about {bytes_of(n_images) / 2**30:,.0f} gigabytes of memory, and there are "
        f"{memory / 2**30:,.0f}; {', or '.join(remedies) or 'no learner needs less'}."
    )


def fits(needs: Needs, n_images: int, n_channels: int) -> bool:
    """Whether this machine can hold what comparing all pairs of images takes, as far as it says."""
    memory = memory_of_this_machine()
    return memory is None or needs.bytes_of_pairs(n_images, n_channels) <= memory


def memory_of_this_machine() -> int | None:
    """Bytes of main memory; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows; a system without these names
        return None
