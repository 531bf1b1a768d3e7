"""Channel `phog`: pyramid histograms of oriented gradients. [Bosch2007; Rodner2010, section 4]"""

from __future__ import annotations

from typing import ClassVar

from fewsight.channels.cells import CellsChannel
from fewsight.channels.option_fields import option
from fewsight.features import OrientedGradients


class Phog(CellsChannel):
    """Which way the edges run, and where: gradient orientations in a spatial pyramid."""

    name: ClassVar[str] = "phog"

    n_bins: int = option(default=20, doc="bins of orientation.")
    directions: str = option(
        default="unsigned", doc='"signed" tells dark-to-bright edges from bright-to-dark ones; "unsigned" does not.'
    )
    smoothing: float = option(
        default=1.0,
        doc="standard deviation of the blur before gradients are taken, in pixels of the working resolution.",
    )
    n_levels: int = 4

    @property
    def _descriptor(self) -> OrientedGradients:
        return OrientedGradients(self.n_bins, self.directions, self.smoothing, self._pyramid.side)
