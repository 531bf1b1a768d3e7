"""Noise, balance and share of Hellinger's kernel that left-out examples choose."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.metrics import roc_auc_score

from bags_of_words import words
from fewsight._base.errors import FewsightError
from fewsight._base.none_of_these import NONE_OF_THESE
from fewsight._base.types import State
from fewsight.gp import targets_of_columns
from fewsight.kernels import HistogramIntersection, HistogramOperator
from fewsight.learners import HistogramGPClassifier
from fewsight.learners.histograms import balance_of, left_out_search
from fewsight.learners.histograms.left_out_search import Setting, one_is_rare, ranking_loss, search, searched, thinned
from fewsight.persistence import load, save

ROWS, LABELS = words(700, 2, 5)
KEPT = np.flatnonzero((LABELS == "ant") | (np.arange(700) % 12 == 1))  # one in seven: not rare yet
RARE_ROWS, RARE_LABELS = words(2_000, 2, 6)
RARE = np.flatnonzero((RARE_LABELS == "ant") | (np.arange(2_000) % 26 == 1))  # 77 of 1,077
RARE_ROWS, RARE_LABELS = RARE_ROWS[RARE], RARE_LABELS[RARE]


def test_the_ranking_loss_is_the_logistic_loss_of_all_pairs_at_the_best_sharpness():
    rng = np.random.default_rng(0)
    scores = [rng.normal(size=30), rng.normal(size=25)]
    positive = [rng.random(30) < 0.2, rng.random(25) < 0.4]
    scores = [score + 0.8 * side for score, side in zip(scores, positive, strict=True)]
    pairs = [a - b for s, p in zip(scores, positive, strict=True) for a in s[p] for b in s[~p]]

    def loss(log_sharpness):
        return np.mean([np.log1p(np.exp(-np.exp(log_sharpness) * d)) for d in pairs])

    best = minimize_scalar(loss, bounds=(-3, 3), method="bounded").fun
    found = ranking_loss(scores, positive)
    assert best <= found + 1e-12
    np.testing.assert_allclose(found, min(loss(np.log(s / np.std(pairs))) for s in left_out_search.SHARPNESS))
    shifted = ranking_loss([3 * scores[0] + 7, 3 * scores[1] - 2], positive)
    np.testing.assert_allclose(shifted, found, rtol=1e-12)  # a level of its own for each fold, and any unit
    assert ranking_loss([-score for score in scores], positive) > found


def test_scores_that_are_all_alike_rank_nothing():
    assert ranking_loss([np.zeros(4)], [np.array([True, False, False, True])]) == pytest.approx(np.log(2))
    assert ranking_loss([np.ones(3)], [np.zeros(3, bool)]) == 0.0


@pytest.mark.parametrize(
    ("share", "balance", "level"), [(0.0, 1.0, 40.0), (1.0, 0.0, 0.2), (0.5, 0.5, 1.0), (1.0, 1.0, 500.0)]
)
def test_the_setting_with_the_least_loss_is_found(share, balance, level, monkeypatch):
    classes = np.unique(RARE_LABELS, return_inverse=True)[1]
    targets = targets_of_columns(classes, 2)

    def planted(operator, classes, n_classes, noise, folds):
        used = next(p for p in left_out_search.BALANCES if np.ptp(np.log(noise / balance_of(targets) ** p)) < 1e-9)
        height = float(np.mean(np.log(noise / balance_of(targets) ** used)))
        return abs(operator.hellinger - share) + abs(used - balance) + (height - np.log(level)) ** 2

    monkeypatch.setattr(left_out_search, "left_out_loss", planted)
    operator = HistogramOperator.from_rows(RARE_ROWS)
    start = Setting(0.5, 0.5, 1.0)
    found = search(operator, classes, 2, start, {"share", "balance", "level"})
    assert found[:2] == (share, balance)
    assert abs(np.log(found.level / level)) <= np.log(2) / 2 + 1e-9
    assert search(operator, classes, 2, start, {"balance"}) == Setting(0.5, balance, 1.0)
    assert search(operator, classes, 2, start, ()) == start


def fickle(n, n_rare, seed):
    """A rare class with twenty words that come far more often in half of its rows, and twenty that come a little more in all."""
    rng = np.random.default_rng(seed)
    logs = np.zeros((n + n_rare, 60))
    logs[n:, :20] = 3.0 * (rng.random(n_rare) < 0.5)[:, None]
    logs[n:, 20:40] = 0.5
    shares = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    return np.array([rng.multinomial(40, share) for share in shares]) / 40, np.repeat(["ant", "bee"], [n, n_rare])


def test_balance_is_chosen_where_a_rare_class_varies_most_in_what_tells_it_apart():
    """Without it the covariance of the large class decides what can be relied on."""
    rows, label = fickle(1_500, 150, 0)
    new, truth = fickle(1_000, 1_000, 1)
    chosen = HistogramGPClassifier(noise_variance="left-out", noise_balance="left-out").fit(rows, label)
    without = HistogramGPClassifier(noise_variance="left-out").fit(rows, label)
    assert (chosen.noise_balance_, without.noise_balance_) == (1, 0)
    areas = [roc_auc_score(truth == "bee", learner.latent_mean(new)[:, 1]) for learner in (chosen, without)]
    assert areas[0] > areas[1] + 0.02


def test_no_balance_is_chosen_where_the_few_examples_of_a_rare_class_vary_as_the_others_do():
    rows, label = words(4_000, 2, 8, features=60)
    kept = np.flatnonzero((label == "ant") | (np.arange(4_000) % 26 == 1))
    learner = HistogramGPClassifier(noise_variance="left-out", noise_balance="left-out").fit(rows[kept], label[kept])
    assert learner.noise_balance_ == 0


def test_where_nothing_can_be_left_out_all_stays():
    start = Setting(0.5, 0.5, 0.01)
    assert search(HistogramOperator.from_rows(RARE_ROWS[:2]), np.array([0, 1]), 2, start, {"level", "share"}) == start


def test_one_of_two_classes_is_rare_from_75_examples_to_a_tenth():
    def counts(first, second):
        return np.repeat([0, 1], [first, second])

    assert one_is_rare(counts(75, 676), 2)
    assert one_is_rare(counts(676, 75), 2)
    assert not one_is_rare(counts(74, 676), 2)  # too few to see how they are ranked
    assert not one_is_rare(counts(75, 675), 2)  # a tenth
    assert not one_is_rare(np.repeat([0, 1, 2], [75, 700, 700]), 3)
    assert not one_is_rare(np.append(counts(75, 676), -1), 2)  # an example of neither


def test_by_itself_it_searches_where_a_class_is_rare_and_keeps_to_the_evidence_elsewhere():
    rare = HistogramGPClassifier().fit(RARE_ROWS, RARE_LABELS)
    asked = HistogramGPClassifier(noise_variance="left-out", hellinger_share="left-out", noise_balance="left-out").fit(
        RARE_ROWS, RARE_LABELS
    )
    for name in ("noise_variance_", "hellinger_share_", "noise_balance_"):
        assert getattr(rare, name) == getattr(asked, name)
    for rows, labels in ((ROWS[KEPT], LABELS[KEPT]), words(180, 3, 0)):
        even = HistogramGPClassifier().fit(rows, labels)
        evidence = HistogramGPClassifier(noise_variance="evidence").fit(rows, labels)
        assert (even.hellinger_share_, even.noise_balance_) == (0, 0)
        np.testing.assert_array_equal(even.latent_mean(rows), evidence.latent_mean(rows))
    outsiders = RARE_LABELS.astype(object)
    outsiders[:3] = NONE_OF_THESE
    assert HistogramGPClassifier().fit(RARE_ROWS, outsiders).noise_balance_ == 0


@pytest.mark.parametrize("options", [{"noise_variance": 0.4}, {"criterion": "bound"}, {"feature_transform": "power"}])
def test_what_is_asked_for_keeps_to_one_noise_and_intersection(options):
    learner = HistogramGPClassifier(**options).fit(RARE_ROWS, RARE_LABELS)
    assert (learner.hellinger_share_, learner.noise_balance_) == (0, 0)


def test_balanced_is_the_balance_of_the_paper_unless_another_is_given():
    learner = HistogramGPClassifier(balanced=True).fit(RARE_ROWS, RARE_LABELS)
    assert learner.noise_balance_ == 1
    given = HistogramGPClassifier(balanced=True, noise_balance=0.5).fit(RARE_ROWS, RARE_LABELS)
    assert given.noise_balance_ == 0.5


def test_what_is_not_calibrated_keeps_to_one_noise_so_that_its_probabilities_follow_the_examples():
    rows, labels = fickle(1_500, 150, 0)
    learner = HistogramGPClassifier(calibrated=False).fit(rows, labels)
    assert (learner.noise_balance_, HistogramGPClassifier().fit(rows, labels).noise_balance_) == (0, 1)
    assert learner.predict_proba(rows)[:, 1].mean() == pytest.approx(150 / 1_650, abs=0.02)
    assert HistogramGPClassifier(calibrated=False, balanced=True).fit(rows, labels).noise_balance_ == 1
    assert HistogramGPClassifier(calibrated=False, noise_balance=0.5).fit(rows, labels).noise_balance_ == 0.5


def test_a_given_balance_equals_a_dense_reference_also_after_adding_and_from_a_file(tmp_path):
    rows, labels = RARE_ROWS[:300], RARE_LABELS[:300]
    options = {"noise_variance": 0.4, "noise_balance": 0.5, "tolerance": 1e-12, "quantization_bins": None}
    learner = HistogramGPClassifier(**options).fit(rows[:200], labels[:200])
    save(learner, tmp_path / "model.fewsight")
    opened = load(tmp_path / "model.fewsight")
    assert opened.noise_balance_ == opened.noise_balance == 0.5
    np.testing.assert_allclose(opened.latent_mean(rows), learner.latent_mean(rows), rtol=1e-12)
    K = HistogramIntersection().gram(rows)
    for fitted, n in ((learner, 200), (opened.add(rows[200:], labels[200:]), 300)):
        targets = np.where(labels[:n] == "bee", 1.0, -1.0)
        scale = np.trace(K[:200, :200]) / 200
        A = K[:n, :n] / scale + np.diag(0.4 * balance_of(targets[:, None])[:, 0] ** 0.5)
        ones = np.linalg.solve(A, np.ones(n))
        mean = ones @ targets / ones.sum()
        expected = K[:, :n] / scale @ np.linalg.solve(A, targets - mean) + mean
        np.testing.assert_allclose(fitted.latent_mean(rows)[:, 1], expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("balanced", [False, True])
def test_an_older_model_file_has_the_balance_of_its_time(balanced):
    learner = HistogramGPClassifier(noise_variance=0.4, balanced=balanced).fit(RARE_ROWS, RARE_LABELS)
    state = learner.state()
    older = State(
        {name: value for name, value in state.header.items() if name not in ("noise_balance", "asked")}, state.arrays
    )
    opened = HistogramGPClassifier.from_state(older)
    assert opened.noise_balance_ == opened.noise_balance == float(balanced)
    with pytest.raises(FewsightError, match="noise_balance must be a number from 0 to 1, got 7"):
        HistogramGPClassifier.from_state(State({**state.header, "noise_balance": 7.0}, state.arrays))


def test_some_examples_keep_the_rarer_class_and_their_kernel(monkeypatch):
    monkeypatch.setattr(left_out_search, "MOST_SEARCHED", 400)
    classes = np.unique(RARE_LABELS, return_inverse=True)[1]
    operator = HistogramOperator.from_rows(RARE_ROWS).with_hellinger(0.5)
    few, classes_of_few = thinned(operator, RARE_ROWS, classes)
    assert few.n == len(classes_of_few) == 400
    assert (classes_of_few == 1).sum() == (classes == 1).sum() == 77
    rows = [np.flatnonzero((row == RARE_ROWS).all(axis=1))[0] for row in few.histograms.rows().toarray()]
    np.testing.assert_array_equal(RARE_LABELS[rows] == "bee", classes_of_few == 1)
    whole = operator @ np.eye(len(classes))
    np.testing.assert_allclose(few @ np.eye(400), whole[np.ix_(rows, rows)], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("counts", "kept"), [((900, 90), 90), ((840, 150), 100), ((150, 840), 300), ((600, 390), 157), ((495, 495), 200)]
)
def test_some_examples_are_a_quarter_of_a_rare_class_at_most_or_its_share(counts, kept, monkeypatch):
    monkeypatch.setattr(left_out_search, "MOST_SEARCHED", 400)
    operator = HistogramOperator.from_rows(RARE_ROWS[:990])
    few, classes = thinned(operator, RARE_ROWS[:990], np.repeat([0, 1], counts))
    assert (few.n, (classes == 1).sum()) == (400, kept)


def test_of_very_many_examples_some_choose_a_balance_as_all_do(monkeypatch):
    rows, labels = fickle(6_000, 600, 0)
    monkeypatch.setattr(left_out_search, "MOST_SEARCHED", 2_000)
    assert HistogramGPClassifier().fit(rows, labels).noise_balance_ == 1


def test_rows_with_many_numbers_are_searched_in_fewer(monkeypatch):
    operator = HistogramOperator.from_rows(RARE_ROWS)
    assert searched(operator) == operator.n == 1_077
    monkeypatch.setattr(left_out_search, "LEAST_SEARCHED", 100)
    monkeypatch.setattr(left_out_search, "MOST_NUMBERS", operator.n_numbers // 2)
    assert searched(operator) == operator.n // 2
    monkeypatch.setattr(left_out_search, "LEAST_SEARCHED", 700)
    assert searched(operator) == 700


def test_of_very_many_examples_some_choose_and_the_noise_keeps_its_proportion(monkeypatch):
    monkeypatch.setattr(left_out_search, "MOST_SEARCHED", 404)
    seen = []

    def planted(operator, classes, n_classes, noise, folds):
        seen.append(operator.n)
        return float((np.log(noise.max()) - np.log(2.0)) ** 2)

    monkeypatch.setattr(left_out_search, "left_out_loss", planted)
    learner = HistogramGPClassifier(hellinger_share=0, noise_balance=0, noise_variance="left-out")
    learner.fit(RARE_ROWS, RARE_LABELS)
    assert set(seen) == {404}
    assert abs(np.log(learner.noise_variance_ / (2.0 * len(RARE_LABELS) / 404))) <= np.log(2) / 2 + 1e-9
