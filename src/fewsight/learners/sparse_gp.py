"""A Gaussian process classifier for many examples, compared by any kernels or channels, through some of them.

[Kapoor2010] names sparse Gaussian processes as future work. Some of the training examples, the inducing points, stand for the
latent function (`gp/sparse_posterior.py`). Kernel scales, weights and a first noise are learned from them alone, as a
`GPClassifier` learns them; then every example is read once, compared with the inducing points, counted, and let go. So memory
and the time of a prediction do not depend on the number of examples. The noise, how sure to be and what is unknown are learned
from some hundreds of examples that are left out in closed form.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, cast, final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_choice, check_flag, check_integer, check_positive, check_share
from fewsight._base.cluster import connected
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.channels import Channel, check_weights
from fewsight.gp import FeatureSums, InducingPoints, SparsePosterior, weighted_sum
from fewsight.learners.balance import TargetLevels
from fewsight.learners.base import Assessment, Latent, LeftOut
from fewsight.learners.calibration import Calibration, FittedCalibration, judged_calibration
from fewsight.learners.examples import Examples, KernelLike
from fewsight.learners.folds import class_folds, near_duplicates, predictable
from fewsight.learners.gp_classifier import GPClassifier
from fewsight.learners.inducing_rows import (
    BLOCK,
    WHO,
    Comparison,
    InducingRows,
    Piece,
    blocks_of,
    count_on_cluster,
    is_dask_array,
    pieces_of,
    rows_at,
    some_of,
)
from fewsight.learners.inputs import choose_input, kernels_of_rows
from fewsight.learners.kernel_learner import KernelLearner, n_examples
from fewsight.learners.labels import (
    Labels,
    LabelsLike,
    class_numbers,
    classes_to_learn,
    classes_with,
    labelled,
    targets_of,
)
from fewsight.learners.needs import GramsNeeded, ImagesNeeded, Needs
from fewsight.learners.novelty import COMBINED, RULES, Novelty, Signs, fit_novelty, largest_cosine, relative
from fewsight.learners.probability import largest_probability
from fewsight.learners.sharpness import USUAL_NOISE
from fewsight.learners.weight_search import NATS, NOISES

if TYPE_CHECKING:
    from distributed import Client

# Examples that are left out to see how they are predicted: at most, and where there are few.
CHECKED, ENOUGH = 1_500, 300
# Memory, see `python -m experiments.scale.memory`: of each image, and while images are described, by a network or without.
BYTES_PER_IMAGE, NETWORK, LOOKING = 4_000, 370_000_000, 140_000_000
ALL_DESCRIBED = 0.8  # of the inducing points, of which not all are met when a few images are looked up
ALMOST_SAME = 1.0 - 1e-9  # the cosine above which a left-out example is an inducing point itself
LEFT_OUT = "the images that were left out to check"


class _Seen(NamedTuple):
    """What the posterior says about m examples."""

    mean: Array  # (m, c)
    variance: Array  # (m,), of the latent values
    diagonal: Array  # (m,), what the variance was before any example
    similarity: Array  # (m,), largest cosine with an inducing point


@final
class SparseGPClassifier(KernelLearner):
    """A Gaussian process on tens of thousands of examples, of images through any channels or of rows of numbers.

    Where there are no more than `n_inducing` examples it is the Gaussian process of `GPClassifier` itself.

    Parameters
    ----------
    kernel : what X is, as for `GPClassifier`: rows of numbers (n, d), images, or Gram matrices (n, n).
    n_inducing : how many of the examples stand for the latent function, spread evenly over the classes; memory grows with its
        square, time with its square times the number of examples.
    noise_variance : variance of the noise on the targets, or "left-out": the one of a few under which left-out examples are most
        probable.
    weights, prior_weights : of several Gram matrices or channels, as for `GPClassifier`; learned from the inducing points.
    balanced : let rare classes count as much as frequent ones, see `fewsight.learners.balance`.
    calibrated : learn from left-out examples how sure to be.
    prototypes : with three or more classes, learn from left-out examples what the latent values of each class look like, and
        decide by that, as for `GPClassifier`.
    unknown_rule : what speaks for an image that is like nothing seen, see `fewsight.learners.novelty`.
    false_alarm_rate : the share of images of known classes that `is_unknown` may take for unknown.
    random_state : which examples are inducing points, and which are left out to be predicted.
    cluster : where examples are read, compared and counted: None for this machine; a `distributed.Client`, or the address of a
        Dask scheduler, for its workers. X may be a Dask array of rows then. It is not saved with the model, which needs it no
        more.

    Attributes
    ----------
    classes_ : (n_classes,), labels in the order of the columns of `predict_proba` and `latent`.
    posterior_ : see `fewsight.gp.SparsePosterior`.
    n_examples_ : how many labelled examples were counted.
    weights_ : (n_kernels,), as for `GPClassifier`, and so are `noise_variance_`, `calibration_` and `novelty_`.
    inducing_diagonal_ : (m,), kernel values of the inducing points with themselves.
    """

    name: ClassVar[str] = "sparse_gp"
    title: ClassVar[str] = "sparse GP"
    note: ClassVar[str] = "a Gaussian process for many images, through some of them."
    needs: ClassVar[Needs] = ImagesNeeded()
    ways: ClassVar[tuple[str, ...]] = ("average", "evidence")
    learns_none_of_these: ClassVar[bool] = True

    points_: InducingPoints
    inducing_diagonal_: Array
    sums_: FeatureSums
    posterior_: SparsePosterior
    left_out_accuracy_: float | None
    calibration_: Calibration
    novelty_: Novelty
    weights_: Array
    noise_variance_: float

    def __init__(
        self,
        kernel: KernelLike = None,
        *,
        n_inducing: int = 2_000,
        noise_variance: float | str = "left-out",
        weights: str | Sequence[float] = "average",
        prior_weights: Sequence[float] | None = None,
        balanced: bool = True,
        calibrated: bool = True,
        prototypes: bool = True,
        unknown_rule: str = COMBINED,
        false_alarm_rate: float = 0.05,
        random_state: int = 0,
        cluster: Client | str | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_inducing = n_inducing
        self.noise_variance = noise_variance
        self.weights = weights
        self.prior_weights = prior_weights
        self.balanced = balanced
        self.calibrated = calibrated
        self.prototypes = prototypes
        self.unknown_rule = unknown_rule
        self.false_alarm_rate = false_alarm_rate
        self.random_state = random_state
        self.cluster = cluster

    # Learning.

    def fit(self, X: Examples, y: LabelsLike) -> Self:
        """Learn from examples X and their labels y; each is read once."""
        self._check_options()
        with contextlib.nullcontext(None) if self.cluster is None else connected(WHO, self.cluster) as client:
            return self._fit(X, y, _client_for(X) if client is None and is_dask_array(X) else client)

    def _fit(self, X: Any, y: LabelsLike, client: Client | None) -> Self:
        X = X if is_dask_array(X) else self._checked(X, reset=True)
        labels, positions = labelled(self, y, n_examples(X))
        self.classes_ = classes_to_learn(self, labels)
        numbers = class_numbers(targets_of(labels, self.classes_))
        generator = np.random.default_rng(self.random_state)
        inducing = spread_over_classes(numbers, self.n_inducing, generator)
        grams = self._fit_input(X, labels[inducing], positions, inducing, client)
        self.note_width()
        self._learn(grams, labels[inducing])
        checked = _to_check(numbers, inducing, generator)
        among = self._comparison().of_values(self._combined(grams), self.inducing_diagonal_)
        self.sums_.add(among.features, numbers[inducing])
        others = np.setdiff1d(np.arange(len(positions)), inducing)
        rows = self._count(X, positions[others], numbers[others], np.flatnonzero(np.isin(others, checked)), client)
        self.input_.release()
        inside = np.flatnonzero(np.isin(inducing, checked))
        kept = [np.concatenate([part, more[inside]]) for part, more in zip(rows, among, strict=True)]
        order = np.argsort(np.concatenate([others[np.isin(others, checked)], inducing[inside]]))
        self._settle(InducingRows(*(part[order] for part in kept)), numbers[checked])
        return self

    def memory_needed(
        self, n_examples: int, n_classes: int, channels: Sequence[Channel], described: float = 0.0
    ) -> int:
        """What a Gaussian process on the inducing points takes, the examples that are compared with them at a time and those that
        are kept to be left out, or describing images if that is more, and a little for each image."""
        m = min(self.n_inducing, n_examples)
        at_a_time = min(BLOCK, n_examples - m) * (len(channels) + 3) + 3 * min(CHECKED, n_examples)
        encodings = 16 * m * sum(channel.typical_numbers for channel in channels)
        learning = GramsNeeded().bytes_of_pairs(m, len(channels)) + 8 * m * at_a_time
        by_network = any(channel.informed for channel in channels) and described < ALL_DESCRIBED * m / n_examples
        describing = NETWORK if by_network else LOOKING
        return max(learning, describing) + encodings + BYTES_PER_IMAGE * n_examples

    def add(self, X: Examples, y: LabelsLike) -> Self:
        """Count more examples, of old or new classes; inducing points, weights, noise and calibration stay.

        New classes come after the old ones in `classes_`.
        """
        check_is_fitted(self)
        with contextlib.nullcontext(None) if self.cluster is None else connected(WHO, self.cluster) as client:
            if is_dask_array(X):
                client = client or _client_for(X)
            else:
                X = self._checked(X, reset=False)
            labels, positions = labelled(self, y, n_examples(X))
            classes = classes_with(self, self.classes_, labels)
            self.sums_ = self.sums_.with_classes(len(classes) - len(self.classes_))
            self.classes_ = classes
            self._count(X, positions, class_numbers(targets_of(labels, self.classes_)), positions[:0], client)
        self.posterior_ = self._posterior(self.noise_variance_)
        return self

    def _check_options(self) -> None:
        check_integer(self, "n_inducing", self.n_inducing, least=1)
        check_integer(self, "random_state", self.random_state, least=0)
        check_choice(self, "unknown_rule", self.unknown_rule, RULES)
        if isinstance(self.noise_variance, str):
            check_choice(self, "noise_variance", self.noise_variance, ("left-out",))
        else:
            check_positive(self, "noise_variance", self.noise_variance)
        check_share(self, "false_alarm_rate", self.false_alarm_rate)
        for name in ("balanced", "calibrated", "prototypes"):
            check_flag(self, name, getattr(self, name))

    def _fit_input(
        self, X: Any, labels: Labels, positions: Indices, inducing: Indices, client: Client | None
    ) -> Sequence[Array]:
        """Let the input remember the inducing points alone; channels may learn from images without a label as well."""
        chosen = positions[inducing]
        if is_dask_array(X):
            X = self._checked(rows_at(cast("Client", client), X, chosen), reset=True)
            positions = chosen = np.arange(len(chosen))
        if isinstance(self.kernel, str):  # kernel values, of which the input needs the whole matrix
            self.input_ = choose_input(self, self.kernel, X)
            return self.input_.fit(X, labels, chosen)
        unlabelled = np.setdiff1d(np.arange(n_examples(X)), positions) if self._sees_images() else positions[:0]
        side = some_of(X, np.concatenate([chosen, unlabelled]))
        self.input_ = choose_input(self, self.kernel, side)
        return self.input_.fit(side, labels, np.arange(len(chosen)))

    def _sees_images(self) -> bool:
        return not (self.kernel is None or kernels_of_rows(self.kernel))

    def _learn(self, grams: Sequence[Array], labels: Labels) -> None:
        """Weights, and the noise to begin with, from the inducing points."""
        exact = GPClassifier(
            self.kernel,
            noise_variance=self.noise_variance,
            weights=self.weights,
            prior_weights=self.prior_weights,
            balanced=self.balanced,
        )
        targets = targets_of(labels, self.classes_)
        self.weights_, self.noise_variance_ = exact.weights_and_noise(grams, targets, self.input_.pictures)
        K = self._combined(grams)
        self.points_ = InducingPoints.of(K)
        self.inducing_diagonal_ = K.diagonal().copy()
        self.sums_ = FeatureSums.empty(len(K), len(self.classes_))

    def _count(self, X: Any, which: Indices, classes: Indices, kept: Indices, client: Client | None) -> InducingRows:
        """Read these examples of X, whose classes these are, and count them; what was said of those that are kept."""
        if client is None:
            piece = Piece(X, which, classes, kept)
            counted = self._comparison().count(piece, len(self.classes_), "examples")
        else:
            pieces = pieces_of(client, X, which, classes, kept) if len(which) else []
            if not pieces:
                return self._comparison().count(Piece(X, which, classes, kept), len(self.classes_)).rows
            counted = count_on_cluster(client, self._comparison(), pieces, len(self.classes_))
        self.sums_ = self.sums_ + counted.sums
        return counted.rows

    def _comparison(self) -> Comparison:
        return Comparison(self.input_, self.weights_, self.points_)

    def _settle(self, rows: InducingRows, numbers: Indices) -> None:
        """Noise, calibration, novelty and accuracy, from examples that are left out: a few of each class at a time."""
        folds, kept = self._folds(rows, numbers)
        if isinstance(self.noise_variance, str) and len(kept):
            self.noise_variance_ = self._best_noise(rows, numbers, folds, kept)
        self.posterior_ = self._posterior(self.noise_variance_)
        left_out = self.posterior_.leave_group_out(rows.features, numbers, folds, rows.diagonal)
        mean, variance = left_out.mean[kept], np.maximum(left_out.variance[kept] - self.noise_variance_, 0.0)
        self.calibration_ = Calibration()
        if self.calibrated:
            self.calibration_ = self._fitted(mean, numbers[kept], bool(self.prototypes)).calibration
        probabilities = self._probabilities(mean, variance)
        cosines = _cosines(rows, self.inducing_diagonal_)[kept]
        similarity = np.where(cosines > ALMOST_SAME, 0.0, cosines).max(axis=1, initial=0.0)
        signs = Signs.of(mean, relative(variance, rows.diagonal[kept]), probabilities, similarity)
        n_classes, outside = len(self.classes_), bool(self.sums_.counts[-1] > 0)
        labels, rate = float(self.sums_.counts[:-1].sum()) / n_classes, float(self.false_alarm_rate)
        self.novelty_ = fit_novelty(self.unknown_rule, signs, rate, labels, n_classes=n_classes, with_outsiders=outside)
        right = self.calibration_.left_out_values(mean, numbers[kept]).argmax(axis=1) == numbers[kept]
        recalls = [right[numbers[kept] == number].mean() for number in np.unique(numbers[kept])]
        self.left_out_accuracy_ = float(np.mean(recalls)) if recalls else None

    def _folds(self, rows: InducingRows, numbers: Indices) -> tuple[Indices, Indices]:
        """Near-duplicates among the checked examples are left out together, and a few of each class at a time."""
        among = rows.features @ rows.features.T
        among[np.diag_indices_from(among)] = rows.diagonal
        folds = class_folds(numbers, near_duplicates(among, numbers))
        return folds, predictable(numbers, folds)

    def _best_noise(self, rows: InducingRows, numbers: Indices, folds: Indices, kept: Indices) -> float:
        """Of a few, relative to the mean prior variance; left-out examples must speak against the usual one."""
        scale = float(self.inducing_diagonal_.mean()) or 1.0

        def loss(noise: float) -> float:
            found = self._posterior(noise * scale).leave_group_out(rows.features, numbers, folds, rows.diagonal)
            probability = self._fitted(found.mean[kept], numbers[kept]).log_posterior
            return NATS * float(np.log10(noise / USUAL_NOISE)) ** 2 - probability

        return scale * min(NOISES, key=loss)

    def _fitted(self, mean: Array, numbers: Indices, with_prototypes: bool = False) -> FittedCalibration:
        return judged_calibration(mean, numbers, balanced=bool(self.balanced), with_prototypes=with_prototypes)

    def _posterior(self, noise_variance: float) -> SparsePosterior:
        counts = self.sums_.counts[:-1]
        levels = TargetLevels.of(counts) if self.balanced else TargetLevels(np.ones(len(counts)), np.ones(len(counts)))
        return SparsePosterior.condition(self.sums_, noise_variance, levels.own, levels.others)

    # Answers.

    @property
    def n_examples_(self) -> int:
        """How many labelled examples were counted."""
        check_is_fitted(self)
        return int(self.sums_.counts.sum())

    def latent(self, X: Examples) -> Latent:
        """Posterior mean and standard deviation of each class; the deviation is one for all classes of an example."""
        return self._latent(self._look(X))

    def predict_proba(self, X: Examples) -> Array:
        """Probability of each class, given that it is one of them."""
        if self.calibrated:  # which needs no variance
            mean = self._means(X)
            return self.calibration_.probabilities(mean)
        seen = self._look(X)
        return self._probabilities(seen.mean, seen.variance)

    def assess(self, X: Examples) -> Assessment:
        """All of `latent`, `predict_proba`, `unknown_score` and `is_unknown`, reading X once."""
        seen = self._look(X)
        probabilities = self._probabilities(seen.mean, seen.variance)
        signs = Signs.of(seen.mean, relative(seen.variance, seen.diagonal), probabilities, seen.similarity)
        score, threshold = self.novelty_.score(signs), self.novelty_.threshold
        return Assessment(self._latent(seen), probabilities, score, score > threshold, threshold)

    def left_out(self) -> LeftOut | None:
        """How often examples of a sample of the training examples are recognised by the others."""
        accuracy = self.left_out_accuracy_
        return None if accuracy is None else LeftOut(accuracy, LEFT_OUT)

    def weigh(self, way: str, prior: Sequence[float] | None = None, groups: Indices | None = None) -> Self:
        """Average several channels, or learn their weights by "evidence"."""
        self.set_params(weights=way)
        return self if prior is None else self.set_params(prior_weights=prior)

    def shares(self, n_channels: int) -> Array:
        """How much each channel counts: `weights_`, so that they add up to 1."""
        check_is_fitted(self)
        return self.weights_ / self.weights_.sum()

    def found(self) -> dict[str, float]:
        """The noise variance."""
        check_is_fitted(self)
        return {"noise variance": self.noise_variance_}

    def doubts(self) -> tuple[str, ...]:
        """Whether there are labels enough to say what is unknown."""
        check_is_fitted(self)
        return self.novelty_.doubts

    def _decide(self, X: Examples) -> Array:
        means = self._means(X)
        return self.calibration_.values(means)

    def _means(self, X: Examples) -> Array:
        return np.concatenate([self.posterior_.mean(rows.features) for rows in self._blocks(X)])

    def _look(self, X: Examples) -> _Seen:
        """What the posterior says, block by block: no more than a block of kernel values is there at a time."""
        return _Seen(*(np.concatenate(parts) for parts in zip(*map(self._seen, self._blocks(X)), strict=True)))

    def _seen(self, rows: InducingRows) -> _Seen:
        variance = self.posterior_.variance(rows.features, rows.diagonal)
        similarity = largest_cosine(rows.kernel, rows.diagonal, self.inducing_diagonal_)
        return _Seen(self.posterior_.mean(rows.features), variance, rows.diagonal, similarity)

    @staticmethod
    def _latent(seen: _Seen) -> Latent:
        return Latent(seen.mean, np.repeat(np.sqrt(seen.variance)[:, None], seen.mean.shape[1], axis=1))

    def _blocks(self, X: Examples) -> Iterator[InducingRows]:
        """New examples, compared with the inducing points; the first block is there even if X is empty."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        comparison = self._comparison()
        for block in blocks_of(X, n_examples(X)):
            yield comparison.of(self.input_.read(block))

    def _combined(self, grams: Sequence[Array]) -> Array:
        return weighted_sum(grams, self.weights_)

    def _probabilities(self, mean: Array, variance: Array) -> Array:
        if self.calibrated:
            return self.calibration_.probabilities(mean)
        return largest_probability(mean, np.sqrt(variance + self.noise_variance_))

    # In the model file.

    def _learned(self) -> State:
        header = {
            "options": self._options(),
            "noise_variance": self.noise_variance_,
            "left_out_accuracy": self.left_out_accuracy_,
        }
        state = State(header, {"weights": self.weights_, "inducing_diagonal": self.inducing_diagonal_})
        state = state.join("points", self.points_.state()).join("sums", self.sums_.state())
        return state.join("calibration", self.calibration_.state()).join("novelty", self.novelty_.state())

    def _restore_options(self, state: State) -> None:
        options = state.header["options"]
        if isinstance(options, dict):
            options = {"prototypes": False, **options}  # which older files do not name, nor have
        super()._restore_options(State({"options": options}, {}))

    def _restore(self, state: State) -> None:
        self._restore_options(state)
        self._check_options()
        self.calibration_ = Calibration.from_state(state.nested("calibration"))
        self.calibration_.check_classes(len(self.classes_))
        self.novelty_ = Novelty.from_state(state.nested("novelty"))
        self.noise_variance_ = check_positive("model", "noise_variance", state.number("noise_variance"))
        self.left_out_accuracy_ = state.number_or_none("left_out_accuracy", least=0.0, most=1.0)
        n_grams = len(self.input_.scales)
        self.weights_ = check_weights(self, state.array("weights", (n_grams,), np.float64), n_grams)
        self.points_ = InducingPoints.from_state(state.nested("points"))
        m = len(self.points_)
        if m != self.input_.n_training:
            raise InvalidInput(f"there must be a row for each inducing point: {m}, got {self.input_.n_training}.")
        self.inducing_diagonal_ = state.array("inducing_diagonal", (m,), np.float64, least=0.0)
        self.sums_ = FeatureSums.from_state(state.nested("sums"), m, len(self.classes_))
        self.posterior_ = self._posterior(self.noise_variance_)


