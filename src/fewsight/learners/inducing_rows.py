"""Examples that are compared with inducing points and counted: here, or in pieces on the workers of a cluster."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from fewsight._base.cluster import PIECES_PER_WORKER, added_up, first_of, second_of, with_shared, workers_of
from fewsight._base.errors import InvalidInput
from fewsight._base.progress import steps_of, track
from fewsight._base.types import Array, Indices
from fewsight.channels import Channel
from fewsight.gp import FeatureSums, InducingPoints, weighted_sum
from fewsight.images import FeatureCache, ImageFile, as_image
from fewsight.learners.inputs import ImageList, is_list_of_matrices
from fewsight.learners.inputs.base import Input

if TYPE_CHECKING:
    from distributed import Client, Future

WHO = "SparseGPClassifier"
BLOCK = 1_024  # examples that are compared with the inducing points at a time
LEAST_PIECE = 64  # examples for which it is worth sending something to a worker


class InducingRows(NamedTuple):
    """Examples that were compared with the inducing points."""

    kernel: Array  # (b, m)
    features: Array  # (b, m)
    diagonal: Array  # (b,)


class Piece(NamedTuple):
    """Some of the examples that are to be counted."""

    examples: Any  # rows or images; a future of rows, where a worker holds them
    which: Indices  # of them
    classes: Indices  # of these, -1 for none
    kept: Indices  # which of these are kept, to be left out later


class Counted(NamedTuple):
    """What is left of a piece: sums, and the rows that are kept."""

    sums: FeatureSums
    rows: InducingRows


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """With inducing points: how examples are read, how much each kernel counts, and what makes features of kernel values."""

    inputs: Input
    weights: Array
    points: InducingPoints

    def of(self, rows: Any) -> InducingRows:
        """Of examples that were read."""
        diagonal = np.tensordot(self.weights, self.inputs.diagonals(rows), axes=1)
        return self.of_values(weighted_sum(self.inputs.compare(rows), self.weights), diagonal)

    def of_values(self, K: Array, diagonal: Array) -> InducingRows:
        """Of kernel values with the inducing points."""
        return InducingRows(K, self.points.features(K), diagonal)

    def count(self, piece: Piece, n_classes: int, what: str = "") -> Counted:
        """A block of examples at a time, each read once."""
        sums = FeatureSums.empty(len(self.points), n_classes)
        starts, kept = range(0, len(piece.which), BLOCK), []
        for start in track(starts, what, len(starts)) if what and len(starts) > 1 else starts:
            here = slice(start, start + BLOCK)
            rows = self.of(self.inputs.read_once(some_of(piece.examples, piece.which[here])))
            sums.add(rows.features, piece.classes[here])
            inside = piece.kept[(piece.kept >= start) & (piece.kept < start + BLOCK)] - start
            kept.append(InducingRows(*(part[inside] for part in rows)))
        none = InducingRows(np.empty((0, len(self.points))), np.empty((0, len(self.points))), np.empty(0))
        return Counted(sums, InducingRows(*(np.concatenate(parts) for parts in zip(*kept, none, strict=True))))

    def to_send(self) -> Comparison:
        """The same without what workers do not need: training images, and the place where this machine works."""
        inputs = copy.copy(self.inputs)
        inputs.release()
        if inputs.channels:
            channels: list[Channel] = [copy.copy(channel) for channel in inputs.channels]
            for channel in channels:
                channel.set_workplace(cache=None, n_jobs=1)
            inputs.channels = channels
        return Comparison(inputs, self.weights, self.points)


def count_on_cluster(client: Client, comparison: Comparison, pieces: Sequence[Piece], n_classes: int) -> Counted:
    """As `Comparison.count` of all pieces in turn; the sums of workers are added up there, and the rest comes here."""

    def work(shared: Future) -> Counted:
        futures = [client.submit(_count, shared, *piece, n_classes, pure=False) for piece in pieces]
        total = added_up(client, [first_of(client, future) for future in futures], FeatureSums.__add__)
        kept = [second_of(client, future) for future in futures]
        rows = []
        with steps_of("examples", len(pieces)) as reach:
            for number, future in enumerate(kept):
                rows.append(future.result())
                reach(number + 1)
        return Counted(total.result(), InducingRows(*(np.concatenate(parts) for parts in zip(*rows, strict=True))))

    return with_shared(client, comparison.to_send(), work)


def _count(
    comparison: Comparison, examples: Any, which: Indices, classes: Indices, kept: Indices, n_classes: int
) -> Counted:
    """On a worker, which keeps features where its own environment names a cache."""
    if comparison.inputs.channels and os.environ.get("FEWSIGHT_CACHE"):
        comparison = comparison.to_send()  # what was sent serves other tasks too, and does not change
        for channel in comparison.inputs.channels:
            channel.set_workplace(cache=FeatureCache(), n_jobs=1)
    return comparison.count(Piece(examples, which, classes, kept), n_classes)


# Pieces.


def is_dask_array(X: Any) -> bool:
    """Rows that the workers of a cluster hold, or will make; without an import of Dask, which may not be there."""
    return type(X).__module__.split(".")[0] == "dask" and hasattr(X, "to_delayed") and hasattr(X, "chunks")


def rows_at(client: Client, X: Any, which: Indices) -> Array:
    """These rows of a Dask array, here."""
    return np.asarray(client.compute(X[which]).result(), dtype=np.float64)


def pieces_of(client: Client, X: Any, which: Indices, classes: Indices, kept: Indices) -> list[Piece]:
    """The examples of X with these numbers (ascending), in pieces: some for each worker, or the blocks of a Dask array where
    they are. `classes` has the class of each; `kept` are the places in `which` of those that are kept."""
    if is_dask_array(X):
        whole = X.rechunk({1: -1})
        blocks = client.compute(list(whole.to_delayed().ravel()))
        ends = np.cumsum([0, *whole.chunks[0]])
        spans = np.searchsorted(which, ends)
        sources = [(blocks[number], int(ends[number])) for number in range(len(blocks))]
    else:
        _check_sight(client, X, which)
        wanted = PIECES_PER_WORKER * len(workers_of(WHO, client))
        number = max(1, min(wanted, len(which) // LEAST_PIECE))
        spans = np.linspace(0, len(which), number + 1).round().astype(np.intp)
        sources = [(None, 0)] * number
    made = []
    for (block, first), start, stop in zip(sources, spans[:-1], spans[1:], strict=True):
        if start == stop:
            continue
        inside = kept[(kept >= start) & (kept < stop)] - start
        here = which[start:stop] - first
        given = block if block is not None else _absolute(some_of(X, which[start:stop]))
        made.append(Piece(given, here if block is not None else np.arange(stop - start), classes[start:stop], inside))
    return made


def some_of(X: Any, indices: Indices) -> Any:
    """These examples of X: rows, images, or rows of each of several blocks of kernel values."""
    if is_list_of_matrices(X):
        return [block[indices] for block in X]
    if hasattr(X, "shape"):
        return X[indices]
    chosen = [X[index] for index in indices]
    return ImageList(chosen) if isinstance(X, ImageList) else chosen


def blocks_of(X: Any, n: int) -> Iterator[Any]:
    """All examples, a block at a time; the first is there even if there are none."""
    for start in range(0, max(n, 1), BLOCK):
        yield some_of(X, np.arange(start, min(start + BLOCK, n)))


def _absolute(X: Any) -> Any:
    """Files by their whole path: workers have other working directories."""
    if hasattr(X, "shape") or is_list_of_matrices(X):
        return X
    images = [as_image(each) for each in X]
    return [ImageFile(os.path.abspath(each.path)) if isinstance(each, ImageFile) else each for each in images]


def _check_sight(client: Client, X: Any, which: Indices) -> None:
    """Every worker can open the first file: else all would fail, one image after the other."""
    if not len(which) or hasattr(X, "shape") or is_list_of_matrices(X):
        return
    first = _absolute([X[which[0]]])[0]
    if not isinstance(first, ImageFile) or not os.path.isfile(first.path):
        return
    blind = sorted(worker for worker, sees in client.run(os.path.isfile, first.path).items() if not sees)
    if blind:
        raise InvalidInput(
            f"{WHO}: workers must see images under the same path as here, but {blind[0]} has no file {first.path}."
        )
