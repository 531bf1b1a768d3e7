"""Vectors of the user's own, a row per image: tables read with care, and matched to images."""

from fewsight.images.vectors.reading import read_vectors
from fewsight.images.vectors.table import Match, VectorTable

__all__ = ["Match", "VectorTable", "read_vectors"]
