"""What is fuzzed: readers of images, of model files and of cache entries, each with good files to start from.

A target makes an input from a random generator and reads it. `read` returns a word for how that ended, and raises only
where something is wrong: anything that is not a FewsightError, or an answer that is none.
"""

from __future__ import annotations

import io
import json
import zipfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_mutations import EXTREMES, mutated
from fuzz_vectors import Networks, Tables
from hostile_kinds import (
    DAMAGED_EXIF,
    Tile,
    deep,
    deep_colour_png,
    encoded,
    exif,
    floating,
    interlaced_png,
    see_through,
)
from hostile_models import edited_headers
from PIL import Image as Pillow

from fewsight._base.archive import read_archive, write_archive
from fewsight._base.errors import FewsightError, UnreadableImage
from fewsight._base.types import State
from fewsight.channels import CHANNELS, Channel, SpatialPmk, make_channel
from fewsight.images import FeatureCache, ImageArray, ImageSet, sample_set
from fewsight.images.reading import decode
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier
from fewsight.persistence import load, save
from fewsight.persistence.soundness import with_digest
from small_networks import write_network, write_vectors

SIDES = (None, 300, 16)
GRID = {"n_descriptors": 200, "longest_side": 64, "step": 16, "scales": (1.0,)}
SMALL: dict[str, dict[str, Any]] = {  # every channel with little to compute
    "spatial_pmk": {**GRID, "n_words": 5},
    "dense_pmk": {**GRID, "n_levels": 2},
    "vocabulary_pmk": {**GRID, "n_levels": 2, "branching": 3},
    "harris_pmk": {"n_descriptors": 200, "longest_side": 64, "n_levels": 2, "max_points": 20},
    "opponent_sift": {**GRID, "n_trees": 2, "n_leaves": 4},
    "phog": {"longest_side": 64, "n_levels": 2},
    "texture": {"longest_side": 64, "n_levels": 2, "scales": (1.0,)},
    "colour": {"longest_side": 64, "n_levels": 2, "n_lightness": 2, "n_chroma": 3},
    "pretrained": {"longest_side": 64},
    "embedding": {"longest_side": 64},
    "vectors": {},
}


class Target(ABC):
    """Something that reads files of strangers."""

    @abstractmethod
    def make(self, rng: np.random.Generator) -> bytes:
        """An input: a good file, damaged."""

    @abstractmethod
    def read(self, content: bytes) -> str:
        """Read it; how that ended, in a word."""


class Images(Target):
    """The image reader: pixels or an UnreadableImage."""

    def __init__(self, folder: Path) -> None:
        self.seeds = image_seeds()

    def make(self, rng: np.random.Generator) -> bytes:
        return mutated(self.seeds[int(rng.integers(len(self.seeds)))], self.seeds, rng)

    def read(self, content: bytes) -> str:
        try:
            pixels = decode(content, "input", SIDES[len(content) % len(SIDES)])
        except UnreadableImage as error:
            str(error).encode()
            return "no memory" if "memory" in error.reason else "unreadable"
        assert pixels.dtype == np.float32
        assert pixels.ndim == 3
        assert pixels.shape[2] == 3
        assert 0 <= pixels.min() <= pixels.max() <= 1
        return "pixels"


