"""What can go wrong through no fault of the program. Each message is one sentence that a user can act on."""

from __future__ import annotations


class FewsightError(Exception):
    """Base of every error that a user can cause; the apps print its text without a traceback."""


class InvalidInput(FewsightError, ValueError):
    """An argument, a table or an array is not what it must be."""


class UnknownPart(InvalidInput):
    """A kernel, channel, learner or kernel family is named that is not registered here."""


class UnreadableImage(FewsightError):
    """A file that cannot be used as an image; `name` says which and `reason` why."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason

    def __reduce__(self) -> tuple[type[UnreadableImage], tuple[str, str]]:
        return type(self), (self.name, self.reason)  # survives the way back from a worker process


class ArchiveError(FewsightError):
    """A file of arrays is damaged, foreign or too large to be opened."""


class ModelFileError(FewsightError):
    """A model file is damaged, foreign, or newer than this version."""


class ProjectError(FewsightError):
    """A project file cannot be opened, read or written; what was acknowledged before is untouched."""


class WordNetMissing(FewsightError):
    """WordNet is not on this machine; the text says how to get it."""


class NotFitted(FewsightError, ValueError, AttributeError):
    """A channel or a codebook was asked to work before it was fitted."""


class JitterWarning(UserWarning):
    """A covariance matrix was not positive definite; the text says what was added to its diagonal."""


class PluginWarning(UserWarning):
    """A part of another package cannot be used; the text says which, and why."""
