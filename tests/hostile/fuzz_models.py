"""Model files as a stranger would write them: any number, array or member changed, and every checksum and digest right again."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_mutations import EXTREMES, mutated
from hostile_models import edited_headers

from fewsight import NONE_OF_THESE
from fewsight._base.archive import read_archive, write_archive
from fewsight._base.errors import ArchiveError, FewsightError
from fewsight._base.types import State
from fewsight.channels import CHANNELS, Channel, make_channel
from fewsight.images import Image, ImageArray, ImageSet, sample_set
from fewsight.kernels import RBF, HistogramIntersection, Linear
from fewsight.learners import LEARNERS, GPClassifier, HistogramGPClassifier, KernelCombination
from fewsight.persistence import load, save
from fewsight.persistence.soundness import with_digest
from fewsight.transfer import TransferGPClassifier
from small_networks import write_network, write_vectors

GRID = {"n_descriptors": 200, "longest_side": 64, "step": 16, "scales": (1.0,)}
PATCHES = {"width": 64, "max_points": 10, "n_parts": 2, "n_components": 4, "n_starts": 1}
SMALL: dict[str, dict[str, Any]] = {  # every channel with little to compute
    "spatial_pmk": {**GRID, "n_words": 5},
    "dense_pmk": {**GRID, "n_levels": 2},
    "vocabulary_pmk": {**GRID, "n_levels": 2, "branching": 3},
    "harris_pmk": {"n_descriptors": 200, "longest_side": 64, "n_levels": 2, "max_points": 20},
    "opponent_sift": {**GRID, "n_trees": 2, "n_leaves": 4},
    "geometric_blur": {"longest_side": 64, "n_points": 10},
    "geometric_blur_distortion": {"longest_side": 64, "n_points": 10},
    "windows": {**GRID, "n_words": 5},
    "pooled_words": {**GRID, "n_words": 6},
    "fisher_kb": PATCHES,
    "fisher_dog": PATCHES,
    "fisher_harris": PATCHES,
    "fisher_hessian": PATCHES,
    "phog": {"longest_side": 64, "n_levels": 2},
    "texture": {"longest_side": 64, "n_levels": 2, "scales": (1.0,)},
    "colour": {"longest_side": 64, "n_levels": 2, "n_lightness": 2, "n_chroma": 3},
    "pretrained": {"longest_side": 64},
    "embedding": {"longest_side": 64},
    "vectors": {},
}
HEADER_VALUES = (
    *(*EXTREMES, -1, 0.5, 1e-9, 1e99, -1e99, 1e300, -1e300, 10**400, None, True, False),
    *("", "x", "\ud800", "a\0", "spatial_pmk", "none", "rbf", [], [1], [0, 2], [[1]], {}, {"a": 1}),
)
TYPES = ("<f4", "<f8", "<i8", "<i4", "|u1", ">f8", "<U3", "|S3", "<c16", "?", "<u8", "<f2", "<M8[s]")
FACTORS = (0, -1, 1e-300, 1e-30, 1e8, 1e30, 1e99, 1e150)
LONG = 2_000_000  # numbers of an array that packs well
Labels = np.repeat(["a", "b", "c"], 4)


class Models:
    """`load`, and the prediction of whatever loads: a finite answer or a FewsightError of one sentence."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "model"
        images = few_images().images
        rows = np.random.default_rng(0).random(size=(12, 3))
        K = RBF(scale=1.0).gram(rows)
        self.questions: dict[str, Any] = {"images": images[:1], "rows": rows[:1], "gram": K[:1]}
        self.states = [self._state_of(model) for model in good_models(folder, images, rows, K)]
        self.seeds = [self._bytes_of(state) for state in self.states]
        assert {self.read(seed) for seed in self.seeds} == {"answered", "encoded"}  # and all is compiled

    def make(self, rng: np.random.Generator) -> bytes:
        number, way = int(rng.integers(len(self.seeds))), int(rng.integers(8))
        if way == 0:
            return mutated(self.seeds[number], self.seeds, rng)
        if way == 1:
            return self._digested(repacked(self.seeds[number], self.seeds, rng))
        state = self.states[number]
        for _ in range(1 + int(rng.integers(3)) * int(rng.integers(2))):
            state = (header_edited if rng.integers(3) == 0 else array_edited)(state, rng)
        return self._bytes_of(with_digest(state))

    def read(self, content: bytes) -> str:
        self.path.write_bytes(content)
        try:
            model = load(self.path)
        except FewsightError as error:
            check_sentence(error)
            return "refused"
        try:
            return self._ask(model)
        except FewsightError as error:
            check_sentence(error)
            return "loaded, then refused"

    def _ask(self, model: Any) -> str:
        if isinstance(model, Channel):
            answer = model.gram(model.encode(self.questions["images"]))
            assert np.isfinite(answer).all(), "a kernel value that is no number"
            return "encoded"
        question = self._question_for(model)
        assessed = model.assess(question)
        parts = {
            "probabilities": assessed.probabilities,
            "means": assessed.latent.mean,
            "deviations": assessed.latent.std,
        }
        if assessed.unknown_score is not None:
            parts["scores"] = assessed.unknown_score
        for name, part in parts.items():
            assert np.isfinite(part).all(), f"{name} that are no numbers"
        assert np.isin(model.predict(question), model.classes_).all()
        str(model.classes_.tolist()).encode()
        return "answered"

    def _question_for(self, model: Any) -> Any:
        """An image, or a row of numbers as wide as the model says."""
        if model.channels:
            return self.questions["images"]
        of_grams = isinstance(model.kernel, str)
        row = np.resize(self.questions["gram" if of_grams else "rows"], (1, model.n_features_in_))
        return [row] * len(model.input_.scales) if of_grams and model.input_.several else row

    def _state_of(self, model: Any) -> State:
        save(model, self.path)
        return read_archive(self.path)

    def _bytes_of(self, state: State) -> bytes:
        write_archive(self.path, state, compress=True, durable=False)
        return self.path.read_bytes()

    def _digested(self, content: bytes) -> bytes:
        """With the digest that fits, where there is still a header to hold one."""
        self.path.write_bytes(content)
        try:
            return self._bytes_of(with_digest(read_archive(self.path)))
        except (ArchiveError, TypeError, ValueError):
            return content


