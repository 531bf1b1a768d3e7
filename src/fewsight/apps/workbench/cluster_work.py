"""Learning and predicting on the workers of a Dask cluster, as a person asks for it: by the address of its scheduler."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fewsight._base.cluster import connected, workers_of
from fewsight._base.parallel import on_workers
from fewsight.images import FeatureCache, Image, ImageFile
from fewsight.learners import Learner
from fewsight.persistence import load_learner

if TYPE_CHECKING:
    from distributed import Client

Answer = TypeVar("Answer")
AHEAD = 3  # batches for each worker that are under way while the first is waited for


@contextlib.contextmanager
def at_cluster(who: str, address: str | None) -> Iterator[Client | None]:
    """Inside the block, images are described by the workers of the cluster at an address; None: here."""
    if address is None:
        yield None
        return
    with connected(who, address) as client:
        workers_of(who, client)
        with on_workers(client):
            yield client


def answers_of_workers(
    client: Client,
    model_file: Path,
    prepare: Callable[[Learner], None],
    answer: Callable[[Learner, list[Image]], Answer],
    batches: Iterable[list[Image]],
) -> Iterator[tuple[list[Image], Answer]]:
    """Each batch of images with what `answer` makes of the model and the batch, in order.

    Each worker opens the model once, from bytes that are sent to it, and prepares it.
    """
    content = model_file.read_bytes()
    work = functools.partial(_answered, hashlib.sha256(content).hexdigest(), prepare, answer)
    model = client.scatter(content, broadcast=True, hash=False)
    ahead = AHEAD * len(workers_of("predict", client))
    waiting: deque[tuple[list[Image], Any]] = deque()
    remaining = iter(batches)
    try:
        while True:
            for batch in itertools.islice(remaining, ahead - len(waiting)):
                waiting.append((batch, client.submit(work, model, with_whole_paths(batch), pure=False)))
            if not waiting:
                return
            batch, future = waiting.popleft()
            yield batch, future.result()
    finally:
        client.cancel([future for _, future in waiting])


def with_whole_paths(images: Sequence[Image]) -> list[Image]:
    """Images as a worker finds them, whose working directory is another."""
    return [ImageFile(os.path.abspath(image.path)) if isinstance(image, ImageFile) else image for image in images]


def _answered(
    digest: str,
    prepare: Callable[[Learner], None],
    answer: Callable[[Learner, list[Image]], Answer],
    content: bytes,
    images: list[Image],
) -> Answer:
    return answer(_opened(digest, content, prepare), images)


_models: dict[str, Learner] = {}  # on a worker: the last one that was opened


def _opened(digest: str, content: bytes, prepare: Callable[[Learner], None]) -> Learner:
    if digest not in _models:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.fewsight"
            path.write_bytes(content)
            learner = load_learner(path)
        prepare(learner)
        cache = FeatureCache() if os.environ.get("FEWSIGHT_CACHE") else None
        for channel in learner.channels:
            channel.set_workplace(cache=cache, n_jobs=1)
        _models.clear()
        _models[digest] = learner
    return _models[digest]
