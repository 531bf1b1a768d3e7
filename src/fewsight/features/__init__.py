"""Detectors and descriptors: pixels in, descriptors at locations out."""

from fewsight.features.dense_sift import DenseSift
from fewsight.features.harris_affine import HarrisAffine, Regions

__all__ = ["DenseSift", "HarrisAffine", "Regions"]
