"""The span bound: its slopes, its machines, and what its weights find."""

import numpy as np
import pytest
from sklearn.svm import SVC

from fewsight._base.errors import InvalidInput
from fewsight.kernels import Columns, Linear
from fewsight.learners import SpanBoundClassifier
from fewsight.learners.span_bound import SpanBound, equal_weights, lowest, pulled_sum, trained
from fewsight.learners.weight_pull import best_equal_weights, folds_to_leave_out, left_out_hits


def planted(rng, n=60, k=8, informative=(2, 5), d=2):
    """k models of d scores each; two of them differ between the classes. Their squared distances, and the targets."""
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    models = rng.normal(size=(k, n, d))
    for number in informative:
        models[number] += 1.2 * y[:, None]
    return models, y


def distances_of(models):
    return ((models[:, :, None] - models[:, None]) ** 2).sum(axis=3)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 100.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_slopes_equal_finite_differences(temperature, seed):
    models, y = planted(np.random.default_rng(seed), n=30, k=3, informative=(0,))
    bound = SpanBound(distances_of(models), y, temperature, 0.1)
    at = np.array([-1.0, -2.0, -1.5, np.log(5.0)])
    found = bound.at(at[:-1], at[-1])
    step, expected = 1e-5, []
    for place in range(4):
        values = []
        for by in (1, -1):
            moved = at.copy()
            moved[place] += by * step
            other = bound.at(moved[:-1], moved[-1])
            np.testing.assert_array_equal(other.machine.support, found.machine.support)  # nobody joined or left
            values.append(other.value)
        expected.append((values[0] - values[1]) / (2 * step))
    np.testing.assert_allclose(found.slopes, expected, atol=1e-6 * max(1e-3, np.abs(expected).max()))


def test_spans_are_left_out_margins_where_nobody_joins_or_leaves():
    """Without smoothing, alpha_n S_n^2 = 1 - y_n f_n with example n left out, if the support vectors stay. [Chapelle2002]"""
    models, y = planted(np.random.default_rng(3), n=24, k=1, informative=(0,))
    K, penalty = np.exp(-0.5 * distances_of(models)[0]), 0.05  # so soft that all are support vectors
    machine = trained(K, y, penalty)
    assert len(machine.support) == 24
    whole = np.ones((25, 25))
    whole[:24, :24] = K + np.eye(24) / penalty
    whole[24, 24] = 0.0
    spans = 1.0 / np.linalg.inv(whole).diagonal()[:-1]
    for out in range(24):
        rest = np.delete(np.arange(24), out)
        other = trained(K[np.ix_(rest, rest)], y[rest], penalty)
        if len(other.support) == 23:
            margin = y[out] * (K[out, rest] @ other.dual + other.intercept)
            assert 1.0 - margin == pytest.approx(abs(machine.dual[out]) * spans[out], rel=1e-6)


def test_a_machine_is_libsvms_on_the_kernel_with_a_ridge():
    models, y = planted(np.random.default_rng(0), n=40, k=1, informative=(0,))
    K = np.exp(-0.5 * distances_of(models)[0])
    machine = trained(K, y, 3.0)
    peer = SVC(C=1e9, kernel="precomputed", tol=1e-9).fit(K + np.eye(40) / 3.0, y)
    dual = np.zeros(40)
    dual[peer.support_] = peer.dual_coef_[0]
    np.testing.assert_allclose(machine.dual, dual, atol=1e-5)
    assert machine.intercept == pytest.approx(peer.intercept_[0], abs=1e-5)


def test_planted_models_get_over_half_of_the_weight():
    shares = []
    for seed in range(10):
        models, y = planted(np.random.default_rng(seed))
        found = lowest([SpanBound(distances_of(models), y)], 30)
        assert found.values[-1] <= found.values[0]
        assert found.path.shape == (len(found.values), 8)
        np.testing.assert_allclose(found.path[-1], found.weights)
        shares.append(found.weights[[2, 5]].sum() / found.weights.sum())
    assert np.mean(shares) > 0.5


def test_slopes_with_a_pull_equal_finite_differences():
    models, y = planted(np.random.default_rng(2), n=30, k=3, informative=(0,))
    bounds = [SpanBound(distances_of(models), sign * y) for sign in (1.0, -1.0)]
    start, at = np.array([-1.5, -1.6, -1.4, 1.0]), np.array([-1.0, -2.0, -1.5, np.log(5.0)])
    slopes, step = pulled_sum(bounds, at, start, 0.7)[1], 1e-5
    moved = np.eye(4) * step
    found = [
        (pulled_sum(bounds, at + by, start, 0.7)[0] - pulled_sum(bounds, at - by, start, 0.7)[0]) / (2 * step)
        for by in moved
    ]
    np.testing.assert_allclose(slopes, found, atol=1e-6 * np.abs(found).max())
    free = pulled_sum(bounds, at, start, 0.0)
    np.testing.assert_allclose(free[0], sum(bound.at(at[:-1], at[-1]).value for bound in bounds))
    u = at[:3] - start[:3]
    assert pulled_sum(bounds, at, start, 0.7)[0] - free[0] == pytest.approx(2 * 0.7 * u.var())


def test_the_harder_weights_are_pulled_the_nearer_they_stay():
    models, y = planted(np.random.default_rng(0))
    bound = SpanBound(distances_of(models), y)
    start = (equal_weights(bound.distances), 3.0)
    spreads = [
        np.log(lowest([bound], 30, start=start, pull=pull).weights / start[0]).std() for pull in (0.0, 0.003, 0.03, 3.0)
    ]
    assert (np.diff(spreads) < 0).all()
    assert spreads[-1] < 0.05
    still = lowest([bound], 30, start=start, pull=np.inf)
    np.testing.assert_allclose(still.weights, start[0])
    assert still.penalty == pytest.approx(3.0)
    assert len(still.values) == len(still.path) == 1


