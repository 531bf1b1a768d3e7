"""When and by which camera a photograph was taken, as its EXIF data say; and which photographs are one burst."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from PIL import Image as Pillow

BURST_SECONDS = 3.0  # between two photographs of one burst
LONGEST_NAME = 100

_MAKER, _MODEL, _SERIAL = 0x010F, 0x0110, 0xA431
_DETAILS = 0x8769  # the part of the EXIF data that holds the time
_TAKEN, _CHANGED, _FRACTION = 0x9003, 0x0132, 0x9291
_TIME = re.compile(r"(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d):(\d\d):(\d\d)")
_EPOCH = datetime.datetime(1970, 1, 1)


class Capture(NamedTuple):
    """Milliseconds since 1970 by the camera's own clock, which knows no time zone; the camera's name and serial number."""

    taken_at: int | None = None
    camera: str | None = None


def capture_of(image: Pillow.Image) -> Capture:
    """What the EXIF data say; damaged data say nothing."""
    try:
        exif = image.getexif()
        details = exif.get_ifd(_DETAILS)
        taken_at = _time(details.get(_TAKEN) or exif.get(_CHANGED), details.get(_FRACTION))
        return Capture(taken_at, _camera(exif.get(_MAKER), exif.get(_MODEL), details.get(_SERIAL)))
    except Exception:  # a stranger's bytes: SyntaxError, struct.error, TypeError ...
        return Capture()


def bursts(captures: Mapping[str, Capture], seconds: float = BURST_SECONDS) -> list[list[str]]:
    """Photographs of one camera, each taken within the given seconds of the one before; two or more, in their order."""
    by_camera: dict[str, list[tuple[int, str]]] = {}
    for key, capture in captures.items():
        if capture.taken_at is not None and capture.camera is not None:
            by_camera.setdefault(capture.camera, []).append((capture.taken_at, key))
    return [run for taken in by_camera.values() for run in _runs(sorted(taken), 1000 * seconds) if len(run) > 1]


def _runs(taken: Iterable[tuple[int, str]], gap: float) -> list[list[str]]:
    runs: list[list[str]] = []
    before: int | None = None
    for at, key in taken:
        if before is None or at - before > gap:
            runs.append([])
        runs[-1].append(key)
        before = at
    return runs


def _time(text: object, fraction: object) -> int | None:
    found = _TIME.match(text) if isinstance(text, str) else None
    if found is None:
        return None
    try:
        moment = datetime.datetime.fromisoformat("{}-{}-{} {}:{}:{}".format(*found.groups()))
    except ValueError:  # a clock that was never set: 0000:00:00 00:00:00
        return None
    part = str(fraction).strip("\0 ")[:3] if isinstance(fraction, str) else ""
    milliseconds = int(part.ljust(3, "0")) if part.isascii() and part.isdigit() else 0
    return round((moment - _EPOCH).total_seconds()) * 1000 + milliseconds


def _camera(*parts: object) -> str | None:
    texts = ["".join(filter(str.isprintable, part)).strip() for part in parts if isinstance(part, str)]
    maker, *others = [*texts, ""] if texts else [""]
    if others and others[0].lower().startswith(maker.lower()):  # "Canon", "Canon EOS 5D"
        maker = ""
    return " ".join(part for part in (maker, *others) if part)[:LONGEST_NAME] or None
