"""Running an ONNX file with onnxruntime on the CPU, within bounds: one thread, so much memory, so long for one image."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import re
import threading
from types import ModuleType
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from fewsight._base.errors import InvalidInput
from fewsight.features.networks.onnx_file import OnnxFile

MOST_MEMORY = 4 * 2**30  # bytes, of all networks of the process together
MOST_SECONDS = 120.0  # for one image
_NOISE = re.compile(r"\[ONNXRuntimeError\] : \d+ : \w+ : |/onnxruntime_src/\S+ |\[[a-z]*:[^\]]*\] ?")
GET_ONNX = "pip install 'fewsight[onnx]'"


class SessionOptions(Protocol):
    """onnxruntime's, as far as they are set here."""

    intra_op_num_threads: int
    inter_op_num_threads: int
    log_severity_level: int

    def add_session_config_entry(self, name: str, value: str) -> None:
        """Set one of its named settings."""


def onnxruntime_is_there() -> bool:
    """Whether onnxruntime is installed; it is not imported for that."""
    return importlib.util.find_spec("onnxruntime") is not None


@final
class Session:
    """A network that is ready to run. Several threads may run it at once; each image is one thread's."""

    def __init__(self, file: OnnxFile, output: str) -> None:
        self._name, self._input, self._output = file.name, file.graph.inputs[0].name, output
        runtime = _onnxruntime(file.name)
        self._runtime = runtime
        try:
            source, options = file.path or file.content, _options(runtime)
            # Without a fallback: the library would print that it tries the same once more.
            self._session = runtime.InferenceSession(
                source, options, providers=["CPUExecutionProvider"], enable_fallback=0
            )
        except Exception as error:  # the library's own kinds, one for each way a file can be wrong
            raise InvalidInput(f"{file.name}: onnxruntime must be able to load it, got {_reason(error)}.") from None

    def run(self, tensor: npt.NDArray[Any], image: str) -> npt.NDArray[Any]:
        """The output for one prepared image; `image` is what an error calls it."""
        options = self._runtime.RunOptions()
        options.log_severity_level = 4
        timer = threading.Timer(MOST_SECONDS, functools.partial(setattr, options, "terminate", True))
        timer.daemon = True
        timer.start()
        try:
            (found,) = self._session.run([self._output], {self._input: tensor}, options)
        except Exception as error:
            raise InvalidInput(f"{self._name}: the network must run on {image}, got {_reason(error)}.") from None
        finally:
            timer.cancel()
        return np.asarray(found)


def _onnxruntime(who: str) -> ModuleType:
    try:
        runtime = importlib.import_module("onnxruntime")
    except ImportError:
        raise InvalidInput(f"{who}: needs onnxruntime, which is not installed; {GET_ONNX}.") from None
    _bound_memory(runtime)
    return runtime


@functools.cache
def _bound_memory(runtime: ModuleType) -> None:
    """One allocator for all sessions of the process, that gives no more than MOST_MEMORY."""
    kinds = runtime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, runtime.OrtMemType.DEFAULT
    place = runtime.OrtMemoryInfo("Cpu", kinds[0], 0, kinds[1])
    bounds = runtime.OrtArenaCfg({"max_mem": MOST_MEMORY, "arena_extend_strategy": 1})
    with contextlib.suppress(Exception):  # somebody else in this process has registered one: theirs holds
        runtime.create_and_register_allocator(place, bounds)


def _options(runtime: ModuleType) -> SessionOptions:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # images are the pieces of parallel work
    options.log_severity_level = 4  # what goes wrong arrives as an exception
    options.add_session_config_entry("session.use_env_allocators", "1")
    return options


def _reason(error: Exception) -> str:
    """The library's message, short, on one line, without its numbers and source files."""
    text = " ".join(str(error).split()) or type(error).__name__
    text = _NOISE.sub("", text)
    return (text if len(text) <= 200 else text[:197] + "...").rstrip(".")
