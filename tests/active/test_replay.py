"""A run that is interrupted and rebuilt from its records is the run that never stopped."""

import json
import tracemalloc
from dataclasses import astuple

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import ActiveLearner, ImagePool
from fewsight.channels import SpatialPmk
from fewsight.kernels import RBF, HistogramIntersection
from fewsight.learners import GPClassifier, HistogramGPClassifier, SVMClassifier

LEARNERS = {
    "gp": GPClassifier(RBF(scale=2.0)),
    "balanced": GPClassifier(RBF(scale=2.0), balanced=True),
    "histograms": HistogramGPClassifier(),
    "svm": SVMClassifier(RBF(scale=2.0)),
}


def rebuilt(active, pool):
    """The same from its records, as a file would give them back."""
    records = json.loads(json.dumps(active.records_))
    return ActiveLearner(**active.get_params(deep=False)).rebuild(pool, records)


def assert_same(one, other):
    """All that a person sees: what is said to the letter, numbers but for rounding."""
    first, second = one.status(), other.status()
    assert one.query().indices.tolist() == other.query().indices.tolist()
    assert one.query().reasons == other.query().reasons
    assert one.labels_ == other.labels_
    assert str(first) == str(second)
    assert first.advice.stop == second.advice.stop
    pairs = [(first.advice.expected_gain, second.advice.expected_gain), (one.predict_proba(), other.predict_proba())]
    if first.accuracy is not None:
        pairs.append((astuple(first.accuracy), astuple(second.accuracy)))
    for left, right in pairs:
        np.testing.assert_allclose(np.array(left, dtype=float), np.array(right, dtype=float), atol=1e-6)


def person(active, truth, turn, rng):
    """One act, of all kinds that there are."""
    query = active.query(batch_size=int(rng.integers(1, 5)) if turn % 10 == 0 else None)
    kind = rng.choice(["teach", "skip", "discard", "correct", "undo", "redo"], p=[0.72, 0.08, 0.02, 0.08, 0.07, 0.03])
    labelled = active.view_.positions.tolist()
    if kind == "skip":
        active.skip(query.indices[:1])
    elif kind == "discard":
        active.discard(query.indices[:1])
    elif kind == "correct" and labelled:
        active.correct(labelled[int(rng.integers(len(labelled)))], int(rng.integers(10)))
    elif kind == "undo" and len(labelled) > 1:
        active.undo()
    elif kind == "redo" and active._replay.history.can_redo:
        active.redo()
    else:
        active.teach(query.indices, truth[query.indices])


@pytest.mark.parametrize("name", LEARNERS)
def test_a_run_rebuilt_now_and_then_equals_the_run_that_never_stopped(name, digits):
    X, truth = digits[0][:400], digits[1][:400]
    straight, broken = (ActiveLearner(LEARNERS[name]).fit(X) for _ in range(2))
    turns = 60 if name in ("gp", "histograms") else 40
    for turn, (one, other) in enumerate(zip(*(np.random.default_rng(7).spawn(turns) for _ in range(2)), strict=True)):
        person(straight, truth, turn, one)
        person(broken, truth, turn, other)
        if turn % 20 == 19:
            broken = rebuilt(broken, X)
            assert_same(broken, straight)
    assert [record["act"] for record in broken.records_] == [record["act"] for record in straight.records_]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gp", "histograms"])
@pytest.mark.parametrize("kind", ["digits", "images"])
def test_200_answers_rebuilt_after_every_20_equal_the_run_that_never_stopped(name, kind, digits, request):
    pool, truth = (digits[0][:900], digits[1][:900]) if kind == "digits" else request.getfixturevalue("caltech")
    learner = LEARNERS[name] if kind == "digits" else type(LEARNERS[name])(pool.channels)
    straight, broken = (ActiveLearner(learner).fit(pool) for _ in range(2))
    for turn, (one, other) in enumerate(zip(*(np.random.default_rng(8).spawn(200) for _ in range(2)), strict=True)):
        person(straight, truth, turn, one)
        person(broken, truth, turn, other)
        if turn % 20 == 19:
            broken = rebuilt(broken, pool)
            assert_same(broken, straight)
    for _ in range(30):
        assert straight.undo().query().indices.tolist() == broken.undo().query().indices.tolist()


