"""What surrounds the decoders: pixels wait for room, and what a library mutters is not heard."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image as Pillow

from fewsight.images import UnreadableImage, reading
from fewsight.images.decoding import Room
from fewsight.images.reading import decode
from image_bytes import encoded


def test_a_jpeg_with_more_scans_than_any_program_writes_is_refused() -> None:
    content = encoded("JPEG", progressive=True)
    last = content[content.rindex(b"\xff\xda") : -2]
    assert decode(content[:-2] + 20 * last + content[-2:], "p").shape == (24, 24, 3)
    with pytest.raises(UnreadableImage, match=r"p: damaged JPEG \(more than 100 scans\)"):
        decode(content[:-2] + 200 * last + content[-2:], "p")


def test_what_follows_a_photograph_is_not_taken_for_scans() -> None:
    content = encoded("JPEG") + b"\xff\xda\0\2" * 1000  # as in the film behind a moving photograph
    assert decode(content, "p").shape == (24, 24, 3)


def test_large_images_are_decoded_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    room, inside, most = Room(1000), [], []
    monkeypatch.setattr(reading, "_room", room)

    def watched(image: Pillow.Image, size: tuple[int, int]) -> np.ndarray:
        inside.append(image)
        time.sleep(0.01)
        most.append(sum(each.size[0] * each.size[1] for each in inside))
        inside.remove(image)
        return np.zeros((1, 1, 3), np.float32)

    monkeypatch.setattr(reading, "pixels_of", watched)
    contents = [encoded("PNG", size) for size in (20, 20, 10, 20, 40, 10, 20, 20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: decode(content, "p"), contents))
    assert max(most) == 1600  # the one that is larger than the room had it to itself
    assert sorted(most)[-2] <= 1000


def test_what_libtiff_says_by_itself_is_not_heard(capfd: pytest.CaptureFixture[str]) -> None:
    content = encoded("TIFF", compression="tiff_lzw")
    middle = len(content) // 2
    with pytest.raises(UnreadableImage, match="damaged TIFF"):
        decode(content[:middle] + b"\xff" * 64 + content[middle + 64 :], "p")
    os.write(2, b"heard again")
    assert capfd.readouterr().err == "heard again"
