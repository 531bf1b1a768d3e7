"""Channel `texture`: local binary patterns in a spatial pyramid. [Ojala2002; Wu2011]"""

from __future__ import annotations

from typing import ClassVar

from fewsight.channels.cells import CellsChannel
from fewsight.channels.option_fields import option
from fewsight.features import BinaryPatterns


class Texture(CellsChannel):
    """What the surface is like, and where: local binary patterns at several scales in a spatial pyramid."""

    name: ClassVar[str] = "texture"

    scales: tuple[float, ...] = option(
        default=(2.0, 4.0), doc="the image is made smaller by each of these before its patterns are read."
    )
    margin: int = option(
        default=12, doc="a neighbour darker by at most this (of 255 grey levels) still counts as bright."
    )

    @property
    def _descriptor(self) -> BinaryPatterns:
        return BinaryPatterns(self.scales, self.margin, self._pyramid.side)
