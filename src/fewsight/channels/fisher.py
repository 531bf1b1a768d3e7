"""Channels `fisher_kb`, `fisher_dog`, `fisher_harris` and `fisher_hessian`: Fisher scores of constellation models. [Holub2008]"""

from __future__ import annotations

import hashlib
from abc import ABC
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from fewsight._base.checks import check_choice, check_integer, check_number, shown
from fewsight._base.encodings import DenseRows, Encodings, Entry
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, LocalFeatures, Recipe, State
from fewsight.channels.base import as_images
from fewsight.channels.generative import GenerativeChannel
from fewsight.channels.option_fields import option
from fewsight.channels.vector_channel import LEAST_SCALE, MOST_SCALE, scale_by_evidence
from fewsight.encodings import (
    Constellation,
    PointSets,
    Projection,
    broad_gaussian,
    learn_constellations,
    principal_components,
)
from fewsight.features import InterestPatches
from fewsight.features.interest_patches import TALLEST
from fewsight.images import Image
from fewsight.kernels import RBF, Kernel, Linear, Polynomial

MOST_IMAGES = 2_000  # that a model is learned from; if there are more, this many are drawn
MOST_MODELS = 2_000
NO_SPREAD = 1e-12  # of a score that is the same for all training images, and says nothing
LARGEST = 1e30  # of what a score is multiplied by


