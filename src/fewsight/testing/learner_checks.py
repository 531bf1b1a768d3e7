"""What every learner must satisfy; those that see Gram matrices (`KernelLearner`) a little more."""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from fewsight._base.archive import read_archive, write_archive
from fewsight._base.errors import FewsightError, JitterWarning, ModelFileError
from fewsight._base.none_of_these import NONE_OF_THESE, NoneOfThese
from fewsight._base.types import Array, Indices, State
from fewsight.channels import Channel, FisherDog, SpatialPmk
from fewsight.evaluation import COMBINATIONS, Protocol, evaluate
from fewsight.images import Image, ImageArray, ImageSet, sample_set
from fewsight.kernels import RBF, HistogramIntersection, Kernel, Linear
from fewsight.learners import LEARNERS, KernelLearner, Learner
from fewsight.learners.labels import Label, Labels
from fewsight.persistence import KINDS, load, load_learner, save
from fewsight.testing.refusals import check_is, refusal

_ROWS, NUMBERS = make_blobs(90, 4, centers=3, cluster_std=1.5, random_state=3)
X: Array = _ROWS - _ROWS.min() + 0.1  # numbers > 0, which learners of histograms ask for
NAMES: Labels = np.array(["ant", "bee", "cat"])[NUMBERS]
TRAIN, TEST = slice(0, 60), slice(60, 90)
ENOUGH = 0.85  # of the test examples, which are easy to tell apart


def new(learner: Learner, **options: Kernel | str | None) -> Learner:
    """The same learner, unfitted, with other options; one that takes no rows of numbers gets a quick channel."""
    made = clone(learner).set_params(**options)
    return made if made.needs.takes_rows or made.kernel is not None else made.set_params(kernel=quick_channel(made))


def examples_for(learner: Learner) -> Any:
    """90 examples that are easy to tell apart, named by NAMES: rows of numbers, or images where the learner takes only those."""
    return X if learner.needs.takes_rows else spotted_images()


def quick_channel(learner: Learner) -> Channel:
    """One that takes little time, of those that the learner takes."""
    quick: tuple[Channel, ...] = (
        SpatialPmk(n_words=20, n_descriptors=1_000, scales=(1.0,), longest_side=64),
        FisherDog(width=40, smallest=3.0, max_points=6, n_parts=2, n_components=5, scale=1.0, n_starts=1, max_steps=10),
    )
    return next(channel for channel in quick if learner.needs.accepts(channel))


@cache
def spotted_images() -> list[Image]:
    """A bright spot and a dark one: beside each other, the other way round, or the dark one lower."""
    rng, images = np.random.default_rng(5), []
    y, x = np.indices((40, 40))
    start = np.array([8, 10])
    for number in NUMBERS:
        apart, first = ((18, 0), (18, 0), (16, 18))[number] + rng.normal(scale=0.5, size=2), (1.0, -1.0, 1.0)[number]
        picture = rng.normal(110.0, 2.0, size=(40, 40))
        for place, sign in ((start, first), (start + apart, -first)):
            picture += sign * 90 * np.exp(-((x - place[0]) ** 2 + (y - place[1]) ** 2) / 18)
        images.append(ImageArray(np.clip(picture, 0, 255).astype(np.uint8)))
    return list(images)


def of_two(learner: Learner) -> Learner:
    """The same learner, fitted to tell one category from all others."""
    return new(learner).fit(examples_for(learner)[TRAIN], NAMES[TRAIN] == "bee")


def it_says_what_it_is(learner: Learner) -> None:
    kind = type(learner)
    assert LEARNERS.is_registered(kind) or kind in KINDS.values(), (
        f"{kind.__name__} must be registered: fewsight.register({kind.__name__})"
    )
    assert all(isinstance(text, str) and text for text in (kind.name, kind.title, kind.note))
    assert kind.note.endswith("."), "note must be a sentence"
    assert kind.ways
    assert set(kind.ways) <= set(COMBINATIONS) - {"none"}


def a_stored_learner_answers_as_before(learner: Learner) -> None:
    examples = examples_for(learner)
    _check_stored(new(learner).fit(examples[TRAIN], NAMES[TRAIN]))


def a_stored_learner_of_two_classes_answers_as_before(learner: Learner) -> None:
    _check_stored(of_two(learner))


