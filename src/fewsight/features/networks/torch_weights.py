"""Weights in the file format of torch before 1.6, read without torch and without running anything the file names.

The format is a few pickles, then the raw numbers of each storage. The unpickler here knows an ordered dictionary, "a tensor is a
part of a storage", and the names of storage types; any other name in the file is refused before it is looked up.
"""

from __future__ import annotations

import io
import math
import pickle
from collections import OrderedDict
from typing import BinaryIO

import numpy as np

from fewsight._base.errors import InvalidInput

MAGIC = 0x1950A86A20F9469CFC6C
PROTOCOL = 1001
MOST_BYTES = 2**30
_TYPES = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "HalfStorage": "<f2",
}


def read_torch_weights(content: bytes, name: str) -> dict[str, np.ndarray]:
    """The tensors of a state dictionary by their names; `name` is what an error calls the file."""
    if len(content) > MOST_BYTES:
        raise InvalidInput(f"{name}: weights must take at most {MOST_BYTES:,} bytes, got {len(content):,}.")
    try:
        return _read(io.BytesIO(content))
    except Exception as error:  # a stranger's bytes: UnpicklingError, EOFError, KeyError, TypeError ...
        raise InvalidInput(
            f"{name}: the weights must be a state dictionary of torch, got a file that is not one ({error})."
        ) from None


def _read(file: BinaryIO) -> dict[str, np.ndarray]:
    if _Unpickler(file).load() != MAGIC or _Unpickler(file).load() != PROTOCOL:
        raise pickle.UnpicklingError("another format")
    _Unpickler(file).load()  # byte order and sizes of the machine that wrote it
    main = _Unpickler(file)
    tensors = main.load()
    if not isinstance(tensors, dict) or not all(isinstance(tensor, _Tensor) for tensor in tensors.values()):
        raise pickle.UnpicklingError("something else than tensors")
    storages = {key: _storage(file, main.storages[key]) for key in _Unpickler(file).load()}
    return {str(name): tensor.of(storages) for name, tensor in tensors.items()}


def _storage(file: BinaryIO, kind: tuple[str, int]) -> np.ndarray:
    form, n = kind
    claimed = int.from_bytes(file.read(8), "little")
    if claimed != n:
        raise pickle.UnpicklingError("a storage of another length")
    return np.frombuffer(file.read(n * np.dtype(form).itemsize), dtype=form, count=n)


class _Tensor:
    """A part of a storage that is read later."""

    def __init__(
        self, key: str, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: bool | OrderedDict
    ) -> None:
        self.key, self.offset, self.shape, self.strides = key, offset, shape, strides

    def of(self, storages: dict[str, np.ndarray]) -> np.ndarray:
        """A copy, axis by axis as the strides say; none of them leads out of the storage."""
        storage = storages[self.key]
        last = self.offset + sum((side - 1) * stride for side, stride in zip(self.shape, self.strides, strict=True))
        if (
            math.prod(self.shape) > len(storage)
            or min(self.shape, default=1) < 1
            or min(self.strides, default=1) < 0
            or not 0 <= self.offset <= last < len(storage)
        ):
            raise pickle.UnpicklingError("a tensor outside its storage")
        steps = tuple(stride * storage.itemsize for stride in self.strides)
        return np.lib.stride_tricks.as_strided(storage[self.offset :], self.shape, steps, writeable=False).copy()


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self.storages: dict[str, tuple[str, int]] = {}

    def find_class(self, module: str, name: str) -> type | str:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _Tensor
        if module == "torch" and name in _TYPES:
            return _TYPES[name]
        raise pickle.UnpicklingError(f"it names {module}.{name}")

    def persistent_load(self, pid: tuple[str, str, str, str, int, None]) -> str:
        kind, form, key, _, n, view = pid
        if kind != "storage" or view is not None or form not in _TYPES.values():
            raise pickle.UnpicklingError("a storage of an unknown kind")
        self.storages[str(key)] = (form, int(n))
        return str(key)
