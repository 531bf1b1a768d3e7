"""Kinds of broken, odd and hostile files: what each is, how to make one, and what must become of it.

`KINDS` lists them; `write_hostile_folder` puts one of each among good photographs, in a folder of category folders.
"""

from __future__ import annotations

import io
import os
import pickle
import socket
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from hostile_commands import modes_count
from PIL import Image as Pillow
from PIL import PngImagePlugin

from fewsight.images import sample_set

CATEGORIES = ("brick", "grass", "tissue")
LINKED = "coffee"  # a category whose folder is a link to a folder elsewhere
EMPTY = "nothing"  # a category whose folder is empty
TILES = 4  # good photographs in each category, beside the odd ones

Tile = npt.NDArray[np.uint8]  # (64, 64, 3)
Writer = Callable[[Path, Tile], object]


@dataclass(frozen=True)
class Kind:
    """A file name, and how to write such a file; `reason` is part of why it cannot be used, None if it can.

    `files` are the images it brings, below its name where it is a folder; none if it is to be passed over in silence.
    """

    name: str
    write: Writer
    reason: str | None = None
    files: tuple[str, ...] = ("",)

    @property
    def good(self) -> bool:
        return self.reason is None


@dataclass(frozen=True)
class HostileFolder:
    """What was written, as `fewsight` should find it: paths of good images by category, paths of bad ones with reasons."""

    path: Path
    good: dict[str, list[str]]
    bad: dict[str, str]

    @property
    def n_good(self) -> int:
        return sum(map(len, self.good.values()))


