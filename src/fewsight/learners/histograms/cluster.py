"""Training on a Dask cluster: its workers hold some of the dimensions each, and the solution comes home."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fewsight._base.cluster import connected
from fewsight._base.types import Rows
from fewsight.kernels import DistributedHistogramOperator, HistogramOperator

if TYPE_CHECKING:
    from distributed import Client

WHO = "HistogramGPClassifier"


@contextlib.contextmanager
def shared_operator(cluster: Client | str, rows: Rows) -> Iterator[DistributedHistogramOperator]:
    """The kernel of these rows, shared out on a cluster: a client, or the address of a scheduler."""
    with connected(WHO, cluster) as client:
        yield DistributedHistogramOperator.from_rows(client, rows)


def brought_home(operator: DistributedHistogramOperator, rows: Rows) -> HistogramOperator:
    """The same kernel of the same rows on this machine, so that what follows needs no cluster."""
    plain = HistogramOperator.from_rows(rows, weights=operator.weights)
    return plain.with_transform(*operator.transform).with_hellinger(operator.hellinger)
