"""Whatever a path leads to, the answer is pixels or an UnreadableImage with a plain reason: no crash, no waiting."""

from __future__ import annotations

import io
import os
import socket
import struct
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PIL import Image as Pillow

from fewsight.images import ImageFile, UnreadableImage, read_pixels
from fewsight.images import files as files_module
from fewsight.images.files import printable
from fewsight.images.reading import decode
from image_bytes import encoded

FORMS = ("JPEG", "PNG", "TIFF", "BMP", "WEBP", "GIF")


def reason_for(path: Path | str) -> str:
    with pytest.raises(UnreadableImage) as caught:
        read_pixels(path)
    with pytest.raises(UnreadableImage) as of_hash:
        ImageFile(path).pixels()
    assert of_hash.value.reason == caught.value.reason
    str(caught.value).encode()  # printable
    return caught.value.reason


def png_that_claims(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def test_what_is_not_a_file_is_named_and_never_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    assert reason_for(tmp_path / "pipe.jpg") == "a pipe, not a file"
    assert reason_for(tmp_path) == "a folder, not a file"
    assert reason_for("/dev/zero") == "a device, not a file"
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert reason_for("s") == "a socket, not a file"


def test_a_file_that_becomes_a_pipe_after_the_look_at_it_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    (tmp_path / "file.jpg").write_bytes(encoded("JPEG"))
    status = os.stat(tmp_path / "file.jpg")
    monkeypatch.setattr(files_module.os, "stat", lambda path: status)
    with pytest.raises(UnreadableImage):
        read_pixels(tmp_path / "pipe.jpg")


def test_missing_files_and_links_that_lead_nowhere_are_told_apart(tmp_path: Path) -> None:
    assert reason_for(tmp_path / "none.jpg") == "no such file"
    (tmp_path / "a.jpg").symlink_to(tmp_path / "b.jpg")
    assert reason_for(tmp_path / "a.jpg") == "a link to a file that is missing"
    (tmp_path / "b.jpg").symlink_to(tmp_path / "a.jpg")
    assert reason_for(tmp_path / "a.jpg") == "a link that leads in a circle"
    assert reason_for(tmp_path / ("x" * 300 + ".jpg")) == "the name is too long"
    assert reason_for("a\0b.jpg") == "no such file"
    (tmp_path / "file").write_bytes(b"x")
    assert reason_for(tmp_path / "file" / "a.jpg") == "no such file"


def test_a_file_that_may_not_be_read_says_permission_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(encoded("JPEG"))

    def refuse(*_: Any) -> int:
        raise PermissionError(13, "Permission denied")  # file modes do not stop the administrator, so simulated

    monkeypatch.setattr(files_module.os, "open", refuse)
    assert reason_for(path) == "permission denied"


def test_a_linked_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(encoded("PNG"))
    (tmp_path / "b.png").symlink_to(tmp_path / "a.png")
    assert read_pixels(tmp_path / "b.png").shape == (24, 24, 3)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty file"),
        (b"hello, this is a letter", "not an image (JPEG, PNG, TIFF, BMP, WebP or GIF)"),
        (b"\0" * 100, "not an image (JPEG, PNG, TIFF, BMP, WebP or GIF)"),
        (b"\xff", "not an image (JPEG, PNG, TIFF, BMP, WebP or GIF)"),
        (b"\0\0\0\x18ftypcrx ", "Canon raw, a format that is not read here; save it as JPEG or PNG"),
        (b"%!PS-Adobe-3.0 EPSF-3.0", "not an image (JPEG, PNG, TIFF, BMP, WebP or GIF)"),
    ],
)
def test_files_that_are_no_images_say_so(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "a.jpg").write_bytes(content)
    assert reason_for(tmp_path / "a.jpg") == reason


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_truncated_files_are_unreadable_not_half_grey(form: str, share: float) -> None:
    content = encoded(form)
    with pytest.raises(UnreadableImage) as caught:
        decode(content[: int(len(content) * share)], "p")
    assert caught.value.reason == "truncated" or caught.value.reason.startswith("damaged")


