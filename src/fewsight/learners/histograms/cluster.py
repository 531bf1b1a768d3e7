"""Training on a Dask cluster: its workers hold some of the dimensions each, and the solution comes home."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fewsight._base.checks import shown
from fewsight._base.errors import FewsightError, InvalidInput
from fewsight._base.types import Rows
from fewsight.kernels import DistributedHistogramOperator, HistogramOperator

if TYPE_CHECKING:
    from distributed import Client

WHO = "HistogramGPClassifier"


@contextlib.contextmanager
def shared_operator(cluster: Client | str, rows: Rows) -> Iterator[DistributedHistogramOperator]:
    """The kernel of these rows, shared out on a cluster: a client, or the address of a scheduler."""
    if not isinstance(cluster, str):
        yield DistributedHistogramOperator.from_rows(cluster, rows)
        return
    with _connected(cluster) as client:
        yield DistributedHistogramOperator.from_rows(client, rows)


def brought_home(operator: DistributedHistogramOperator, rows: Rows) -> HistogramOperator:
    """The same kernel of the same rows on this machine, so that what follows needs no cluster."""
    return HistogramOperator.from_rows(rows, weights=operator.weights).with_transform(*operator.transform)


def _connected(address: str) -> Client:
    try:
        from distributed import Client
    except ImportError:
        raise FewsightError(f"{WHO}: a cluster needs Dask; install it with: pip install 'fewsight[dask]'") from None
    try:
        return Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise InvalidInput(
            f"{WHO}: cluster must be a client or the address of a scheduler, got {shown(address)}: {reason}."
        ) from None
