"""Parts by their names: those of this package, and those of other people's packages.

A part (a kernel, a channel, a learner, a query rule, a kernel family) is a class that says its own name. A part of another
package joins in one of two ways:

* by one call, `fewsight.register(MyKernel)`, which can also stand as a decorator above the class;
* by an entry point of that package, whose group is the one of the registry and whose name is the name of the part.

Entry points are looked up when they are needed: one when a name is asked for that is not known, all of them when the parts are
listed. A name that a file mentions is only ever looked up here, so that a file cannot choose code that is not installed.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput, PluginWarning, UnknownPart

Part = TypeVar("Part", covariant=True)
Class = TypeVar("Class", bound=type)

_REGISTRIES: list[
    Registry[object]
] = []  # every registry there is: a class knows its base class, and that one its registry


class Registry(Mapping[str, type[Part]], Generic[Part]):
    """Classes of one kind by their names, those of this package first.

    Parameters
    ----------
    what : one of them in a sentence, e.g. "channel".
    base : what all of them are derived from.
    built_in : those of this package; their names cannot be taken by others.
    group : of the entry points by which other packages join.
    attribute : of a class, in which it says its name.
    """

    def __init__(
        self, what: str, base: type, built_in: Iterable[type[Part]], *, group: str, attribute: str = "name"
    ) -> None:
        self.what, self.base, self.group, self.attribute = what, base, group, attribute
        self._built_in = {str(getattr(part, attribute)): part for part in built_in}
        self._others: dict[str, type[Part]] = {}
        self._waiting: dict[str, EntryPoint] | None = None  # None: not looked for yet
        _REGISTRIES.append(self)

    def __getitem__(self, name: str) -> type[Part]:
        self._look_for(name)
        return self._built_in[name] if name in self._built_in else self._others[name]

    def __contains__(self, name: object) -> bool:
        self._look_for(name)
        return name in self._built_in or name in self._others

    def __iter__(self) -> Iterator[str]:
        for name in list(self._entry_points()):
            self._load(name)
        return iter([*self._built_in, *self._others])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"Registry of {len(self)}: {', '.join(self)}"

    def find(self, name: object) -> type[Part]:
        """The class of that name, which may come from a file; a name that is not known here says what to do about it."""
        if isinstance(name, str) and name in self:
            return self[name]
        raise UnknownPart(
            f"the {self.what} {shown(name)} is not known here; if it comes from another package, install that or call "
            "fewsight.register."
        )

    def check_registered(self, part: object) -> None:
        """Raise if an object of this class could be stored and not be found again."""
        kind = type(part)
        if not self.is_registered(kind):
            raise InvalidInput(
                f"save: the {self.what} {kind.__name__} must be known by a {self.attribute} of its own to be opened again; call "
                f"fewsight.register({kind.__name__}) first."
            )

    def register(self, part: Class) -> Class:
        """Take in a class under the name that it gives itself; returns the class, so that it can be a decorator."""
        reason = self._reason_against(part)
        if reason is not None:
            raise InvalidInput(f"register: {_where(part)} cannot be a {self.what}: {reason}.")
        self._others[getattr(part, self.attribute)] = part
        return part

    def add_built_in(self, part: Class) -> Class:
        """Take in a class of this package that lives above the registry, so that no other package can take its name."""
        self._built_in[getattr(part, self.attribute)] = part
        return part

    def is_registered(self, part: object) -> bool:
        """Whether this very class is the one of its name; a class derived from it is not."""
        name = getattr(part, self.attribute, None)
        return isinstance(name, str) and name in self and self[name] is part

    def _reason_against(self, part: object) -> str | None:
        """Why a class cannot be taken in, as the end of a sentence; None if it can."""
        if not isinstance(part, type) or not issubclass(part, self.base):
            return f"it must be a class derived from {self.base.__name__}"
        if inspect.isabstract(part):
            return f"it must define {', '.join(sorted(getattr(part, '__abstractmethods__', ())))}"
        name = getattr(part, self.attribute, None)
        if not isinstance(name, str) or not name.isidentifier():
            return f"its {self.attribute} must be a word of letters, digits and underscores, got {shown(name)}"
        known = self._built_in.get(name) or self._others.get(name)
        again = name in self._others and _where(known) == _where(part)  # a cell of a notebook was run once more
        free = known is None or known is part or again
        return None if free else f"the {self.attribute} {name!r} is taken by {_where(known)}"

    def _look_for(self, name: object) -> None:
        if isinstance(name, str) and name not in self._built_in and name not in self._others:
            self._load(name)

    def _entry_points(self) -> dict[str, EntryPoint]:
        """Those that were not loaded yet, by their names."""
        if self._waiting is None:
            self._waiting = {}
            for found in entry_points(group=self.group):
                self._waiting.setdefault(found.name, found)
        return self._waiting

    def _load(self, name: str) -> None:
        """Take in the part behind an entry point, if there is one; one that does not work is a warning, once."""
        entry = self._entry_points().pop(name, None)
        if entry is None:
            return
        try:
            part = entry.load()
        except Exception as error:  # whatever somebody else's module does when it is imported
            self._warn(entry, f"it cannot be imported ({type(error).__name__}: {' '.join(str(error).split())})")
            return
        reason = self._reason_against(part)
        if reason is None and getattr(part, self.attribute) != name:
            reason = f"its {self.attribute} is {getattr(part, self.attribute)!r}, not that of the entry point"
        if reason is not None:
            self._warn(entry, reason)
            return
        self._others[name] = part

    def _warn(self, entry: EntryPoint, reason: str) -> None:
        source = "" if entry.dist is None else f" of {entry.dist.name} {entry.dist.version}"
        warnings.warn(
            f"The {self.what} {entry.name!r}{source} ({entry.value}) is left out: {reason}.",
            PluginWarning,
            stacklevel=2,
        )


def register(part: Class) -> Class:
    """Make a class of your own known under its name: a kernel, channel, learner, query rule or kernel family.

    What is known can be named on the command line and in `make_channel`, is listed, and can be saved and opened again wherever
    the class is registered. Returns the class, so that `@fewsight.register` can stand above it. See docs/extending.md.

    Parameters
    ----------
    part : a class derived from `Kernel`, `Channel`, `Learner`, `QueryRule` or `KernelFamily` that says its name.
    """
    for registry in _REGISTRIES:
        if isinstance(part, type) and issubclass(part, registry.base):
            return registry.register(part)
    listed = ", ".join(registry.base.__name__ for registry in _REGISTRIES)
    raise InvalidInput(
        f"register: part must be a class derived from one of {listed or 'the base classes'}, got {shown(part)}."
    )


def _where(part: object) -> str:
    """A class as a sentence names it."""
    return f"{part.__module__}.{part.__qualname__}" if isinstance(part, type) else shown(part)