def spread_over_classes(numbers: Indices, most: int, generator: np.random.Generator) -> Indices:
    """At most this many examples, sorted: the same number of each class (n,), as far as it has them; -1 is a class too."""
    if len(numbers) <= most:
        return np.arange(len(numbers))
    shuffled = generator.permutation(len(numbers))
    order = shuffled[np.argsort(numbers[shuffled], kind="stable")]
    sorted_numbers = numbers[order]
    first = np.searchsorted(sorted_numbers, sorted_numbers)
    turn = np.arange(len(order)) - first  # its number within its class: every class has one 0, one 1, ...
    return np.sort(order[np.lexsort((shuffled, turn))[:most]])


def _to_check(numbers: Indices, inducing: Indices, generator: np.random.Generator) -> Indices:
    """Examples to leave out, sorted: no inducing points, which are predicted unlike new examples, if there are enough others."""
    others = np.setdiff1d(np.arange(len(numbers)), inducing)
    chosen = others[spread_over_classes(numbers[others], CHECKED, generator)]
    missing = ENOUGH - len(chosen)
    if missing <= 0:
        return chosen
    return np.union1d(chosen, inducing[spread_over_classes(numbers[inducing], missing, generator)])


def _client_for(X: Any) -> Client:
    """The client that a Dask array is computed by where no cluster is named."""
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        raise InvalidInput(
            f"{WHO}: a Dask array needs a cluster: name one, or make a distributed.Client first."
        ) from None


def _cosines(rows: InducingRows, diagonal: Array) -> Array:
    return rows.kernel / np.sqrt(np.maximum(np.outer(rows.diagonal, diagonal), 1e-300))
