"""The parts there are, of fewsight and of other packages: channels, learners, query rules, kernels and kernel families."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from importlib.metadata import packages_distributions

from fewsight._base.checks import check_choice
from fewsight._base.registry import Registry
from fewsight.active import QUERY_RULES
from fewsight.channels import CHANNELS
from fewsight.kernels import KERNELS
from fewsight.kernels.families import KERNEL_FAMILIES
from fewsight.learners import LEARNERS

OURS = __name__.partition(".")[0]
REGISTRIES: dict[str, Registry[object]] = {
    "channels": CHANNELS,
    "learners": LEARNERS,
    "rules": QUERY_RULES,
    "kernels": KERNELS,
    "families": KERNEL_FAMILIES,
}


@dataclass(frozen=True)
class PartDescription:
    """A part: its kind in the plural, its name, the first sentence of its documentation, and the package it comes from."""

    kind: str
    name: str
    summary: str
    package: str | None = None  # None: fewsight itself


def describe_parts(kind: str | None = None) -> list[PartDescription]:
    """Every part that is installed and registered, or those of one kind."""
    kinds = list(REGISTRIES) if kind is None else [check_choice("parts", "kind", kind, REGISTRIES)]
    return [_description(each, name, part) for each in kinds for name, part in REGISTRIES[each].items()]


def _description(kind: str, name: str, part: type) -> PartDescription:
    paragraph = " ".join((inspect.getdoc(part) or "").partition("\n\n")[0].split())
    summary = re.split(r"(?<=\.) (?=[A-Z`\[])", paragraph)[0]  # a sentence ends where the next begins with a capital
    return PartDescription(kind, name, summary, _package(part))


def _package(part: type) -> str | None:
    """The distribution, or where that is not known the module, of somebody else's class."""
    top = part.__module__.partition(".")[0]
    if top == OURS:
        return None
    return next(iter(packages_distributions().get(top, ())), top)
