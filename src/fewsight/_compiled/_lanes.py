"""Eight float64 numbers as one value, for loops over several right-hand sides.

numba leaves a short inner loop scalar, which makes eight columns slower than eight times one. A value of this type is a vector
of the processor (or several: the compiler splits it), so it can be summed in registers. Places in arrays are counted in
numbers, unsigned, and not checked.

numba's cache watches the file of the calling loop only: after a change here, delete the `__pycache__` beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import PrimitiveModel, register_default
from numba.extending import intrinsic

from fewsight._base.types import Array

LANES = 8
PAGE = 512  # numbers
SKEW = 32  # rows, half a page
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)


class LanesType(types.Type):
    """numba's name for LANES numbers."""

    def __init__(self) -> None:
        super().__init__(name=f"Lanes({LANES})")


lanes_type = LanesType()


@register_default(LanesType)
class _LanesModel(PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, _VECTOR)


def _broadcast(builder: Any, number: Any) -> Any:
    first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(_VECTOR, ir.Undefined), zeros)


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, place: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


def _binary(emit: Callable[[Any, Any, Any], Any]) -> Any:
    """A function of two lanes, number by number."""

    def typed(typing_context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return emit(builder, *arguments)

        return lanes_type(lanes_type, lanes_type), generate

    return intrinsic(typed)


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


add = _binary(lambda builder, a, b: builder.fadd(a, b))
subtract = _binary(lambda builder, a, b: builder.fsub(a, b))
multiply = _binary(lambda builder, a, b: builder.fmul(a, b))
minimum = _binary(_smaller)


@intrinsic
def fill(typing_context: Any, number: Any) -> Any:
    """One number in every lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _broadcast(builder, arguments[0])

    return lanes_type(types.float64), generate


@intrinsic
def multiply_add(typing_context: Any, number: Any, a: Any, b: Any) -> Any:
    """number * a + b, rounded once."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, a, b = arguments
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")
        return builder.call(fma, [_broadcast(builder, number), a, b])

    return lanes_type(types.float64, lanes_type, lanes_type), generate


@intrinsic
def add_where(typing_context: Any, a: Any, b: Any, bits: Any) -> Any:
    """a + b in the lanes whose bit is set, a in the others; the least bit is the first lane's."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, bits = arguments
        lanes = builder.bitcast(bits, ir.VectorType(ir.IntType(1), LANES))
        return builder.select(lanes, builder.fadd(a, b), a)

    return lanes_type(lanes_type, lanes_type, types.uint8), generate


@intrinsic
def load(typing_context: Any, array: Any, place: Any) -> Any:
    """The LANES numbers of a flat, contiguous array that begin at a place."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(context, builder, signature.args[0], *arguments), align=8)

    return lanes_type(array, types.uint64), generate


@intrinsic
def store(typing_context: Any, array: Any, place: Any, a: Any) -> Any:
    """Write LANES numbers to where `load` would read them."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, place, a = arguments
        builder.store(a, _pointer(context, builder, signature.args[0], array, place), align=8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, lanes_type), generate


@intrinsic
def fetch(typing_context: Any, array: Any, place: Any) -> Any:
    """Have the processor bring the line of the cache with this number; nothing waits for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bytes_type, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        where = builder.bitcast(_pointer(context, builder, signature.args[0], *arguments), bytes_type)
        kind = ir.FunctionType(ir.VoidType(), [bytes_type, flag, flag, flag])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(prefetch, [where, flag(0), flag(3), flag(1)])  # to read, into the nearest cache, data
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate


@numba.njit
def aligned(n: int, skew: int) -> Array:
    """Zeros for n rows of LANES numbers, flat: a row is one line of the cache, and arrays of different skew (below PAGE / LANES)
    start at different places of a page, because the processor takes a read for one of what was just written if these agree.
    """
    raw = np.zeros(n * LANES + PAGE)
    shift = (skew * LANES - raw.ctypes.data // 8) % PAGE
    return raw[shift : shift + n * LANES]


@numba.njit
def aligned_copy(V: Array, skew: int) -> Array:
    """The rows of V like that."""
    copy = aligned(V.shape[0], skew)
    copy[:] = V.reshape(-1)
    return copy
