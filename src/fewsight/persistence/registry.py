"""Which kinds of thing a model file may hold: a name in the file, a class here, and nothing the file could choose.

A class joins by offering `state()` and `from_state()` and by being registered: a learner in LEARNERS, a channel in CHANNELS.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, Self

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.channels import CHANNELS, Channel
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


_STORED: dict[str, type[Learner]] = {
    TransferGPClassifier.name: TransferGPClassifier
}  # learners of one task, in no registry
_ENDING = "_classifier"  # of a learner's kind; channels have their bare name


class _Kinds(Mapping[str, type[Storable]]):
    """Classes by the names of their kinds, those of other packages among them."""

    def __getitem__(self, kind: str) -> type[Storable]:
        name = kind.removesuffix(_ENDING)
        if name != kind and (name in LEARNERS or name in _STORED):
            return LEARNERS[name] if name in LEARNERS else _STORED[name]
        return CHANNELS[kind]

    def __iter__(self) -> Iterator[str]:
        yield from (f"{name}{_ENDING}" for name in (*LEARNERS, *_STORED))
        yield from CHANNELS

    def __len__(self) -> int:
        return len(list(iter(self)))


KINDS = _Kinds()


def kind_of(model: Storable) -> str:
    """The name under which a model is stored; the class must be one of KINDS itself, not something derived from it."""
    for kind, stored in KINDS.items():
        if type(model) is stored:
            return kind
    if isinstance(model, Learner):
        LEARNERS.check_registered(model)
    if isinstance(model, Channel):
        CHANNELS.check_registered(model)
    listed = ", ".join(stored.__name__ for stored in KINDS.values())
    raise InvalidInput(f"save: model must be one of {listed}, got {type(model).__name__}.")
