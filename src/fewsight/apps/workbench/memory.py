"""How much memory there is, to refuse early what would not fit."""

from __future__ import annotations

import os


def memory_of_this_machine() -> int | None:
    """Bytes of main memory; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows; a system without these names
        return None
