"""fewsight learns visual categories from a handful of labelled images, and says how sure it is.

The names below are loaded when they are first used, so that `import fewsight` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "CHANNELS": "channels",
    "Channel": "channels",
    "Colour": "channels",
    "OpponentSift": "channels",
    "Phog": "channels",
    "SpatialPmk": "channels",
    "Texture": "channels",
    "VocabularyPmk": "channels",
    "HarrisPmk": "channels",
    "DensePmk": "channels",
    "FisherDog": "channels",
    "FisherHarris": "channels",
    "FisherHessian": "channels",
    "FisherKb": "channels",
    "make_channel": "channels",
    "Embedding": "channels",
    "Pretrained": "channels",
    "Vectors": "channels",
    "VectorChannel": "channels",
    "option": "channels",
    "Encodings": "channels",
    "FewsightError": "_base.errors",
    "InvalidInput": "_base.errors",
    "UnreadableImage": "_base.errors",
    "ModelFileError": "_base.errors",
    "JitterWarning": "_base.errors",
    "PluginWarning": "_base.errors",
    "NONE_OF_THESE": "_base.none_of_these",
    "register": "_base.registry",
    "State": "_base.types",
    "ExponentialChiSquare": "kernels",
    "HistogramIntersection": "kernels",
    "KERNELS": "kernels",
    "KERNEL_FAMILIES": "kernels.families",
    "Kernel": "kernels",
    "KernelFamily": "kernels.families",
    "Linear": "kernels",
    "Polynomial": "kernels",
    "RBF": "kernels",
    "FeatureCache": "images",
    "ImageSet": "images",
    "image_set_from_class_folders": "images",
    "image_set_from_table": "images",
    "sample_set": "images",
    "LEARNERS": "learners",
    "GPClassifier": "learners",
    "HistogramGPClassifier": "learners",
    "InfiniteKernelClassifier": "learners",
    "KernelCombination": "learners",
    "Learner": "learners",
    "LogisticClassifier": "learners",
    "MKLClassifier": "learners",
    "NearestMeanClassifier": "learners",
    "NearestNeighbourClassifier": "learners",
    "SVMClassifier": "learners",
    "Posterior": "gp",
    "ActiveLearner": "active",
    "GramPool": "active",
    "ImagePool": "active",
    "VectorPool": "active",
    "QUERY_RULES": "active",
    "QueryRule": "active",
    "Query": "active",
    "PoolView": "active",
    "simulate": "active",
    "TransferGPClassifier": "transfer",
    "borrow_for_few": "transfer",
    "suggest_loan": "transfer",
    "Evaluation": "evaluation",
    "Protocol": "evaluation",
    "evaluate": "evaluation",
    "weights_heatmap": "evaluation",
    "write_report": "evaluation",
    "load": "persistence",
    "save": "persistence",
}

__all__ = [
    "CHANNELS",
    "KERNELS",
    "KERNEL_FAMILIES",
    "LEARNERS",
    "NONE_OF_THESE",
    "QUERY_RULES",
    "RBF",
    "ActiveLearner",
    "Channel",
    "Colour",
    "DensePmk",
    "Embedding",
    "Encodings",
    "Evaluation",
    "ExponentialChiSquare",
    "FeatureCache",
    "FewsightError",
    "FisherDog",
    "FisherHarris",
    "FisherHessian",
    "FisherKb",
    "GPClassifier",
    "GramPool",
    "HarrisPmk",
    "HistogramGPClassifier",
    "HistogramIntersection",
    "ImagePool",
    "ImageSet",
    "InfiniteKernelClassifier",
    "InvalidInput",
    "JitterWarning",
    "Kernel",
    "KernelCombination",
    "KernelFamily",
    "Learner",
    "Linear",
    "LogisticClassifier",
    "MKLClassifier",
    "ModelFileError",
    "NearestMeanClassifier",
    "NearestNeighbourClassifier",
    "OpponentSift",
    "Phog",
    "PluginWarning",
    "Polynomial",
    "PoolView",
    "Posterior",
    "Pretrained",
    "Protocol",
    "Query",
    "QueryRule",
    "SVMClassifier",
    "SpatialPmk",
    "State",
    "Texture",
    "TransferGPClassifier",
    "UnreadableImage",
    "VectorChannel",
    "VectorPool",
    "Vectors",
    "VocabularyPmk",
    "__version__",
    "borrow_for_few",
    "evaluate",
    "image_set_from_class_folders",
    "image_set_from_table",
    "load",
    "make_channel",
    "option",
    "register",
    "sample_set",
    "save",
    "simulate",
    "suggest_loan",
    "weights_heatmap",
    "write_report",
]

if TYPE_CHECKING:
    from fewsight._base.errors import (
        FewsightError,
        InvalidInput,
        JitterWarning,
        ModelFileError,
        PluginWarning,
        UnreadableImage,
    )
    from fewsight._base.none_of_these import NONE_OF_THESE
    from fewsight._base.registry import register
    from fewsight._base.types import State
    from fewsight.active import (
        QUERY_RULES,
        ActiveLearner,
        GramPool,
        ImagePool,
        PoolView,
        Query,
        QueryRule,
        VectorPool,
        simulate,
    )
    from fewsight.channels import (
        CHANNELS,
        Channel,
        Colour,
        DensePmk,
        Embedding,
        Encodings,
        FisherDog,
        FisherHarris,
        FisherHessian,
        FisherKb,
        HarrisPmk,
        OpponentSift,
        Phog,
        Pretrained,
        SpatialPmk,
        Texture,
        VectorChannel,
        Vectors,
        VocabularyPmk,
        make_channel,
        option,
    )
    from fewsight.evaluation import Evaluation, Protocol, evaluate, weights_heatmap, write_report
    from fewsight.gp import Posterior
    from fewsight.images import FeatureCache, ImageSet, image_set_from_class_folders, image_set_from_table, sample_set
    from fewsight.kernels import KERNELS, RBF, ExponentialChiSquare, HistogramIntersection, Kernel, Linear, Polynomial
    from fewsight.kernels.families import KERNEL_FAMILIES, KernelFamily
    from fewsight.learners import (
        LEARNERS,
        GPClassifier,
        HistogramGPClassifier,
        InfiniteKernelClassifier,
        KernelCombination,
        Learner,
        LogisticClassifier,
        MKLClassifier,
        NearestMeanClassifier,
        NearestNeighbourClassifier,
        SVMClassifier,
    )
    from fewsight.persistence import load, save
    from fewsight.transfer import TransferGPClassifier, borrow_for_few, suggest_loan


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fewsight' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"fewsight.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
