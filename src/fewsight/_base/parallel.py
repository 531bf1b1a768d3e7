"""Independent pieces of work, handed to joblib so that its other backends can spread them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TypeVar

from joblib import Parallel, delayed, effective_n_jobs

from fewsight._base.progress import track

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def map_pieces(
    function: Callable[[Piece], Result], pieces: Sequence[Piece], *, n_jobs: int | None = None, what: str = ""
) -> list[Result]:
    """`[function(piece) for piece in pieces]`, on threads (image decoding and OpenCV release the lock), in order."""
    total = len(pieces)
    if effective_n_jobs(n_jobs) == 1 or total < 2:
        return [function(piece) for piece in track(pieces, what, total)]
    results = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(function)(piece) for piece in pieces
    )
    with contextlib.closing(results):  # an interrupt anywhere stops what is still waiting
        return list(track(results, what, total))
