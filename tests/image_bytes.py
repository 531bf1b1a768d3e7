"""Images as the bytes of files, for tests of the reader."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image as Pillow


def encoded(form: str, size: int = 24, **options: Any) -> bytes:
    """Noise of `size` x `size` pixels as a file of some format."""
    values = np.random.default_rng(0).integers(0, 256, (size, size, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Pillow.fromarray(values).save(stream, form, **options)
    return stream.getvalue()
