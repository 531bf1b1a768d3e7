"""The hash that an image, and a computation on it, is known by."""

from __future__ import annotations

import hashlib

DIGEST_BYTES = 20  # 160 bits: no two images of anybody's collection will ever meet


def hash_of(*parts: bytes | memoryview) -> str:
    """Blake2b over the parts, as hexadecimal digits; where one part ends and the next begins matters."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        if len(parts) > 1:
            digest.update(memoryview(part).nbytes.to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
