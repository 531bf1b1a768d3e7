"""Channel `embedding`: the output of any image network in an ONNX file."""

from __future__ import annotations

import functools
import os
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Self, TypeAlias, final

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Json, LabelsLike, Recipe
from fewsight.channels.network_channel import NetworkChannel
from fewsight.channels.option_fields import option
from fewsight.features.networks import GET_ONNX, ImageNetwork, Wishes, onnxruntime_is_there, read_onnx
from fewsight.images.files import stamp_of

WHO = "Embedding"
Wished: TypeAlias = float | str | Sequence[float] | npt.NDArray[np.number] | None


@final
class Embedding(NetworkChannel):
    """The output of an image network of your own, in an ONNX file, run by onnxruntime.

    What is not given is read from the file: the size of the input from its shape; `side`, `mean`, `std` and `colours` from
    metadata of these names. docs/embeddings.md shows how to export a network.
    """

    name: ClassVar[str] = "embedding"
    places: ClassVar[tuple[str, ...]] = ("model",)

    model: str | os.PathLike[str] | None = option(
        default=None,
        kw_only=False,
        doc="the ONNX file. A model file of fewsight remembers the path and a hash of the content, not the network.",
    )
    side: int | None = option(default=None, doc="of the input in pixels, where the network takes any size.")
    mean: tuple[float, ...] | None = option(
        default=None, doc="of red, green and blue, for pixels in [0, 1]; ImageNet's where the file says nothing."
    )
    std: tuple[float, ...] | None = option(default=None, doc="standard deviations, like `mean`.")
    crop: float | None = option(
        default=None,
        doc="None takes the whole image; a number, such as 0.875, that share of the largest square in the middle.",
    )
    layout: str | None = option(default=None, doc='"nchw" or "nhwc", where the shape of the input does not tell.')
    colours: str | None = option(default=None, doc='"rgb" or "bgr".')
    output: str | None = option(
        default=None,
        doc="the name of the output; otherwise the first with one row per image. A map of vectors is averaged.",
    )
    pooling: str | None = option(default=None, doc='of a sequence of vectors, the "first" or the "mean".')

    @classmethod
    def missing(cls) -> str | None:
        return None if onnxruntime_is_there() else f"embedding needs onnxruntime, which is not installed: {GET_ONNX}"

    def remarks(self, images: Sequence[Any]) -> list[str]:
        """How the network is fed and what is taken from it."""
        return [f"embedding: {self._network().described}."]

    def fit(self, images: Sequence[Any], labels: LabelsLike | None = None) -> Self:
        """As every channel; the network may be another one than before."""
        self.__dict__.pop("learned_", None)
        return super().fit(images, labels)

    def _network(self) -> ImageNetwork:
        if not isinstance(self.model, (str, os.PathLike)) or not os.fspath(self.model):
            raise InvalidInput(f"{WHO}: model must be the path of an ONNX file, got {shown(self.model)}.")
        network = _opened(os.fspath(self.model), stamp_of(self.model), self._wishes())
        learned = getattr(self, "learned_", None)
        wanted = network.digest if learned is None else learned.header["source"]["network"]
        if network.digest != wanted:
            raise InvalidInput(
                f"{network.name}: must be the network that was learned with (hash {wanted[:12]}), "
                f"got another (hash {network.digest[:12]})."
            )
        return network

    def _network_recipe(self) -> Recipe:
        return self._network().recipe()

    def _wishes(self) -> Wishes:
        wished: dict[str, Any] = {name: _hashable(name, getattr(self, name)) for name in Wishes.__dataclass_fields__}
        return Wishes(**wished)

    def _source(self) -> dict[str, str]:
        return {"network": self._network().digest}

    def _check_source(self, source: Json) -> None:
        if not isinstance(source, dict) or not isinstance(source.get("network"), str):
            raise InvalidInput(f"{WHO}: the hash of the network must be a text, got {shown(source)}.")


@functools.lru_cache(maxsize=2)
def _opened(path: str, stamp: tuple[int, ...], wishes: Wishes) -> ImageNetwork:
    return ImageNetwork(read_onnx(path, WHO), wishes)


def _hashable(name: str, wished: Wished) -> Hashable:
    value = wished.tolist() if isinstance(wished, np.ndarray | np.generic) else wished
    value = tuple(value) if isinstance(value, list) else value
    try:
        hash(value)
    except TypeError:
        raise InvalidInput(f"{WHO}: {name} must be a number, a word or three numbers, got {shown(value)}.") from None
    return value
