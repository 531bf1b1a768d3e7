"""Detectors and descriptors: pixels in, descriptors at locations out."""

from fewsight.features.binary_patterns import BinaryPatterns
from fewsight.features.colours import Colours
from fewsight.features.dense_sift import DenseSift
from fewsight.features.edge_points import EdgePoints
from fewsight.features.geometric_blur import GeometricBlur
from fewsight.features.harris_affine import HarrisAffine, Regions
from fewsight.features.interest_patches import InterestPatches
from fewsight.features.opponent_sift import DenseOpponentSift
from fewsight.features.oriented_gradients import OrientedGradients

__all__ = [
    "BinaryPatterns",
    "Colours",
    "DenseOpponentSift",
    "DenseSift",
    "EdgePoints",
    "GeometricBlur",
    "HarrisAffine",
    "InterestPatches",
    "OrientedGradients",
    "Regions",
]