class FisherChannel(GenerativeChannel, ABC):
    """How an image would change a model of parts and their arrangement: the derivatives of its log-likelihood.

    The model is learned from all training images, those without a label too; or there is one for each category, and their
    scores stand side by side. An image with fewer interest points than parts would change nothing.
    """

    encodings: ClassVar[type[Encodings]] = DenseRows
    required_features: ClassVar[tuple[str, ...]] = ("aspect",)
    learns_from_unlabelled: ClassVar[bool] = True
    detector: ClassVar[str]

    models: str = option(
        default="one",
        doc='"one" learns one model from all training images, labelled or not; "each" one for each category, from its images.',
    )
    n_parts: int = option(default=4, doc="parts of a model, from 2 to 6.")
    max_points: int = option(default=60, doc="interest points of an image, at most; the strongest are kept.")
    n_components: int = option(default=20, doc="dimensions that the patches are reduced to, each with unit variance.")
    width: int = option(default=250, doc="width in pixels that every image is scaled to, up or down.")
    smallest: float = option(default=4.0, doc="the smallest half side of a patch, in pixels.")
    spacing: float = option(
        default=0.7, doc="how near a point may come to a stronger one, in half sides of the smaller patch."
    )
    uses: str = option(default="both", doc='which scores count: "shape", "appearance" or "both".')
    clutter: bool = option(
        default=True,
        doc="whether points that belong to no part have a density as well: one broad Gaussian of all patches.",
    )
    scaling: str = option(
        default="rms",
        doc='"rms" divides each score by the root of its mean square over the training images; "range" rescales the least and '
        "the largest to -1 and 1.",
    )
    unit_length: bool = option(default=False, doc="whether the scores of an image are divided by their length.")
    compare: str = option(default="rbf", doc='"rbf" (a Gaussian), "linear" or "polynomial".')
    scale: float | None = option(
        default=None, doc="of the Gaussian; None chooses it by the evidence of the training labels."
    )
    degree: int = option(default=2, doc="of the polynomial, a whole number.")
    n_starts: int = option(default=3, doc="starts that a model is learned from.")
    keep: str = option(
        default="best",
        doc='"best" keeps the most probable result of all starts; "all" keeps every one as a model of its own, and their scores '
        "stand side by side: a model has few parts, and from another start it finds others.",
    )
    max_steps: int = option(default=50, doc="steps of expectation maximisation (EM), at most.")
    least_variance: float = option(
        default=0.05,
        doc="the smallest variance that a part's appearance may have in a dimension, where all patches have 1; from 1 on every "
        "part takes in many patches.",
    )
    least_spread: float = option(
        default=0.01, doc="the smallest standard deviation of a part's place, in widths of the image."
    )

    # What images look like.

    @property
    def _descriptor(self) -> InterestPatches:
        return InterestPatches(
            detector=self.detector,
            max_points=self.max_points,
            width=self.width,
            smallest=self.smallest,
            spacing=self.spacing,
        )

    @property
    def _descriptor_width(self) -> int:
        return InterestPatches.descriptor_width

    def _feature_recipe(self) -> Recipe:
        return self._descriptor.recipe()

    def _describe(self, image: Image) -> LocalFeatures:
        detector = self._descriptor
        return detector.describe(image.pixels(TALLEST * detector.width))

    # What is learned.

    @property
    def _uses_labels(self) -> bool:
        return self._choice("models", ("one", "each")) == "each" or self._learns_scale

    @property
    def _learns_scale(self) -> bool:
        return self.scale is None and self._choice("compare", COMPARISONS) == "rbf"

    def _learn_recipe(self) -> Recipe:
        for name in ("clutter", "unit_length"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidInput(
                    f"{type(self).__name__}: {name} must be True or False, got {shown(getattr(self, name))}."
                )
        scale = self.scale
        if scale is not None:
            scale = check_number(self, "scale", scale, least=LEAST_SCALE, most=MOST_SCALE)
        return {
            "kind": "fisher_scores",
            "version": 1,
            "models": self._choice("models", ("one", "each")),
            "n_parts": check_integer(self, "n_parts", self.n_parts, least=2, most=6),
            "n_components": check_integer(
                self, "n_components", self.n_components, least=1, most=self._descriptor_width
            ),
            "uses": self._choice("uses", USES),
            "clutter": self.clutter,
            "scaling": self._choice("scaling", ("rms", "range")),
            "unit_length": self.unit_length,
            "compare": self._choice("compare", COMPARISONS),
            "scale": scale,
            "degree": check_integer(self, "degree", self.degree, least=1, most=20),
            "n_starts": check_integer(self, "n_starts", self.n_starts, least=1, most=100),
            "keep": self._choice("keep", ("best", "all")),
            "max_steps": check_integer(self, "max_steps", self.max_steps, least=0, most=10_000),
            "least_variance": check_number(self, "least_variance", self.least_variance, least=1e-6, most=100.0),
            "least_spread": check_number(self, "least_spread", self.least_spread, least=1e-4, most=10.0),
            "most": MOST_IMAGES,
            "random_state": self.random_state,
        }

    def _sample(self, features: LocalFeatures, n_images: int, rng: np.random.Generator) -> np.ndarray:
        """Patches with the places behind them, in widths of the image."""
        return np.hstack([features.descriptors, _places(features).astype(np.float32)])

    def _learn(self, samples: list[np.ndarray]) -> State:
        return self._learn_labelled(samples, np.full(len(samples), -1))

    def _learn_labelled(self, samples: list[np.ndarray], groups: Indices) -> State:
        rng = np.random.default_rng(self.random_state)
        patches = np.concatenate([sample[:, :-2] for sample in samples])
        projection = principal_components(patches, self.n_components, position=0.0)
        points = _point_sets(projection, [(sample[:, :-2], sample[:, -2:]) for sample in samples])
        found = [self._learn_models(points.take(images), points, rng) for images in self._groups_of_images(groups)]
        models = [model for several in found for model in several]
        scores = self._chosen_scores(models, points)
        scaling = _Scaling.of(scores, self.scaling)
        scale = self.scale or 1.0
        if self._learns_scale:
            scale = scale_by_evidence(self._scaled(scores, scaling), groups, rng)
        state = State({"scale": float(scale), "n_models": len(models)}, scaling._asdict())
        for number, model in enumerate(models):
            state = state.join(f"model{number}", model.state())
        return state.join("projection", projection.state())

    def _groups_of_images(self, groups: Indices) -> list[Indices]:
        """The images that each model is learned from."""
        known = range(int(groups.max(initial=-1)) + 1)
        if self.models == "one" or not known:
            return [np.arange(len(groups))]
        return [np.flatnonzero(groups == number) for number in known]

    def _learn_models(self, own: PointSets, all_points: PointSets, rng: np.random.Generator) -> list[Constellation]:
        drawn = own.take(np.sort(rng.permutation(len(own))[:MOST_IMAGES]))
        clutter = broad_gaussian(all_points.appearances) if self.clutter else None
        models = learn_constellations(
            drawn,
            self.n_parts,
            clutter=clutter,
            random_state=self.random_state,
            n_starts=self.n_starts,
            max_steps=self.max_steps,
            least_appearance_variance=self.least_variance,
            least_shape_variance=self.least_spread**2,
        )
        return models if self.keep == "all" else models[:1]

    def _set_learned(self, state: State) -> None:
        projection = Projection.from_state(state.nested("projection"))
        if projection.mean.shape != (self._descriptor_width,) or projection.position != 0:
            raise InvalidInput(f"{type(self).__name__}: the stored projection must be one of patches.")
        d = projection.components.shape[1]
        models = [Constellation.from_state(part) for part in state.parts("model", most=MOST_MODELS)]
        for model in models:
            if model.appearance.means.shape != (self.n_parts, d) or (model.clutter is None) == self.clutter:
                raise InvalidInput(
                    f"{type(self).__name__}: every stored model must have {self.n_parts} parts of {d} numbers and "
                    f"{'a' if self.clutter else 'no'} clutter term, got {shown(model.appearance.means.shape)}."
                )
        n_columns = len(models) * self._columns_of(models[0])
        shift = state.array("shift", (n_columns,), np.float64, least=-LARGEST, most=LARGEST)
        factor = state.array("factor", (n_columns,), np.float64, least=0, most=LARGEST)
        self.scale_ = check_number(self, "scale", state.header["scale"], least=LEAST_SCALE, most=MOST_SCALE)
        self.projection_, self.models_, self._scaling = projection, models, _Scaling(shift, factor)
        self.learned_ = state

    # What becomes of an image.

    @property
    def kernel(self) -> Kernel:
        self._check_fitted()
        if self.compare == "rbf":
            return RBF(self.scale_)
        return Linear() if self.compare == "linear" else Polynomial(self.degree, scale=1.0 / self.n_columns)

    @property
    def n_columns(self) -> int:
        self._check_fitted()
        return len(self._scaling.factor)

    def _encode_recipe(self) -> Recipe:
        digest = hashlib.blake2b(digest_size=16)
        for part in (self.projection_.digest, *(model.digest for model in self.models_)):
            digest.update(part.encode())
        digest.update(self._scaling.shift.tobytes() + self._scaling.factor.tobytes())
        recipe = {"kind": "fisher_scores", "version": 1, "uses": self.uses, "learned": digest.hexdigest()}
        return {**recipe, "unit_length": True} if self.unit_length else recipe

    def _encode(self, features: LocalFeatures) -> Entry:
        scores = self._chosen_scores(self.models_, self._points([features]))
        return DenseRows.entry(self._scaled(scores, self._scaling)[0])

    def _scaled(self, scores: Array, scaling: _Scaling) -> Array:
        """As the kernel takes them. Scores of zero have no direction, and stay as they are."""
        rows = scaling.applied(scores)
        if not self.unit_length:
            return rows
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))

    def _chosen_scores(self, models: Sequence[Constellation], points: PointSets) -> Array:
        """Of all models side by side; shape, appearance or both."""
        chosen = []
        for model in models:
            scores = model.fisher_scores(points)
            n_appearance = model.n_scores - model.n_shape_scores
            first = n_appearance if self.uses == "shape" else 0
            chosen.append(scores[:, first : n_appearance if self.uses == "appearance" else model.n_scores])
        return np.concatenate(chosen, axis=1)

    def _columns_of(self, model: Constellation) -> int:
        n_shape = model.n_shape_scores
        return {"shape": n_shape, "appearance": model.n_scores - n_shape, "both": model.n_scores}[self.uses]

    # What the models say.

    @property
    def n_models(self) -> int:
        self._check_fitted()
        return len(self.models_)

    def modelling_each(self) -> Self:
        """An unfitted copy with `models="each"`, and with the most probable one for each category alone."""
        made: Self = clone(self).set_params(models="each", keep="best", cache=self.cache)
        return made

    def log_likelihood(self, images: Sequence[Any]) -> Array:
        """How probable images are under each model (n, n_models); their categories are in the order of the first images."""
        self._check_fitted()
        points = self._points(self.local_features(as_images(images)))
        return np.stack([model.log_likelihood(points) for model in self.models_], axis=1)

    def localise(self, images: Sequence[Any], model: int = 0) -> list[Array]:
        """Where the parts of a model most probably are.

        Parameters
        ----------
        images : n images: paths, arrays (h, w) or (h, w, 3), or `Image` objects.
        model : the number of the model.

        Returns
        -------
        list of arrays (n_parts, 3)
            x and y as fractions of width and height, and the half side of the patch in widths of the image; of an image
            with fewer interest points than parts, an array (0, 3).
        """
        self._check_fitted()
        check_integer(self, "model", model, least=0, most=len(self.models_) - 1)
        features = self.local_features(as_images(images))
        chosen = self.models_[model].localise(self._points(features))
        return [_at(each, parts[parts >= 0]) for each, parts in zip(features, chosen, strict=True)]

    def _points(self, features: Sequence[LocalFeatures]) -> PointSets:
        return _point_sets(self.projection_, [(each.descriptors, _places(each)) for each in features])

    def _choice(self, name: str, choices: tuple[str, ...]) -> str:
        return check_choice(self, name, getattr(self, name), choices)


