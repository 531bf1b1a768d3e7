"""All that a person can do, whichever way they ask: plain functions that return results and print nothing.

The names below are loaded when they are first used: what a command does not need, such as the plots of an evaluation, costs it
no time.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fewsight.apps.workbench.borrowing import Borrowed, BorrowingOptions, borrow, offers, read_refusals, read_senses
    from fewsight.apps.workbench.cache_room import CacheRoom, room_of_cache
    from fewsight.apps.workbench.channel_options import (
        AUTO,
        AUTO_CHANNELS,
        ChannelDescription,
        auto_channels,
        default_channels,
        describe_channels,
        missing_pretrained,
        read_settings,
    )
    from fewsight.apps.workbench.demonstration import Demonstration, demo
    from fewsight.apps.workbench.evaluating import (
        Evaluated,
        evaluate_borrowing_folder,
        evaluate_folder,
        evaluate_images,
    )
    from fewsight.apps.workbench.image_sources import ImageSource, Workplace
    from fewsight.apps.workbench.learners import WantedLearners, make_learners
    from fewsight.apps.workbench.learning import Learned, learn, learn_folder
    from fewsight.apps.workbench.predicting import Prediction, Predictions, predict_images
    from fewsight.apps.workbench.prediction_table import table_rows, write_prediction_report, write_rows, write_table
    from fewsight.evaluation import BorrowingResult, Evaluation, Protocol

_NAMES = {
    "fewsight.apps.workbench.channel_options": (
        "AUTO",
        "AUTO_CHANNELS",
        "ChannelDescription",
        "auto_channels",
        "default_channels",
        "describe_channels",
        "missing_pretrained",
        "read_settings",
    ),
    "fewsight.apps.workbench.borrowing": (
        "Borrowed",
        "BorrowingOptions",
        "borrow",
        "offers",
        "read_refusals",
        "read_senses",
    ),
    "fewsight.apps.workbench.cache_room": ("CacheRoom", "room_of_cache"),
    "fewsight.evaluation": ("BorrowingResult", "Evaluation", "Protocol"),
    "fewsight.apps.workbench.demonstration": ("Demonstration", "demo"),
    "fewsight.apps.workbench.evaluating": (
        "Evaluated",
        "evaluate_borrowing_folder",
        "evaluate_folder",
        "evaluate_images",
    ),
    "fewsight.apps.workbench.image_sources": ("ImageSource", "Workplace"),
    "fewsight.apps.workbench.learning": ("Learned", "learn", "learn_folder"),
    "fewsight.apps.workbench.predicting": ("Prediction", "Predictions", "predict_images"),
    "fewsight.apps.workbench.learners": ("WantedLearners", "make_learners"),
    "fewsight.apps.workbench.prediction_table": ("table_rows", "write_prediction_report", "write_rows", "write_table"),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}

__all__ = [
    "AUTO",
    "AUTO_CHANNELS",
    "Borrowed",
    "BorrowingOptions",
    "BorrowingResult",
    "CacheRoom",
    "ChannelDescription",
    "Demonstration",
    "Evaluated",
    "Evaluation",
    "ImageSource",
    "Learned",
    "Prediction",
    "Predictions",
    "Protocol",
    "WantedLearners",
    "Workplace",
    "auto_channels",
    "borrow",
    "default_channels",
    "demo",
    "describe_channels",
    "evaluate_borrowing_folder",
    "evaluate_folder",
    "evaluate_images",
    "learn",
    "learn_folder",
    "make_learners",
    "missing_pretrained",
    "offers",
    "predict_images",
    "read_refusals",
    "read_senses",
    "read_settings",
    "room_of_cache",
    "table_rows",
    "write_prediction_report",
    "write_rows",
    "write_table",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
