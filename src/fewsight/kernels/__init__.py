"""Kernels: encodings (or any rows of numbers) in, Gram matrices out."""

from fewsight.kernels.base import Kernel, Product, Scaled, Sum
from fewsight.kernels.histograms import ExponentialChiSquare, HistogramIntersection
from fewsight.kernels.linear import Linear, Polynomial
from fewsight.kernels.rbf import RBF
from fewsight.kernels.recipes import KERNELS, kernel_from_recipe

__all__ = [
    "KERNELS",
    "RBF",
    "ExponentialChiSquare",
    "HistogramIntersection",
    "Kernel",
    "Linear",
    "Polynomial",
    "Product",
    "Scaled",
    "Sum",
    "kernel_from_recipe",
]
