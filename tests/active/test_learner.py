"""The loop of questions and answers."""

from dataclasses import astuple

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from fewsight import load, save
from fewsight._base.errors import FewsightError, InvalidInput
from fewsight._base.none_of_these import NONE_OF_THESE
from fewsight.active import ActiveLearner, GramPool, Margin, VectorPool
from fewsight.channels import SpatialPmk
from fewsight.images import sample_set
from fewsight.kernels import RBF, Linear
from fewsight.learners import GPClassifier, HistogramGPClassifier, Loan, NearestNeighbourClassifier, SVMClassifier

RNG = np.random.default_rng(2)
X = RNG.normal(size=(60, 4))
NAMES = np.array(["ant", "bee", "cat"])[(X[:, 0] > 0.5).astype(int) + (X[:, 0] > -0.5)]
GP = GPClassifier(RBF(scale=2.0), noise_variance=0.1)


def answer(active, truth, n):
    """Answer n queries."""
    for _ in range(n):
        query = active.query()
        active.teach(query.indices, truth[query.indices])
    return active


def everything(active):
    """All that a person can see, for comparing before and after."""
    view = active.view_
    return view.mean.copy(), view.variance.copy(), list(view.classes), active.labels_, active.query().indices.tolist()


def assert_same(first, second):
    for one, other in zip(first[:2], second[:2], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)
    assert first[2:] == second[2:]


@pytest.mark.parametrize(
    ("learner", "pool"),
    [
        (None, X),
        (GP, X),
        (GP, VectorPool(X, RBF(scale=2.0))),
        (GPClassifier("precomputed"), RBF(scale=2.0).gram(X)),
        (GPClassifier("precomputed", weights="evidence"), [RBF(scale=1.0).gram(X), RBF(scale=4.0).gram(X)]),
        (SVMClassifier(RBF(scale=2.0)), X),
        (NearestNeighbourClassifier("precomputed"), RBF(scale=2.0).gram(X)),
    ],
)
def test_any_pool_is_learned_from_nothing_to_the_last_example(learner, pool):
    active = answer(ActiveLearner(learner, Margin()).fit(pool), NAMES, 25)
    assert np.mean(np.array(active.predict()) == NAMES) > 0.8
    assert active.status().n_rest == 35
    answer(active, NAMES, 35)
    assert active.labels_ == NAMES.tolist()
    assert active.query().state == "Nothing left to ask: all 60 examples have a label."
    assert active.status().advice.stop


def test_images_are_asked_about_and_the_learner_takes_new_ones(tmp_path):
    tiles = sample_set()
    images, labels = tiles.images[::6], tiles.labels[::6]
    channel = SpatialPmk(n_words=20, n_descriptors=1_000, scales=(1.0,), longest_side=64)
    active = ActiveLearner(GPClassifier(channel)).fit(images)
    answer(active, labels, 30)
    columns = np.argsort(active.view_.classes)
    np.testing.assert_allclose(active.learner_.latent(images).mean, active.view_.mean[:, columns], atol=1e-8)
    save(active.learner_, tmp_path / "model.fewsight")
    assert load(tmp_path / "model.fewsight").predict(images).tolist() == active.predict()
    assert not hasattr(channel, "learned_")


@pytest.mark.parametrize("kernel", [RBF(scale=2.0), "precomputed"])
@pytest.mark.parametrize("kind", [GPClassifier, SVMClassifier])
def test_the_learner_that_is_taken_away_decides_as_the_view_does(kernel, kind):
    pool = X if kernel != "precomputed" else RBF(scale=2.0).gram(X)
    active = answer(ActiveLearner(kind(kernel)).fit(pool), NAMES, 20)
    learner = active.learner_
    assert learner.predict(pool).tolist() == active.predict()
    columns = [learner.classes_.tolist().index(label) for label in active.view_.classes]
    np.testing.assert_allclose(learner.latent(pool).mean[:, columns], active.view_.mean, atol=1e-8)


