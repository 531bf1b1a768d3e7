"""Gaussian-process classification of a hundred thousand histograms, whose kernel matrix need not be formed. [Rodner2012]"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Self, cast, final

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from fewsight._base.checks import (
    check_choice,
    check_flag,
    check_integer,
    check_number,
    check_positive,
    check_share,
    shown,
)
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, Rows, State
from fewsight.channels import Channel
from fewsight.channels.base import LARGEST_SEED
from fewsight.gp import IterativePosterior, SolverOptions, targets_of_columns
from fewsight.kernels import HistogramOperator
from fewsight.learners.base import LeftOut, plain_options, restore_asked
from fewsight.learners.calibration import Calibration
from fewsight.learners.examples import Examples, Images, KernelLike
from fewsight.learners.folds import columns_to_calibrate
from fewsight.learners.histograms import (
    FastVariance,
    Found,
    HistogramAnswers,
    HistogramInput,
    KernelSettings,
    LazyVariance,
    TrainingOperator,
    brought_home,
    check_histograms,
    choose_kernel_and_noise,
    factors_of,
    shared_operator,
)
from fewsight.learners.histograms.formed_gram import BYTES_OF_PAIR, formed_gram, worth_forming
from fewsight.learners.histograms.model_selection import (
    AUTO,
    RELEVANCE,
    TRANSFORMS,
    checked_weights,
    cost_of_learning,
    number_or_word,
)
from fewsight.learners.inputs.stored import matrix_from_state, matrix_state
from fewsight.learners.labels import (
    Labels,
    LabelsLike,
    checked_classes,
    class_numbers,
    classes_from,
    classes_header,
    classes_to_learn,
    classes_with,
    labelled,
    labels_of,
    targets_of,
)
from fewsight.learners.needs import Needs, RowsNeeded
from fewsight.learners.novelty import DEFAULT_RULE, RULES, Novelty

if TYPE_CHECKING:
    from distributed import Client

RULES_WITHOUT_DISTANCE = tuple(rule for rule, parts in RULES.items() if "distance" not in parts)
# Memory while learning, see `python -m experiments.scale.memory`: of each number of an encoding that is not zero; how many
# times the targets of all systems; of each image, whatever it holds; and what describing images takes.
BYTES_PER_NUMBER, COLUMNS_AT_ONCE, BYTES_PER_IMAGE, BESIDE = 60, 14, 4_000, 140_000_000
STORED = (  # parameters that a model file keeps as they are
    "tolerance",
    "max_iterations",
    "preconditioner",
    "quantization_bins",
    "variance",
    "calibrated",
    "false_alarm_rate",
    "random_state",
)


ASKED = (  # what it says beside what was found
    "feature_transform",
    "transform_parameter",
    "hellinger_share",
    "relevance",
    "relevance_steps",
    "relevance_prior",
    "noise_variance",
    "noise_balance",
    "noise_per_class",
    "criterion",
)


@final
class HistogramGPClassifier(HistogramAnswers):
    """Categories from many histograms: exact label regression with the intersection kernel in memory proportional to the
    non-zeros, without a kernel matrix unless that is as small (see `preconditioner`).

    All classes are trained as one block by conjugate gradients. Noise and relevance are learned by the evidence of the training
    examples, with a free mean for each class and at the scale that the evidence likes best. Where one of two classes is rare,
    the evidence is a poor judge of how examples are ranked: there training examples that are left out choose the noise, its
    balance and the share of Hellinger's kernel. That is what "auto" means: rare is a class with less than a tenth of the
    examples, and 75 at least. With any other `noise_variance`, a transform, `noise_per_class` or `criterion="bound"`, and in an
    `ActiveLearner`, "auto" is the evidence, one noise for both classes, and intersection alone.

    Parameters
    ----------
    kernel : what X is: None for rows of numbers >= 0, dense or sparse; a channel, or a list of channels, that compare by
        histogram intersection for images.
    feature_transform : "none", "power" for sum_d min(x_d^p, z_d^p) or "exponential". [Rodner2012, section 4]
    transform_parameter : of the transform; "left-out" to learn it from training examples that are left out, which costs some
        twenty trainings, or "evidence" to learn it by `criterion`.
    hellinger_share : of Hellinger's kernel sum_d sqrt(x_d z_d) in place of intersection, from 0 to 1; "left-out" to choose 0,
        0.5 or 1 by training examples that are left out; "auto" to do so where one of two classes is rare, and 0 elsewhere. The
        larger it is, the less bends what is learned of a dimension, which ranks better where examples are few for what there is
        to learn.
    relevance : "none"; "evidence" to learn a weight for each dimension; "channels" for a weight for each channel, or each group;
        or the weights.
    groups : with rows of numbers, the number of the group that each column belongs to; for `relevance="channels"`.
    relevance_steps : of learning them, at most.
    relevance_prior : strength of the pull towards equal weights, counted in extra one-vs-all problems per class: see
        `fewsight.gp.learn_relevance`. Less lets weights lie further apart, which many images of each class allow.
    noise_variance : of the targets, over a kernel of mean diagonal 1; "evidence" to learn it; "left-out" to search for it, from
        the level that the evidence finds, by examples that are left out, which costs some dozen trainings (of two classes with
        more than 2,000 to 5,000 examples, as many are enough); "auto" to search where one of two classes is rare, and to learn
        it by evidence elsewhere; it is 0.2 where no class has two examples, which teach nothing about it.
    noise_balance : how much more noise the larger side of each one-vs-all problem has: each side has twice its share of the
        examples, to this power, times the level. 0 for the same noise, 1 for that of [Rodner2012, section 3]; "left-out" to
        choose 0, 0.5 or 1 by examples that are left out; "auto" for 1 with `balanced`, and otherwise to choose it where one of
        two classes is rare and the learner is `calibrated`, and 0 elsewhere. Latent values depend on it; decisions and
        probabilities stay those of classes as frequent as their training examples, as far as they are `calibrated`.
    balanced : let every class count the same, however many examples it has: probabilities and decisions are those of classes that
        are equally likely, and `noise_balance` is 1 unless it is given. Without it they are those of classes as frequent as their
        training examples. Where nothing is `calibrated`, `noise_balance` alone does this.
    noise_per_class : learn a noise level for each class.
    criterion : "evidence", or "bound" for the paper's way: an upper bound of the negative log likelihood, by Nelder and Mead's
        method.
    tolerance : of the true residual of every system, relative.
    max_iterations : of conjugate gradients; `converged_` says whether that was enough.
    preconditioner : rank of what shortens conjugate gradients, see `fewsight.gp.LowRankPreconditioner`; 0 for none. "auto" takes
        what saves most time: the kernel matrix itself in single precision, factorised, where it takes at most twice the memory of
        the sorted histograms; or one of rank 300; or none. It changes how fast a solution is found, never which.
    quantization_bins : of the look-up tables, with linear interpolation, for prediction in constant time; None: always exact.
    variance : "fast" for the estimate in constant time, "exact" for a system to solve per image.
    calibrated : learn from left-out training examples how sure to be.
    unknown_rule : what speaks for an image that is like nothing seen, see `fewsight.learners.novelty`.
    false_alarm_rate : the share of known images that `is_unknown` may take for unknown.
    random_state : seed of the estimates.
    cluster : where to train: None for this machine; a `distributed.Client`, or the address of a Dask scheduler, to share the
        dimensions out among its workers. It is not saved with the model, which needs it no more.

    Attributes
    ----------
    classes_ : (n_classes,), labels in the order of the columns of `predict_proba` and `latent`.
    posterior_ : dual weights and what belongs to them, see `fewsight.gp.IterativePosterior`.
    noise_variance_ : the level that is used; (columns,) numbers where each class has its own.
    noise_balance_ : likewise, of the balance.
    transform_parameter_ : likewise; None without a transform.
    hellinger_share_ : likewise; 0 unless it was given or chosen.
    relevance_ : (d,), the weight of each dimension, for a kernel of mean diagonal 1.
    n_iter_, converged_ : of the last training.
    left_out_accuracy_ : mean accuracy per class on the training examples that were left out to calibrate; None if there are
        none.
    """

    name: ClassVar[str] = "histogram_gp"
    title: ClassVar[str] = "Histogram GP"
    note: ClassVar[str] = "a Gaussian process classifier of histograms that needs no matrix of all pairs of images."
    needs: ClassVar[Needs] = RowsNeeded()
    ways: ClassVar[tuple[str, ...]] = ("average", "evidence")
    learns_none_of_these: ClassVar[bool] = True

    input_: HistogramInput
    transform_parameter_: float | None
    hellinger_share_: float
    noise_balance_: float
    relevance_: Array
    log_evidence_: float | None
    n_features_in_: int

    def __init__(
        self,
        kernel: KernelLike = None,
        *,
        feature_transform: str = "none",
        transform_parameter: float | str = "left-out",
        hellinger_share: float | str = AUTO,
        relevance: str | npt.ArrayLike = "none",
        groups: Sequence[int] | Indices | None = None,
        relevance_steps: int = 6,
        relevance_prior: float = 2.0,
        noise_variance: float | str = AUTO,
        noise_balance: float | str = AUTO,
        balanced: bool = False,
        noise_per_class: bool = False,
        criterion: str = "evidence",
        tolerance: float = 1e-3,
        max_iterations: int = 1_000,
        preconditioner: int | str = "auto",
        quantization_bins: int | None = 100,
        variance: str = "fast",
        calibrated: bool = True,
        unknown_rule: str = DEFAULT_RULE,
        false_alarm_rate: float = 0.05,
        random_state: int = 0,
        cluster: Client | str | None = None,
    ) -> None:
        self.kernel = kernel
        self.feature_transform = feature_transform
        self.transform_parameter = transform_parameter
        self.hellinger_share = hellinger_share
        self.relevance = relevance
        self.groups = groups
        self.relevance_steps = relevance_steps
        self.relevance_prior = relevance_prior
        self.noise_variance = noise_variance
        self.noise_balance = noise_balance
        self.balanced = balanced
        self.noise_per_class = noise_per_class
        self.criterion = criterion
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.preconditioner = preconditioner
        self.quantization_bins = quantization_bins
        self.variance = variance
        self.calibrated = calibrated
        self.unknown_rule = unknown_rule
        self.false_alarm_rate = false_alarm_rate
        self.random_state = random_state
        self.cluster = cluster

    # Learning.

    def fit(self, X: Examples, y: LabelsLike) -> Self:
        """Learn from histograms, or images, and their labels; examples with the label None are left out."""
        return self._fit(X, y, None)

    def memory_needed(
        self, n_examples: int, n_classes: int, channels: Sequence[Channel], described: float = 0.0
    ) -> int:
        """Encodings while they are joined and sorted, the columns that conjugate gradients work on, K itself where it will be
        formed, a little for each image; of describing images no more than that, whether the cache has them or not."""
        numbers = n_examples * sum(channel.typical_numbers for channel in channels)
        columns = n_examples * (2 if n_classes == 2 else n_classes + 1)
        even = np.bincount(np.arange(n_examples) % n_classes, minlength=n_classes)
        formed = BYTES_OF_PAIR * n_examples**2 if worth_forming(n_examples, numbers, *cost_of_learning(even)) else 0
        return (
            BYTES_PER_NUMBER * numbers + 8 * COLUMNS_AT_ONCE * columns + formed + BYTES_PER_IMAGE * n_examples + BESIDE
        )

    def partial_fit(self, X: Examples, y: LabelsLike, classes: LabelsLike | None = None) -> Self:
        """Learn from a first batch, whose noise and transform are kept, or take in a further one; see `add`.

        Parameters
        ----------
        X : n examples: rows of numbers >= 0 (n, d), dense or sparse, or images.
        y : n labels: strings, integers or booleans; examples with the label None are left out.
        classes : at the first call, further classes of which there may be no example yet; later calls take no notice.
        """
        if hasattr(self, "posterior_"):
            return self.add(X, y)
        return self._fit(X, y, classes)

    def add(self, X: Examples, y: LabelsLike) -> Self:
        """Take in more examples, of old or new classes, from where training stands; noise, transform and relevance stay.

        New classes come after the old ones in `classes_`. Call `recalibrate` when many have come.
        """
        rows = self._read(X)
        labels, positions = labelled(self, y, rows.shape[0])
        if len(positions) < rows.shape[0]:
            raise InvalidInput(
                f"HistogramGPClassifier: every added example must have a label, got {rows.shape[0] - len(positions)} without."
            )
        classes = classes_with(self, self.classes_, labels)
        numbers = np.concatenate([self.posterior_.classes, class_numbers(targets_of(labels, classes))])
        operator = self.posterior_.operator.append(rows)
        self.posterior_ = IterativePosterior.condition(
            operator, numbers, len(classes), self._noise(numbers, len(classes)), self.options(), self.posterior_
        )
        self.classes_ = classes
        self.variances_ = LazyVariance(self.posterior_, int(self.random_state))
        return self

    def recalibrate(self) -> Self:
        """Learn anew how sure to be and what is unknown, after examples were added."""
        check_is_fitted(self)
        posterior = self.posterior_
        if self.preconditioner == AUTO and posterior.low_rank is None:
            systems = columns_to_calibrate(posterior.classes, posterior.noise.shape[1])
            gram = formed_gram(posterior.operator, systems)
            posterior = dataclasses.replace(
                posterior, low_rank=None if gram is None else gram.inverted(posterior.noise)
            )
        self._calibrate(posterior)
        return self

    def settle(self, inputs: HistogramInput, classes: Labels, numbers: Indices, found: Found, rows: Rows) -> Self:
        """Learn with a kernel and a noise that are known, from rows whose classes are `classes[numbers]`.

        Parameters
        ----------
        inputs : the training examples as rows of histograms.
        classes : (n_classes,), the categories, in the order of the columns.
        numbers : the column of each example (n,).
        found : the kernel and the noise that were chosen.
        rows : the rows of the training examples (n, d).
        """
        self.classes_, self.input_ = classes, inputs
        self.noise_variance_ = float(found.levels[0]) if len(found.levels) == 1 else found.levels
        self.transform_parameter_, self.hellinger_share_ = found.parameter, found.operator.hellinger
        self.noise_balance_ = found.balance
        self.relevance_, self.log_evidence_ = found.operator.weights, found.log_evidence
        further = columns_to_calibrate(numbers, found.noise.shape[1])
        trained = IterativePosterior.condition(
            found.operator, numbers, len(classes), found.noise, self.options(), further=further, gram=found.gram
        )
        home = dataclasses.replace(trained, low_rank=None) if found.gram is not None else trained  # as large as K
        if not isinstance(found.operator, HistogramOperator):
            home = dataclasses.replace(home, operator=brought_home(found.operator, rows))
        self.posterior_ = cast("IterativePosterior[HistogramOperator]", home)
        self.variances_ = LazyVariance(self.posterior_, int(self.random_state))
        self._calibrate(trained)  # where it was trained
        return self

    def settings(self) -> KernelSettings:
        """What the parameters give of kernel and noise, and what they leave to be learned."""
        transform = check_choice(self, "feature_transform", self.feature_transform, TRANSFORMS)
        parameter, words = self.transform_parameter, ("left-out", "evidence")
        relevance, weights = "given", None
        if isinstance(self.relevance, str):
            relevance = check_choice(self, "relevance", self.relevance, RELEVANCE)
        else:
            weights = checked_weights(self, self.relevance)
        return KernelSettings(
            transform,
            number_or_word(self, "transform_parameter", parameter, words, positive=transform == "power"),
            isinstance(parameter, str) and parameter == "left-out",
            self._exponent_or_share("hellinger_share"),
            str(self.hellinger_share),
            relevance,
            weights,
            number_or_word(self, "noise_variance", self.noise_variance, ("evidence", "left-out", AUTO), positive=True),
            str(self.noise_variance),
            self._balance(),
            str(self.noise_balance),
            bool(self.balanced),
            bool(self.noise_per_class),
            check_choice(self, "criterion", self.criterion, ("evidence", "bound")),
            check_integer(self, "relevance_steps", self.relevance_steps, least=1),
            check_number(self, "relevance_prior", self.relevance_prior, least=0, most=1e12),
            check_integer(self, "random_state", self.random_state, least=0, most=LARGEST_SEED),
            self.preconditioner == AUTO,
        )

    def _exponent_or_share(self, name: str) -> float | None:
        value: float | str = getattr(self, name)
        if isinstance(value, str):
            check_choice(self, name, value, ("left-out", AUTO))
            return None
        return check_number(self, name, value, least=0, most=1)

    def _balance(self) -> float | None:
        """By itself it is not searched for where nothing would be calibrated: the two sides would seem to be as frequent then."""
        balance = self._exponent_or_share("noise_balance")
        by_itself = balance is None and str(self.noise_balance) == AUTO
        return float(bool(self.balanced)) if by_itself and not self.calibrated else balance

    def options(self) -> SolverOptions:
        """How exactly to solve and to predict; also checks what is needed later only."""
        bins, rank = self.quantization_bins, self.preconditioner
        check_choice(self, "variance", self.variance, ("fast", "exact"))
        check_choice(self, "unknown_rule", self.unknown_rule, RULES_WITHOUT_DISTANCE)
        check_share(self, "false_alarm_rate", self.false_alarm_rate)
        for name in ("balanced", "noise_per_class", "calibrated"):
            check_flag(self, name, getattr(self, name))
        return SolverOptions(
            check_positive(self, "tolerance", self.tolerance),
            check_integer(self, "max_iterations", self.max_iterations, least=1),
            None if bins is None else check_integer(self, "quantization_bins", bins, least=1, most=100_000),
            check_choice(self, "preconditioner", rank, [AUTO])
            if isinstance(rank, str)
            else check_integer(self, "preconditioner", rank, least=0, most=100_000),
        )

    # What it knows.

    @property
    def weights_(self) -> Array:
        """How much each channel, or group of columns, counts: its part of the mean diagonal of the kernel (k,); they sum to 1."""
        check_is_fitted(self)
        operator, groups = self.posterior_.operator, self.input_.groups
        parts = np.bincount(groups, operator.weights * operator.dimension_traces())
        return parts / max(float(parts.sum()), 1e-300)

    @property
    def labels_(self) -> Labels:
        """The labels of the training examples (n,)."""
        check_is_fitted(self)
        return labels_of(self.posterior_.classes, self.classes_)

    @property
    def n_iter_(self) -> int:
        """Iterations of the last training."""
        return self.posterior_.iterations

    @property
    def converged_(self) -> bool:
        """Whether the last training reached its tolerance."""
        return self.posterior_.converged

    @property
    def channels(self) -> list[Channel]:
        """The fitted channels through which it sees images, if any."""
        check_is_fitted(self)
        return list(self.input_.channels)

    def left_out(self) -> LeftOut | None:
        """How often those training examples were recognised that were left out to calibrate."""
        check_is_fitted(self)
        accuracy = self.left_out_accuracy_
        return None if accuracy is None else LeftOut(accuracy, "the images that were left out to check")

    def weigh(self, way: str, prior: Sequence[float] | None = None, groups: Indices | None = None) -> Self:
        """Learn a weight for each channel by "evidence"; without it, all count the same."""
        return self.set_params(relevance="channels", groups=groups) if way == "evidence" else self

    def shares(self, n_channels: int) -> Array:
        """How much each channel counts: `weights_`."""
        return self.weights_

    def found(self) -> dict[str, float]:
        """The noise variance, of a typical class where each has its own."""
        check_is_fitted(self)
        return {"noise variance": float(np.exp(np.log(self.noise_variance_).mean()))}

    # The model file.

    def state(self) -> State:
        """All that prediction needs, for the model file."""
        check_is_fitted(self)
        posterior, operator = self.posterior_.state(), self.posterior_.operator
        options = {name: getattr(self, name) for name in STORED}
        variance = self.variances_.fast if self._needs_variance else self.variances_.given
        header = {
            **classes_header(self.classes_),
            "options": {
                name: value.item() if isinstance(value, np.generic) else value for name, value in options.items()
            },
            "transform": operator.transform.kind,
            "parameter": self.transform_parameter_,
            "hellinger": operator.hellinger,
            "balanced": bool(self.balanced),
            "noise_balance": self.noise_balance_,
            "left_out_accuracy": self.left_out_accuracy_,
            "log_evidence": self.log_evidence_,
            "variance_to_come": variance is None,
            "asked": plain_options(
                self, [name for name in ASKED if isinstance(self.relevance, str) or name != "relevance"]
            ),
        }
        arrays = {"levels": np.atleast_1d(self.noise_variance_), "relevance": operator.weights}
        state = State({**header, **posterior.header}, {**arrays, **posterior.arrays})
        state = state.join("training", matrix_state(operator.histograms.rows()))
        for name, part in (("input", self.input_), ("calibration", self.calibration_), ("novelty", self.novelty_)):
            state = state.join(name, part.state())
        return state if variance is None else state.join("variance", variance.state())

    @classmethod
    def from_state(cls, state: State) -> Self:
        learner = cls()
        learner._restore_parts(state)
        rows = matrix_from_state(state.nested("training"))
        if rows.shape[1] != learner.input_.width:
            raise InvalidInput(
                f"the training examples must have {learner.input_.width:,} columns, as new ones have, got {rows.shape[1]:,}."
            )
        weights = state.array(
            "relevance", (rows.shape[1],), np.float64, least=0.0
        )  # before anything of that size is made
        transform = state.choice("transform", TRANSFORMS)
        parameter = None if transform == "none" else state.number("parameter")
        operator = HistogramOperator.from_rows(rows, transform=transform, parameter=parameter, weights=weights)
        if "hellinger" in state.header:  # which older files do not name
            operator = operator.with_hellinger(state.number("hellinger", least=0.0, most=1.0))
        learner.hellinger_share = learner.hellinger_share_ = operator.hellinger
        balance = float(learner.balanced)  # of older files, which do not name it
        if "noise_balance" in state.header:
            balance = state.number("noise_balance", least=0.0, most=1.0)
        learner.noise_balance = learner.noise_balance_ = balance
        learner.feature_transform, learner.transform_parameter_ = transform, parameter
        learner.transform_parameter = "left-out" if parameter is None else parameter
        learner.relevance = learner.relevance_ = operator.weights
        n_columns = 1 if len(learner.classes_) == 2 else len(learner.classes_)
        levels = state.array("levels", (None,), np.float64, above=0.0)
        if len(levels) not in (1, n_columns):
            raise InvalidInput(f"the noise must be one number, or one for each class, got {len(levels)}.")
        learner.noise_variance_ = float(levels[0]) if len(levels) == 1 else levels
        learner.noise_variance, learner.noise_per_class = float(np.exp(np.log(levels).mean())), len(levels) > 1
        if not learner.input_.channels:
            learner.n_features_in_ = operator.width
        learner.posterior_ = IterativePosterior.from_state(state, operator, len(learner.classes_), learner.options())
        restore_asked(learner, state, ASKED)
        learner.settings()  # which checks them
        fast = FastVariance.from_state(state.nested("variance"), operator) if "variance" in state else None
        learner.variances_ = LazyVariance(learner.posterior_, int(learner.random_state), fast)
        return learner

    def _restore_parts(self, state: State) -> None:
        """All but what depends on the training rows."""
        options = state.header["options"]
        known = (
            {"preconditioner": AUTO, **options} if isinstance(options, dict) else {}
        )  # which older files do not name
        if set(known) != set(STORED) or not isinstance(known["calibrated"], bool):
            raise InvalidInput(f"the options must be {', '.join(STORED)}.")
        self.set_params(**known)
        check_integer("model", "random_state", self.random_state, least=0, most=LARGEST_SEED)
        self.classes_ = classes_from(state.header)
        if len(self.classes_) < 2:
            raise InvalidInput("the stored classes must be two or more.")
        self.input_ = HistogramInput.from_state(state.nested("input"))
        self.kernel, self.groups = self.input_.parameter, self.input_.given_groups
        self.calibration_ = Calibration.from_state(state.nested("calibration"))
        if len(self.calibration_.leanings) > len(self.classes_):
            raise InvalidInput("the calibration must have no more leanings than there are classes.")
        self.novelty_ = Novelty.from_state(state.nested("novelty"))
        self.unknown_rule, self.balanced = self.novelty_.rule, state.flag("balanced")
        self.left_out_accuracy_ = state.number_or_none("left_out_accuracy", least=0.0, most=1.0)
        self.log_evidence_ = state.number_or_none("log_evidence")

    # How.

    def _fit(self, X: Examples, y: LabelsLike, more_classes: LabelsLike | None) -> Self:
        settings, _ = self.settings(), self.options()
        inputs = HistogramInput.chosen(self.kernel, self.groups)
        examples = cast(Images, X) if inputs.channels else self._checked(X, reset=True)
        labels, positions = labelled(self, y, examples.shape[0] if hasattr(examples, "shape") else len(examples))
        named = classes_to_learn(self, labels)
        classes = named if more_classes is None else classes_with(self, named, checked_classes(self, more_classes))
        classes = np.sort(classes)
        if len(classes) < 2:
            raise InvalidInput(
                f"HistogramGPClassifier: y must hold two classes or more, got one class only: {shown(classes[0])}."
            )
        rows = inputs.fit(examples, labels, positions)
        numbers = class_numbers(targets_of(labels, classes))
        where: contextlib.AbstractContextManager[TrainingOperator] = (
            contextlib.nullcontext(HistogramOperator.from_rows(rows))
            if self.cluster is None
            else shared_operator(self.cluster, rows)
        )
        with where as operator:
            groups = inputs.groups if settings.relevance == "channels" else None
            found = choose_kernel_and_noise(operator, rows, numbers, len(classes), groups, settings)
            return self.settle(inputs, classes, numbers, found, rows)

    def _noise(self, numbers: Indices, n_classes: int) -> Array:
        """Of all examples, at the level that was learned."""
        targets = targets_of_columns(numbers, n_classes)
        levels = np.atleast_1d(self.noise_variance_)
        if len(levels) > 1:  # a class that is new has the level of a typical one
            levels = np.append(levels, np.full(targets.shape[1] - len(levels), np.exp(np.log(levels).mean())))
        return levels * factors_of(targets, self.noise_balance_)

    def _read(self, X: Examples) -> Rows:
        check_is_fitted(self)
        return self.input_.read(X if self.input_.channels else self._checked(X, reset=False))

    def _checked(self, X: Examples, *, reset: bool) -> Rows:
        """Rows of histograms, or one sentence about what they are instead."""
        options = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": False}
        return check_histograms(validate_data(self, X, reset=reset, **options))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags
