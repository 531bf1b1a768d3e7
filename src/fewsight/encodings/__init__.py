"""How the local features of an image become one row of numbers: codebooks and pyramids."""

from fewsight.encodings.codebook import Codebook, kmeans_codebook
from fewsight.encodings.spatial_pyramid import SpatialPyramid

__all__ = ["Codebook", "SpatialPyramid", "kmeans_codebook"]
