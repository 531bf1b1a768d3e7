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
class NumberTypes:
    """Several types that an array may have."""

    words: str
    types: tuple[np.dtype[Any], ...]


INTEGERS = NumberTypes("whole numbers", tuple(map(np.dtype, ("i4", "i8", "i1", "i2", "u1", "u2", "u4"))))  # in int64
NUMBERS = NumberTypes("numbers", (*map(np.dtype, ("f8", "f4", "f2")), *INTEGERS.types))


@dataclass(frozen=True)
class State:
    """A JSON-able header and named arrays, no code.

    `header` and `arrays` are for who writes one; who reads one asks for each entry with `array`, `number` and the like, each of
    which raises an InvalidInput that names the entry, what it must be and what it was.

    Parameters
    ----------
    header : whatever JSON can hold, by name.
    arrays : arrays of numbers of any shape, by name.
    """

    header: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]
    _read: set[str] = field(default_factory=set, repr=False, compare=False)
    _path: str = field(default="", repr=False, compare=False)  # of a nested part: the names it lies under

    def nested(self, name: str) -> State:
        """The part that `join` stored under this name.

        Parameters
        ----------
        name : the name of the part.
        """
        header = self._value(name)
        if not isinstance(header, dict):
            raise InvalidInput(f"the stored {self._path}{name} must be an object, got {shown(header)}.")
        prefix = name + "/"
        arrays = {key[len(prefix) :]: value for key, value in self.arrays.items() if key.startswith(prefix)}
        return State(header, arrays, self._read, self._path + prefix)

    def join(self, name: str, part: State) -> State:
        """This state with another one inside it, under a name.

        Parameters
        ----------
        name : the name of the part, without a slash.
        part : a state of its own.
        """
        arrays = {f"{name}/{key}": value for key, value in part.arrays.items()}
        return State({**self.header, name: part.header}, {**self.arrays, **arrays})

    def __contains__(self, name: str) -> bool:
        """Whether there is an array or a header entry of this name."""
        return name in self.arrays or name in self.header

    def array(
        self,
        name: str,
        shape: Shape,
        dtype: npt.DTypeLike | NumberTypes,
        *,
        least: float = -LARGEST,
        most: float = LARGEST,
        above: float | None = None,
    ) -> npt.NDArray[Any]:
        """The array of this name: of this shape and type, finite, from `least` to `most`, and greater than `above`.

        `dtype` may be INTEGERS or NUMBERS; the array then keeps its own.

        Parameters
        ----------
        name : the name of the array.
        shape : its length in each dimension; None where any will do.
        dtype : its type, or several that will do.
        least : the least value it may hold.
        most : the greatest value it may hold.
        above : a number below all values; None for no such bound.

        Returns
        -------
        array of that shape
            Checked, and read-only where it comes from a file.
        """
        found = self.arrays.get(name)
        types = dtype.types if isinstance(dtype, NumberTypes) else (np.dtype(dtype),)
        fitting = [each for each in types if found is not None and np.can_cast(found.dtype, each, "equiv")]
        if found is None or not _has_shape(found, shape) or not fitting:
            was = "nothing" if found is None else f"{found.dtype} of shape {_listed(found.shape)}"
            wanted = f"{dtype.words if isinstance(dtype, NumberTypes) else types[0]} of shape {_listed(shape)}"
            raise InvalidInput(f"the stored array {self._path}{name} must be {wanted}, got {was}.")
        found = found.astype(fitting[0], copy=False)
        self._check_range(name, found, least, most, above)
        self._read.add(self._path + name)
        return found

    def number(self, name: str, *, least: float = -LARGEST, most: float = LARGEST) -> float:
        """The number of this name, from `least` to `most`.

        Parameters
        ----------
        name : the name of the entry.
        least : the least it may be.
        most : the greatest it may be.
        """
        return check_number(self._owner, name, self._value(name), least=least, most=most)

    def number_or_none(self, name: str, *, least: float = -LARGEST, most: float = LARGEST) -> float | None:
        """As `number`; None where the file says that there is none.

        Parameters
        ----------
        name : the name of the entry.
        least : the least it may be.
        most : the greatest it may be.
        """
        return None if self._value(name) is None else self.number(name, least=least, most=most)

    def numbers(
        self, name: str, count: int | None = None, *, least: float = -LARGEST, most: float = LARGEST
    ) -> tuple[float, ...]:
        """The list of `count` numbers of this name, each from `least` to `most`.

        Parameters
        ----------
        name : the name of the entry.
        count : how many there must be; None for any number.
        least : the least each may be.
        most : the greatest each may be.
        """
        values = self._list(name, count)
        return tuple(check_number(self._owner, name, value, least=least, most=most) for value in values)

    def integer(self, name: str, *, least: int = 0, most: int) -> int:
        """The whole number of this name, from `least` to `most`.

        Parameters
        ----------
        name : the name of the entry.
        least : the least it may be.
        most : the greatest it may be.
        """
        return check_integer(self._owner, name, self._value(name), least=least, most=most)

    def choice(self, name: str, choices: Collection[str]) -> str:
        """The word of this name, one of a few.

        Parameters
        ----------
        name : the name of the entry.
        choices : the words it may be.
        """
        return check_choice(self._owner, name, self._value(name), choices)

    def flag(self, name: str) -> bool:
        """True or false.

        Parameters
        ----------
        name : the name of the entry.
        """
        value = self._value(name)
        if not isinstance(value, bool):
            raise InvalidInput(f"{self._owner}: {name} must be true or false, got {shown(value)}.")
        return value

    def rows(self, name: str, width: int) -> list[tuple[float, ...]]:
        """The list of lists of this name, each of `width` numbers.

        Parameters
        ----------
        name : the name of the entry.
        width : how many numbers each list must have.
        """
        rows = self._list(name, None)
        if not all(isinstance(row, list) and len(row) == width for row in rows):
            raise InvalidInput(f"{self._owner}: {name} must be lists of {width} numbers, got {shown(rows)}.")
        return [
            tuple(check_number(self._owner, name, value, least=-LARGEST, most=LARGEST) for value in row) for row in rows
        ]

    def unread(self) -> list[str]:
        """The arrays that nobody has asked for with `array`, here or in a nested part."""
        return sorted(name for name in self.arrays if self._path + name not in self._read)

    def check_all_read(self) -> None:
        """Raise if there is an array that nobody has asked for with `array`: whoever is stored checks all that is there."""
        unread = self.unread()
        if unread:
            raise InvalidInput(f"the stored array {self._path}{unread[0]} is read by nobody, or not with State.array.")

    def text(self, name: str) -> str:
        """The text of this name.

        Parameters
        ----------
        name : the name of the entry.
        """
        value = self._value(name)
        if not isinstance(value, str):
            raise InvalidInput(f"{self._owner}: {name} must be a text, got {shown(value)}.")
        return value

    def parts(self, name: str, *, most: int) -> Iterator[State]:
        """The nested parts `name0`, `name1` ..., as many as the header's `n_names` says.

        Parameters
        ----------
        name : the name of the parts.
        most : how many there may be.
        """
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
        low, high = found.min().item(), found.max().item()  # NaN if there is one
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
