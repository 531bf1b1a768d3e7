"""How the local features of an image become one row of numbers: codebooks, pyramids, and models of parts."""

from fewsight.encodings.boxes import WHOLE, Box, cell_boxes, check_boxes, draw_box, inside
from fewsight.encodings.clustering_forest import ClusteringForest, clustering_forest
from fewsight.encodings.codebook import Codebook, kmeans_codebook, random_codebook
from fewsight.encodings.constellation import (
    Constellation,
    PointSets,
    broad_gaussian,
    learn_constellation,
    learn_constellations,
)
from fewsight.encodings.histogram_pyramid import HistogramPyramid
from fewsight.encodings.projection import Projection, principal_components
from fewsight.encodings.pyramid_match import UniformPyramid
from fewsight.encodings.spatial_pyramid import SpatialPyramid
from fewsight.encodings.vocabulary_pyramid import VocabularyPyramid, vocabulary_pyramid

__all__ = [
    "WHOLE",
    "Box",
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
    "cell_boxes",
    "check_boxes",
    "clustering_forest",
    "draw_box",
    "inside",
    "kmeans_codebook",
    "learn_constellation",
    "learn_constellations",
    "principal_components",
    "random_codebook",
    "vocabulary_pyramid",
]