class Models(Target):
    """`load`, and the prediction of whatever loads: an answer or a FewsightError."""

    def __init__(self, folder: Path) -> None:
        assert SMALL.keys() == CHANNELS.keys(), "a channel is missing"
        self.path = folder / "model"
        images = _few_images()
        rows = np.random.default_rng(0).normal(size=(12, 3))
        labels = np.repeat(["a", "b", "c"], 4)
        files = {
            "embedding": {"model": write_network(folder / "small.onnx")},
            "vectors": {"table": write_vectors(folder / "vectors.npz", images.images)},
        }
        usable = [name for name in SMALL if CHANNELS[name].missing() is None]
        channels = [make_channel(name, **SMALL[name], **files.get(name, {})) for name in usable]
        models = [
            *(GPClassifier(channel).fit(images.images, labels) for channel in channels),
            GPClassifier(channels[:2]).fit(images.images, labels),
            GPClassifier(RBF(scale=1.0)).fit(rows, labels),
            GPClassifier("precomputed").fit(RBF(scale=1.0).gram(rows), np.arange(12) % 3),
            *(channel.fit(images.images) for channel in channels),
        ]
        self.questions = [images.images[:1], rows[:1], RBF(scale=1.0).gram(rows[:1], rows)]
        self.states = [self._state_of(model) for model in models]
        self.seeds = [self._bytes_of(state) for state in self.states]

    def make(self, rng: np.random.Generator) -> bytes:
        way = int(rng.integers(4))
        number = int(rng.integers(len(self.seeds)))
        if way == 0:
            return mutated(self.seeds[number], self.seeds, rng)
        if way == 1:
            return _repacked(self.seeds[number], self.seeds, rng)
        state = self.states[number]
        change = _header_edited if way == 2 else _array_edited
        return self._bytes_of(with_digest(change(state, rng)))

    def read(self, content: bytes) -> str:
        self.path.write_bytes(content)
        try:
            model = load(self.path)
        except FewsightError:
            return "refused"
        try:
            self._ask(model)
        except FewsightError:
            return "loaded, then refused"
        return "answered"

    def _ask(self, model: Any) -> None:
        if isinstance(model, Channel):
            model.gram(model.encode(self.questions[0]))
            return
        kind = {"channels": 0, "vectors": 1, "precomputed": 2}[model.input_.state().header["kind"]]
        answers = model.predict_proba(self.questions[kind])
        assert np.isfinite(answers).all(), "an answer that is no number"
        model.is_unknown(self.questions[kind])

    def _state_of(self, model: Any) -> State:
        save(model, self.path)
        return read_archive(self.path)

    def _bytes_of(self, state: State) -> bytes:
        write_archive(self.path, state, compress=True)
        return self.path.read_bytes()


class CacheEntries(Target):
    """The cache: a damaged entry is computed again, so that what comes out is always the same."""

    def __init__(self, folder: Path) -> None:
        self.image = _few_images().images[0]
        self.channel = SpatialPmk(scales=(1.0,), step=16, longest_side=64, cache=FeatureCache(folder / "cache"))
        self.expected = self.channel.local_features([self.image])[0]
        self.path = next((folder / "cache").glob("*/*"))
        self.seeds = [self.path.read_bytes()]

    def make(self, rng: np.random.Generator) -> bytes:
        return mutated(self.seeds[0], self.seeds, rng)

    def read(self, content: bytes) -> str:
        self.path.write_bytes(content)
        found = self.channel.local_features([self.image])[0]
        np.testing.assert_array_equal(found.descriptors, self.expected.descriptors)
        np.testing.assert_array_equal(found.locations, self.expected.locations)
        return "unharmed"


TARGETS: dict[str, type[Any]] = {
    "images": Images,
    "models": Models,
    "cache": CacheEntries,
    "networks": Networks,
    "tables": Tables,
}


def image_seeds() -> list[bytes]:
    """Small good images of every format and mode that is read."""
    tile = np.rint(_few_images(1).images[0].pixels(24) * 255).astype(np.uint8)
    image = Pillow.fromarray(tile)
    grey, palette = image.convert("L"), image.convert("P", palette=Pillow.Palette.ADAPTIVE, colors=16)
    made: list[tuple[Pillow.Image, str, dict[str, Any]]] = [
        (image, "JPEG", {}),
        (image, "JPEG", {"progressive": True, "exif": exif(6)}),
        (image, "JPEG", {"exif": DAMAGED_EXIF, "restart_marker_blocks": 2}),
        (grey, "JPEG", {"optimize": True}),
        (image.convert("CMYK"), "JPEG", {}),
        (image.resize((600, 400)), "JPEG", {"quality": 30}),
        (image, "MPO", _two_frames(tile)),
        (image, "PNG", {}),
        (grey, "PNG", {}),
        (palette, "PNG", {"transparency": 3}),
        (image.convert("1"), "PNG", {}),
        (see_through(image.copy()), "PNG", {"exif": exif(3)}),
        (deep(image), "PNG", {}),
        (image, "PNG", _two_frames(tile)),
        (image, "GIF", _two_frames(tile)),
        (palette, "GIF", {"transparency": 2, "interlace": True}),
        (image, "BMP", {}),
        (palette, "BMP", {}),
        (image.convert("1"), "BMP", {}),
        (image, "WEBP", {}),
        (image, "WEBP", {"lossless": True, "exif": exif(8)}),
        (see_through(image.copy()), "WEBP", {}),
        (image, "WEBP", _two_frames(tile)),
        (image, "TIFF", _two_frames(tile)),
        (deep(image), "TIFF", {"exif": exif(5)}),
        (floating(image), "TIFF", {}),
        (image.convert("1"), "TIFF", {"compression": "group4"}),
        (image.convert("CMYK"), "TIFF", {"compression": "tiff_adobe_deflate"}),
        (image, "TIFF", {"compression": "tiff_lzw"}),
        (image, "TIFF", {"compression": "packbits"}),
        (image, "TIFF", {"compression": "jpeg"}),
        (palette, "TIFF", {"big_tiff": True}),
    ]
    written = [encoded(image.copy(), form, **options) for image, form, options in made]
    return [*written, interlaced_png(tile), deep_colour_png(tile)]


