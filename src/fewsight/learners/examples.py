"""What a user may pass to a learner as X and as `kernel`."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TypeAlias

import numpy.typing as npt

from fewsight._base.types import Sparse
from fewsight.channels import Channel
from fewsight.images import Image
from fewsight.kernels import Kernel

Images: TypeAlias = Sequence[Image] | Sequence[npt.NDArray] | Sequence[str | PathLike[str]]
Grams: TypeAlias = npt.ArrayLike | Sequence[npt.ArrayLike]  # one, or several of the same examples
Examples: TypeAlias = npt.ArrayLike | Sparse | Grams | Images
KernelLike: TypeAlias = Kernel | Sequence[Kernel] | Channel | Sequence[Channel] | str | None
