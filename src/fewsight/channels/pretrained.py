"""Channel `pretrained`: a network that has seen a million photographs, and arrives by pip."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Json, Recipe
from fewsight.channels.network_channel import NetworkChannel
from fewsight.channels.option_fields import option
from fewsight.features.networks import (
    GET_PRETRAINED,
    WEIGHTS_NAME,
    ImageNetwork,
    pretrained_is_there,
    pretrained_network,
)


@final
class Pretrained(NetworkChannel):
    """What a small network, trained on the photographs of ImageNet, sees in the whole image (EfficientNet-Lite0)."""

    name: ClassVar[str] = "pretrained"
    # Absolute, for images that this network finds all alike are hard to tell apart; found on the sets of `experiments/domains`.
    usual_squared_scale: ClassVar[float | None] = 1.44

    roots: bool = option(
        default=True,
        doc="whether the square root of each number is compared: they are means of activations, of which a few large ones would "
        "decide otherwise. On Caltech-101 this gains a point of accuracy.",
    )

    @classmethod
    def missing(cls) -> str | None:
        return None if pretrained_is_there() else f"pretrained needs weights that are not installed: {GET_PRETRAINED}"

    def _source(self) -> dict[str, str]:
        return {"weights": WEIGHTS_NAME}

    def _check_source(self, source: Json) -> None:
        if source != {"weights": WEIGHTS_NAME}:
            raise InvalidInput(f"Pretrained: the weights must be {WEIGHTS_NAME}, as here, got {shown(source)}.")

    def _shaped(self, vector: Array) -> Array:
        return np.sqrt(np.maximum(vector, 0.0)) if self.roots else vector

    def _encode_recipe(self) -> Recipe:
        if not isinstance(self.roots, bool):
            raise InvalidInput(f"Pretrained: roots must be True or False, got {shown(self.roots)}.")
        return {**super()._encode_recipe(), "roots": self.roots}

    def _network(self) -> ImageNetwork:
        return pretrained_network(self.cache)

    def _network_recipe(self) -> Recipe:
        return self._network().recipe()
