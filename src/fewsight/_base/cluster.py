"""Work on the machines of a Dask cluster: a scheduler that somebody started, and its workers.

Dask runs a task again whose worker has left, and computes again what that worker held. What was sent to the workers as it is
cannot be computed: it is sent to all of them, and once more where all of it was lost.
"""

from __future__ import annotations

import contextlib
import functools
import socket
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from fewsight._base.checks import shown
from fewsight._base.errors import FewsightError, InvalidInput

if TYPE_CHECKING:
    from distributed import Client, Future

ATTEMPTS = 3  # to send what the workers need, where it was lost with the last worker that held it
PATIENCE = 10  # seconds until a scheduler must have answered
PIECES_PER_WORKER = 4  # so that a worker that is slow, or leaves, holds up a quarter of its share

Result = TypeVar("Result")


@contextlib.contextmanager
def connected(who: str, cluster: Client | str) -> Iterator[Client]:
    """A client that is given as it is, or one of the scheduler at an address, closed after the block."""
    if not isinstance(cluster, str):
        yield cluster
        return
    with _client(who, cluster) as client:
        yield client


def _client(who: str, address: str) -> Client:
    try:
        from distributed import Client
    except ImportError:
        raise FewsightError(f"{who}: a cluster needs Dask; install it with: pip install 'fewsight[dask]'") from None
    try:
        _check_somebody_listens(address)
        return Client(address, timeout=f"{PATIENCE}s", set_as_default=False)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise InvalidInput(
            f"{who}: cluster must be a client or the address of a scheduler, got {shown(address)}: {reason}."
        ) from None


def _check_somebody_listens(address: str) -> None:
    """Where nobody does, a client takes its patience twice: to give up, and to close."""
    from distributed.comm import parse_address, parse_host_port

    scheme, place = parse_address(address)
    if scheme in ("tcp", "tls"):
        with socket.create_connection(parse_host_port(place), timeout=PATIENCE):
            pass


def workers_of(who: str, client: Client) -> list[str]:
    """The addresses of all workers, sorted; there must be one."""
    try:
        found = sorted(client.scheduler_info(n_workers=-1)["workers"])
    except AttributeError:
        raise InvalidInput(f"{who}: client must be a distributed.Client, got {type(client).__name__}.") from None
    if not found:
        raise InvalidInput(f"{who}: client must have one or more workers, got none.")
    return found


def with_shared(client: Client, shared: object, work: Callable[[Future], Result]) -> Result:
    """What `work` makes of something that was sent to every worker; from the start where all workers that held it have left."""
    from distributed.client import FutureCancelledError
    from distributed.scheduler import KilledWorker

    for attempt in range(1, ATTEMPTS + 1):
        try:
            return work(client.scatter(shared, broadcast=True, hash=False))
        except (FutureCancelledError, KilledWorker, TimeoutError) as error:
            if attempt == ATTEMPTS:
                raise FewsightError(
                    f"the cluster lost its workers {ATTEMPTS} times ({type(error).__name__}): do they have enough memory?"
                ) from error
    raise AssertionError  # it returned, or raised


def added_up(client: Client, futures: Sequence[Future], add: Callable[[Any, Any], Any]) -> Future:
    """The sum of what the futures hold, two at a time on the workers, always in the same order."""
    left = list(futures)
    while len(left) > 1:
        pairs = [left[at : at + 2] for at in range(0, len(left), 2)]
        left = [client.submit(add, *pair, pure=False) if len(pair) == 2 else pair[0] for pair in pairs]
    return left[0]


def first_of(client: Client, future: Future) -> Future:
    """The first part of a pair that a worker holds."""
    return client.submit(_part, future, 0, pure=False)


def second_of(client: Client, future: Future) -> Future:
    """The second."""
    return client.submit(_part, future, 1, pure=False)


def _part(pair: tuple[Any, Any], number: int) -> Any:
    return pair[number]


def spread_over(
    client: Client, function: Callable[[Any], Result], pieces: Sequence[Any], per_task: int
) -> Generator[Result]:
    """`function` of every piece, in order, some at a time on the workers. Where it ends early, what still waits is let go."""
    chunks = [list(pieces[at : at + per_task]) for at in range(0, len(pieces), per_task)]
    waiting = deque(client.map(functools.partial(_each, function), chunks, pure=False))
    try:
        while waiting:
            yield from waiting.popleft().result()  # and then no worker needs to keep it
    finally:
        client.cancel(list(waiting))


def _each(function: Callable[[Any], Result], chunk: list[Any]) -> list[Result]:
    return [function(piece) for piece in chunk]
