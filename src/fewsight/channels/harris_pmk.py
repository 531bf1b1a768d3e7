"""Channel `harris_pmk`: Harris-Affine interest points, pyramid match with uniform bins. [Kapoor2010, sections 5 and 8]"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fewsight._base.checks import check_integer
from fewsight._base.types import LocalFeatures, Recipe
from fewsight.channels.base import LARGEST_SIDE
from fewsight.channels.points import CubesChannel
from fewsight.features import HarrisAffine
from fewsight.images import FeatureCache, Image
from fewsight.kernels import HistogramIntersection, Kernel


class HarrisPmk(CubesChannel):
    """Which corners find a partner nearby: a pyramid match of SIFT at interest points and their position, in cubes.

    Parameters
    ----------
    n_components : dimensions that the SIFT descriptors are reduced to, each with unit variance.
    position : width of the image in the same units; a larger one lets matches be less far apart. 0 leaves it out.
    finest, n_levels : width of the smallest cubes, and how often they are doubled.
    max_points : interest points of an image, at most; the strongest are kept.
    threshold : the weakest of them: how much changes over one scale, in grey levels of 255.
    scales : "all" takes the corners of every scale; "characteristic" those whose scale the Laplacian singles out, which are
        fewer and return more faithfully when the view changes, but leave more of an image undescribed.
    iterations, max_stretch : of the affine adaptation: steps at most, 0 for circles; longer regions are dropped.
    extent : side of the described square, in scales of the region.
    longest_side : images are made smaller, never larger, to this many pixels.
    n_descriptors : descriptors drawn from the training images to learn the reduction from.
    random_state : seed of the draw and of the origin of the cubes.
    cache : a FeatureCache, or None to compute everything anew.
    n_jobs : images described at the same time, as in joblib.

    An image without corners, such as a blank one, is similar only to others without: they share a column of their own.
    """

    name: ClassVar[str] = "harris_pmk"

    def __init__(
        self,
        *,
        n_components: int = 10,
        position: float = 12.0,
        finest: float = 2.0,
        n_levels: int = 3,
        max_points: int = 2000,
        threshold: float = 1.0,
        scales: str = "all",
        iterations: int = 8,
        max_stretch: float = 6.0,
        extent: float = 18.0,
        longest_side: int = 300,
        n_descriptors: int = 100_000,
        random_state: int = 0,
        cache: FeatureCache | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.position = position
        self.finest = finest
        self.n_levels = n_levels
        self.max_points = max_points
        self.threshold = threshold
        self.scales = scales
        self.iterations = iterations
        self.max_stretch = max_stretch
        self.extent = extent
        self.longest_side = longest_side
        self.n_descriptors = n_descriptors
        self.random_state = random_state
        self.cache = cache
        self.n_jobs = n_jobs

    @property
    def kernel(self) -> Kernel:
        return HistogramIntersection()

    @property
    def _detector(self) -> HarrisAffine:
        return HarrisAffine(
            max_points=self.max_points,
            threshold=self.threshold,
            scales=self.scales,
            iterations=self.iterations,
            max_stretch=self.max_stretch,
            extent=self.extent,
        )

    @property
    def _working_side(self) -> int:
        return check_integer(self, "longest_side", self.longest_side, least=16, most=LARGEST_SIDE)

    @property
    def n_columns(self) -> int:
        return super().n_columns + 1

    def _feature_recipe(self) -> Recipe:
        return {**self._detector.recipe(), "longest_side": self._working_side}

    def _describe(self, image: Image) -> LocalFeatures:
        return self._detector.describe(image.pixels(self._working_side))

    def _encode_points(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A row without any entry would say that the kernel of the image with itself is zero: a learner would be certain."""
        return super()._encode_points(points) if len(points) else (np.array([self.n_columns - 1]), np.ones(1))