def good_models(folder: Path, images: list[Image], rows: Any, K: Any) -> Iterator[Any]:
    """Every learner and every channel, fitted."""
    assert SMALL.keys() == CHANNELS.keys(), "a channel is missing"
    files = {
        "embedding": {"model": write_network(folder / "small.onnx")},
        "vectors": {"table": write_vectors(folder / "vectors.npz", images)},
    }
    usable = [name for name in SMALL if CHANNELS[name].missing() is None]
    channels = {name: make_channel(name, **SMALL[name], **files.get(name, {})) for name in usable}
    first, second = channels["spatial_pmk"], channels["dense_pmk"]
    for channel in channels.values():
        yield GPClassifier(channel).fit(images, Labels)
        yield channel.fit(images)
    for kind in LEARNERS.values():
        if not kind.needs.takes_rows:
            yield kind([channel for channel in channels.values() if kind.needs.accepts(channel)][:2]).fit(
                images, Labels
            )
            continue
        options = {"kernel": None if kind is HistogramGPClassifier else RBF(scale=1.0)}
        yield kind(**options).fit(rows, Labels)
    yield GPClassifier([first, second]).fit(images, Labels)
    yield HistogramGPClassifier(first).fit(images, Labels)
    yield HistogramGPClassifier([first, second], variance="exact").fit(images, Labels)  # with columns left out
    yield HistogramGPClassifier(calibrated=False, noise_per_class=True).fit(rows, Labels)
    yield HistogramGPClassifier(feature_transform="power", transform_parameter=0.5).fit(rows, Labels == "a")
    yield HistogramGPClassifier(relevance="channels", groups=[0, 1, 1]).fit(rows, Labels)
    yield GPClassifier([RBF(1.0), Linear() + RBF(2.0), HistogramIntersection()]).fit(rows, Labels)
    yield GPClassifier(RBF(1.0), calibrated=False, unknown_rule="distance").fit(rows, Labels)
    yield GPClassifier(RBF(1.0)).fit(rows, Labels).borrow("a", "b", 0.5)
    with_outsiders = [NONE_OF_THESE if place % 5 == 0 else label for place, label in enumerate(Labels.tolist())]
    yield GPClassifier(RBF(1.0), unknown_rule="distance").fit(rows, with_outsiders)
    yield HistogramGPClassifier().fit(rows, with_outsiders)
    yield KernelCombination([RBF(1.0), Linear()], scope="classwise").fit(rows, Labels)
    yield TransferGPClassifier(RBF(1.0), target="a", background="b").fit(rows, Labels)
    yield GPClassifier("precomputed").fit(K, np.arange(12) % 3)
    yield GPClassifier("precomputed").fit([K, K], np.arange(12) % 3)