def _check_stored(learner: Learner) -> None:
    """A learner that was fitted comes back from a file, which gives the same file again."""
    examples = examples_for(learner)
    with tempfile.TemporaryDirectory() as folder:
        model, second = Path(folder) / "model", Path(folder) / "again"
        save(learner, model)
        again = load_learner(model)
        assert type(again) is type(learner)
        np.testing.assert_array_equal(again.predict(examples[TEST]), learner.predict(examples[TEST]))
        for one, other in zip(again.latent(examples[TEST]), learner.latent(examples[TEST]), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)
        np.testing.assert_allclose(
            again.predict_proba(examples[TEST]), learner.predict_proba(examples[TEST]), rtol=0, atol=1e-10
        )
        assert again.left_out() == learner.left_out()
        assert again.found().keys() == learner.found().keys()
        np.testing.assert_allclose(list(again.found().values()), list(learner.found().values()), rtol=1e-6)
        np.testing.assert_allclose(again.shares(1), learner.shares(1))
        save(again, second)
        assert second.read_bytes() == model.read_bytes(), "what was opened must be stored as it was"


def what_it_cannot_do_is_one_sentence(learner: Learner) -> None:
    examples = examples_for(learner)
    learner = of_two(learner)
    for attempt in (
        lambda: learner.leave_one_out(),
        lambda: learner.add(examples[TEST], NAMES[TEST] == "bee"),
        lambda: learner.remove(np.array([0])),
        lambda: learner.borrower(),
        lambda: learner.unknown_score(examples[TEST]),
        lambda: learner.is_unknown(examples[TEST]),
    ):
        said = _refusal_of(attempt)
        assert said is None or re.fullmatch(rf"{type(learner).__name__}: it[^\n]*\.", said), said


def _refusal_of(attempt: Callable[[], object]) -> str | None:
    """What an attempt was refused with; None where it succeeded."""
    try:
        attempt()
    except FewsightError as refused:
        return str(refused)
    return None


def an_assessment_agrees_with_the_single_answers(learner: Learner) -> None:
    examples = examples_for(learner)
    learner = of_two(learner)
    found = learner.assess(examples[TEST])
    np.testing.assert_allclose(found.latent.mean, learner.latent(examples[TEST]).mean, atol=1e-10)
    np.testing.assert_allclose(found.probabilities, learner.predict_proba(examples[TEST]), atol=1e-10)
    verdict = learner.verdict(examples[TEST])
    np.testing.assert_allclose(verdict.mean, found.latent.mean, atol=1e-10)
    np.testing.assert_allclose(verdict.probabilities, found.probabilities, atol=1e-10)
    if found.unknown_score is not None and found.unknown is not None and found.threshold is not None:
        np.testing.assert_array_equal(found.unknown, found.unknown_score > found.threshold)
        np.testing.assert_array_equal(learner.is_unknown(examples[TEST]), found.unknown)
        assert verdict.unknown_score is not None
        np.testing.assert_allclose(verdict.unknown_score, found.unknown_score, atol=1e-9)


def left_out_examples_are_recognised_where_it_says_so(learner: Learner) -> None:
    found = of_two(learner).left_out()
    assert found is None or (0.8 < found.accuracy <= 1 and found.which)


def it_keeps_scikit_learns_contract(learner: Learner) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        warnings.simplefilter("ignore", JitterWarning)
        for estimator, check in estimator_checks_generator(new(learner)):
            _unless_skipped(check, estimator)


def _unless_skipped(check: Callable[[Learner], None], estimator: Learner) -> None:
    """scikit-learn leaves out what needs packages that are not there."""
    try:
        check(estimator)
    except SkipTest:
        return


def labels_of_every_kind_come_back_as_they_were(learner: Learner) -> None:
    examples = examples_for(learner)
    every: tuple[Labels | list[str], ...] = (NUMBERS, NAMES, NUMBERS == 1, NAMES.tolist(), NAMES.astype(object))
    for labels in every:
        predicted = new(learner).fit(examples[TRAIN], labels[TRAIN]).predict(examples[TEST])
        assert set(predicted) <= set(labels)
        assert np.mean(predicted == np.asarray(labels[TEST])) > ENOUGH


