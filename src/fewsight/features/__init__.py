"""Detectors and descriptors: pixels in, descriptors at locations out."""

from fewsight.features.dense_sift import DenseSift

__all__ = ["DenseSift"]
