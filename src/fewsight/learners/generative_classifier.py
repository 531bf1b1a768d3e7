"""Bayes' rule over models of images, one for each category: what Fisher scores are compared with. [Holub2008, section 4]"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_choice, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.channels import CHANNELS, Channel, FisherKb, GenerativeChannel, check_images, fit_channel, stored_channels
from fewsight.learners.base import Assessment, Latent, Learner
from fewsight.learners.examples import Examples, KernelLike
from fewsight.learners.labels import Labels, LabelsLike, classes_from, classes_header, classes_to_learn, labelled
from fewsight.learners.needs import DensitiesNeeded, Needs
from fewsight.learners.probability import softmax

PRIORS = ("equal", "frequency")


class GenerativeClassifier(Learner):
    """The category under whose model an image is most probable. It takes images, not rows of numbers or Gram matrices.

    Each channel learns one model of each category from its labelled images; where there are several channels, their models are
    taken to be independent, and their log-likelihoods are added up. Of two categories the ratio of likelihoods decides. Images
    without a label belong to no model, but are among those that a channel learns from how patches look at all. `latent` gives
    log-likelihoods plus log priors; `predict_proba` is Bayes' rule, and is not calibrated: models that take parts to be
    independent are far too sure.

    Parameters
    ----------
    kernel : a channel that models images, such as `FisherKb`, or a list of them; each learns one model for each category,
        whatever its option `models` says. None: `FisherKb()`.
    prior : "equal": every category is as probable as any other before the image is seen; "frequency": as probable as it is
        frequent among the labels.

    Attributes
    ----------
    classes_ : (n_classes,), labels in the order of the columns of `predict_proba` and `latent`.
    log_priors_ : (c,), of the categories.
    """

    name: ClassVar[str] = "generative"
    title: ClassVar[str] = "Models of parts"
    note: ClassVar[str] = "the category whose own model of parts makes the image most probable."
    needs: ClassVar[Needs] = DensitiesNeeded()

    log_priors_: Array  # (c,)

    def __init__(self, kernel: KernelLike = None, *, prior: str = "equal") -> None:
        self.kernel = kernel
        self.prior = prior

    def fit(self, X: Examples, y: LabelsLike) -> Self:
        """Learn a model of each category from images X and their labels y."""
        check_choice(self, "prior", self.prior, PRIORS)
        channels, images = self._channels(), self._images(X)
        labels, positions = labelled(self, y, len(images))
        self.classes_, counts = classes_to_learn(self, labels), np.unique(labels, return_counts=True)[1]
        self._columns = _columns(labels, self.classes_)
        self._fitted = [fit_channel(each.modelling_each(), images, labels, positions) for each in channels]
        shares = counts / counts.sum() if self.prior == "frequency" else np.full(len(counts), 1.0 / len(counts))
        self.log_priors_ = np.log(shares)
        return self

    @property
    def channels(self) -> list[Channel]:
        """The fitted channels, each with a model of every category."""
        check_is_fitted(self)
        return list(self._fitted)

    def latent(self, X: Examples) -> Latent:
        """Log-likelihoods plus log priors. Such a learner states no uncertainty: the standard deviations are zero."""
        return self.assess(X).latent

    def predict_proba(self, X: Examples) -> Array:
        """Bayes' rule."""
        return self.assess(X).probabilities

    def assess(self, X: Examples) -> Assessment:
        """Log-likelihoods and probabilities, looking at each image once."""
        check_is_fitted(self)
        values = self.log_priors_ + self.log_likelihood(X)
        return Assessment(Latent(values, np.zeros_like(values)), softmax(values))

    def log_likelihood(self, X: Examples) -> Array:
        """How probable images are under the model of each category, in the order of `classes_`; of several channels the sum.

        Parameters
        ----------
        X : m images.

        Returns
        -------
        array (m, c)
            Natural logarithms of densities.
        """
        check_is_fitted(self)
        images = self._images(X)
        return np.sum([each.log_likelihood(images)[:, self._columns] for each in self._fitted], axis=0)

    def state(self) -> State:
        """All that prediction needs, for the model file."""
        check_is_fitted(self)
        header = {**classes_header(self.classes_), "prior": self.prior, "n_channels": len(self._fitted)}
        state = State(header, {"columns": self._columns, "log_priors": self.log_priors_})
        for number, channel in enumerate(self._fitted):
            CHANNELS.check_registered(channel)
            state = state.join(f"channel{number}", channel.state())
        return state

    @classmethod
    def from_state(cls, state: State) -> Self:
        channels = [_generative(cls.__name__, channel) for channel in stored_channels(state)]
        learner = cls(list(channels), prior=state.text("prior"))
        check_choice(learner, "prior", learner.prior, PRIORS)
        learner.classes_ = classes_from(state.header)
        c = len(learner.classes_)
        learner._columns = state.array("columns", (c,), np.intp, least=0, most=c - 1)
        if len(np.unique(learner._columns)) < c:
            raise InvalidInput(f"the stored columns must name each of {c} models.")
        if any(channel.n_models != c for channel in channels):
            raise InvalidInput(f"every stored channel must have a model for each of {c} classes.")
        learner.log_priors_ = state.array("log_priors", (c,), np.float64, least=-100.0, most=0.0)
        learner._fitted = channels
        return learner

    def _channels(self) -> list[GenerativeChannel]:
        """What the parameter `kernel` names."""
        kernel = FisherKb() if self.kernel is None else self.kernel
        listed: Sequence[Any] = kernel if isinstance(kernel, (list, tuple)) else [kernel]
        if not listed:
            raise InvalidInput(f"{type(self).__name__}: kernel must be one or more channels, got none.")
        return [_generative(type(self).__name__, each) for each in listed]

    def _images(self, X: Any) -> list[Any]:
        """X as a list; rows of numbers are refused here, before they are taken for very small pictures."""
        rows = isinstance(X, np.ndarray) and X.ndim < 3
        if rows or not hasattr(X, "__len__") or isinstance(X, (str, bytes)):
            raise InvalidInput(f"{type(self).__name__}: X must be a list of images, got {shown(X)}.")
        check_images(X)
        return list(X)


def _generative(owner: str, channel: object) -> GenerativeChannel:
    if not isinstance(channel, GenerativeChannel):
        raise InvalidInput(
            f"{owner}: kernel must be a channel that models images, such as FisherKb(), or a list of them, got {shown(channel)}."
        )
    return channel


def _columns(labels: Labels, classes: Labels) -> Indices:
    """The number of each class's model: models are in the order in which their categories came first."""
    first = [int(np.flatnonzero(labels == name)[0]) for name in classes]
    columns = np.empty(len(classes), np.intp)
    columns[np.argsort(first)] = np.arange(len(classes))
    return columns
