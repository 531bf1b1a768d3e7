"""What a session and a page say to each other is plain: frozen, and JSON brings it back."""

from __future__ import annotations

import dataclasses
import json
import typing

import pytest

from fewsight.apps.workbench import session_messages

MESSAGES = [
    each for each in vars(session_messages).values() if dataclasses.is_dataclass(each) and isinstance(each, type)
]


def example(kind: object) -> object:
    """A value of a type, as small as it may be without being empty."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        return kind(**{field.name: example(hints[field.name]) for field in dataclasses.fields(kind)})
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (list, dict):
        return [example(arguments[0])] if origin is list else {example(arguments[0]): example(arguments[1])}
    if origin is tuple:
        some = arguments[:1] if arguments[-1] is Ellipsis else arguments
        return tuple(example(each) for each in some)
    if arguments:  # of a union, the first
        return example(arguments[0])
    return {str: "a name", int: 7, float: 0.5, bool: True}[kind]  # type: ignore[index]


def plain(value: object) -> object:
    """As JSON gives it back: tuples are lists."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def test_there_are_messages() -> None:
    assert len(MESSAGES) > 15


@pytest.mark.parametrize("message", MESSAGES, ids=lambda each: each.__name__)
def test_a_message_is_frozen_and_json_can_hold_it(message: type) -> None:
    made = example(message)
    fields = dataclasses.asdict(made)  # type: ignore[call-overload]
    assert json.loads(json.dumps(fields)) == plain(fields)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(made, next(iter(fields)), None)
    assert message.__doc__