def write_hostile_folder(path: Path) -> HostileFolder:
    """One file of every kind among good photographs, the kinds taking turns in the categories."""
    tiles = tiles_by_category()
    good: dict[str, list[str]] = {}
    for category in (*CATEGORIES, LINKED):
        folder = path / category if category != LINKED else path.with_name(path.name + " elsewhere")
        folder.mkdir(parents=True)
        for number in range(TILES):
            Pillow.fromarray(tiles[category][number]).save(folder / f"tile {number}.png")
        good[category] = [str(path / category / f"tile {number}.png") for number in range(TILES)]
    (path / LINKED).symlink_to(path.with_name(path.name + " elsewhere"), target_is_directory=True)
    (path / EMPTY).mkdir()
    bad = {}
    for number, kind in enumerate(usable_kinds()):
        category = CATEGORIES[number % len(CATEGORIES)]
        place = path / category / kind.name
        kind.write(place, tiles[category][TILES + number // len(CATEGORIES) % 20])
        written = [os.path.join(place, file) if file else str(place) for file in kind.files]
        if kind.reason is None:
            good[category] += written
        else:
            bad.update(dict.fromkeys(written, kind.reason))
    return HostileFolder(path, good, bad)


def tiles_by_category() -> dict[str, list[Tile]]:
    """The tiles of the embedded sample set."""
    tiles: dict[str, list[Tile]] = {}
    samples = sample_set()
    for image, label in zip(samples.images, samples.labels, strict=True):
        tiles.setdefault(label, []).append(np.rint(image.pixels() * 255).astype(np.uint8))
    return tiles


def encoded(image: Pillow.Image | Tile, form: str, **options: Any) -> bytes:
    """An image as the bytes of a file."""
    picture = image if isinstance(image, Pillow.Image) else Pillow.fromarray(image)
    stream = io.BytesIO()
    picture.save(stream, form, **options)
    return stream.getvalue()


def saved(form: str, change: Callable[[Pillow.Image], Pillow.Image] = lambda image: image, **options: Any) -> Writer:
    """Writes the tile in some format, changed beforehand."""
    return lambda path, tile: path.write_bytes(encoded(change(Pillow.fromarray(tile)), form, **options))


def damaged(form: str, damage: Callable[[bytes], bytes], **options: Any) -> Writer:
    """Writes the tile in some format, with its bytes changed afterwards."""
    return lambda path, tile: path.write_bytes(damage(encoded(tile, form, **options)))


def holding(content: bytes) -> Writer:
    """Writes these bytes."""
    return lambda path, tile: path.write_bytes(content)


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def torn(content: bytes) -> bytes:
    """With other bytes in the middle of the pixels, of which libtiff complains on its own."""
    start = len(content) // 2
    return content[:start] + b"\xff" * 64 + content[start + 64 :]


# PNG files that Pillow does not write.


def png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(header: tuple[int, ...], *chunks: tuple[bytes, bytes]) -> bytes:
    """A PNG file with this IHDR (width, height, bits, colour, compression, filter, interlace) and these chunks."""
    parts = [(b"IHDR", struct.pack(">IIBBBBB", *header)), *chunks, (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(*part) for part in parts)


def blank_png(width: int, height: int) -> bytes:
    """A black-and-white page whose pixels are really there, a thousand times smaller than they are."""
    packer = zlib.compressobj(9)
    row = bytes(1 + (width + 7) // 8)
    packed = b"".join(packer.compress(row * min(500, height - start)) for start in range(0, height, 500))
    return png((width, height, 1, 0, 0, 0, 0), (b"IDAT", packed + packer.flush()))


def with_text_bomb(content: bytes) -> bytes:
    """A good PNG file with a compressed comment of 100 megabytes in front of its pixels."""
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(bytes(10**6)) for _ in range(100)) + packer.flush()
    start = len(b"\x89PNG\r\n\x1a\n") + 12 + 13  # after IHDR
    return content[:start] + png_chunk(b"zTXt", b"Comment\0\0" + packed) + content[start:]


def interlaced_png(tile: Tile) -> bytes:
    """Adam7: seven passes, each over a grid of pixels that becomes finer."""
    passes = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
    rows = b""
    for top, left, down, across in passes:
        rows += b"".join(b"\0" + row.tobytes() for row in tile[top::down, left::across])
    height, width = tile.shape[:2]
    return png((width, height, 8, 2, 0, 0, 1), (b"IDAT", zlib.compress(rows)))


def deep_colour_png(tile: Tile) -> bytes:
    rows = b"".join(b"\0" + row.tobytes() for row in tile.astype(">u2") * 257)
    return png((tile.shape[1], tile.shape[0], 16, 2, 0, 0, 0), (b"IDAT", zlib.compress(rows)))


def with_many_scans(content: bytes) -> bytes:
    """A progressive JPEG whose last scan comes 1,000 times: a few kilobytes, and an hour's work if it were large."""
    last = content[content.rindex(b"\xff\xda") : -2]
    return content[:-2] + 1000 * last + content[-2:]


# Other things that a path can lead to.


def write_pipe(path: Path, tile: Tile) -> None:
    os.mkfifo(path)


def write_socket(path: Path, tile: Tile) -> None:
    """Bound under a short name, as sockets must be, and moved."""
    with tempfile.TemporaryDirectory(dir=path.parents[1]) as folder, socket.socket(socket.AF_UNIX) as server:
        before = os.getcwd()
        os.chdir(folder)
        try:
            server.bind("s")
        finally:
            os.chdir(before)
        os.rename(os.path.join(folder, "s"), path)


def link_to(target: str) -> Writer:
    return lambda path, tile: path.symlink_to(target)


def write_linked_file(path: Path, tile: Tile) -> None:
    target = path.parents[1].with_name("linked to.png")
    Pillow.fromarray(tile).save(target)
    path.symlink_to(target)


def write_circle(path: Path, tile: Tile) -> None:
    """A folder that links to its parent: a circle."""
    path.symlink_to("..", target_is_directory=True)


def write_folder(path: Path, tile: Tile) -> None:
    path.mkdir()
    Pillow.fromarray(tile).save(path / "inside.png")


def write_closed_folder(path: Path, tile: Tile) -> None:
    write_folder(path, tile)
    path.chmod(0)


def write_closed(path: Path, tile: Tile) -> None:
    Pillow.fromarray(tile).save(path)
    path.chmod(0)


def write_sparse(path: Path, tile: Tile) -> None:
    """600 megabytes that take no place on the disk."""
    with path.open("wb") as stream:
        stream.write(b"II*\0")
        stream.truncate(600 * 2**20)


def zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("letter.txt", "hello")
    return stream.getvalue()


def turned(image: Pillow.Image) -> Pillow.Image:
    return image.transpose(Pillow.Transpose.ROTATE_90)


def see_through(image: Pillow.Image) -> Pillow.Image:
    image.putalpha(Pillow.linear_gradient("L").resize(image.size))
    return image


def deep(image: Pillow.Image) -> Pillow.Image:
    return Pillow.fromarray(np.asarray(image.convert("L")).astype(np.uint16) * 257)


def floating(image: Pillow.Image) -> Pillow.Image:
    return Pillow.fromarray(np.asarray(image.convert("L"), dtype=np.float32) / 255)


def stretched(width: int, height: int) -> Callable[[Pillow.Image], Pillow.Image]:
    return lambda image: image.resize((width, height))


def frames(form: str, **options: Any) -> Writer:
    """Three frames or pages, of which the first counts."""

    def write(path: Path, tile: Tile) -> None:
        others = [Pillow.fromarray(np.roll(tile, 20 * turn, axis=0)) for turn in (1, 2)]
        path.write_bytes(encoded(tile, form, save_all=True, append_images=others, **options))

    return write


def exif(orientation: int) -> Pillow.Exif:
    data = Pillow.Exif()
    data[0x0112] = orientation
    return data


def comment(text: str) -> PngImagePlugin.PngInfo:
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", text)
    return info


NO_IMAGE = "not an image"
NOT_UTF8 = os.fsdecode(b"caf\xe9 \xff.png")
LONG = "é" * 125 + "x.png"  # 255 bytes
SCRIPT = "<script>alert('x')<\\script>, \"quoted\" & so on.png"
DAMAGED_EXIF = b"Exif\0\0II*\0\x08\0\0\0\xff\xff" + b"\1" * 99

KINDS = (
    # Good, but odd.
    Kind("PNG called.jpg", saved("PNG")),
    Kind("JPEG called.png", saved("JPEG")),
    Kind("JPEG without ending", saved("JPEG")),
    Kind("UPPER.JPG", saved("JPEG")),
    Kind("one pixel.png", saved("PNG", stretched(1, 1))),
    Kind("wide.png", saved("PNG", stretched(4000, 2))),
    Kind("tall.jpg", saved("JPEG", stretched(2, 4000))),
    Kind("16-bit grey.png", saved("PNG", deep)),
    Kind("16-bit grey.tif", saved("TIFF", deep)),
    Kind("16-bit colour.png", lambda path, tile: path.write_bytes(deep_colour_png(tile))),
    Kind("floats.tif", saved("TIFF", floating)),
    Kind("1-bit.png", saved("PNG", lambda image: image.convert("1"))),
    Kind("cmyk.jpg", saved("JPEG", lambda image: image.convert("CMYK"))),
    Kind("palette.png", saved("PNG", lambda image: image.convert("P"), transparency=3)),
    Kind("see-through.png", saved("PNG", see_through)),
    Kind("grey see-through.png", saved("PNG", lambda image: see_through(image).convert("LA"))),
    Kind("animated.gif", frames("GIF")),
    Kind("animated.webp", frames("WEBP")),
    Kind("pages.tif", frames("TIFF", compression="tiff_lzw")),
    Kind("animated.png", frames("PNG")),
    Kind("two eyes.jpg", frames("MPO")),
    Kind("turned.jpg", saved("JPEG", turned, exif=exif(6))),
    Kind("damaged exif.jpg", saved("JPEG", exif=DAMAGED_EXIF)),
    Kind("progressive.jpg", saved("JPEG", progressive=True)),
    Kind("interlaced.png", lambda path, tile: path.write_bytes(interlaced_png(tile))),
    Kind("old.bmp", saved("BMP")),
    Kind("something after the end.jpg", damaged("JPEG", lambda content: content + zipped())),
    Kind("large comment.png", saved("PNG", pnginfo=comment("x" * 500_000))),
    Kind(NOT_UTF8, saved("PNG")),
    Kind(LONG, saved("PNG")),
    Kind("two\nlines\r.png", saved("PNG")),
    Kind(SCRIPT, saved("PNG")),
    Kind("=1+1, [bold]red[red] {} %s \x1b[31m\u202egnp.png", saved("PNG")),
    Kind("-o.png", saved("PNG")),
    Kind("link.png", write_linked_file),
    Kind("a folder.jpg", write_folder, files=("inside.png",)),
    # Bad.
    Kind("two\nlines, broken.png", damaged("PNG", half), "truncated"),
    Kind("truncated.jpg", damaged("JPEG", half), "truncated"),
    Kind("truncated.png", damaged("PNG", half), "truncated"),
    Kind("truncated.webp", damaged("WEBP", half), "damaged"),
    Kind("truncated.gif", damaged("GIF", half), "truncated"),
    Kind("truncated.tif", damaged("TIFF", half), "truncated"),
    Kind("truncated.bmp", damaged("BMP", half), "truncated"),
    Kind("torn.tif", damaged("TIFF", torn, compression="tiff_lzw"), "damaged"),
    Kind("many scans.jpg", damaged("JPEG", with_many_scans, progressive=True), "scans"),
    Kind("flipped.png", damaged("PNG", lambda content: content[:60] + b"\xff" + content[61:]), "damaged"),
    Kind("header only.jpg", damaged("JPEG", lambda content: content[:20]), "damaged"),
    Kind("zero bytes.jpg", holding(b""), "empty file"),
    Kind("only zeros.jpg", holding(bytes(4096)), NO_IMAGE),
    Kind("letter.jpg", holding(b"Dear Madam, the photograph is in the other envelope."), NO_IMAGE),
    Kind("page.jpg", holding(b"<html><body>404 Not Found</body></html>"), NO_IMAGE),
    Kind("drawing.jpg", holding(b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'), NO_IMAGE),
    Kind("document.png", holding(b"%PDF-1.7\n1 0 obj\n<< >>\nendobj\n%%EOF\n"), NO_IMAGE),
    Kind("archive.jpg", holding(zipped()), NO_IMAGE),
    Kind("pickle.png", holding(pickle.dumps({"classes": ["a", "b"]})), NO_IMAGE),
    Kind("phone.jpg", holding(b"\0\0\0\x18ftypheic" + bytes(200)), "HEIC"),
    Kind("bomb that claims.png", holding(png((100_000, 100_000, 8, 2, 0, 0, 0), (b"IDAT", b""))), "10.0 gigapixels"),
    Kind("bomb.png", lambda path, tile: path.write_bytes(blank_png(20_000, 10_500)), "210 megapixels"),
    Kind("small bomb.png", holding(png((14_000, 14_000, 8, 6, 0, 0, 0), (b"IDAT", b""))), "claims 196 megapixels"),
    Kind("comment bomb.png", damaged("PNG", with_text_bomb), "damaged"),
    Kind("no pixels.png", holding(png((0, 0, 8, 2, 0, 0, 0), (b"IDAT", b""))), "damaged"),
    Kind("huge.tif", write_sparse, "600 megabytes"),
    Kind("pipe.jpg", write_pipe, "a pipe"),
    Kind("socket.png", write_socket, "a socket"),
    Kind("device.png", link_to(os.devnull), "a device"),
    Kind("link to nothing.jpg", link_to("gone.jpg"), "a link to a file that is missing"),
    Kind("link to itself.jpg", link_to("link to itself.jpg"), "a link that leads in a circle"),
    Kind("closed.png", write_closed, "permission denied"),
    Kind("closed folder", write_closed_folder, "permission denied"),
    # Passed over.
    Kind(".hidden.png", damaged("PNG", half), files=()),
    Kind("Thumbs.db", holding(b"\xd0\xcf\x11\xe0"), files=()),
    Kind("notes.txt", holding(b"the owl is on page 3"), files=()),
    Kind("unknown ending.xyz", holding(b"?"), files=()),
    Kind("up again", write_circle, files=()),
)


def usable_kinds() -> list[Kind]:
    """All kinds that can be tried here: without closed files where nothing is closed to the program."""
    closed_counts = modes_count()
    return [kind for kind in KINDS if kind.reason != "permission denied" or closed_counts]
