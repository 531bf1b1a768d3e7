"""Options, stated once: a class says each option's name, type, default and meaning, and gets its constructor from that.

    class Phog(CellsChannel):
        n_bins: int = option(default=20, doc="bins of orientation.")

The constructor takes the options of the class and of all that it inherits from, by keyword, and stores them, as scikit-learn
expects. A subclass that only wants another default states that alone: `n_levels: int = 4`. Type checkers and editors know the
constructor too (`typing.dataclass_transform`).
"""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from typing import TypeVar, dataclass_transform

Value = TypeVar("Value")


def option(*, default: Value, doc: str = "", kw_only: bool = True) -> Value:
    """An option of a class: its default, and what it means. With `kw_only=False` it may be passed by position.

    Parameters
    ----------
    default : the value without the user's.
    doc : what it means, as a sentence.
    kw_only : whether it can only be passed by keyword.
    """
    return dataclasses.field(default=default, kw_only=kw_only, metadata={"doc": doc})


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(option,))
class Options:
    """Gives every subclass a constructor for its options, and documentation that lists them."""

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        summary = inspect.cleandoc(cls.__doc__ or "")
        dataclasses.dataclass(eq=False, repr=False, kw_only=True)(cls)
        listed = [
            textwrap.fill(f"{name} : {doc}", 120, subsequent_indent="    ")
            for name, doc in documented_options(cls).items()
        ]
        cls.__doc__ = "\n".join([summary, "", "Parameters", "----------", *listed])


def documented_options(kind: type[Options]) -> dict[str, str]:
    """What each option means: those that a class explains itself first, then those of its bases, the nearest first.

    An option that is stated again without words keeps the words and the place of its base.
    """
    found: dict[str, str] = {}
    for each in kind.__mro__:
        own = _fields(each)
        explained = {name: own[name].metadata.get("doc", "") for name in inspect.get_annotations(each) if name in own}
        found = {**found, **{name: doc for name, doc in explained.items() if doc and name not in found}}
    return {**found, **{name: "" for name in _fields(kind) if name not in found}}


def _fields(kind: type) -> dict[str, dataclasses.Field[object]]:
    return {field.name: field for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else {}
