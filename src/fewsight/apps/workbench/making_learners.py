"""Learners as a person asks for them: by name and with a setting or two, or left to the number of images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fewsight._base.checks import check_choice, check_positive
from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.channel_options import AUTO
from fewsight.apps.workbench.learner_choice import GP, HISTOGRAM_GP, choose_learner, fits
from fewsight.channels import Channel
from fewsight.learners import LEARNERS, Learner

DEFAULT_LEARNERS = ("gp", "svm", "nn")


@dataclass(frozen=True)
class WantedLearners:
    """Names and settings; without names, DEFAULT_LEARNERS, or what suits many training images.

    `many` is the number of those from which on HISTOGRAM_GP stands in for GP, see `choose_learner`.
    """

    names: tuple[str, ...] | None = None
    noise_variance: float | None = None
    svm_c: float | None = None
    many: int | None = None

    def made(
        self, n_images: int, n_categories: int, channels: Sequence[Channel]
    ) -> tuple[dict[str, Learner], tuple[str, ...]]:
        """The learners for so many training images of so many categories, and what a person should know about the choice."""
        names, remarks = self._names(n_images, n_categories, channels)
        return make_learners(names, noise_variance=self.noise_variance, svm_c=self.svm_c), remarks

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
        others = tuple(name for name in DEFAULT_LEARNERS if name != GP)
        if fits(n_images, len(channels)):
            return (HISTOGRAM_GP, *others), choice.remarks
        left_out = f"Left out {', '.join(others)}: their matrix of all pairs of images does not fit into memory."
        return (HISTOGRAM_GP,), (*choice.remarks, left_out)


def make_learners(
    names: Sequence[str], *, noise_variance: float | None = None, svm_c: float | None = None
) -> dict[str, Learner]:
    """Learners by name, for Gram matrices; the noise is the Gaussian process's, C the support vector machine's."""
    given: dict[str, tuple[str, float | None]] = {"gp": ("noise_variance", noise_variance), "svm": ("C", svm_c)}
    if "gp" not in names and "histogram_gp" in names:
        given["histogram_gp"] = given.pop("gp")
    options: dict[str, dict[str, Any]] = {
        learner: {option: check_positive("learners", option, value)}
        for learner, (option, value) in given.items()
        if value is not None
    }
    for learner, settings in options.items():
        if learner not in names:
            raise InvalidInput(f"learners: {next(iter(settings))} is a setting of {learner}, which is not asked for.")
    if not names:
        raise InvalidInput("learners: at least one is needed, got none.")
    return {name: _learner(name, options.get(name, {})) for name in names}


def _learner(name: str, options: Mapping[str, Any]) -> Learner:
    return LEARNERS[check_choice("learners", "a name", name, LEARNERS)](**options)