def probabilities_sum_to_one_and_agree_with_the_decision(learner: Learner) -> None:
    examples = examples_for(learner)
    learner = new(learner).fit(examples[TRAIN], NAMES[TRAIN])
    probability = learner.predict_proba(examples[TEST])
    assert probability.shape == (30, 3)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_array_equal(learner.classes_[probability.argmax(axis=1)], learner.predict(examples[TEST]))


def latent_has_a_column_per_class_also_for_two(learner: Learner) -> None:
    examples = examples_for(learner)
    for labels in (NAMES, NUMBERS == 1):
        fitted = new(learner).fit(examples[TRAIN], labels[TRAIN])
        latent = fitted.latent(examples[TEST])
        assert latent.mean.shape == latent.std.shape == (30, len(fitted.classes_))
        assert (latent.std >= 0).all()


def examples_without_a_label_are_left_out(learner: Learner) -> None:
    labels, kept = _some_labels()
    some = new(learner, kernel=HistogramIntersection()).fit(X[TRAIN], labels[TRAIN]).latent(X[TEST])
    only = new(learner, kernel=HistogramIntersection()).fit(X[kept], labels[kept]).latent(X[TEST])
    np.testing.assert_allclose(some.mean, only.mean, atol=1e-10)


def _some_labels() -> tuple[Labels, list[int]]:
    """Labels of which every third is missing, and where the others stand among the training examples."""
    labels = NAMES.astype(object)
    labels[::3] = None
    return labels, [index for index in range(60) if labels[index] is not None]


def images_go_through_a_channel(learner: Learner) -> None:
    tiles = sample_set()
    brick, grass = (
        [image for image, label in zip(tiles.images, tiles.labels, strict=True) if label == name][:8]
        for name in tiles.classes[:2]
    )
    channel = quick_channel(learner)
    fitted = clone(learner).set_params(kernel=channel).fit([*brick[:5], *grass[:5]], ["a"] * 5 + ["b"] * 5)
    assert fitted.predict([*brick[5:], *grass[5:]]).tolist().count("a") in {2, 3, 4}
    assert not hasattr(channel, "learned_"), "the channel that was passed must be left as it was"


def sparse_histograms_equal_dense_ones(learner: Learner) -> None:
    rng = np.random.default_rng(0)
    H = rng.random((40, 12)) * (rng.random((40, 12)) < 0.4)
    labels = np.arange(40) % 2
    dense, sparse = (
        new(learner, kernel=HistogramIntersection()).fit(rows[:30], labels[:30]).latent(rows[30:]).mean
        for rows in (H, scipy.sparse.csr_array(H))
    )
    np.testing.assert_allclose(sparse, dense, atol=1e-10)


def it_works_in_pipelines_and_cross_validation(learner: Learner) -> None:
    assert cross_val_score(make_pipeline(MinMaxScaler(clip=True), new(learner)), X, NAMES, cv=3).mean() > ENOUGH


def it_can_be_evaluated_on_images(learner: Learner) -> None:
    tiles = sample_set() if learner.needs.takes_rows else ImageSet(spotted_images(), NAMES.tolist())
    channel = quick_channel(learner)
    protocol = Protocol(images_per_class=5, per_class=(3,), repeats=1)
    evaluation = evaluate(tiles, protocol, {"coarse": channel}, {type(learner).name: new(learner)})
    (accuracy,) = (record["mean"] for record in evaluation.records() if record["metric"] == "accuracy")
    assert accuracy > 2 / len(tiles.classes), "must be twice as good as guessing"


def what_is_no_kernel_is_refused(learner: Learner) -> None:
    examples = examples_for(learner)
    wrong: tuple[object, ...] = ("rbf", 3, [], ["spatial_pmk"])
    for kernel in wrong:
        with refusal("kernel must be"):
            clone(learner).set_params(kernel=kernel).fit(examples, NUMBERS)


def labels_that_cannot_be_used_are_refused(learner: Learner) -> None:
    examples = examples_for(learner)
    with refusal("at least one example must have a label"):
        new(learner).fit(examples[:2], [None, None])
    with refusal("same length, got 90 and 5"):
        new(learner).fit(examples, NUMBERS[:5])