def test_the_usual_truncated_photograph_is_called_truncated() -> None:
    for form in ("JPEG", "PNG"):
        content = encoded(form, 64)
        with pytest.raises(UnreadableImage, match="p: truncated"):
            decode(content[: len(content) // 2], "p")


@pytest.mark.parametrize(
    ("width", "height", "reason"),
    [
        (40_000, 30_000, "1.2 gigapixels, more than the limit of 200 megapixels"),
        (20_000, 10_500, "210 megapixels, more than the limit of 200 megapixels"),
        (2**31 - 1, 2**31 - 1, "4,611,686,014.1 gigapixels, more than the limit of 200 megapixels"),
    ],
)
def test_bombs_are_refused_by_their_header(width: int, height: int, reason: str) -> None:
    with pytest.raises(UnreadableImage) as caught:
        decode(png_that_claims(width, height), "bomb")
    assert caught.value.reason == reason


def test_a_small_file_that_claims_many_pixels_is_refused_before_they_are_made_room_for() -> None:
    with pytest.raises(UnreadableImage, match=r"damaged \(claims 190 megapixels in 65 bytes\)"):
        decode(png_that_claims(19_000, 10_000), "large", 100)


def test_no_two_names_look_alike() -> None:
    names = ["a\n", "a\\n", "a\\\\n", "a\\\n", "\udcff", "\\xff", "\\udcff", "\x85", "\\x85", "é", "\\"]
    assert len({printable(name) for name in names}) == len(names)
    assert all(printable(name).isprintable() for name in names)


def test_an_image_above_pillows_limit_and_below_ours_is_read_without_a_warning() -> None:
    stream = io.BytesIO()
    Pillow.new("1", (13_000, 7_000), 1).save(stream, "PNG")  # a blank page of 91 megapixels
    assert decode(stream.getvalue(), "page", 13).shape == (7, 13, 3)


def test_a_huge_file_is_refused_without_reading_it(tmp_path: Path) -> None:
    with (tmp_path / "huge.tif").open("wb") as stream:
        stream.write(b"II*\0")
        stream.truncate(600 * 2**20)  # sparse
    assert reason_for(tmp_path / "huge.tif") == "600 megabytes, more than the limit of 512 megabytes"


def test_names_that_are_not_utf8_are_read_and_shown_escaped(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9\n.png"
    with open(path, "wb") as stream:
        stream.write(encoded("PNG"))
    image = ImageFile(os.fsdecode(path))
    assert image.name.endswith("/caf\\xe9\\n.png")
    image.name.encode()
    assert image.pixels().shape == (24, 24, 3)
    with open(path, "wb") as stream:
        stream.write(b"?")
    assert reason_for(os.fsdecode(path)).startswith("not an image")


def read_quietly(content: bytes, longest_side: int | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            pixels = decode(content, "fuzz", longest_side)
        except UnreadableImage:
            return
    assert pixels.dtype == np.float32
    assert pixels.ndim == 3
    assert pixels.shape[2] == 3
    assert 0 <= pixels.min() <= pixels.max() <= 1


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"BM", b"II*\0", b"MM\0*"]), st.binary())
@example(b"RIFF\0\0\0\0WEBP", b"VP8X")
def test_any_bytes_end_in_pixels_or_unreadable(start: bytes, rest: bytes) -> None:
    read_quietly(start + rest, None)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(FORMS),
    st.lists(st.tuples(st.integers(0, 4000), st.binary(min_size=1, max_size=4)), min_size=1, max_size=5),
    st.sampled_from([None, 5]),
)
def test_any_damage_to_a_good_file_ends_in_pixels_or_unreadable(
    form: str, damages: list[tuple[int, bytes]], longest_side: int | None
) -> None:
    content = bytearray(GOOD[form])
    for position, damage in damages:
        place = position % len(content)
        content[place : place + len(damage)] = damage
    read_quietly(bytes(content), longest_side)


GOOD = {form: encoded(form, 12) for form in FORMS}
