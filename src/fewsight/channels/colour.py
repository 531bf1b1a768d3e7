"""Channel `colour`: which colours are where."""

from __future__ import annotations

from typing import ClassVar

from fewsight.channels.cells import CellsChannel
from fewsight.channels.option_fields import option
from fewsight.features import Colours


class Colour(CellsChannel):
    """Which colours are where: joint histograms of lightness and chroma in a spatial pyramid."""

    name: ClassVar[str] = "colour"

    n_lightness: int = option(default=4, doc="bins along L*.")
    n_chroma: int = option(default=7, doc="bins along each of a* and b*.")
    power: float = option(
        default=0.5, doc="warps a* and b*; below 1, pale colours are told apart more finely than vivid ones."
    )

    @property
    def _descriptor(self) -> Colours:
        return Colours(self.n_lightness, self.n_chroma, self.power, self._pyramid.side)