def further_labels_of_another_kind_are_refused(learner: Learner) -> None:
    examples = examples_for(learner)
    for first, other in ((NAMES, NUMBERS), (NUMBERS, NAMES), (NUMBERS, NUMBERS == 1)):
        fitted = new(learner).fit(examples[TRAIN], first[TRAIN])
        said = _refusal_of(lambda fitted=fitted, other=other: fitted.add(examples[TEST], other[TEST]))  # type: ignore[misc]
        assert said is not None, "labels must stay of the kind that was learned first"
        assert fitted.classes_.tolist() == np.unique(first).tolist()


def gram_matrices_equal_the_kernel_itself(learner: Learner) -> None:
    kernel = RBF(scale=2.0)
    direct = new(learner, kernel=kernel).fit(X[TRAIN], NAMES[TRAIN])
    gram = new(learner, kernel="precomputed").fit(kernel.gram(X[TRAIN]), NAMES[TRAIN])
    K_test = kernel.gram(X[TEST], X[TRAIN])
    np.testing.assert_allclose(gram.latent(K_test).mean, direct.latent(X[TEST]).mean, atol=1e-9)
    np.testing.assert_allclose(gram.predict_proba(K_test), direct.predict_proba(X[TEST]), atol=1e-9)


def a_list_of_gram_matrices_is_their_average(learner: Learner) -> None:
    if "average" not in learner.ways:
        return
    kernels: Sequence[Kernel] = (RBF(scale=2.0), Linear())
    grams = [kernel.gram(X) / np.diag(kernel.gram(X))[TRAIN].mean() for kernel in kernels]
    several = new(learner, kernel="precomputed").weigh("average").fit([K[TRAIN, TRAIN] for K in grams], NAMES[TRAIN])
    one = new(learner, kernel="precomputed").fit(np.mean(grams, axis=0)[TRAIN, TRAIN], NAMES[TRAIN])
    expected = one.latent(np.mean(grams, axis=0)[TEST, TRAIN]).mean
    np.testing.assert_allclose(several.latent([K[TEST, TRAIN] for K in grams]).mean, expected, atol=1e-8)


def the_scale_of_the_kernel_does_not_matter(learner: Learner) -> None:
    K = RBF(scale=2.0).gram(X)
    small, large = (
        new(learner, kernel="precomputed").fit(f * K[TRAIN, TRAIN], NUMBERS[TRAIN]).latent(f * K[TEST, TRAIN])
        for f in (1e-6, 1e6)
    )
    np.testing.assert_allclose(small.mean, large.mean, atol=1e-8)
    np.testing.assert_allclose(small.std, large.std, atol=1e-6)


def examples_without_a_label_are_left_out_of_gram_matrices(learner: Learner) -> None:
    labels, kept = _some_labels()
    K = RBF(scale=2.0).gram(X)
    some = new(learner, kernel="precomputed").fit(K[TRAIN, TRAIN], labels[TRAIN]).latent(K[TEST, TRAIN])
    only = new(learner, kernel="precomputed").fit(K[np.ix_(kept, kept)], labels[kept]).latent(K[TEST][:, kept])
    np.testing.assert_allclose(some.mean, only.mean, atol=1e-10)


def a_block_of_the_wrong_width_names_the_right_one(learner: Learner) -> None:
    fitted = new(learner, kernel="precomputed").fit(RBF(scale=1.0).gram(X[TRAIN]), NUMBERS[TRAIN])
    with refusal(r"X \(test x training\) must be a matrix of any x 60, got 30 x 59"):
        fitted.predict(np.ones((30, 59)))


def an_edited_file_is_refused_in_one_sentence(learner: Learner) -> None:
    examples = examples_for(learner)
    with tempfile.TemporaryDirectory() as folder:
        model, edited = Path(folder) / "model", Path(folder) / "edited"
        save(new(learner).fit(examples[TRAIN], NAMES[TRAIN]), model)
        whole = read_archive(model)
        header = {key: value for key, value in whole.header.items() if key != "digest"}
        for name, array in whole.arrays.items():
            other = np.full_like(array, np.nan) if array.dtype.kind == "f" else -1 - array
            for wrong in (array[:-1], array[None], other) if array.size else (array[None],):
                write_archive(edited, State(header, {**whole.arrays, name: wrong}))
                with refusal(r"damaged or edited by hand \(", ModelFileError):
                    load(edited)
        write_archive(edited, State(header, {**whole.arrays, "model/more": X}))
        with refusal(r"the stored array model/more is read by nobody", ModelFileError):
            load(edited)


