"""Whether what comes from a model file can be what was written to it.

Zip checksums notice damage. The digest notices what is whole and yet not as it was: two arrays that changed places, a number
edited by hand. It is no signature: who writes a file on purpose can write its digest too, so nothing else relies on it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from fewsight._base.archive import pack
from fewsight._base.checks import LARGEST
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Json, State
from fewsight.images.hashing import hash_of


def with_digest(state: State) -> State:
    """The state with a hash of all of it in its header."""
    return State({**state.header, "digest": _digest(state)}, state.arrays)


def check_digest(state: State) -> None:
    """The digest fits; files from before there was one have none."""
    written = state.header.get("digest")
    if written is not None and written != _digest(state):
        raise InvalidInput("its content does not match its digest")


def check_numbers(state: State) -> None:
    """No number is NaN, infinite or absurdly large: such a model would answer, and mean nothing."""
    _check("its header", _largest(state.header))
    for name, array in state.arrays.items():
        if array.dtype.kind == "f" and array.size:
            _check(f"array {name}", max(abs(float(array.min())), abs(float(array.max()))))  # NaN if there is one


def _check(where: str, size: float) -> None:
    if not math.isfinite(size):
        raise InvalidInput(f"{where} holds NaN or infinity")
    if size > LARGEST:
        raise InvalidInput(f"{where} holds numbers larger than any model's")


def _largest(value: Json) -> float:
    """The largest number, without its sign, inside nested lists and dictionaries; NaN or infinity if there is one."""
    if isinstance(value, (dict, list)):
        sizes = [_largest(part) for part in (value.values() if isinstance(value, dict) else value)]
        return next((size for size in sizes if not math.isfinite(size)), max(sizes, default=0.0))
    if isinstance(value, int):
        return float(abs(value)) if abs(value) <= 10**308 else math.inf  # a whole number may be beyond all floats
    return abs(value) if isinstance(value, float) else 0.0


def _digest(state: State) -> str:
    header = {key: value for key, value in state.header.items() if key != "digest"}
    arrays: dict[str, npt.NDArray[Any]] = {
        name: np.ascontiguousarray(state.arrays[name]) for name in sorted(state.arrays)
    }
    kinds = [[name, array.dtype.str, array.shape] for name, array in arrays.items()]
    contents = (array.reshape(-1).view(np.uint8).data for array in arrays.values())  # of whatever type
    return hash_of(pack({"header": header, "arrays": kinds}), *contents)
