"""Kernels: encodings (or any rows of numbers) in, Gram matrices out."""

from fewsight.kernels.base import Kernel, Product, Scaled, Sum
from fewsight.kernels.block_chi_square import BlockChiSquare
from fewsight.kernels.columns import Columns, Projected
from fewsight.kernels.distributed_histograms import DistributedHistogramOperator
from fewsight.kernels.histogram_operator import HistogramOperator
from fewsight.kernels.histogram_tables import LookupTable, SearchTable, TableOnDemand
from fewsight.kernels.histograms import (
    ExponentialChiSquare,
    GeneralHistogramIntersection,
    HistogramIntersection,
    PartialMatch,
)
from fewsight.kernels.linear import Linear, Polynomial
from fewsight.kernels.power_product import PowerProduct
from fewsight.kernels.rbf import RBF, RelevanceRBF
from fewsight.kernels.recipes import KERNELS, kernel_from_recipe, stored_recipe
from fewsight.kernels.set_distances import Correspondence
from fewsight.kernels.sets import SetKernel
from fewsight.kernels.sorted_histograms import SortedHistograms

__all__ = [
    "KERNELS",
    "RBF",
    "BlockChiSquare",
    "Columns",
    "Correspondence",
    "DistributedHistogramOperator",
    "ExponentialChiSquare",
    "GeneralHistogramIntersection",
    "HistogramIntersection",
    "HistogramOperator",
    "Kernel",
    "Linear",
    "LookupTable",
    "PartialMatch",
    "Polynomial",
    "PowerProduct",
    "Product",
    "Projected",
    "RelevanceRBF",
    "Scaled",
    "SearchTable",
    "SetKernel",
    "SortedHistograms",
    "Sum",
    "TableOnDemand",
    "kernel_from_recipe",
    "stored_recipe",
]
