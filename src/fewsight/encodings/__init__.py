"""How the local features of an image become one row of numbers: codebooks, pyramids, and models of parts."""

from fewsight.encodings.clustering_forest import ClusteringForest, clustering_forest
from fewsight.encodings.codebook import Codebook, kmeans_codebook
from fewsight.encodings.constellation import Constellation, PointSets, broad_gaussian, learn_constellation
from fewsight.encodings.histogram_pyramid import HistogramPyramid
from fewsight.encodings.projection import Projection, principal_components
from fewsight.encodings.pyramid_match import UniformPyramid
from fewsight.encodings.spatial_pyramid import SpatialPyramid
from fewsight.encodings.vocabulary_pyramid import VocabularyPyramid, vocabulary_pyramid

__all__ = [
    "ClusteringForest",
    "Codebook",
    "Constellation",
    "HistogramPyramid",
    "PointSets",
    "Projection",
    "SpatialPyramid",
    "UniformPyramid",
    "VocabularyPyramid",
    "broad_gaussian",
    "clustering_forest",
    "kmeans_codebook",
    "learn_constellation",
    "principal_components",
    "vocabulary_pyramid",
]
