"""Time and camera come from EXIF data, whatever state these are in; bursts are photographs that follow each other closely."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Pillow

from fewsight.images import ImageBytes
from fewsight.images.capture import BURST_SECONDS, Capture, bursts, capture_of
from fewsight.images.shown import look_at

MAKER, MODEL, SERIAL, DETAILS, TAKEN, FRACTION = 0x010F, 0x0110, 0xA431, 0x8769, 0x9003, 0x9291


def photograph(tags: dict[int, object], details: dict[int, object]) -> Pillow.Image:
    exif = Pillow.Exif()
    exif.update(tags)
    exif.get_ifd(DETAILS).update(details)
    stream = io.BytesIO()
    Pillow.new("RGB", (8, 8)).save(stream, "JPEG", exif=exif)
    return Pillow.open(stream)


def test_time_and_camera() -> None:
    image = photograph(
        {MAKER: "Canon", MODEL: "Canon EOS 5D"}, {TAKEN: "1970:01:02 00:00:01", FRACTION: "25", SERIAL: "77"}
    )
    assert capture_of(image) == Capture(86_401_250, "Canon EOS 5D 77")
    assert capture_of(photograph({MAKER: "Nikon", MODEL: "D90"}, {})) == Capture(None, "Nikon D90")
    assert capture_of(Pillow.new("RGB", (8, 8))) == Capture()


@pytest.mark.parametrize(
    "text", ["0000:00:00 00:00:00", "    :  :     :  :  ", "2024:13:41 25:61:61", "yesterday", "\0"]
)
def test_a_clock_that_was_never_set_says_nothing(text: str) -> None:
    assert capture_of(photograph({}, {TAKEN: text})).taken_at is None


def test_a_cameras_name_is_short_and_printable() -> None:
    camera = capture_of(photograph({MODEL: "x\nw\0" + "y" * 500}, {})).camera
    assert camera is not None
    assert camera.isprintable()
    assert len(camera) <= 100


@settings(max_examples=50, deadline=None)
@given(content=st.binary(max_size=60))
def test_damaged_exif_data_say_nothing(content: bytes) -> None:
    stream = io.BytesIO()
    Pillow.new("RGB", (8, 8)).save(stream, "JPEG", exif=b"Exif\0\0II*\0\x08\0\0\0" + content)
    assert isinstance(look_at(ImageBytes(stream.getvalue())).capture, Capture)


times = st.lists(st.integers(0, 60_000), max_size=15)


@given(ours=times, theirs=times)
def test_bursts_equal_brute_force(ours: list[int], theirs: list[int]) -> None:
    captures = {f"a{number}": Capture(at, "a") for number, at in enumerate(ours)}
    captures |= {f"b{number}": Capture(at, "b") for number, at in enumerate(theirs)}
    group = {key: key for key in captures}
    for _ in captures:  # all that are near each other, again until nothing changes
        for one, first in captures.items():
            for two, second in captures.items():
                if first.camera == second.camera and abs(first.taken_at - second.taken_at) <= 1000 * BURST_SECONDS:
                    group[one] = group[two] = min(group[one], group[two])
    expected = [{key for key in group if group[key] == root} for root in set(group.values())]
    found = bursts(captures)
    assert sorted(map(sorted, found)) == sorted(sorted(each) for each in expected if len(each) > 1)
    for run in found:
        assert [captures[key].taken_at for key in run] == sorted(captures[key].taken_at for key in run)


def test_photographs_without_time_or_camera_are_in_no_burst() -> None:
    assert (
        bursts({"a": Capture(5, None), "b": Capture(5, None), "c": Capture(None, "x"), "d": Capture(None, "x")}) == []
    )
