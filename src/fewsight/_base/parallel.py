"""Independent pieces of work: on threads, handed to joblib, or on the workers of a cluster."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from joblib import Parallel, delayed, effective_n_jobs

from fewsight._base.cluster import spread_over
from fewsight._base.progress import track

if TYPE_CHECKING:
    from distributed import Client

PER_TASK = 16  # pieces that a worker of a cluster is given at a time

Piece = TypeVar("Piece")
Result = TypeVar("Result")

_client: contextvars.ContextVar[Client | None] = contextvars.ContextVar("fewsight_cluster", default=None)


@contextlib.contextmanager
def on_workers(client: Client | None) -> Iterator[None]:
    """Inside the block pieces are done by the workers of this client; None: here."""
    token = _client.set(client)
    try:
        yield
    finally:
        _client.reset(token)


def map_pieces(
    function: Callable[[Piece], Result], pieces: Sequence[Piece], *, n_jobs: int | None = None, what: str = ""
) -> list[Result]:
    """`[function(piece) for piece in pieces]`, on threads (image decoding and OpenCV release the lock), in order."""
    total, client = len(pieces), _client.get()
    if client is not None and total > 1:
        with contextlib.closing(spread_over(client, function, pieces, PER_TASK)) as results:
            return list(track(results, what, total))
    if effective_n_jobs(n_jobs) == 1 or total < 2:
        return [function(piece) for piece in track(pieces, what, total)]
    results = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(function)(piece) for piece in pieces
    )
    with contextlib.closing(results):  # an interrupt anywhere stops what is still waiting
        return list(track(results, what, total))
