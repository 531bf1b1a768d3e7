"""Which kinds of thing a model file may hold: a name in the file, a class here, and nothing the file could choose.

A class joins by offering `state()` and `from_state()` and by being named below (a channel: by being in CHANNELS).
"""

from __future__ import annotations

from typing import Any, Protocol, Self

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.channels import CHANNELS
from fewsight.learners import GPClassifier, HistogramGPClassifier


class Storable(Protocol):
    """What can be written to a model file and come back."""

    def state(self) -> State:
        """All that is needed to come back: JSON and arrays."""
        ...

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The object that `state` described; an inconsistent state is an error that says what is wrong."""
        ...


KINDS: dict[str, type[Any]] = {
    "gp_classifier": GPClassifier,
    "histogram_gp_classifier": HistogramGPClassifier,
    **CHANNELS,
}


def kind_of(model: object) -> str:
    """The name under which a model is stored; the class must be one of KINDS itself, not something derived from it."""
    for kind, stored in KINDS.items():
        if type(model) is stored:
            return kind
    listed = ", ".join(stored.__name__ for stored in KINDS.values())
    raise InvalidInput(f"save: model must be one of {listed}, got {type(model).__name__}.")