def test_probabilities_of_the_pool_are_those_of_the_learner_after_re_learning():
    active = answer(ActiveLearner(GPClassifier(RBF(scale=2.0))).fit(X), NAMES, 20).relearn()
    columns = np.argsort(active.view_.classes)
    np.testing.assert_allclose(active.predict_proba()[:, columns], active.learner_.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(active.predict_proba().sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "learner", [GPClassifier(RBF(scale=2.0)), HistogramGPClassifier(), SVMClassifier(RBF(scale=2.0))]
)
def test_the_learner_that_is_taken_away_has_sorted_classes_as_scikit_learns_measures_expect_them(learner):
    rows, names = np.abs(X), np.array(["zebra", "yak", "ant"])[np.unique(NAMES, return_inverse=True)[1]]
    active = ActiveLearner(learner, relearn_every=None).fit(rows)
    for label in ("yak", "zebra", "ant"):
        active.teach(np.flatnonzero(names == label)[:8], [label] * 8)
    assert active.view_.classes == ["yak", "zebra", "ant"]
    model = active.learner_
    assert model.classes_.tolist() == ["ant", "yak", "zebra"]
    assert model.predict(rows).tolist() == active.predict()
    assert np.array_equal(model.classes_[model.predict_proba(rows).argmax(axis=1)], model.predict(rows))


def test_before_the_first_label_there_are_no_probabilities_and_before_fit_there_is_no_view():
    with pytest.raises(
        FewsightError, match="ActiveLearner: at least one example must have a label before there are prob"
    ):
        ActiveLearner(GP).fit(X).predict_proba()
    with pytest.raises(NotFittedError):
        _ = ActiveLearner(GP).view_
    with pytest.raises(FewsightError, match=r"indices must be 0 or more, got \[-1\]"):
        ActiveLearner(GP).fit(X, exclude=[-1])


def test_noise_is_learned_as_a_classifier_would_from_the_same_labels():
    active = answer(ActiveLearner(GPClassifier(RBF(scale=2.0)), relearn_every=1).fit(X), NAMES, 25)
    rows = active.view_.positions
    alone = GPClassifier(RBF(scale=2.0), prototypes=False).fit(X[rows], NAMES[rows])
    active.relearn()
    assert active.learner_.noise_variance_ == pytest.approx(alone.noise_variance_, rel=1e-6)
    assert active.predict() == alone.predict(X).tolist()


def test_known_labels_are_where_it_starts_from():
    known = [label if place % 6 == 0 else None for place, label in enumerate(NAMES.tolist())]
    active = ActiveLearner(GP).fit(X, known)
    assert active.status().n_labelled == 10
    assert active.labels_ == known
    with pytest.raises(InvalidInput, match="nothing is left to undo"):
        active.undo()


def test_the_same_question_comes_again_until_it_is_answered_or_skipped():
    active = ActiveLearner(GP, batch_size=3).fit(X)
    first = active.query()
    np.testing.assert_array_equal(active.query().indices, first.indices)
    active.skip(first.indices[:1])
    assert first.indices[0] not in active.query().indices


def test_two_runs_with_one_seed_ask_the_same():
    asked = [answer(ActiveLearner(GP, random_state=5).fit(X), NAMES, 30).view_.positions for _ in range(2)]
    np.testing.assert_array_equal(*asked)


def test_first_picks_cover_the_pool_and_one_class_only_works():
    active = ActiveLearner(GP, audit_share=0.0).fit(X)
    for _ in range(5):
        query = active.query()
        assert query.reasons == ("stands for many others",)
        active.teach(query.indices, ["only"])
    assert active.predict() == ["only"] * 60
    assert active.status().counts == {"only": 5}
    assert active.suspicious().scores.tolist() == pytest.approx([0.0] * 5)


def test_every_fifth_question_is_a_random_check_and_says_so():
    active = ActiveLearner(GP, audit_share=0.2).fit(X)
    reasons = []
    for _ in range(20):
        query = active.query()
        reasons.append(query.reasons[0])
        active.teach(query.indices, NAMES[query.indices])
    assert [place for place, reason in enumerate(reasons) if reason == "a random check"] == [4, 9, 14, 19]
    assert active.accuracy().n_audits == 4
    assert any(reason.startswith("between ") for reason in reasons)
    batch = ActiveLearner(GP, audit_share=0.2, batch_size=10).fit(X).query()
    assert [place for place, reason in enumerate(batch.reasons) if reason == "a random check"] == [4, 9]
    assert len(set(batch.indices.tolist())) == 10
    assert (np.diff(active.query(12).scores) <= 0).all()
    assert [place for place, reason in enumerate(active.query(12).reasons) if reason == "a random check"] == [4, 9]


# Undo.


@pytest.mark.parametrize("learner", [GP, GPClassifier(RBF(scale=2.0)), SVMClassifier(RBF(scale=2.0))])
def test_undo_returns_to_before_the_last_answer_also_when_it_brought_a_class(learner):
    active = answer(ActiveLearner(learner, relearn_every=None).fit(X), NAMES, 12)
    before = everything(active)
    active.teach([int(active.query().indices[0])], ["never seen"])
    assert "never seen" in active.view_.classes
    assert_same(everything(active.undo()), before)


def test_undo_of_everything_ends_where_it_began_and_the_same_questions_come_again():
    active = ActiveLearner(GP).fit(X)
    before = everything(active)
    for place in range(30):
        query = active.query()
        if place % 7 == 3:
            active.skip(query.indices)
        else:
            active.teach(query.indices, NAMES[query.indices])
    asked = active.view_.positions
    for _ in range(30):
        active.undo()
    assert_same(everything(active), before)
    assert active.status().n_labelled == 0
    assert active.accuracy() is None
    with pytest.raises(InvalidInput, match="nothing is left to undo"):
        active.undo()
    for place in range(30):
        query = active.query()
        if place % 7 == 3:
            active.skip(query.indices)
        else:
            active.teach(query.indices, NAMES[query.indices])
    np.testing.assert_array_equal(active.view_.positions, asked)


@pytest.mark.parametrize("balanced", [False, True])
def test_undo_across_a_re_learning_brings_noise_and_probabilities_back(balanced):
    learner = GPClassifier(RBF(scale=2.0), balanced=balanced)
    active, seen = ActiveLearner(learner, relearn_every=5).fit(X), []
    for _ in range(25):
        seen.append((active.view_.noise_variance, active.predict_proba() if seen else None, active.query().indices))
        active.teach(seen[-1][2], NAMES[seen[-1][2]])
    for noise, stated, question in reversed(seen[1:]):
        active.undo()
        assert active.view_.noise_variance == noise
        np.testing.assert_allclose(active.predict_proba(), stated, atol=1e-10)
        np.testing.assert_array_equal(active.query().indices, question)


def test_redo_brings_back_what_was_undone_until_something_else_is_done():
    active = answer(ActiveLearner(GPClassifier(RBF(scale=2.0)), relearn_every=5).fit(X), NAMES, 20)
    active.skip(active.query().indices)
    before = everything(active)
    for _ in range(12):
        active.undo()
    for _ in range(12):
        active.redo()
    assert_same(everything(active), before)
    active.undo().teach([int(active.query().indices[0])], ["bee"])
    with pytest.raises(InvalidInput, match="nothing is left to redo"):
        active.redo()


def test_with_balanced_targets_the_order_of_labels_does_not_matter():
    learner = GPClassifier(RBF(scale=2.0), noise_variance=0.1, balanced=True)
    order = np.random.default_rng(0).permutation(60)[:25]
    runs = [ActiveLearner(learner, relearn_every=None).fit(X) for _ in range(2)]
    for active, positions in zip(runs, (order, order[::-1]), strict=True):
        for position in positions:
            active.teach([position], [NAMES[position]])
    fresh = GPClassifier(RBF(scale=2.0), noise_variance=0.1, balanced=True).fit(X[order], NAMES[order])
    for active in runs:
        columns = [fresh.classes_.tolist().index(label) for label in active.view_.classes]
        np.testing.assert_allclose(active.view_.mean, fresh.latent(X).mean[:, columns], atol=1e-8)


def test_a_discarded_example_is_never_asked_about_and_no_part_of_the_rest():
    active = answer(ActiveLearner(GP).fit(X), NAMES, 5)
    gone = active.query().indices
    active.discard(gone)
    assert active.status().n_rest == 54
    assert gone[0] not in active.query(batch_size=60).indices
    assert gone[0] in active.undo().query(batch_size=60).indices


def test_a_label_can_be_corrected_and_the_correction_undone():
    active = answer(ActiveLearner(GP).fit(X), NAMES, 15)
    before = everything(active)
    place = int(active.view_.positions[3])
    active.correct(place, "a better name")
    assert active.labels_[place] == "a better name"
    labels = [label for label in active.labels_ if label is not None]
    assert set(active.view_.classes) == set(labels)
    assert_same(everything(active.undo()), before)
    with pytest.raises(InvalidInput, match="has no label to correct; use teach"):
        active.correct(int(np.flatnonzero(active.view_.unlabelled)[0]), "ant")


@pytest.mark.parametrize("learner", [GP, GPClassifier(RBF(scale=2.0), balanced=True), SVMClassifier(RBF(scale=2.0))])
def test_a_forgotten_label_leaves_no_trace_whenever_it_was_given(learner):
    active = ActiveLearner(learner, relearn_every=None).fit(X)
    active.teach(range(12), NAMES[:12])
    active.teach([20], ["only here"])
    active.teach(range(30, 36), NAMES[30:36])
    before = everything(active)
    active.forget([20, 3])
    other = ActiveLearner(learner, relearn_every=None).fit(X)
    kept = [*range(3), *range(4, 12), *range(30, 36)]
    other.teach(kept, NAMES[kept])
    np.testing.assert_allclose(active.view_.mean, other.view_.mean, atol=1e-8)
    assert active.labels_ == other.labels_
    assert {3, 20} <= set(active.query(batch_size=60).indices.tolist())
    assert_same(everything(active.undo()), before)
    with pytest.raises(InvalidInput, match="example 40 has no label to forget"):
        active.forget([0, 40])


def test_a_forgotten_check_says_nothing_about_accuracy():
    active = answer(ActiveLearner(GP, audit_share=0.5).fit(X), NAMES, 20)
    n_audits = active.accuracy().n_audits
    check = next(record["checks"][0][0] for record in active.records_ if record.get("checks"))
    assert active.forget(check).accuracy().n_audits == n_audits - 1


# Two pages at once.


def test_what_is_held_is_never_asked_about_by_another():
    active = answer(ActiveLearner(GP).fit(X), NAMES, 8)
    held = []
    for _ in range(52):
        (position,) = active.query(held=held).indices.tolist()
        held.append(position)
    assert sorted([*held, *active.view_.positions.tolist()]) == list(range(60))
    assert len(active.query(held=held)) == 0


def test_held_questions_take_turns_and_held_checks_stay_checks():
    active, held, asked = answer(ActiveLearner(GP, audit_share=0.2).fit(X), NAMES, 3), [], []
    for _ in range(12):  # turns 3 to 14
        query = active.query(held=held)
        held += query.indices.tolist()
        asked.append(query.reasons[0] == "a random check")
    assert [turn for turn, check in enumerate(asked, 3) if check] == [4, 9, 14]
    active.teach(held[5], [NAMES[held[5]]])  # another page answers first, takes it back and asks again
    active.query(held=held[:5] + held[6:])
    active.undo()
    for position in [*held[6:], *held[:6]]:
        active.teach([position], [NAMES[position]])
    assert active.accuracy().n_audits == 3
    again = ActiveLearner(GP, audit_share=0.2).rebuild(X, active.records_)
    for found, expected in zip(astuple(again.accuracy()), astuple(active.accuracy()), strict=True):
        assert found == pytest.approx(expected, abs=1e-12)


def test_a_twin_of_what_is_held_is_not_the_next_question():
    doubled = np.repeat(X[:20], 2, axis=0)
    active = ActiveLearner(GP, audit_share=0.0).fit(doubled)
    active.teach([0, 2, 4], ["ant", "bee", "cat"])
    held = []
    for _ in range(8):
        held += active.query(held=held).indices.tolist()
    assert len({position // 2 for position in held}) == 8


def test_held_positions_outside_the_pool_are_refused():
    with pytest.raises(InvalidInput, match="indices must be from 0 to below 60, got"):
        ActiveLearner(GP).fit(X).query(held=[60])


# A pool that grows.


@pytest.mark.parametrize(
    "learner",
    [
        GPClassifier(RBF(scale=2.0)),
        GPClassifier(Linear()),  # whose scale is that of the whole pool
        GPClassifier(RBF(scale=2.0), balanced=True),
        HistogramGPClassifier(),
        SVMClassifier(RBF(scale=2.0)),
    ],
)
@pytest.mark.parametrize("n_answers", [3, 12])
def test_a_pool_that_grew_equals_one_that_had_all_examples_from_the_start(learner, n_answers):
    rows = np.abs(X) if isinstance(learner, HistogramGPClassifier) else X
    active = answer(ActiveLearner(learner, relearn_every=5).fit(rows[:40]), NAMES, n_answers)
    active.status()
    active.grow(rows[40:45])
    job = active.relearning().run()
    active.grow(rows[45:])
    assert active.adopt(job)
    answer(active, NAMES, 3)
    again = ActiveLearner(learner, relearn_every=5).rebuild(active.pool_, active.records_)
    assert_same(everything(active), everything(again))
    assert str(active.status()) == str(again.status())
    assert len(active.labels_) == 60
    assert_same(everything(active.undo()), everything(again.undo()))
    answer(active, NAMES, active.status().n_rest)
    assert active.labels_ == NAMES.tolist()


def test_a_pool_may_begin_empty_and_never_shrinks():
    active = ActiveLearner(GP).fit(VectorPool([], RBF(scale=2.0)))
    assert active.query().state == "Nothing to ask: the pool is empty."
    answer(active.grow(X[:20]), NAMES, 5)
    assert active.grow(np.zeros((0, 4))).status().n_rest == 15
    with pytest.raises(InvalidInput, match="a pool must grow from its 20 examples, got one of 7"):
        active.grow(VectorPool(X[:7], RBF(scale=2.0)))
    with pytest.raises(InvalidInput, match="records must name positions below 7, the size of the pool, got 19"):
        ActiveLearner(GP).rebuild(X[:7], active.records_)


# Skipping.


def test_a_skipped_example_comes_back_after_the_stated_number_of_questions():
    active = ActiveLearner(GP, audit_share=0.0, cool_down=4).fit(X[:8])
    active.teach([0, 1], ["ant", "bee"])
    first = int(active.query().indices[0])
    active.skip(first)
    assert active.status().n_skipped == 1
    for _ in range(4):
        query = active.query()
        assert first not in query.indices
        active.teach(query.indices, NAMES[query.indices])
    assert first in active.query(batch_size=8).indices
    assert active.status().n_skipped == 0


def test_where_all_are_skipped_those_skipped_longest_ago_come_back_and_it_is_said():
    active = ActiveLearner(GP, cool_down=1_000).fit(X[:5])
    order = []
    for _ in range(5):
        query = active.query()
        order.append(int(query.indices[0]))
        active.skip(query.indices)
    assert sorted(order) == [0, 1, 2, 3, 4]
    again = active.query()
    assert again.indices.tolist() == order[:1]
    assert again.state == "All 5 examples that are left were skipped; those skipped longest ago come back."


# Edges.


@pytest.mark.parametrize(
    ("learner", "pool"),
    [
        (GP, np.zeros((0, 4))),
        (GP, []),
        (GPClassifier("precomputed"), np.zeros((0, 0))),
        (GPClassifier(SpatialPmk()), []),
        (SVMClassifier(RBF(scale=1.0)), []),
    ],
)
def test_an_empty_pool_asks_nothing_and_says_so(learner, pool):
    active = ActiveLearner(learner).fit(pool)
    query = active.query()
    assert len(query) == 0
    assert query.state == "Nothing to ask: the pool is empty."
    assert active.status().advice.stop
    assert len(active.teach([], []).labels_) == 0


def test_a_batch_larger_than_the_pool_is_the_whole_pool():
    active = ActiveLearner(GP, batch_size=500).fit(X)
    assert sorted(active.query().indices.tolist()) == list(range(60))
    answer(active, NAMES, 1)
    assert active.status().n_rest == 0


def test_a_pool_of_duplicates_is_learned_like_any_other():
    active = answer(ActiveLearner(GP, batch_size=4).fit(np.repeat(X[:3], 8, axis=0)), NAMES[np.repeat(range(3), 8)], 6)
    assert np.isfinite(active.view_.mean).all()
    assert active.status().n_rest == 0


def test_a_new_class_at_any_moment_is_normal():
    active = ActiveLearner(GPClassifier(RBF(scale=2.0)), relearn_every=5).fit(X)
    for place in range(30):
        query = active.query()
        active.teach(query.indices, [f"class {place}"])
    assert len(active.view_.classes) == 30
    assert len(active.learner_.classes_) == 30
    assert "category" in str(active.status()) or "categories" in str(active.status())


def test_excluded_examples_are_never_asked_about_and_do_not_count():
    active = answer(ActiveLearner(GP).fit(X, exclude=range(40, 60)), NAMES, 40)
    assert active.view_.positions.max() < 40
    assert active.status().n_rest == 0


@pytest.mark.parametrize(
    ("indices", "labels", "message"),
    [
        (60, "ant", "indices must be from 0 to below 60, got 60"),
        (-1, "ant", "indices must be from 0 to below 60, got -1"),
        (1.5, "ant", "indices must be whole numbers, positions in the pool, got 1.5"),
        ([1, 1], ["ant", "ant"], r"indices must name each example once, got \[1, 1\]"),
        (0, "ant", r"example 0 has a label already; use correct\(\) to change it"),
        ([1, 2], ["ant"], "labels must be one for each of 2 examples, got 1"),
        (1, 7, "labels must all be of type string, as the first, got 7"),
        (1, None, "labels must be strings, integers or booleans, got None"),
        (1, 1.5, "labels must be strings, integers or booleans, got 1.5"),
        ([1, 2], ["ant", 3], "labels must all be of type string, as the first, got 3"),
    ],
)
def test_an_answer_that_cannot_be_is_refused_in_a_sentence_and_changes_nothing(indices, labels, message):
    active = ActiveLearner(GP).fit(X)
    active.teach(0, "ant")
    before = everything(active)
    with pytest.raises(FewsightError, match=message):
        active.teach(indices, labels)
    assert_same(everything(active), before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "best"}, "rule must be one of 'uncertainty'"),
        ({"audit_share": 2}, "audit_share must be a number from 0 to 1, got 2"),
        ({"batch_size": 0}, "batch_size must be a whole number >= 1, got 0"),
        ({"relearn_every": "x"}, "relearn_every must be a whole number >= 1, got 'x'"),
        ({"cool_down": -1}, "cool_down must be a whole number"),
        ({"random_state": None}, "random_state must be a whole number"),
        ({"learner": object()}, "learner must be a learner of fewsight, got object"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(InvalidInput, match=message):
        ActiveLearner(**options).fit(X)


def test_pools_and_labels_that_cannot_be_are_refused():
    with pytest.raises(InvalidInput, match="pool must be images, rows of numbers, Gram matrices or a Pool, got 3"):
        ActiveLearner(GP).fit(3)
    with pytest.raises(InvalidInput, match=r"labels must be one for each of 60 examples \(None = no label\), got 2"):
        ActiveLearner(GP).fit(X, ["a", None])
    with pytest.raises(InvalidInput, match="kernel must be a kernel object"):
        ActiveLearner(GPClassifier("rbf")).fit(X)
    with pytest.raises(InvalidInput, match="at least one example must have a label before there is a learner"):
        _ = ActiveLearner(GP).fit(X).learner_
    with pytest.raises(InvalidInput, match="suspicious needs a GPClassifier"):
        ActiveLearner(SVMClassifier(RBF(scale=1.0))).fit(X).suspicious()


def test_it_is_cloned_like_any_estimator():
    active = ActiveLearner(GP, "margin", batch_size=4)
    copy = clone(active)
    assert copy.get_params(deep=False)["rule"] == "margin"
    assert copy.learner is not active.learner
    assert GramPool(np.eye(3)).parameter == "precomputed"


# None of these.


@pytest.mark.parametrize(
    "learner",
    [
        GP,
        GPClassifier(RBF(scale=2.0), noise_variance=0.1, balanced=True),
        SVMClassifier(RBF(scale=2.0)),
        HistogramGPClassifier(noise_variance=0.1),
    ],
)
def test_answers_of_none_are_learned_undone_and_rebuilt(learner):
    rows = np.abs(X)
    names = np.where(NAMES == "cat", NONE_OF_THESE, NAMES.astype(object))
    active = ActiveLearner(learner, relearn_every=None).fit(rows)
    active.teach(0, NONE_OF_THESE)  # before any category is known
    assert active.view_.classes == []
    assert "none of these: 1" in str(active.status())
    answer(active, names, 15)
    others = [place for place in range(30, 40) if active.labels_[place] is None]
    active.teach(others, [NONE_OF_THESE] * len(others))
    assert sorted(active.view_.classes) == ["ant", "bee"]
    where = active.view_.positions
    labels = np.array(active.labels_, dtype=object)[where]
    if not isinstance(learner, HistogramGPClassifier):  # whose kernel is scaled by the pool
        fresh = clone(learner).fit(rows[where], labels)
        columns = [fresh.classes_.tolist().index(label) for label in active.view_.classes]
        np.testing.assert_allclose(active.view_.mean, fresh.latent(rows).mean[:, columns], atol=1e-8)
    assert sorted(active.learner_.classes_.tolist()) == ["ant", "bee"]
    again = ActiveLearner(learner, relearn_every=None).rebuild(rows, active.records_)
    assert_same(everything(active), everything(again))
    assert str(active.status()) == str(again.status())
    active.correct(0, "bee").forget(where[3]).undo().undo()
    assert active.labels_[0] is NONE_OF_THESE
    assert_same(everything(active), everything(again))


def test_a_random_check_of_none_counts_as_right_only_if_it_was_called_unknown():
    rng = np.random.default_rng(0)
    group = np.arange(160) % 4
    rows = 2.0 * np.eye(4)[group] + rng.normal(size=(160, 4))
    names = np.array(["ant", "bee", "cat", NONE_OF_THESE], dtype=object)[group]
    known = [name if place < 80 else None for place, name in enumerate(names)]
    active = ActiveLearner(GPClassifier(RBF(scale=3.0)), audit_share=1.0).fit(rows, known)
    checks, unknown = [], active.assess().unknown
    for _ in range(30):
        (position,) = active.query().indices.tolist()
        active.teach([position], [names[position]])
        checks.append(position)
        believed = active.records_[-2 if active.records_[-1]["act"] == "relearned" else -1]["believed"][0]
        assert (believed == {"none": True}) == bool(names[position] is NONE_OF_THESE and unknown[position])
        unknown = active.assess().unknown
    wrong, _ = active._replay.left_out(np.arange(3))
    outside = np.array([name is NONE_OF_THESE for name in active.view_.labels])
    assert 0 < wrong[80:][outside[80:]].mean() < 1  # some were noticed, some were not


def test_a_learner_that_cannot_learn_from_none_says_so():
    active = ActiveLearner(NearestNeighbourClassifier(RBF(scale=2.0))).fit(X)
    with pytest.raises(InvalidInput, match="NearestNeighbourClassifier cannot learn from examples of none of them"):
        active.teach(0, NONE_OF_THESE)
    assert active.teach(0, "ant").status().n_labelled == 1


# Loans.


def test_a_loan_outlives_the_next_labels_re_learning_and_a_restart():
    active = answer(ActiveLearner(GPClassifier(RBF(scale=2.0)), relearn_every=5).fit(X), NAMES, 12)
    plain = everything(active)
    category, lender = active.view_.classes[:2]
    active.borrow(category, lender, 0.6)
    assert active.loans_ == {category: Loan(lender, 0.6)}
    assert not np.allclose(active.view_.mean, plain[0])
    for _ in range(4):
        model = active.learner_
        assert model.loans_ == active.loans_
        columns = [model.classes_.tolist().index(label) for label in active.view_.classes]
        np.testing.assert_allclose(active.view_.mean, model.latent(X).mean[:, columns], atol=1e-8)
        again = ActiveLearner(GPClassifier(RBF(scale=2.0)), relearn_every=5).rebuild(X, active.records_)
        assert_same(everything(active), everything(again))
        assert str(active.status()) == str(again.status())
        answer(active, NAMES, 3)
        assert active.adopt(active.relearning().run())
    assert active.grow(X[:5]).loans_ == {category: Loan(lender, 0.6)}
    active.give_back(category)
    assert active.loans_ == {}
    assert active.undo().loans_ == {category: Loan(lender, 0.6)}


def test_a_loan_rests_while_a_category_has_no_label_and_can_be_undone():
    active = ActiveLearner(GP).fit(X)
    active.teach(range(6), ["ant", "ant", "bee", "bee", "bee", "cat"])
    before = everything(active)
    assert_same(everything(active.borrow("cat", "bee", 0.5).undo()), before)
    active.redo().forget([5])
    assert active.loans_ == {}
    assert active.teach(5, "cat").loans_ == {"cat": Loan("bee", 0.5)}


@pytest.mark.parametrize(
    ("learner", "loan", "message"),
    [
        (GP, ("cat", "dog", 0.5), "a category must be one of those learned, got 'dog'"),
        (GP, ("cat", "cat", 0.5), "a category must borrow from another one, got 'cat' itself"),
        (GP, ("cat", "bee", 2), "rho must be a number from 0 to 1, got 2"),
        (SVMClassifier(RBF(scale=2.0)), ("cat", "bee", 0.5), "the learner must be one whose categories can borrow"),
    ],
)
def test_loans_that_cannot_be_are_refused(learner, loan, message):
    active = ActiveLearner(learner).fit(X)
    active.teach(range(4), ["ant", "bee", "bee", "cat"])
    with pytest.raises(InvalidInput, match=message):
        active.borrow(*loan)
    if learner is GP:
        with pytest.raises(InvalidInput, match="must borrow before it gives back, 'bee' does not"):
            active.give_back("bee")
