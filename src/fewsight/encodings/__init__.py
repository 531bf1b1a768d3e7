"""How the local features of an image become one row of numbers: codebooks and pyramids."""

from fewsight.encodings.clustering_forest import ClusteringForest, clustering_forest
from fewsight.encodings.codebook import Codebook, kmeans_codebook
from fewsight.encodings.histogram_pyramid import HistogramPyramid
from fewsight.encodings.projection import Projection, principal_components
from fewsight.encodings.pyramid_match import UniformPyramid
from fewsight.encodings.spatial_pyramid import SpatialPyramid
from fewsight.encodings.vocabulary_pyramid import VocabularyPyramid, vocabulary_pyramid

__all__ = [
    "ClusteringForest",
    "Codebook",
    "HistogramPyramid",
    "Projection",
    "SpatialPyramid",
    "UniformPyramid",
    "VocabularyPyramid",
    "clustering_forest",
    "kmeans_codebook",
    "principal_components",
    "vocabulary_pyramid",
]
