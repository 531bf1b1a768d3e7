"""Channel `dense_pmk`: dense SIFT and its position, pyramid match with uniform bins. [Kapoor2010, sections 5 and 8]"""

from __future__ import annotations

from typing import ClassVar

from fewsight.channels.dense import DenseSiftChannel
from fewsight.channels.points import CubesChannel
from fewsight.images import FeatureCache


class DensePmk(CubesChannel, DenseSiftChannel):
    """Which small structures find a partner nearby: a pyramid match of dense SIFT and position, in cubes.

    Parameters
    ----------
    n_components : dimensions that the SIFT descriptors are reduced to, each with unit variance.
    position : width of the image in the same units; a larger one lets matches be less far apart. 0 leaves it out.
    finest, n_levels : width of the smallest cubes, and how often they are doubled.
    step, patch, scales, contrast : of the dense SIFT grid, in pixels of the working resolution.
    longest_side : images are made smaller, never larger, to this many pixels.
    n_descriptors : descriptors drawn from the training images to learn the reduction from.
    random_state : seed of the draw and of the origin of the cubes.
    cache : a FeatureCache, or None to compute everything anew.
    n_jobs : images described at the same time, as in joblib.
    """

    name: ClassVar[str] = "dense_pmk"

    def __init__(
        self,
        *,
        n_components: int = 10,
        position: float = 16.0,
        finest: float = 2.0,
        n_levels: int = 5,
        step: float = 8,
        patch: int = 16,
        scales: tuple[float, ...] = (1.0, 1.5, 2.0),
        contrast: float = 0.0,
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
        self.step = step
        self.patch = patch
        self.scales = scales
        self.contrast = contrast
        self.longest_side = longest_side
        self.n_descriptors = n_descriptors
        self.random_state = random_state
        self.cache = cache
        self.n_jobs = n_jobs
