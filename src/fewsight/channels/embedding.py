"""Channel `embedding`: the output of any image network in an ONNX file."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any, ClassVar, Self, final

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Recipe
from fewsight.channels.network_channel import NetworkChannel
from fewsight.features.networks import GET_ONNX, ImageNetwork, Wishes, onnxruntime_is_there, read_onnx
from fewsight.images import FeatureCache
from fewsight.images.files import stamp_of

WHO = "Embedding"


@final
class Embedding(NetworkChannel):
    """The output of an image network of your own, in an ONNX file, run by onnxruntime.

    What is not given is read from the file: the size of the input from its shape; `side`, `mean`, `std` and `colours` from
    metadata of these names. docs/embeddings.md shows how to export a network.

    Parameters
    ----------
    model : the ONNX file. A model file of fewsight remembers the path and a hash of the content, not the network.
    side : of the input in pixels, where the network takes any size.
    mean, std : of red, green and blue, for pixels in [0, 1]; ImageNet's where the file says nothing.
    crop : None takes the whole image; a number, such as 0.875, that share of the largest square in the middle.
    layout : "nchw" or "nhwc", where the shape of the input does not tell.
    colours : "rgb" or "bgr".
    output : the name of the output; otherwise the first with one row per image. A map of vectors is averaged.
    pooling : of a sequence of vectors, the "first" or the "mean".
    compare : "rbf" (a Gaussian), "cosine" or "linear" (the inner product).
    scale : of the Gaussian; None chooses it by the evidence of the training labels.
    unit_length : whether the Gaussian compares vectors divided by their length.
    longest_side : images are read no larger than this, in pixels.
    """

    name: ClassVar[str] = "embedding"
    places: ClassVar[tuple[str, ...]] = ("model",)

    def __init__(
        self,
        model: str | os.PathLike[str] | None = None,
        *,
        side: int | None = None,
        mean: tuple[float, ...] | None = None,
        std: tuple[float, ...] | None = None,
        crop: float | None = None,
        layout: str | None = None,
        colours: str | None = None,
        output: str | None = None,
        pooling: str | None = None,
        compare: str = "rbf",
        scale: float | None = None,
        unit_length: bool = True,
        longest_side: int = 480,
        cache: FeatureCache | None = None,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.model = model
        self.side = side
        self.mean = mean
        self.std = std
        self.crop = crop
        self.layout = layout
        self.colours = colours
        self.output = output
        self.pooling = pooling
        self.compare = compare
        self.scale = scale
        self.unit_length = unit_length
        self.longest_side = longest_side
        self.cache = cache
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def missing(cls) -> str | None:
        return None if onnxruntime_is_there() else f"embedding needs onnxruntime, which is not installed: {GET_ONNX}"

    def remarks(self, images: Sequence[Any]) -> list[str]:
        """How the network is fed and what is taken from it."""
        return [f"embedding: {self._network().described}."]

    def fit(self, images: Sequence[Any], labels: Any = None) -> Self:
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
        wished = {name: getattr(self, name) for name in Wishes.__dataclass_fields__}
        return Wishes(**{name: _hashable(name, value) for name, value in wished.items()})

    def _source(self) -> dict[str, Any]:
        return {"network": self._network().digest}

    def _check_source(self, source: Any) -> None:
        if not isinstance(source, dict) or not isinstance(source.get("network"), str):
            raise InvalidInput(f"{WHO}: the hash of the network must be a text, got {shown(source)}.")


@functools.lru_cache(maxsize=2)
def _opened(path: str, stamp: tuple[int, ...], wishes: Wishes) -> ImageNetwork:
    return ImageNetwork(read_onnx(path, WHO), wishes)


def _hashable(name: str, value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    value = tuple(value) if isinstance(value, list) else value
    try:
        hash(value)
    except TypeError:
        raise InvalidInput(f"{WHO}: {name} must be a number, a word or three numbers, got {shown(value)}.") from None
    return value
