"""The one family of learners: what every one of them offers, and what it says where it cannot do something."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from fewsight._base.checks import check_choice, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.channels import Channel
from fewsight.gp import LeaveOneOut
from fewsight.kernels import Kernel
from fewsight.learners.examples import Examples, KernelLike
from fewsight.learners.folds import accuracy_of_left_out
from fewsight.learners.labels import Labels, LabelsLike
from fewsight.learners.loans import LoanMixin

if TYPE_CHECKING:
    from fewsight.learners.needs import Needs


NO_STRANGENESS = "it does not say what is unlike anything learned"
EACH = "the images when each is left out"  # see `LeftOut.which`
EACH_PICTURE = "the images when each is left out with its copies"


class Latent(NamedTuple):
    """Latent values of test examples.

    Attributes
    ----------
    mean : array (m, c), a column for each class.
    std : array (m, c), the standard deviation of each.
    """

    mean: Array
    std: Array


class Verdict(NamedTuple):
    """What a fitted learner decides about m examples; what it has nothing to say about is None."""

    mean: Array  # (m, c), of the latent values
    probabilities: Array  # (m, c)
    unknown_score: Array | None = None  # (m,), higher for stranger examples
    unknown: npt.NDArray[np.bool_] | None = None  # (m,)
    threshold: float | None = None  # examples that score above it are unknown; infinite: none ever is


class Assessment(NamedTuple):
    """All that a fitted learner says about m examples; what it has nothing to say about is None."""

    latent: Latent
    probabilities: Array  # (m, c)
    unknown_score: Array | None = None  # (m,), higher for stranger examples
    unknown: npt.NDArray[np.bool_] | None = None  # (m,)
    threshold: float | None = None  # examples that score above it are unknown; infinite: none ever is

    @property
    def verdict(self) -> Verdict:
        """All but the standard deviations."""
        return Verdict(self.latent.mean, *self[1:])


class LeftOut(NamedTuple):
    """How often training examples were recognised that were left out."""

    accuracy: float  # mean over the classes of which an example could be left out
    which: str  # in words: the images that were left out

    @classmethod
    def of(cls, mean: Array, classes: Indices, pictures: Indices | None = None) -> LeftOut | None:
        """Of latent means (n, c) of examples that were left out one by one, or with all that show the same of `pictures`."""
        accuracy = accuracy_of_left_out(mean, classes, pictures)
        return None if accuracy is None else cls(accuracy, EACH if pictures is None else EACH_PICTURE)


def plain_options(learner: object, names: Sequence[str]) -> dict[str, Any]:
    """Options of a learner as JSON can hold them."""
    options = {name: getattr(learner, name) for name in names}
    plain = (np.generic, np.ndarray)
    return {name: value.tolist() if isinstance(value, plain) else value for name, value in options.items()}


def restore_asked(learner: BaseEstimator, state: State, names: Sequence[str]) -> None:
    """What a learner was asked to learn, in place of what it found, so that `fit` learns anew; older files do not say."""
    asked = state.header.get("asked")
    if asked is None:
        return
    if not isinstance(asked, dict) or not set(asked) <= set(names):
        raise InvalidInput(f"what was asked for must be some of {', '.join(names)}.")
    learner.set_params(**asked)


def _with_parameter(owner: object, kernel: Kernel, parameter: str, value: Any) -> Kernel:
    """A kernel with another value of one of its parameters."""
    names = [each.name for each in dataclasses.fields(kernel)]
    return dataclasses.replace(kernel, **{check_choice(owner, f"a parameter of {kernel!r}", parameter, names): value})


class Learner(ClassifierMixin, BaseEstimator, ABC):
    """A classifier that learns categories from labelled examples, and says how strongly each claims a new one.

    `kernel` says what X is; which kinds a learner takes is its own. Labels are strings, integers or booleans; examples with the
    label None are left out. Where `learns_none_of_these`, an example labelled `NONE_OF_THESE` speaks against every class; that
    is no class itself. A learner is stored in a model file and named on the command line by being in `LEARNERS`.

    Attributes
    ----------
    classes_ : (n_classes,), labels in the order of the columns of `predict_proba` and `latent`.
    """

    name: ClassVar[str]  # on the command line and, with an ending, in model files
    title: ClassVar[str]  # for people
    note: ClassVar[str]  # what it is, for people: what may follow the title and a colon
    needs: ClassVar[Needs]  # what an evaluation must give it
    learns_none_of_these: ClassVar[bool] = False  # whether `NONE_OF_THESE` may be among the labels
    ways: ClassVar[tuple[str, ...]] = ("average",)  # of combining several channels; "evidence": it learns their weights

    kernel: KernelLike
    classes_: Labels

    @classmethod
    def looks_at_unlabelled(cls, n_labelled: int, n_classes: int) -> bool:
        """Whether `fit` learns something from examples without a label beside this many labelled ones.

        Parameters
        ----------
        n_labelled : labelled examples, 1 or more.
        n_classes : the classes they belong to.
        """
        return False

    # scikit-learn's parameters, with those of a kernel, which is a value: another parameter is another kernel.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep` also those of a kernel, such as `kernel__scale`.

        Parameters
        ----------
        deep : whether parameters of what is a parameter itself are among them.
        """
        found = dict(super().get_params(deep))
        for name, value in list(found.items()) if deep else ():
            if isinstance(value, Kernel):
                found |= {f"{name}__{each.name}": getattr(value, each.name) for each in dataclasses.fields(value)}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name. The kernel that a `kernel__scale` is set for stays as it is: another takes its place.

        Parameters
        ----------
        params : names with their values.
        """
        nested = {key: value for key, value in params.items() if "__" in key}
        super().set_params(**{key: value for key, value in params.items() if key not in nested})
        for key in list(nested):
            name, _, parameter = key.partition("__")
            kernel = getattr(self, name, None)
            if isinstance(kernel, Kernel):
                setattr(self, name, _with_parameter(self, kernel, parameter, nested.pop(key)))
            elif hasattr(self, name) and not hasattr(kernel, "set_params"):
                raise InvalidInput(
                    f"{type(self).__name__}: {name} must be a kernel to have a parameter {parameter!r}, got {shown(kernel)}."
                )
        super().set_params(**nested)
        return self

    # What every learner does.

    @abstractmethod
    def fit(self, X: Examples, y: LabelsLike) -> Self:
        """Learn from examples X and their labels y.

        Parameters
        ----------
        X : n examples of the form that `kernel` says: rows of numbers (n, d), images, or kernel values with the training
            examples (n, n_train).
        y : n labels: strings, integers or booleans; examples with the label None are left out.
        """

    def memory_needed(
        self, n_examples: int, n_classes: int, channels: Sequence[Channel], described: float = 0.0
    ) -> int:
        """About how many bytes learning from images takes at one time, beside what the program has before: an estimate that needs
        no image.

        Parameters
        ----------
        n_examples : how many images there are to learn from.
        n_classes : of how many classes they are.
        channels : through which they are seen, fitted or not.
        described : the share of them whose local features the cache has, as far as that is known.
        """
        return self.needs.bytes_of_pairs(n_examples, len(channels))

    @abstractmethod
    def latent(self, X: Examples) -> Latent:
        """How strongly each class claims each example, and how sure that is.

        Parameters
        ----------
        X : m examples of the form that was fitted: rows of numbers (m, d), images, or kernel values with the training
            examples (m, n_train).

        Returns
        -------
        Latent
            `mean` (m, c), in the order of `classes_`, and `std`, a standard deviation >= 0 for each mean.
        """

    @abstractmethod
    def predict_proba(self, X: Examples) -> Array:
        """Probability of each class, in the order of `classes_`.

        Parameters
        ----------
        X : m examples of the form that was fitted: rows of numbers (m, d), images, or kernel values with the training
            examples (m, n_train).

        Returns
        -------
        array (m, c)
            Numbers from 0 to 1 that add up to 1 in each row, in the order of `classes_`.
        """

    @abstractmethod
    def state(self) -> State:
        """All that prediction needs, for the model file."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: State) -> Self:
        """From the model file; an inconsistent state is an error that says what is wrong.

        Parameters
        ----------
        state : what `state` returned; it may come from a file, and is checked.
        """

    def predict(self, X: Examples) -> Labels:
        """The class of each example.

        Parameters
        ----------
        X : m examples of the form that was fitted: rows of numbers (m, d), images, or kernel values with the training
            examples (m, n_train).

        Returns
        -------
        array (m,)
            A label for each example, of the type of the labels that were learned.
        """
        columns = self.predict_proba(X).argmax(axis=1)
        return self.classes_[columns]

    def assess(self, X: Examples) -> Assessment:
        """All that the learner says about examples: also what is unknown, where it says that.

        Parameters
        ----------
        X : m examples of the form that was fitted: rows of numbers (m, d), images, or kernel values with the training
            examples (m, n_train).

        Returns
        -------
        Assessment
            `latent`, `probabilities` (m, c), and where the learner says what is unknown `unknown_score` (m,), `unknown`
            (m,) and `threshold`.
        """
        return Assessment(self.latent(X), self.predict_proba(X))

    def verdict(self, X: Examples) -> Verdict:
        """As `assess`, without standard deviations of the latent values, which some learners need long for.

        Parameters
        ----------
        X : m examples of the form that was fitted: rows of numbers (m, d), images, or kernel values with the training
            examples (m, n_train).

        Returns
        -------
        Verdict
            `mean` and `probabilities` (m, c), and where the learner says what is unknown `unknown_score` (m,), `unknown`
            (m,) and `threshold`.
        """
        return self.assess(X).verdict

    @property
    def channels(self) -> list[Channel]:
        """The fitted channels through which it sees images, if any."""
        return []

    # What only some can do.

    def unknown_score(self, X: Examples) -> Array:
        """How little each example is like anything learned; higher is stranger, above `novelty_.threshold` unknown.

        Parameters
        ----------
        X : m examples of the form that was fitted: rows of numbers (m, d), images, or kernel values with the training
            examples (m, n_train).

        Returns
        -------
        array (m,)
            Any numbers; higher is stranger.
        """
        score = self.verdict(X).unknown_score
        return self._refuse(NO_STRANGENESS) if score is None else score

    def is_unknown(self, X: Examples) -> npt.NDArray[np.bool_]:
        """Whether each example is like nothing learned, with `false_alarm_rate` of known ones among them.

        Parameters
        ----------
        X : m examples of the form that was fitted: rows of numbers (m, d), images, or kernel values with the training
            examples (m, n_train).

        Returns
        -------
        array (m,)
            True for each example that is like nothing learned.
        """
        unknown = self.verdict(X).unknown
        return self._refuse(NO_STRANGENESS) if unknown is None else unknown

    def left_out(self) -> LeftOut | None:
        """How often training examples were recognised that were left out; None where that is not known."""
        return None

    def left_out_probabilities(self) -> Array | None:
        """Of each training example, the probability of each class by all others (n, c); None where that is not known."""
        return None

    def leave_one_out(self) -> LeaveOneOut:
        """Latent values of each training example as if it had not been there, in closed form.

        Returns
        -------
        LeaveOneOut
            `mean` (n, c) and `variance` (n,) of each of the n training examples.
        """
        self._refuse("it cannot leave out single examples in closed form")

    def add(self, X: Examples, y: LabelsLike) -> Self:
        """Take in more examples without learning everything again.

        Parameters
        ----------
        X : m more examples of the form that `kernel` says: rows of numbers (m, d), images, or kernel values with the training
            examples (m, n_train).
        y : m labels, of old or new categories.
        """
        self._refuse("it cannot take in more examples; fit it again with all of them")

    def remove(self, indices: Indices) -> Self:
        """Forget training examples, by their positions, without learning everything again.

        Parameters
        ----------
        indices : (k,), positions of training examples, from 0, each once.
        """
        self._refuse("it cannot forget examples; fit it again without them")

    def borrower(self) -> LoanMixin:
        """This learner as one whose categories can borrow from each other."""
        self._refuse(self.why_no_loans())

    @classmethod
    def why_no_loans(cls) -> str:
        """Why its categories cannot borrow from each other; empty where they can."""
        return "its categories cannot borrow"

    def weigh(self, way: str, prior: Sequence[float] | None = None, groups: Indices | None = None) -> Self:
        """Say how several channels are combined, by one of `ways`, before `fit`.

        Parameters
        ----------
        way : "average" or "evidence".
        prior : a number >= 0 for each channel, for where nothing can be learned; None leaves it to the channels.
        groups : the channel of each column (d,), where examples are rows; None otherwise.
        """
        return self

    def usual_kernel(self, kernel: Kernel) -> Kernel:
        """What people compare examples by when they use such a learner, where the channel has this kernel.

        Parameters
        ----------
        kernel : the kernel of a channel.
        """
        return kernel

    def shares(self, n_channels: int) -> Array:
        """How much each of the channels counts in what was learned; they add up to 1.

        Parameters
        ----------
        n_channels : the number of channels, 1 or more.

        Returns
        -------
        array (n_channels,)
            Numbers from 0 to 1 that add up to 1.
        """
        return np.full(n_channels, 1.0 / n_channels)

    def found(self) -> dict[str, float]:
        """Settings that were found while learning, by their names for people."""
        return {}

    def doubts(self) -> tuple[str, ...]:
        """What cannot be relied on after learning from these examples, in sentences."""
        return ()

    def _refuse(self, reason: str) -> NoReturn:
        raise InvalidInput(f"{type(self).__name__}: {reason}.")
