"""How what a user passes as X becomes Gram matrices: vectors, images, or Gram matrices already.

Each kind of input remembers the training side, so that a learner only ever asks for training x training, test x training and
the diagonal of the test side. Every Gram matrix is divided by the mean of its training diagonal, so that noise levels,
regularisers and kernel weights mean the same whatever the scale of the kernel.
"""

from __future__ import annotations

from typing import Any

from fewsight._base.checks import check_choice, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.channels import Channel
from fewsight.kernels import Kernel
from fewsight.learners.inputs.base import Input
from fewsight.learners.inputs.grams import GramInput, is_list_of_matrices
from fewsight.learners.inputs.images import ChannelInput, ImageList
from fewsight.learners.inputs.vectors import VectorInput, default_kernel, kernels_of_rows

INPUTS: dict[str, type[Input]] = {"vectors": VectorInput, "channels": ChannelInput, "precomputed": GramInput}


def choose_input(owner: object, kernel: Any, X: Any) -> Input:
    """The kind of input that the `kernel` parameter of a learner asks for."""
    if kernel is None:
        return VectorInput(default_kernel(X))
    if isinstance(kernel, Kernel):
        return VectorInput(kernel)
    if kernels_of_rows(kernel):
        return VectorInput(kernels_of_rows(kernel))
    if isinstance(kernel, str) and kernel == "precomputed":
        return GramInput(owner)
    if channels_of_images(kernel):
        return ChannelInput(channels_of_images(kernel))
    raise InvalidInput(
        f"{owner_name(owner)}: kernel must be a kernel object, a channel, a list of kernels or of channels, 'precomputed' or "
        f"None, got {shown(kernel)}."
    )


def channels_of_images(kernel: object) -> list[Channel]:
    """The channels that the `kernel` parameter of a learner holds, one or several; none if it is something else."""
    listed = list(kernel) if isinstance(kernel, (list, tuple)) else [kernel]
    channels = [each for each in listed if isinstance(each, Channel)]
    return channels if len(channels) == len(listed) else []


def input_from_state(state: State) -> Input:
    """The input of a model file."""
    return INPUTS[check_choice("model", "input", state.header["kind"], INPUTS)].from_state(state)


__all__ = [
    "INPUTS",
    "ChannelInput",
    "GramInput",
    "ImageList",
    "Input",
    "VectorInput",
    "channels_of_images",
    "choose_input",
    "input_from_state",
    "is_list_of_matrices",
    "kernels_of_rows",
]
