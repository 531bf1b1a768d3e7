"""All that a person can do, whichever way they ask: plain functions that return results and print nothing."""

from fewsight.apps.workbench.borrowing import Borrowed, BorrowingOptions, borrow, offers, read_refusals, read_senses
from fewsight.apps.workbench.channel_options import (
    AUTO,
    AUTO_CHANNELS,
    ChannelDescription,
    auto_channels,
    default_channels,
    describe_channels,
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
from fewsight.apps.workbench.prediction_table import table_rows, write_rows, write_table
from fewsight.evaluation import BorrowingResult, Evaluation, Protocol

__all__ = [
    "AUTO",
    "AUTO_CHANNELS",
    "Borrowed",
    "BorrowingOptions",
    "BorrowingResult",
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
    "offers",
    "predict_images",
    "read_refusals",
    "read_senses",
    "read_settings",
    "table_rows",
    "write_rows",
    "write_table",
]