def _two_frames(tile: Tile) -> dict[str, Any]:
    """Made anew each time: Pillow leaves the options of one format in an image that it has written."""
    return {"save_all": True, "append_images": [Pillow.fromarray(np.roll(tile, 5, axis=0))]}


def _few_images(count: int = 12) -> ImageSet:
    samples = sample_set()
    step = len(samples) // count
    chosen = [samples.images[step * number] for number in range(count)]
    return ImageSet([ImageArray(np.rint(image.pixels() * 255).astype(np.uint8), image.name) for image in chosen])


def _repacked(content: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    """The zip file with one member damaged or replaced by another's content, every checksum right."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    number, other = (int(rng.integers(len(members))) for _ in range(2))
    name, body = members[number]
    way = int(rng.integers(4))
    if way == 0:
        members[number] = (name, members[other][1])
    elif way == 1:
        members.append((name, body))
    elif way == 2:
        del members[number]
    else:
        members[number] = (name, mutated(body, [part for _, part in members], rng))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, body in members:
            if name not in archive.namelist():  # zipfile warns; a second entry is put in by the mutations of bytes
                archive.writestr(name, body)
    return stream.getvalue()


def _header_edited(state: State, rng: np.random.Generator) -> State:
    values = (*EXTREMES, -1, 0.5, 1e-9, 1e300, -1e300, None, True, "", "x", "spatial_pmk", [], [1], [[1]], {}, {"a": 1})
    header = json.loads(json.dumps(state.header))
    for _ in range(1 + int(rng.integers(2))):
        places = list(edited_headers(header))
        header = places[int(rng.integers(len(places)))](values[int(rng.integers(len(values)))])
    return State(header, state.arrays)


def _array_edited(state: State, rng: np.random.Generator) -> State:
    names = sorted(state.arrays)
    if not names:  # a channel that learns no more than a number
        return _header_edited(state, rng)
    name, other = (names[int(rng.integers(len(names)))] for _ in range(2))
    array = np.array(state.arrays[name])
    way = int(rng.integers(6))
    if way == 0:
        return State(state.header, {**state.arrays, name: state.arrays[other], other: array})
    if way == 1 and array.size:
        array.flat[int(rng.integers(array.size))] = (0, -1, 2**20, 1e300)[int(rng.integers(4))] % 2**62
    elif way == 2:
        array = array.astype(
            ("<f4", "<f8", "<i8", "<i4", "|u1", ">f8", "<U3", "|S3", "<c16", "?")[int(rng.integers(10))]
        )
    elif way == 3:
        array = array[: int(rng.integers(len(array) + 1))] if array.ndim else array
    elif way == 4:
        array = (array[None], array.ravel(), array.T, array[::-1])[int(rng.integers(4))]
    else:
        with np.errstate(all="ignore"):
            array = array * (0, -1, 1e-300, 1e8, 1e150)[int(rng.integers(5))]
    return State(state.header, {**state.arrays, name: array})
