"""Channel `colour`: which colours are where."""

from __future__ import annotations

from typing import ClassVar

from fewsight.channels.cells import CellsChannel
from fewsight.features import Colours
from fewsight.images import FeatureCache


class Colour(CellsChannel):
    """Which colours are where: joint histograms of lightness and chroma in a spatial pyramid.

    Parameters
    ----------
    n_lightness, n_chroma : bins along L*, and along each of a* and b*.
    power : warps a* and b*; below 1, pale colours are told apart more finely than vivid ones.
    n_levels : levels of the pyramid; 3 means the whole image, its quarters and its sixteenths.
    longest_side : images are made smaller, never larger, to this many pixels.
    random_state : seed; of many training images some are drawn to learn the scale of the kernel from.
    cache : a FeatureCache, or None to compute everything anew.
    n_jobs : images described at the same time, as in joblib.
    """

    name: ClassVar[str] = "colour"

    def __init__(
        self,
        *,
        n_lightness: int = 4,
        n_chroma: int = 7,
        power: float = 0.5,
        n_levels: int = 3,
        longest_side: int = 300,
        random_state: int = 0,
        cache: FeatureCache | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_lightness = n_lightness
        self.n_chroma = n_chroma
        self.power = power
        self.n_levels = n_levels
        self.longest_side = longest_side
        self.random_state = random_state
        self.cache = cache
        self.n_jobs = n_jobs

    @property
    def _descriptor(self) -> Colours:
        return Colours(self.n_lightness, self.n_chroma, self.power, self._pyramid.side)