def none_of_these_speaks_against_every_class_or_is_refused_in_one_sentence(learner: Learner) -> None:
    examples = examples_for(learner)
    labels: list[Label | NoneOfThese] = [NONE_OF_THESE if name == "cat" else name for name in NAMES.tolist()]
    if not learner.learns_none_of_these:
        with refusal("every label must name a category"):
            new(learner).fit(examples[TRAIN], labels[TRAIN])
        return
    with refusal("at least one label must name a category, got NONE_OF_THESE only"):
        new(learner).fit(examples[:3], [NONE_OF_THESE] * 3)
    fitted = new(learner).fit(examples[TRAIN], labels[TRAIN])
    assert fitted.classes_.tolist() == ["ant", "bee"]
    without = new(learner).fit(examples[TRAIN], [None if label is NONE_OF_THESE else label for label in labels[TRAIN]])
    inside = np.flatnonzero(NAMES[TEST] != "cat") + TEST.start
    outside, rest = (_at(examples, places) for places in (np.setdiff1d(np.arange(60, 90), inside), inside))
    assert fitted.latent(outside).mean.max(axis=1).mean() < without.latent(outside).mean.max(axis=1).mean()
    assert np.mean(fitted.predict(rest) == NAMES[inside]) > ENOUGH
    _check_stored(fitted)


def _at(examples: Any, places: Indices) -> Any:
    """Rows, or images, at these places."""
    return examples[places] if isinstance(examples, np.ndarray) else [examples[place] for place in places]


Check = Callable[[Learner], None]
TWO_CLASS_CHECKS: tuple[Check, ...] = (  # those of a learner that only tells one category from a background
    it_says_what_it_is,
    a_stored_learner_of_two_classes_answers_as_before,
    what_it_cannot_do_is_one_sentence,
    an_assessment_agrees_with_the_single_answers,
    left_out_examples_are_recognised_where_it_says_so,
)
LEARNER_CHECKS: tuple[Check, ...] = (
    *TWO_CLASS_CHECKS,
    a_stored_learner_answers_as_before,
    labels_of_every_kind_come_back_as_they_were,
    probabilities_sum_to_one_and_agree_with_the_decision,
    latent_has_a_column_per_class_also_for_two,
    images_go_through_a_channel,
    it_can_be_evaluated_on_images,
    what_is_no_kernel_is_refused,
    labels_that_cannot_be_used_are_refused,
    further_labels_of_another_kind_are_refused,
    an_edited_file_is_refused_in_one_sentence,
    none_of_these_speaks_against_every_class_or_is_refused_in_one_sentence,
)
ROW_LEARNER_CHECKS: tuple[Check, ...] = (  # of those that take rows of numbers
    it_keeps_scikit_learns_contract,
    examples_without_a_label_are_left_out,
    sparse_histograms_equal_dense_ones,
    it_works_in_pipelines_and_cross_validation,
)
KERNEL_LEARNER_CHECKS: tuple[Check, ...] = (
    gram_matrices_equal_the_kernel_itself,
    a_list_of_gram_matrices_is_their_average,
    the_scale_of_the_kernel_does_not_matter,
    examples_without_a_label_are_left_out_of_gram_matrices,
    a_block_of_the_wrong_width_names_the_right_one,
)


def checks_of(learner: Learner) -> tuple[Check, ...]:
    """All that a learner of this kind must satisfy."""
    rows = ROW_LEARNER_CHECKS if learner.needs.takes_rows else ()
    return LEARNER_CHECKS + rows + (KERNEL_LEARNER_CHECKS if isinstance(learner, KernelLearner) else ())


def check_learner(learner: Learner) -> None:
    """Raise where a learner is not what one must be; `learner` is unfitted, and stays so.

    Parameters
    ----------
    learner : an unfitted learner; it stays unfitted.
    """
    check_is("check_learner", "learner", learner, Learner)
    for check in checks_of(learner):
        check(learner)