USES = ("both", "shape", "appearance")
COMPARISONS = ("rbf", "linear", "polynomial")


class FisherKb(FisherChannel):
    """Parts at places of unpredictable grey levels (Kadir and Brady), and how an image would change them."""

    name: ClassVar[str] = "fisher_kb"
    detector: ClassVar[str] = "kb"


class FisherDog(FisherChannel):
    """Parts at spots (differences of Gaussians), and how an image would change them."""

    name: ClassVar[str] = "fisher_dog"
    detector: ClassVar[str] = "dog"


class FisherHarris(FisherChannel):
    """Parts at corners (Harris), and how an image would change them."""

    name: ClassVar[str] = "fisher_harris"
    detector: ClassVar[str] = "harris"


class FisherHessian(FisherChannel):
    """Parts at blobs (determinant of the Hessian), and how an image would change them."""

    name: ClassVar[str] = "fisher_hessian"
    detector: ClassVar[str] = "hessian"


class _Scaling(NamedTuple):
    """What is done to every score: minus `shift`, times `factor`; a score without spread becomes zero."""

    shift: Array
    factor: Array

    @classmethod
    def of(cls, scores: Array, way: str) -> _Scaling:
        """Learned from the scores of the training images. [Holub2008, eq. 7, or section 4]"""
        if way == "rms":
            shift, spread = np.zeros(scores.shape[1]), np.sqrt((scores**2).mean(axis=0))
        else:
            low, high = scores.min(axis=0), scores.max(axis=0)
            shift, spread = 0.5 * (low + high), 0.5 * (high - low)
        tells = spread > NO_SPREAD
        return cls(shift, np.where(tells, 1.0 / np.where(tells, spread, 1.0), 0.0))

    def applied(self, scores: Array) -> Array:
        return (scores - self.shift) * self.factor


def _places(features: LocalFeatures) -> Array:
    """x and y (n, 2) in widths of the image."""
    return features.locations.astype(np.float64) / (1.0, features.aspect or 1.0)


def _point_sets(projection: Projection, images: Sequence[tuple[np.ndarray, np.ndarray]]) -> PointSets:
    """From the patches and the places of each image."""
    looks = [projection.points(LocalFeatures(patches, places.astype(np.float32))) for patches, places in images]
    return PointSets.of(looks, [places for _, places in images], projection.components.shape[1])


def _at(features: LocalFeatures, chosen: Indices) -> Array:
    scales = np.zeros(len(features)) if features.scales is None else features.scales
    return np.column_stack([features.locations[chosen], scales[chosen]]).astype(np.float64)
