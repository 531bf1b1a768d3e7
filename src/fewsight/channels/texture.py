"""Channel `texture`: local binary patterns in a spatial pyramid. [Ojala2002; Wu2011]"""

from __future__ import annotations

from typing import ClassVar

from fewsight.channels.cells import CellsChannel
from fewsight.features import BinaryPatterns
from fewsight.images import FeatureCache


class Texture(CellsChannel):
    """What the surface is like, and where: local binary patterns at several scales in a spatial pyramid.

    Parameters
    ----------
    scales : the image is made smaller by each of these before its patterns are read.
    margin : a neighbour darker by at most this (of 255 grey levels) still counts as bright.
    n_levels : levels of the pyramid; 3 means the whole image, its quarters and its sixteenths.
    longest_side : images are made smaller, never larger, to this many pixels.
    random_state : seed; of many training images some are drawn to learn the scale of the kernel from.
    cache : a FeatureCache, or None to compute everything anew.
    n_jobs : images described at the same time, as in joblib.
    """

    name: ClassVar[str] = "texture"

    def __init__(
        self,
        *,
        scales: tuple[float, ...] = (2.0, 4.0),
        margin: int = 12,
        n_levels: int = 3,
        longest_side: int = 300,
        random_state: int = 0,
        cache: FeatureCache | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.scales = scales
        self.margin = margin
        self.n_levels = n_levels
        self.longest_side = longest_side
        self.random_state = random_state
        self.cache = cache
        self.n_jobs = n_jobs

    @property
    def _descriptor(self) -> BinaryPatterns:
        return BinaryPatterns(self.scales, self.margin, self._pyramid.side)
