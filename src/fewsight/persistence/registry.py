"""Which kinds of thing a model file may hold: a name in the file, a class here, and nothing the file could choose.

A class joins by offering `state()` and `from_state()` and by being registered: a learner in LEARNERS, a channel in CHANNELS.
"""

from __future__ import annotations

from typing import Protocol, Self

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.channels import CHANNELS
from fewsight.learners import LEARNERS, Learner
from fewsight.transfer import TransferGPClassifier


class Storable(Protocol):
    """What can be written to a model file and come back."""

    def state(self) -> State:
        """All that is needed to come back: JSON and arrays."""
        ...

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The object that `state` described; an inconsistent state is an error that says what is wrong."""
        ...


def _kind(learner: type[Learner]) -> str:
    """The name of a learner's kind in model files."""
    return f"{learner.name}_classifier"


STORED_LEARNERS: list[type[Learner]] = [*LEARNERS.values(), TransferGPClassifier]
KINDS: dict[str, type[Storable]] = {**{_kind(learner): learner for learner in STORED_LEARNERS}, **CHANNELS}


def kind_of(model: Storable) -> str:
    """The name under which a model is stored; the class must be one of KINDS itself, not something derived from it."""
    for kind, stored in KINDS.items():
        if type(model) is stored:
            return kind
    listed = ", ".join(stored.__name__ for stored in KINDS.values())
    raise InvalidInput(f"save: model must be one of {listed}, got {type(model).__name__}.")
