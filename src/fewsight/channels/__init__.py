"""The named recipes: local features, encoding and kernel under one name. A channel is added by adding it to CHANNELS;
one of another package by `fewsight.register` or an entry point."""

from __future__ import annotations

from typing import Any

from fewsight._base.checks import check_choice
from fewsight._base.encodings import Encodings
from fewsight._base.errors import InvalidInput
from fewsight._base.registry import Registry
from fewsight._base.types import State
from fewsight.channels.base import Channel, check_images, fit_channel
from fewsight.channels.colour import Colour
from fewsight.channels.correspondence_channel import GeometricBlurDistortion, GeometricBlurPoints
from fewsight.channels.dense_pmk import DensePmk
from fewsight.channels.embedding import Embedding
from fewsight.channels.fisher import FisherChannel, FisherDog, FisherHarris, FisherHessian, FisherKb
from fewsight.channels.generative import GenerativeChannel
from fewsight.channels.harris_pmk import HarrisPmk
from fewsight.channels.image_families import BoxFamily, CodebookFamily, ImageFamily
from fewsight.channels.opponent_sift import OpponentSift
from fewsight.channels.option_fields import option
from fewsight.channels.phog import Phog
from fewsight.channels.pooled_words import PooledWords
from fewsight.channels.pretrained import Pretrained
from fewsight.channels.prior_shares import check_weights, prior_shares
from fewsight.channels.spatial_pmk import SpatialPmk
from fewsight.channels.texture import Texture
from fewsight.channels.vector_channel import VectorChannel
from fewsight.channels.vectors import Vectors
from fewsight.channels.vocabulary_pmk import VocabularyPmk
from fewsight.channels.windows import Windows
from fewsight.kernels.families import KERNEL_FAMILIES

_CLASSES: tuple[type[Channel], ...] = (
    *(SpatialPmk, DensePmk, VocabularyPmk, HarrisPmk, OpponentSift, Phog, Texture, Colour),
    *(GeometricBlurPoints, GeometricBlurDistortion, Windows, PooledWords),
    *(FisherKb, FisherDog, FisherHarris, FisherHessian),
    *(Pretrained, Embedding, Vectors),
)
MOST_CHANNELS = 200  # in a model file: opening each takes a moment
CHANNELS: Registry[Channel] = Registry("channel", Channel, _CLASSES, group="fewsight.channels")

for _family in (BoxFamily, CodebookFamily):
    KERNEL_FAMILIES.add_built_in(_family)


def make_channel(name: str, **options: Any) -> Channel:
    """An unfitted channel by its name, e.g. `make_channel("spatial_pmk", n_words=200)`.

    Parameters
    ----------
    name : one of `CHANNELS`.
    options : those of its class, by keyword.
    """
    kind = CHANNELS[check_choice("channels", "a name", name, CHANNELS)]
    known = kind._get_param_names()
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise InvalidInput(f"channels: {name} has the options {', '.join(known)}, got {', '.join(unknown)}.")
    missing = kind.missing()
    if missing is not None:
        raise InvalidInput(f"channels: {missing}.")
    return kind(**options)


def stored_channels(state: State, *, least: int = 1) -> list[Channel]:
    """The fitted channels `channel0`, `channel1` ... of a model file, as many as its `n_channels` says."""
    numbers = range(state.integer("n_channels", least=least, most=MOST_CHANNELS))
    parts = [state.nested(f"channel{number}") for number in numbers]
    return [CHANNELS.find(part.text("name")).from_state(part) for part in parts]


__all__ = [
    "CHANNELS",
    "BoxFamily",
    "Channel",
    "CodebookFamily",
    "Colour",
    "DensePmk",
    "Embedding",
    "Encodings",
    "FisherChannel",
    "FisherDog",
    "FisherHarris",
    "FisherHessian",
    "FisherKb",
    "GenerativeChannel",
    "GeometricBlurDistortion",
    "GeometricBlurPoints",
    "HarrisPmk",
    "ImageFamily",
    "OpponentSift",
    "Phog",
    "PooledWords",
    "Pretrained",
    "SpatialPmk",
    "Texture",
    "VectorChannel",
    "Vectors",
    "VocabularyPmk",
    "Windows",
    "check_images",
    "check_weights",
    "fit_channel",
    "make_channel",
    "option",
    "prior_shares",
    "stored_channels",
]
