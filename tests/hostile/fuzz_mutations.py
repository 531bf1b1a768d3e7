"""Ways to damage a file: some know nothing of its format, others know its chunks and repair their checksums."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence

import numpy as np

Mutation = Callable[[bytes, np.random.Generator], bytes]

EXTREMES = (0, 1, 2, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 100_000, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1)


def mutated(content: bytes, others: Sequence[bytes], rng: np.random.Generator) -> bytes:
    """The content after one to four random mutations; `others` are what may be spliced in."""
    for _ in range(1 + int(rng.integers(4)) * int(rng.integers(2))):
        kind = int(rng.integers(len(MUTATIONS) + 1))
        if kind == len(MUTATIONS):
            content = splice(content, others[int(rng.integers(len(others)))], rng)
        else:
            content = MUTATIONS[kind](content, rng)
    return content


def flip_bits(content: bytes, rng: np.random.Generator) -> bytes:
    damaged = bytearray(content)
    for _ in range(1 + int(rng.integers(8)) if content else 0):
        damaged[int(rng.integers(len(damaged)))] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def set_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    start, length = _range(content, rng, longest=16)
    value = (b"\0", b"\xff", b"\x80", b"\x7f", bytes([int(rng.integers(256))]))[int(rng.integers(5))]
    return content[:start] + value * length + content[start + length :]


def edit_number(content: bytes, rng: np.random.Generator) -> bytes:
    """An extreme number of two or four bytes, mostly near the beginning, where sizes stand."""
    near = int(rng.integers(2))
    start = int(rng.integers(max(1, min(len(content), 96) if near else len(content))))
    form = ("<H", ">H", "<I", ">I")[int(rng.integers(4))]
    value = EXTREMES[int(rng.integers(len(EXTREMES)))] % (2 ** (8 * struct.calcsize(form)))
    number = struct.pack(form, value)
    return content[:start] + number + content[start + len(number) :]


def nudge_number(content: bytes, rng: np.random.Generator) -> bytes:
    """A byte that becomes a little more or less: lengths that are off by one."""
    if not content:
        return content
    start = int(rng.integers(len(content)))
    return content[:start] + bytes([(content[start] + int(rng.integers(-2, 3))) % 256]) + content[start + 1 :]


def truncate(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(len(content) + 1))]


def insert(content: bytes, rng: np.random.Generator) -> bytes:
    start, _ = _range(content, rng)
    return content[:start] + rng.bytes(1 + int(rng.integers(32))) + content[start:]


def delete(content: bytes, rng: np.random.Generator) -> bytes:
    start, length = _range(content, rng)
    return content[:start] + content[start + length :]


def duplicate(content: bytes, rng: np.random.Generator) -> bytes:
    start, length = _range(content, rng)
    times = (1, 1, 2, 100)[int(rng.integers(4))]
    return content[: start + length] + times * content[start : start + length] + content[start + length :]


def splice(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(len(content) + 1))] + other[int(rng.integers(len(other) + 1)) :]


def change_png_chunk(content: bytes, rng: np.random.Generator) -> bytes:
    """A chunk of a PNG file changed, moved, repeated or dropped, every checksum right."""
    if not content.startswith(b"\x89PNG"):
        return edit_number(content, rng)
    chunks = _png_chunks(content)
    if not chunks:
        return content
    number = int(rng.integers(len(chunks)))
    kind, body = chunks[number]
    way = int(rng.integers(5))
    if way < 2:
        chunks[number] = (kind, (flip_bits, edit_number, truncate, duplicate)[int(rng.integers(4))](body, rng))
    elif way == 2:
        chunks.insert(int(rng.integers(len(chunks) + 1)), (kind, body))
    elif way == 3:
        chunks.insert(int(rng.integers(len(chunks))), chunks.pop(number))
    else:
        del chunks[number]
    return content[:8] + b"".join(_png_chunk(*chunk) for chunk in chunks)


def change_jpeg_segment(content: bytes, rng: np.random.Generator) -> bytes:
    """A segment of a JPEG file repeated, dropped, or with another length."""
    starts = [place for place in range(len(content) - 3) if content[place] == 0xFF and content[place + 1] >= 0xC0]
    if not content.startswith(b"\xff\xd8") or not starts:
        return edit_number(content, rng)
    start = starts[int(rng.integers(len(starts)))]
    length = 2 + int.from_bytes(content[start + 2 : start + 4], "big")
    segment, after = content[start : start + length], content[start + length :]
    way = int(rng.integers(3))
    if way == 0:
        return content[:start] + (1 + int(rng.integers(20))) * segment + after
    if way == 1:
        return content[:start] + after
    wrong = EXTREMES[int(rng.integers(len(EXTREMES)))] % 65536
    return content[: start + 2] + struct.pack(">H", wrong) + content[start + 4 :]


def change_tiff_entry(content: bytes, rng: np.random.Generator) -> bytes:
    """A tag, a type, a count or a value of the first directory of a TIFF file."""
    order = {b"II": "<", b"MM": ">"}.get(content[:2])
    if order is None or len(content) < 16:
        return edit_number(content, rng)
    start = struct.unpack(order + "I", content[4:8])[0]
    if start + 14 > len(content):
        return edit_number(content, rng)
    entries = max(1, struct.unpack(order + "H", content[start : start + 2])[0] % 64)
    offset, form = ((0, "H"), (2, "H"), (4, "I"), (8, "I"))[int(rng.integers(4))]
    place = start + 2 + 12 * int(rng.integers(entries)) + offset
    value = EXTREMES[int(rng.integers(len(EXTREMES)))] if rng.integers(2) else int(rng.integers(0, 2**16))
    number = struct.pack(order + form, value % (2 ** (8 * struct.calcsize(form))))
    return content[:place] + number + content[place + len(number) :]


def _range(content: bytes, rng: np.random.Generator, longest: int = 400) -> tuple[int, int]:
    start = int(rng.integers(len(content) + 1))
    return start, min(len(content) - start, 1 + int(rng.integers(longest)))


def _png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _png_chunks(content: bytes) -> list[tuple[bytes, bytes]]:
    chunks, place = [], 8
    while place + 12 <= len(content):
        length = int.from_bytes(content[place : place + 4], "big")
        if place + 12 + length > len(content):
            break
        chunks.append((content[place + 4 : place + 8], content[place + 8 : place + 8 + length]))
        place += 12 + length
    return chunks


MUTATIONS: tuple[Mutation, ...] = (
    flip_bits,
    set_bytes,
    edit_number,
    edit_number,
    nudge_number,
    truncate,
    insert,
    delete,
    duplicate,
    change_png_chunk,
    change_jpeg_segment,
    change_tiff_entry,
)
