"""The named recipes: local features, encoding and kernel under one name. A channel is added by adding it to CHANNELS;
one of another package by `fewsight.register` or an entry point."""

from __future__ import annotations

from typing import Any

from fewsight._base.checks import check_choice
from fewsight._base.encodings import Encodings
from fewsight._base.errors import InvalidInput
from fewsight._base.registry import Registry
from fewsight.channels.base import Channel, fit_channel
from fewsight.channels.colour import Colour
from fewsight.channels.dense_pmk import DensePmk
from fewsight.channels.embedding import Embedding
from fewsight.channels.harris_pmk import HarrisPmk
from fewsight.channels.opponent_sift import OpponentSift
from fewsight.channels.phog import Phog
from fewsight.channels.pretrained import Pretrained
from fewsight.channels.prior_shares import check_weights, prior_shares
from fewsight.channels.spatial_pmk import SpatialPmk
from fewsight.channels.texture import Texture
from fewsight.channels.vectors import Vectors
from fewsight.channels.vocabulary_pmk import VocabularyPmk

_CLASSES: tuple[type[Channel], ...] = (
    *(SpatialPmk, DensePmk, VocabularyPmk, HarrisPmk, OpponentSift, Phog, Texture, Colour),
    *(Pretrained, Embedding, Vectors),
)
CHANNELS: Registry[Channel] = Registry("channel", Channel, _CLASSES, group="fewsight.channels")


def make_channel(name: str, **options: Any) -> Channel:
    """An unfitted channel by its name, e.g. `make_channel("spatial_pmk", n_words=200)`."""
    kind = CHANNELS[check_choice("channels", "a name", name, CHANNELS)]
    known = kind._get_param_names()
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise InvalidInput(f"channels: {name} has the options {', '.join(known)}, got {', '.join(unknown)}.")
    missing = kind.missing()
    if missing is not None:
        raise InvalidInput(f"channels: {missing}.")
    return kind(**options)


__all__ = [
    "CHANNELS",
    "Channel",
    "Colour",
    "DensePmk",
    "Embedding",
    "Encodings",
    "HarrisPmk",
    "OpponentSift",
    "Phog",
    "Pretrained",
    "SpatialPmk",
    "Texture",
    "Vectors",
    "VocabularyPmk",
    "check_weights",
    "fit_channel",
    "make_channel",
    "prior_shares",
]
