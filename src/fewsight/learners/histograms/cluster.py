"""Training on a Dask cluster: its workers hold some of the dimensions each, and the solution comes home."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

from fewsight._base.checks import shown
from fewsight._base.errors import FewsightError, InvalidInput
from fewsight.gp import IterativePosterior
from fewsight.kernels import DistributedHistogramOperator, HistogramOperator

WHO = "HistogramGPClassifier"


@contextlib.contextmanager
def training_operator(cluster: Any, rows: Any) -> Iterator[Any]:
    """The kernel of these rows, here or shared out on a cluster: a client, or the address of a scheduler."""
    if cluster is None:
        yield HistogramOperator.from_rows(rows)
        return
    if not isinstance(cluster, str):
        yield DistributedHistogramOperator.from_rows(cluster, rows)
        return
    with _connected(cluster) as client:
        yield DistributedHistogramOperator.from_rows(client, rows)


def brought_home(posterior: IterativePosterior, rows: Any) -> IterativePosterior:
    """The same with the kernel on this machine, so that what follows needs no cluster."""
    far: Any = posterior.operator
    if isinstance(far, HistogramOperator):
        return posterior
    near = HistogramOperator.from_rows(rows, weights=far.weights)
    return dataclasses.replace(posterior, operator=near.with_transform(*far.transform))


def _connected(address: str) -> Any:
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
