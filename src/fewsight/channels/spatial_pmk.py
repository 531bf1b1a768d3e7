"""Channel `spatial_pmk`: dense SIFT, visual words, spatial pyramid, histogram intersection. [Kapoor2010, section 8]"""

from __future__ import annotations

from typing import ClassVar, final

from fewsight.channels.dense import CodebookChannel


@final
class SpatialPmk(CodebookChannel):
    """Which small structures stand where: dense SIFT words in a spatial pyramid, compared by intersection."""

    name: ClassVar[str] = "spatial_pmk"
    typical_numbers: ClassVar[int] = 2_000
