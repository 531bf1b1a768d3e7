"""Reading a file of weights without running what is in it."""

import io
import os
import pickle
import struct
from collections import OrderedDict
from typing import ClassVar

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.features.networks.torch_weights import MAGIC, PROTOCOL, read_torch_weights


class Named:
    """Something that is pickled by its module and name."""

    def __init__(self, module, name):
        self.module, self.name = module, name


class Part:
    def __init__(self, *arguments):
        self.arguments = arguments


class Writer(pickle._Pickler):
    dispatch: ClassVar = dict(pickle._Pickler.dispatch)

    def persistent_id(self, obj):
        return obj.arguments if isinstance(obj, Part) and obj.arguments[0] == "storage" else None

    def save_named(self, obj):
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())

    def save_tensor(self, obj):
        self.save_reduce(Named("torch._utils", "_rebuild_tensor_v2"), obj.arguments[1:])

    def save_reduce(self, func, args, *rest, **options):
        if isinstance(func, Named):
            self.save_named(func)
            self.save(args)
            self.write(pickle.REDUCE)
        else:
            super().save_reduce(func, args, *rest, **options)

    dispatch[Named] = save_named
    dispatch[Part] = save_tensor


def pickled(obj):
    stream = io.BytesIO()
    Writer(stream, protocol=2).dump(obj)
    return stream.getvalue()


def weights_file(values, *, shape=None, strides=None, offset=0, kind="FloatStorage", claimed=None, extra=None):
    storage = Part("storage", Named("torch", kind), "7", "cpu", claimed or values.size, None)
    shape = values.shape if shape is None else shape
    strides = tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))) if strides is None else strides
    tensor = Part("tensor", storage, offset, shape, strides, False, OrderedDict())
    state = {"layer.weight": tensor} if extra is None else {"layer.weight": tensor, "extra": extra}
    head = b"".join(pickled(part) for part in (MAGIC, PROTOCOL, {"little_endian": True}, state, ["7"]))
    return head + struct.pack("<q", values.size) + values.tobytes()


VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_tensors_come_back_also_with_their_axes_exchanged():
    np.testing.assert_array_equal(read_torch_weights(weights_file(VALUES), "w")["layer.weight"], VALUES)
    turned = weights_file(VALUES, shape=(3, 2), strides=(1, 3))
    np.testing.assert_array_equal(read_torch_weights(turned, "w")["layer.weight"], VALUES.T)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (weights_file(VALUES, extra=Named("os", "system")), "it names os.system"),
        (weights_file(VALUES, extra=Named("builtins", "eval")), "it names builtins.eval"),
        (weights_file(VALUES, kind="Module"), "it names torch.Module"),
        (weights_file(VALUES, offset=5), "a tensor outside its storage"),
        (weights_file(VALUES, offset=-1), "a tensor outside its storage"),
        (weights_file(VALUES, shape=(10**9, 10**9), strides=(0, 0)), "a tensor outside its storage"),
        (weights_file(VALUES, strides=(-3, 1)), "a tensor outside its storage"),
        (weights_file(VALUES, claimed=10**12), "a storage of another length"),
        (weights_file(VALUES, extra=3), "something else than tensors"),
        (weights_file(VALUES)[:-4], "buffer is smaller"),
        (weights_file(VALUES)[:60], ""),
        (pickle.dumps({"a": 1}), "another format"),
        (b"", ""),
        (b"PK\x03\x04 a zip", ""),
    ],
)
def test_any_other_file_is_one_sentence_and_runs_nothing(content, reason):
    with pytest.raises(InvalidInput) as caught:
        read_torch_weights(content, "weights.pth")
    assert str(caught.value).startswith("weights.pth: the weights must be a state dictionary of torch, got a file")
    assert reason in str(caught.value)


def test_a_pickle_that_would_run_a_command_does_not(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)

    for content in (
        pickle.dumps(Evil(), protocol=2),
        pickle.dumps(MAGIC, protocol=2) + pickle.dumps(Evil(), protocol=2),
    ):
        with pytest.raises(InvalidInput, match="it names"):
            read_torch_weights(content, "weights.pth")
    assert not (tmp_path / "made").exists()
