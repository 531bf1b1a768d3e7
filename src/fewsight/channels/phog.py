"""Channel `phog`: pyramid histograms of oriented gradients. [Bosch2007; Rodner2010, section 4]"""

from __future__ import annotations

from typing import ClassVar

from fewsight.channels.cells import CellsChannel
from fewsight.features import OrientedGradients
from fewsight.images import FeatureCache


class Phog(CellsChannel):
    """Which way the edges run, and where: gradient orientations in a spatial pyramid.

    Parameters
    ----------
    n_bins : bins of orientation.
    directions : "signed" tells dark-to-bright edges from bright-to-dark ones; "unsigned" does not.
    smoothing : standard deviation of the blur before gradients are taken, in pixels of the working resolution.
    n_levels : levels of the pyramid; 4 means the whole image, its quarters, its sixteenths and its sixty-fourths.
    longest_side : images are made smaller, never larger, to this many pixels.
    random_state : seed; of many training images some are drawn to learn the scale of the kernel from.
    cache : a FeatureCache, or None to compute everything anew.
    n_jobs : images described at the same time, as in joblib.
    """

    name: ClassVar[str] = "phog"

    def __init__(
        self,
        *,
        n_bins: int = 20,
        directions: str = "unsigned",
        smoothing: float = 1.0,
        n_levels: int = 4,
        longest_side: int = 300,
        random_state: int = 0,
        cache: FeatureCache | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_bins = n_bins
        self.directions = directions
        self.smoothing = smoothing
        self.n_levels = n_levels
        self.longest_side = longest_side
        self.random_state = random_state
        self.cache = cache
        self.n_jobs = n_jobs

    @property
    def _descriptor(self) -> OrientedGradients:
        return OrientedGradients(self.n_bins, self.directions, self.smoothing, self._pyramid.side)