@pytest.fixture(scope="module")
def caltech(caltech101):
    """Six categories of Caltech-101, 50 images each, as a pool; and their numbers."""
    names = ("airplanes", "Faces", "Motorbikes", "Leopards", "watch", "ketch")
    paths = [sorted((caltech101 / name).glob("*.jpg"))[:50] for name in names]
    images = [path for of_one in paths for path in of_one]
    channel = SpatialPmk(n_words=50, n_levels=2, longest_side=120, n_descriptors=5_000)
    return ImagePool(images, [channel]), np.repeat(np.arange(len(names)), [len(of_one) for of_one in paths])


@pytest.mark.parametrize(("kernel", "balanced"), [(RBF(scale=2.0), False), (RBF(scale=2.0), True)])
@pytest.mark.parametrize("n_acts", [150, pytest.param(1_000, marks=pytest.mark.slow)])
def test_random_acts_agree_with_a_fresh_fit(kernel, balanced, n_acts, digits):
    X, truth = digits[0], digits[1]
    learner = GPClassifier(kernel, noise_variance=0.05, balanced=balanced)
    active = ActiveLearner(learner, relearn_every=None).fit(X[: 2 * n_acts])
    for turn, rng in enumerate(np.random.default_rng(9).spawn(n_acts)):
        person(active, truth, turn, rng)
    view = active.view_
    fresh = GPClassifier(kernel, noise_variance=0.05, balanced=balanced).fit(X[view.positions], np.array(view.labels))
    latent = fresh.latent(X[: 2 * n_acts])
    columns = [fresh.classes_.tolist().index(label) for label in view.classes]
    np.testing.assert_allclose(view.mean, latent.mean[:, columns], atol=1e-8)
    np.testing.assert_allclose(np.sqrt(view.variance), latent.std[:, 0], atol=1e-7)


def test_random_acts_on_histograms_agree_with_a_dense_reference(digits):
    X, truth = digits[0][:300] / digits[0][:300].sum(axis=1, keepdims=True), digits[1][:300]
    active = ActiveLearner(HistogramGPClassifier(noise_variance=0.05), relearn_every=None).fit(X)
    for turn, rng in enumerate(np.random.default_rng(10).spawn(120)):
        person(active, truth, turn, rng)
    view, where = active.view_, active.view_.positions
    K = HistogramIntersection().gram(X)
    K /= K.diagonal().mean()
    inverse = np.linalg.inv(K[np.ix_(where, where)] + 0.05 * np.eye(len(where)))
    targets = np.where(np.array(view.labels)[:, None] == np.array(view.classes), 1.0, -1.0)
    means = inverse.sum(axis=0) @ targets / inverse.sum()
    np.testing.assert_allclose(
        view.mean, K[:, where] @ inverse @ (targets - means) + means, atol=1e-4
    )  # float32 columns


def test_memory_is_linear_in_the_number_of_skips():
    active = ActiveLearner(GPClassifier(RBF(scale=1.0)), cool_down=5).fit(np.random.default_rng(0).normal(size=(50, 2)))
    active.teach([0, 1], ["a", "b"])
    tracemalloc.start()
    for turn in range(2_000):
        active.skip([2 + turn % 48])
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert grown < 4e6  # so that 10,000 take less than 20 MB


def test_a_restart_without_records_and_records_of_another_pool_are_refused(digits):
    X = digits[0][:50]
    with pytest.raises(InvalidInput, match="records must be those of an earlier run, got none"):
        ActiveLearner().rebuild(X, [])
    active = ActiveLearner().fit(X)
    active.teach([40], ["a"])
    with pytest.raises(InvalidInput, match="positions below 30, the size of the pool, got 40"):
        ActiveLearner().rebuild(X[:30], active.records_)
