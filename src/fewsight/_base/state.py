"""What an object needs to come back to life, and the one way to read it: every array and number is checked where it is read.

A state may come from a file that was damaged or written by a stranger. So nothing is taken from it as it is: who reads an
array says which shape, type and range it must have. `unread` names what nobody has read that way; opening a model file
refuses such arrays, so that a class which forgets to check one cannot be loaded at all.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import LARGEST, check_choice, check_integer, check_number, shown
from fewsight._base.errors import InvalidInput

Shape = Sequence[int | None]  # None where any length will do


@dataclass(frozen=True)
class State:
    """A JSON-able header and named arrays, no code.

    `header` and `arrays` are for who writes one; who reads one asks for each entry with `array`, `number` and the like, each of
    which raises an InvalidInput that names the entry, what it must be and what it was.
    """

    header: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]
    _read: set[str] = field(default_factory=set, repr=False, compare=False)
    _path: str = field(default="", repr=False, compare=False)  # of a nested part: the names it lies under

    def nested(self, name: str) -> State:
        """The part that `join` stored under this name."""
        header = self._value(name)
        if not isinstance(header, dict):
            raise InvalidInput(f"the stored {self._path}{name} must be an object, got {shown(header)}.")
        prefix = name + "/"
        arrays = {key[len(prefix) :]: value for key, value in self.arrays.items() if key.startswith(prefix)}
        return State(header, arrays, self._read, self._path + prefix)

    def join(self, name: str, part: State) -> State:
        """This state with another one inside it, under a name."""
        arrays = {f"{name}/{key}": value for key, value in part.arrays.items()}
        return State({**self.header, name: part.header}, {**self.arrays, **arrays})

    def __contains__(self, name: str) -> bool:
        """Whether there is an array or a header entry of this name."""
        return name in self.arrays or name in self.header

    def array(
        self,
        name: str,
        shape: Shape,
        dtype: npt.DTypeLike,
        *,
        least: float = -LARGEST,
        most: float = LARGEST,
        above: float | None = None,
    ) -> npt.NDArray[Any]:
        """The array of this name: of this shape and type, finite, from `least` to `most`, and greater than `above`."""
        found = self.arrays.get(name)
        wanted = np.dtype(dtype)
        if found is None or not _has_shape(found, shape) or not np.can_cast(found.dtype, wanted, "equiv"):
            was = "nothing" if found is None else f"{found.dtype} of shape {_listed(found.shape)}"
            raise InvalidInput(
                f"the stored array {self._path}{name} must be {wanted} of shape {_listed(shape)}, got {was}."
            )
        found = found.astype(wanted, copy=False)
        self._check_range(name, found, least, most, above)
        self._read.add(self._path + name)
        return found

    def number(self, name: str, *, least: float = -LARGEST, most: float = LARGEST) -> float:
        """The number of this name, from `least` to `most`."""
        return check_number(self._owner, name, self._value(name), least=least, most=most)

    def numbers(
        self, name: str, count: int | None = None, *, least: float = -LARGEST, most: float = LARGEST
    ) -> tuple[float, ...]:
        """The list of so many numbers of this name, each from `least` to `most`."""
        values = self._list(name, count)
        return tuple(check_number(self._owner, name, value, least=least, most=most) for value in values)

    def integer(self, name: str, *, least: int = 0, most: int) -> int:
        """The whole number of this name, from `least` to `most`."""
        return check_integer(self._owner, name, self._value(name), least=least, most=most)

    def choice(self, name: str, choices: Collection[str]) -> str:
        """The word of this name, one of a few."""
        return check_choice(self._owner, name, self._value(name), choices)

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self._value(name)
        if not isinstance(value, bool):
            raise InvalidInput(f"{self._owner}: {name} must be true or false, got {shown(value)}.")
        return value

    def rows(self, name: str, width: int) -> list[tuple[float, ...]]:
        """The list of lists of so many numbers of this name."""
        rows = self._list(name, None)
        if not all(isinstance(row, list) and len(row) == width for row in rows):
            raise InvalidInput(f"{self._owner}: {name} must be lists of {width} numbers, got {shown(rows)}.")
        return [
            tuple(check_number(self._owner, name, value, least=-LARGEST, most=LARGEST) for value in row) for row in rows
        ]

    def unread(self) -> list[str]:
        """The arrays that nobody has asked for with `array`, here or in a nested part."""
        return sorted(name for name in self.arrays if self._path + name not in self._read)

    def parts(self, name: str, *, most: int) -> Iterator[State]:
        """The nested parts `name0`, `name1` ..., as many as the header's `n_names` says."""
        for number in range(self.integer(f"n_{name}s", least=1, most=most)):
            yield self.nested(f"{name}{number}")

    @property
    def _owner(self) -> str:
        return f"the stored {self._path.rstrip('/') or 'file'}"

    def _value(self, name: str) -> Any:
        if name not in self.header:
            raise InvalidInput(f"{self._owner}: {name} is missing.")
        return self.header[name]

    def _list(self, name: str, count: int | None) -> list[Any]:
        values = self._value(name)
        if not isinstance(values, list) or (count is not None and len(values) != count):
            wanted = "a list" if count is None else f"a list of {count}"
            raise InvalidInput(f"{self._owner}: {name} must be {wanted}, got {shown(values)}.")
        return values

    def _check_range(self, name: str, found: npt.NDArray[Any], least: float, most: float, above: float | None) -> None:
        if found.dtype.kind not in "fiu" or not found.size:
            return
        low, high = found.min(), found.max()  # NaN if there is one
        if not (least <= low and high <= most) or (above is not None and not low > above):
            wanted = f"from {least:g} to {most:g}" if above is None else f"above {above:g} and at most {most:g}"
            what = "NaN" if math.isnan(low) else f"{low:g} to {high:g}"
            raise InvalidInput(f"the stored array {self._path}{name} must hold numbers {wanted}, got {what}.")


def _has_shape(array: npt.NDArray[Any], shape: Shape) -> bool:
    return array.ndim == len(shape) and all(
        want is None or want == side for want, side in zip(shape, array.shape, strict=True)
    )


def _listed(shape: Shape) -> str:
    return " x ".join("any" if side is None else f"{side:,}" for side in shape) or "one number"
