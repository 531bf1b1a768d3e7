"""A run that is interrupted and rebuilt from its records is the run that never stopped."""

import json
import tracemalloc
from dataclasses import astuple

import numpy as np
import pytest
from sklearn.base import clone

from fewsight._base.errors import InvalidInput
from fewsight._base.none_of_these import NONE_OF_THESE
from fewsight.active import ActiveLearner, ImagePool
from fewsight.channels import SpatialPmk
from fewsight.kernels import RBF, HistogramIntersection
from fewsight.learners import GPClassifier, HistogramGPClassifier, SVMClassifier
from fewsight.learners.balance import balanced_targets

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


class Crowd:
    """Everything that can happen to an active learner, at random: two pages, batches, jobs that end late, a pool that grows."""

    def __init__(self, active, X, truth, rng):
        self.active, self.X, self.rng, self.held = active, X, rng, []
        self.truth = [NONE_OF_THESE if label == 9 else int(label) for label in truth]
        self.job = None

    def act(self):
        acts = (
            "ask",
            "ask",
            "ask",
            "batch",
            "skip",
            "discard",
            "correct",
            "forget",
            "undo",
            "redo",
            "grow",
            "begin",
            "adopt",
        )
        getattr(self, str(self.rng.choice(acts)))()

    def open_ones(self):
        return [place for place, label in enumerate(self.active.labels_) if label is None]

    def ask(self):
        """A page is given a question; half of the time it answers, or another page its own."""
        self.held = [place for place in self.held if self.active.view_.unlabelled[place]]
        self.held += self.active.query(held=self.held).indices.tolist()
        if len(self.held) > 2 or (self.held and self.rng.random() < 0.5):
            place = self.held.pop(int(self.rng.integers(len(self.held))))
            self.active.teach([place], [self.truth[place]])

    def batch(self):
        some = self.rng.permutation(self.open_ones())[: int(self.rng.integers(1, 9))].tolist()
        self.active.teach(some, [self.truth[place] for place in some])

    def skip(self):
        self.active.skip(self.open_ones()[:1])

    def discard(self):
        if self.rng.random() < 0.5:
            self.active.discard(self.open_ones()[-1:])

    def correct(self):
        places = self.active.view_.positions
        if len(places):
            label = int(self.rng.integers(10))
            self.active.correct(int(self.rng.choice(places)), NONE_OF_THESE if label == 9 else label)

    def forget(self):
        places = self.active.view_.positions
        if len(places) > 8:
            self.active.forget(self.rng.permutation(places)[: int(self.rng.integers(1, 4))])

    def undo(self):
        if self.active._replay.history.can_undo:
            self.active.undo()
            if self.rng.random() < 0.5:
                self.redo()

    def redo(self):
        if self.active._replay.history.can_redo:
            self.active.redo()

    def grow(self):
        m = len(self.active.pool_)
        self.active.grow(self.X[m : min(len(self.X), m + int(self.rng.integers(1, 5)))])

    def begin(self):
        """Begun now, adopted some acts later, if ever."""
        self.job = self.active.relearning().run() if self.active.view_.classes else None

    def adopt(self):
        if self.job is not None:
            self.active.adopt(self.job)
            self.job = None


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("n_acts", [120, pytest.param(1_000, marks=pytest.mark.slow)])
def test_whatever_happened_equals_a_fresh_fit_and_a_rebuild(n_acts, balanced, digits):
    X, truth = digits[0][: 100 + n_acts], digits[1]
    learner = GPClassifier(RBF(scale=2.0), noise_variance=0.05, balanced=balanced)
    active = ActiveLearner(learner, relearn_every=None).fit(X[:60])
    crowd = Crowd(active, X, truth, np.random.default_rng(11))
    for turn in range(n_acts):
        crowd.act()
        if turn % (n_acts // 4) == n_acts // 4 - 1:
            view, rows = active.view_, X[: len(active.pool_)]
            where = view.positions
            assert view.labels == [active.labels_[place] for place in where]
            K = RBF(scale=2.0).gram(rows)
            A, targets = K[np.ix_(where, where)] + 0.05 * np.eye(len(where)), view.labelled.targets()
            targets = balanced_targets(targets) if balanced else targets
            np.testing.assert_allclose(view.mean, K[:, where] @ np.linalg.solve(A, targets), atol=1e-8)
            variance = 1.0 - np.einsum("ij,ji->i", K[:, where], np.linalg.solve(A, K[where]))
            np.testing.assert_allclose(view.variance, variance, atol=1e-8)
            again = rebuilt(active, active.pool_)
            assert_same(again, active)
            np.testing.assert_allclose(again.assess().unknown_score, active.assess().unknown_score, atol=1e-5)
    kinds = {record["act"] for record in active.records_}
    assert kinds >= {"label", "skip", "discard", "correct", "forget", "undo", "redo", "grow", "relearned", "question"}


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


def test_following_records_equals_being_rebuilt_from_them(digits):
    X, y = digits
    template = ActiveLearner(GPClassifier(RBF(scale=4.0)), relearn_every=None, random_state=2)
    labels = [str(label) for label in y]
    records = [{"act": "start", "indices": [0, 1], "labels": labels[:2], "excluded": []}]
    more = [
        {"act": "question", "indices": [5], "checks": [[5, 40, 2]]},
        {
            "act": "label",
            "indices": [5],
            "labels": [labels[5]],
            "believed": [labels[0]],
        },  # what was thought at the time
        {"act": "skip", "indices": [6]},
        {"act": "discard", "indices": [7]},
        {"act": "label", "indices": [8, 9], "labels": labels[8:10], "believed": [labels[1], None]},
    ]
    followed = clone(template).rebuild(X, records).follow(more)
    rebuilt = clone(template).rebuild(X, [*records, *more])
    assert followed.records_ == rebuilt.records_
    assert followed.accuracy() == rebuilt.accuracy()
    np.testing.assert_allclose(followed.view_.mean, rebuilt.view_.mean, atol=1e-12)
    assert followed.query().indices.tolist() == rebuilt.query().indices.tolist()
    with pytest.raises(InvalidInput, match="follow takes questions, labels, skips and discards, got 'undo'"):
        followed.follow([{"act": "undo"}])
    asked = set(followed.query(10).indices.tolist())
    assert set(followed.open_checks_) <= asked
    assert followed.open_checks_  # every fifth question is one
