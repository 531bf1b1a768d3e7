"""The label of an example that belongs to no category."""

from __future__ import annotations

from typing import Any, TypeGuard, final


@final
class NoneOfThese:
    """There is one object of this class, `NONE_OF_THESE`; it equals nothing but itself."""

    _only: NoneOfThese | None = None

    def __new__(cls) -> NoneOfThese:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "NONE_OF_THESE"

    def __str__(self) -> str:
        return "none of these"

    def __reduce__(self) -> str:
        return "NONE_OF_THESE"  # copies and pickles are the object itself


NONE_OF_THESE = NoneOfThese()


def is_none_of_these(label: Any) -> TypeGuard[NoneOfThese]:
    """Whether a label says that its example belongs to no category."""
    return label is NONE_OF_THESE