def test_one_weight_and_c_are_those_that_predict_most_left_out_examples():
    models, y = planted(np.random.default_rng(1), k=3, informative=(0, 1))
    distances, folds = distances_of(models), folds_to_leave_out((y > 0).astype(int), 1)
    start = best_equal_weights(distances, y[:, None], folds)
    assert np.ptp(start.weights * distances.mean(axis=(1, 2))) < 1e-9  # each has the same part

    def right(factor, penalty):
        K = np.exp(-0.5 * factor * np.tensordot(start.weights, distances, axes=1))
        return left_out_hits(K, y[:, None], penalty, folds).sum()

    best = right(1.0, start.penalty)
    assert best > 0.8 * len(y)
    assert all(best >= right(factor, penalty) for factor in (0.25, 1.0, 4.0) for penalty in (0.5, 2.0, 32.0))


def test_fewer_folds_are_left_out_where_there_is_much_to_learn():
    few, many = (folds_to_leave_out(np.arange(n) % c, c) for n, c in ((60, 2), (400, 10)))
    np.testing.assert_array_equal(np.sort(np.concatenate(few)), np.arange(60))
    assert (len(few), len(many)) == (10, 3)
    assert [len(fold) for fold in many] == [40, 40, 40]


def test_one_example_of_each_class_is_enough():
    columns = [Columns((0,), Linear()), Columns((1,), Linear())]
    learner = SpanBoundClassifier(columns).fit([[0.0, 1.0], [2.0, 0.0], [5.0, 5.0]], list("abc"))
    assert learner.predict([[0.1, 0.9], [4.8, 5.1]]).tolist() == ["a", "c"]
    assert learner.pull_ == np.inf


@pytest.mark.slow
def test_weights_differ_only_where_that_predicts_more_left_out_examples():
    """One of 16 models tells the classes apart, or none does."""
    columns = [Columns((2 * place, 2 * place + 1), Linear()) for place in range(16)]
    right, differ = {"planted": [], "noise": []}, {"planted": 0, "noise": 0}
    for seed in range(4, 8):
        for name, informative in (("planted", (2,)), ("noise", ())):
            models, y = planted(np.random.default_rng(seed), n=260, k=16, informative=informative)
            X = np.hstack(models)
            one, learner = (SpanBoundClassifier(columns, **o).fit(X[:60], y[:60]) for o in ({"max_steps": 0}, {}))
            right[name].append([np.mean(each.predict(X[60:]) == y[60:]) for each in (one, learner)])
            differ[name] += np.isfinite(learner.pull_)
            assert np.isfinite(learner.pull_) == (np.ptp(learner.shares(16)) > 1e-9)
            if learner.pull_ == np.inf:
                assert right[name][-1][0] == right[name][-1][1]  # it is the machine with one weight
    assert differ["planted"] >= 2
    assert differ["noise"] <= 1
    gain = np.diff(np.mean(right["planted"], axis=0))
    assert gain > 0.01


def test_a_weight_for_each_feature_finds_the_one_that_tells():
    shares, right = [], []
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(80, 4))
        y = np.where(X[:, 2] > 0, "right", "left")
        columns = [Columns((column,), Linear()) for column in range(4)]
        shares.append(SpanBoundClassifier(columns, pull=0.0).fit(X[:50], y[:50]).shares(4))
        right.append(np.mean(SpanBoundClassifier(columns).fit(X[:50], y[:50]).predict(X[50:]) == y[50:]))
    np.testing.assert_allclose(np.sum(shares, axis=1), 1)
    assert np.mean(shares, axis=0)[2] > 0.6
    assert np.mean(right) > 0.9


def test_distances_of_linear_kernels_are_those_of_the_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    learner = SpanBoundClassifier(Linear(), max_steps=0).fit(X, y)
    scale = (X**2).sum(axis=1).mean()
    K = np.exp(-0.5 * learner.weights_[0] * ((X[:, None] - X) ** 2).sum(axis=2) / scale)
    expected = K @ learner.dual_weights_ + learner.intercepts_
    np.testing.assert_allclose(learner.latent(X).mean, expected, atol=1e-9)


def test_wrong_options_are_one_sentence():
    with pytest.raises(InvalidInput, match="SpanBoundClassifier: eta must be a number from 1e-06 to 1e"):
        SpanBoundClassifier(Linear(), eta=0).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(InvalidInput, match="SpanBoundClassifier: pull must be one of 'cross_validated', got 'some'"):
        SpanBoundClassifier(Linear(), pull="some").fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(InvalidInput, match="SpanBoundClassifier: pull must be a number from 0 to 1e"):
        SpanBoundClassifier(Linear(), pull=-1).fit(np.eye(4), [0, 1, 0, 1])


def test_a_file_from_before_weights_were_pulled_can_be_opened(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    learner = SpanBoundClassifier([Columns((0,), Linear()), Columns((1, 2), Linear())], pull=0.0).fit(X, y)
    state = learner.state()
    state.header["options"].pop("pull")
    state.header.pop("pull")
    again = SpanBoundClassifier.from_state(state)
    assert (again.pull, again.pull_) == (0.0, 0.0)
    np.testing.assert_allclose(again.latent(X).mean, learner.latent(X).mean, atol=1e-12)