def few_images(count: int = 12) -> ImageSet:
    """Tiles of the sample set."""
    samples = sample_set()
    step = len(samples) // count
    chosen = [samples.images[step * number] for number in range(count)]
    return ImageSet([ImageArray(np.rint(image.pixels() * 255).astype(np.uint8), image.name) for image in chosen])


def check_sentence(error: FewsightError) -> None:
    """What a person reads is one line that can be printed."""
    said = str(error)
    said.encode()
    assert "\n" not in said, "more than one line"
    assert said.endswith("."), f"no sentence: {said}"


def repacked(content: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    """The zip file with one member damaged or replaced by another's content, every checksum right."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    number, other = (int(rng.integers(len(members))) for _ in range(2))
    name, body = members[number]
    way = int(rng.integers(4))
    if way == 0:
        members[number] = (name, members[other][1])
    elif way == 1:
        members.append((name.replace("model/", "model/more", 1), body))
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


def header_edited(state: State, rng: np.random.Generator) -> State:
    """Another value somewhere in the header."""
    places = list(edited_headers(json.loads(json.dumps(state.header))))
    value = HEADER_VALUES[int(rng.integers(len(HEADER_VALUES)))]
    return State(places[int(rng.integers(len(places)))](value), state.arrays)


def array_edited(state: State, rng: np.random.Generator) -> State:
    """Another array in the place of one, or two that change places."""
    names = sorted(state.arrays)
    if not names:  # a channel that learns no more than a number
        return header_edited(state, rng)
    name, other = (names[int(rng.integers(len(names)))] for _ in range(2))
    array = np.array(state.arrays[name])
    if rng.integers(10) == 0:
        return State(state.header, {**state.arrays, name: state.arrays[other], other: array})
    change = CHANGES[int(rng.integers(len(CHANGES)))]
    with np.errstate(all="ignore"):
        try:
            changed = change(array, rng)
        except (TypeError, ValueError):  # a text that is no number, after an earlier change
            changed = np.zeros_like(array)
    return State(state.header, {**state.arrays, name: changed})


def _one_number(array: Any, rng: np.random.Generator) -> Any:
    if array.size and array.dtype.kind in "iuf":
        least, most = (np.iinfo if array.dtype.kind in "iu" else np.finfo)(array.dtype).min, 0
        wanted = (0, -1, 1, 2**20, 1e99, -1e99, 1e300, np.nan, np.inf)[int(rng.integers(9))]
        fits = array.dtype.kind == "f" or (
            np.isfinite(wanted) and abs(wanted) < 2**31 and (wanted >= 0 or least < most)
        )
        array.flat[int(rng.integers(array.size))] = wanted if fits else 1
    return array


def _one_step(array: Any, rng: np.random.Generator) -> Any:
    """One more or less: a place, a count or a class that is off by one."""
    if array.size and array.dtype.kind in "iuf":
        place = int(rng.integers(array.size))
        array.flat[place] = array.flat[place] + (1 if rng.integers(2) else array.dtype.type(0) - array.dtype.type(1))
    return array


def _cut(array: Any, rng: np.random.Generator) -> Any:
    if not array.ndim:
        return array
    axis = int(rng.integers(array.ndim))
    kept = int(rng.integers(array.shape[axis] + 1)) if rng.integers(2) else array.shape[axis] - 1
    return np.take(array, np.arange(max(kept, 0)), axis=axis)


def _grown(array: Any, rng: np.random.Generator) -> Any:
    if not array.ndim:
        return array
    axis = int(rng.integers(array.ndim))
    times = 2 if rng.integers(2) else max(1, LONG // max(1, array.size))
    return np.repeat(array, times, axis=axis) if array.size else np.zeros(LONG, array.dtype)


def _scaled(array: Any, rng: np.random.Generator) -> Any:
    factor = FACTORS[int(rng.integers(len(FACTORS)))]
    return array * factor if array.dtype.kind in "biufc" else array  # not texts and dates


CHANGES: tuple[Callable[[Any, np.random.Generator], Any], ...] = (
    _one_number,
    _one_number,
    _one_step,
    lambda array, rng: array.astype(TYPES[int(rng.integers(len(TYPES)))]),
    _cut,
    _cut,
    _grown,
    lambda array, rng: (array[None], array.ravel(), array.T, array[::-1], array[..., None])[int(rng.integers(5))],
    _scaled,
    lambda array, rng: _scaled(array, rng).astype(array.dtype),
    lambda array, rng: np.zeros_like(array),
)
