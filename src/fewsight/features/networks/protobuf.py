"""The wire format of Protocol Buffers, as much of it as ONNX files need: fields in, bytes out, and back.

A message is a sequence of fields; a field is its number, its wire type and a value. Reading never trusts a length: what reaches
past its message is damaged, and nothing is copied that was not asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
LONGEST_VARINT = 10  # bytes of a 64-bit number


class Damaged(ValueError):
    """The bytes are no message."""


@final
@dataclass(frozen=True)
class Field:
    """One field of a message. A number in `number_value`, anything else in `content`."""

    number: int
    wire: int
    number_value: int
    content: memoryview

    @property
    def text(self) -> str:
        return bytes(self.content).decode("utf-8", "replace")

    @property
    def signed(self) -> int:
        """The number as a 64-bit integer with sign."""
        return self.number_value - (1 << 64) if self.number_value >> 63 else self.number_value


def fields(message: bytes | memoryview) -> Iterator[Field]:
    """The fields of a message, in order. Raises Damaged."""
    view = memoryview(message)
    position = 0
    while position < len(view):
        tag, position = _read_varint(view, position)
        number, wire = tag >> 3, tag & 7
        value, length = 0, 0
        if wire == VARINT:
            value, position = _read_varint(view, position)
        elif wire == BYTES:
            length, position = _read_varint(view, position)
        elif wire in (FIXED32, FIXED64):
            length = 4 if wire == FIXED32 else 8
        else:
            raise Damaged(f"a field of wire type {wire}")
        if number == 0 or position + length > len(view):
            raise Damaged("a field that reaches past its message")
        yield Field(number, wire, value, view[position : position + length])
        position += length


def _read_varint(view: memoryview, position: int) -> tuple[int, int]:
    value = 0
    for index in range(LONGEST_VARINT):
        if position + index >= len(view):
            break
        byte = view[position + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value & (1 << 64) - 1, position + index + 1
    raise Damaged("a number without an end")


def integer(number: int, value: int) -> bytes:
    """A field with an integer; negative ones as 64 bits."""
    return _varint(number << 3 | VARINT) + _varint(value & (1 << 64) - 1)


def content(number: int, value: bytes | str) -> bytes:
    """A field with bytes, a text or a message."""
    payload = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | BYTES) + _varint(len(payload)) + payload


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
