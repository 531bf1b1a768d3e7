"""Channel `dense_pmk`: dense SIFT and its position, pyramid match with uniform bins. [Kapoor2010, sections 5 and 8]"""

from __future__ import annotations

from typing import ClassVar

from fewsight.channels.dense import DenseSiftChannel
from fewsight.channels.points import CubesChannel


class DensePmk(CubesChannel, DenseSiftChannel):
    """Which small structures find a partner nearby: a pyramid match of dense SIFT and position, in cubes."""

    name: ClassVar[str] = "dense_pmk"
    typical_numbers: ClassVar[int] = 2_100

    position: float = 16.0
    n_levels: int = 5
