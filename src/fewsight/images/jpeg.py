"""The markers of a JPEG file, read to see what decoding it would cost."""

from __future__ import annotations

import re

MAX_SCANS = 100  # a progressive file has about ten; each takes as long as the whole image, however few bytes it has

_MARKER = re.compile(rb"\xff([\x02-\xcf\xd8-\xfe])")  # without those that stand inside the data of a scan
_START, _END, _SCAN = 0xD8, 0xD9, 0xDA


def has_too_many_scans(content: bytes) -> bool:
    """Whether a file makes its decoder go over the image more often than any camera or program would."""
    position = scans = 0
    while scans <= MAX_SCANS and (found := _MARKER.search(content, position)):
        kind, position = found[1][0], found.end()
        if kind == _END:  # what comes after the image is no concern of a decoder
            break
        if kind != _START:
            position += max(2, int.from_bytes(content[position : position + 2], "big"))
        scans += kind == _SCAN
    return scans > MAX_SCANS
