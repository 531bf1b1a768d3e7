"""Eight float64 numbers as one value, for loops over several right-hand sides.

numba leaves a short inner loop scalar, which makes eight columns slower than eight times one. A value of this type is a vector
of the processor (or several: the compiler splits it), so it can be summed in registers. Places in arrays are counted in
numbers, unsigned, and not checked.

numba's cache watches the file of the calling loop only: after a change here, delete the `__pycache__` beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.base import BaseContext
from numba.core.datamodel import DataModelManager, PrimitiveModel, register_default
from numba.core.typing import Context as TypingContext
from numba.core.typing import Signature
from numba.extending import intrinsic

from fewsight._base.types import Array

LANES = 8
PAGE = 512  # numbers
SKEW = 32  # rows, half a page
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)

Values: TypeAlias = Sequence[ir.Value]
Emit: TypeAlias = Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]
Typed: TypeAlias = tuple[Signature, Callable[[BaseContext, ir.IRBuilder, Signature, Values], ir.Value]]


class LanesType(types.Type):
    """numba's name for LANES numbers."""

    def __init__(self) -> None:
        super().__init__(name=f"Lanes({LANES})")


lanes_type = LanesType()


@register_default(LanesType)
class _LanesModel(PrimitiveModel):
    def __init__(self, manager: DataModelManager, fe_type: types.Type) -> None:
        super().__init__(manager, fe_type, _VECTOR)


def _broadcast(builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
    first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(_VECTOR, ir.Undefined), zeros)


def _pointer(
    context: BaseContext, builder: ir.IRBuilder, array_type: types.Type, array: ir.Value, place: ir.Value
) -> ir.Value:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


def _binary(emit: Emit) -> Callable[[Array, Array], Array]:
    """A function of two lanes, number by number."""

    def typed(typing_context: TypingContext, a: types.Type, b: types.Type) -> Typed:
        def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
            return emit(builder, *arguments)

        return lanes_type(lanes_type, lanes_type), generate

    return intrinsic(typed)


def _smaller(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


add = _binary(lambda builder, a, b: builder.fadd(a, b))
subtract = _binary(lambda builder, a, b: builder.fsub(a, b))
multiply = _binary(lambda builder, a, b: builder.fmul(a, b))
minimum = _binary(_smaller)


@intrinsic
def fill(typing_context: TypingContext, number: types.Type) -> Typed:
    """One number in every lane."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        return _broadcast(builder, arguments[0])

    return lanes_type(types.float64), generate


@intrinsic
def multiply_add(typing_context: TypingContext, number: types.Type, a: types.Type, b: types.Type) -> Typed:
    """number * a + b, rounded once."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        number, a, b = arguments
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")
        return builder.call(fma, [_broadcast(builder, number), a, b])

    return lanes_type(types.float64, lanes_type, lanes_type), generate


@intrinsic
def add_where(typing_context: TypingContext, a: types.Type, b: types.Type, bits: types.Type) -> Typed:
    """a + b in the lanes whose bit is set, a in the others; the least bit is the first lane's."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        a, b, bits = arguments
        lanes = builder.bitcast(bits, ir.VectorType(ir.IntType(1), LANES))
        return builder.select(lanes, builder.fadd(a, b), a)

    return lanes_type(lanes_type, lanes_type, types.uint8), generate


@intrinsic
def load(typing_context: TypingContext, array: types.Type, place: types.Type) -> Typed:
    """The LANES numbers of a flat, contiguous array that begin at a place."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        return builder.load(_pointer(context, builder, signature.args[0], *arguments), align=8)

    return lanes_type(array, types.uint64), generate


@intrinsic
def store(typing_context: TypingContext, array: types.Type, place: types.Type, a: types.Type) -> Typed:
    """Write LANES numbers to where `load` would read them."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        array, place, a = arguments
        builder.store(a, _pointer(context, builder, signature.args[0], array, place), align=8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, lanes_type), generate


@intrinsic
def fetch(typing_context: TypingContext, array: types.Type, place: types.Type) -> Typed:
    """Have the processor bring the line of the cache with this number; nothing waits for it."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
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
