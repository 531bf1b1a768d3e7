"""The model file: one file per model, without pickle, that opens without the training images and runs no code."""

from fewsight.persistence.model_file import FORMAT, VERSION, load, load_learner, save
from fewsight.persistence.registry import KINDS, Storable, kind_of

__all__ = ["FORMAT", "KINDS", "VERSION", "Storable", "kind_of", "load", "load_learner", "save"]
