"""What may be asked about: images, rows of numbers or Gram matrices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from fewsight._base.checks import check_matrix, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.pools.base import Pool
from fewsight.active.pools.grams import GramPool
from fewsight.active.pools.images import ImagePool
from fewsight.active.pools.vectors import VectorPool
from fewsight.channels import Channel, Encodings
from fewsight.kernels import Kernel
from fewsight.kernels.rows import Rows
from fewsight.learners.examples import Examples, KernelLike
from fewsight.learners.inputs import ChannelInput, GramInput, Input, VectorInput, kernels_of_rows


def as_pool(
    owner: object, kernel: KernelLike, examples: Examples | Pool, exclude: Sequence[int] | Indices = ()
) -> Pool:
    """What the `kernel` parameter of a learner makes of examples; a pool stays what it is.

    Nothing is learned from the examples at the positions `exclude`.
    """
    if isinstance(examples, Pool):
        return examples
    if not hasattr(examples, "__len__") or isinstance(examples, (str, bytes, dict)):
        raise InvalidInput(
            f"{owner_name(owner)}: pool must be images, rows of numbers, Gram matrices or a Pool, got {shown(examples)}."
        )
    if isinstance(kernel, str) and kernel == "precomputed":
        return GramPool(examples)
    sized: Any = examples
    learn_from = _without(exclude, int(sized.shape[0]) if hasattr(examples, "shape") else len(sized))
    if kernel is None or isinstance(kernel, Kernel):
        return VectorPool(examples, kernel, learn_from)
    if kernels_of_rows(kernel):
        return VectorPool(examples, kernels_of_rows(kernel), learn_from)
    channels = [kernel] if isinstance(kernel, Channel) else kernel
    if isinstance(channels, (list, tuple)) and channels and all(isinstance(item, Channel) for item in channels):
        return ImagePool(sized, channels, learn_from)
    raise InvalidInput(
        f"{owner_name(owner)}: the learner's kernel must be a kernel object, a channel, a list of kernels or of channels, "
        f"'precomputed' or None, got {shown(kernel)}."
    )


@singledispatch
def pool_of_input(side: Input, rows: object, gram: Array | None = None) -> Pool:
    """New examples as a pool, as an input has read them; those of "precomputed" need their own Gram matrix (m, m)."""
    raise InvalidInput(f"{owner_name(side)}: examples of this input cannot be a pool.")


@pool_of_input.register
def _(side: VectorInput, rows: Rows, gram: Array | None = None) -> Pool:
    return VectorPool(rows, side.parameter)


@pool_of_input.register
def _(side: ChannelInput, rows: list[Encodings], gram: Array | None = None) -> Pool:
    return ImagePool.encoded(side.channels, rows)


@pool_of_input.register
def _(side: GramInput, rows: list[Array], gram: Array | None = None) -> Pool:
    if gram is None:
        raise InvalidInput(
            "PoolView: with kernel 'precomputed' the pool's own Gram matrix must be given as pool_gram (m x m), got none."
        )
    pool, m = GramPool(gram), len(rows[0])
    check_matrix("PoolView", "pool_gram", pool.matrices[0], shape=(m, m))
    return pool


def _without(exclude: Sequence[int] | Indices, n: int) -> Indices | None:
    """The positions that are not excluded; None for all of them."""
    return np.setdiff1d(np.arange(n), np.asarray(exclude)) if len(exclude) else None


__all__ = ["GramPool", "ImagePool", "Pool", "VectorPool", "as_pool", "pool_of_input"]
