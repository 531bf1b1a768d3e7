"""A category from a few examples with the help of another."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from fewsight._base.errors import FewsightError
from fewsight._base.types import State
from fewsight.gp import Posterior
from fewsight.kernels import RBF
from fewsight.persistence import load_learner, save
from fewsight.transfer import TransferGPClassifier

NOISE = 1e-3
RNG = np.random.default_rng(1)
CENTRES = {"background": 0.0, "gerenuk": 1.5, "llama": 1.3, "watch": -1.5}
LABELS = np.repeat(list(CENTRES), [40, 2, 15, 15])
X = RNG.normal(size=(len(LABELS), 5)) + np.array([CENTRES[label] for label in LABELS])[:, None]
K = RBF(scale=3.0).gram(X)
K_TEST = RBF(scale=3.0).gram(RNG.normal(size=(7, 5)), X)


def learner(**options):
    return TransferGPClassifier("precomputed", target="gerenuk", background="background", **options)


def best(**options):
    """One support category lends, and decisions are made at zero."""
    return learner(**{"n_supports": 1, "offset": 0.0, "criterion": "average_precision", **options})


def plain_mean(rows, targets):
    return Posterior.condition(K[np.ix_(rows, rows)], targets[:, None], NOISE).mean(K_TEST[:, rows])[:, 0]


def rows_of(*labels):
    return np.flatnonzero(np.isin(LABELS, labels))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    ("estimator", "check"),
    list(estimator_checks_generator(TransferGPClassifier())),
    ids=lambda item: getattr(getattr(item, "func", item), "__name__", type(item).__name__),
)
def test_scikit_learns_contract(estimator, check):
    check(estimator)


def test_no_correlation_is_independent_learning():
    found = best(candidates=["llama"], rho=0.0, noise_variance=NOISE).fit(K, LABELS)
    rows = rows_of("background", "gerenuk")
    targets = np.where(LABELS[rows] == "gerenuk", 1.0, -1.0)
    np.testing.assert_allclose(found.decision_function(K_TEST), plain_mean(rows, targets), atol=1e-10)
    assert found.support_ == ()


def test_full_correlation_is_pooled_learning():
    found = best(candidates=["llama"], rho=1.0, noise_variance=NOISE).fit(K, LABELS)
    rows = rows_of("background", "gerenuk", "llama")
    targets = np.where(LABELS[rows] == "background", -1.0, 1.0)
    np.testing.assert_allclose(found.decision_function(K_TEST), plain_mean(rows, targets), atol=1e-10)


def test_the_related_category_lends():
    found = best().fit(K, LABELS)
    assert found.support_ == ("llama",)
    assert 0 < found.rho_[0] <= 1
    assert [each.support for each in found.considered_] == ["llama", "watch"]
    assert found.predict(K)[LABELS == "gerenuk"].tolist() == ["gerenuk"] * 2


def test_leave_one_out_is_that_of_learning_without_the_example():
    found = best(rho=0.7, noise_variance=NOISE).fit(K, LABELS)
    position = int(np.flatnonzero(found.rows_ == 41)[0])  # the second gerenuk
    kept = np.delete(np.arange(len(LABELS)), 41)
    without = best(rho=0.7, noise_variance=NOISE, candidates=found.support_).fit(K[np.ix_(kept, kept)], LABELS[kept])
    scale = np.delete(K.diagonal(), 41).mean() / K.diagonal().mean()
    assert scale == pytest.approx(1.0)  # kernels are scaled to a mean diagonal of 1: the same here
    mean = without.decision_function(K[41:42][:, kept])[0]
    assert found.leave_one_out().mean[position, 0] == pytest.approx(mean, abs=1e-10)


def test_several_support_tasks_have_correlations_of_their_own():
    found = best(n_supports=2).fit(K, LABELS)
    assert found.support_[0] == "llama"
    assert len(found.rho_) == len(found.support_)
    assert ((found.rho_ > 0) & (found.rho_ <= 1)).all()
    if "watch" in found.support_:
        assert found.rho_[0] > found.rho_[1]


def test_one_positive_example_is_enough():
    kept = np.delete(np.arange(len(LABELS)), 41)
    found = best().fit(K[np.ix_(kept, kept)], LABELS[kept])
    assert found.considered_[0].value in {1 / rank for rank in range(1, 42)}
    assert np.isfinite(found.decision_function(K_TEST[:, kept])).all()


def test_without_a_background_there_is_one_class_and_a_ranking():
    chosen = rows_of("gerenuk", "llama", "watch")
    part = K[np.ix_(chosen, chosen)]
    found = TransferGPClassifier("precomputed", target="gerenuk").fit(part, LABELS[chosen])
    assert found.classes_.tolist() == ["gerenuk"]
    scores = found.decision_function(part)
    assert scores[LABELS[chosen] == "llama"].mean() > scores[LABELS[chosen] == "watch"].mean()
    np.testing.assert_array_equal(found.predict_proba(part), np.ones((len(chosen), 1)))


def test_a_support_task_identical_to_the_target_pools_with_it():
    """The same images under another name: the matrix would be singular without noise."""
    rows = np.concatenate([np.arange(len(LABELS)), rows_of("gerenuk")])
    labels = np.concatenate([LABELS, ["twin", "twin"]])
    doubled = K[np.ix_(rows, rows)]
    found = best(candidates=["twin"]).fit(doubled, labels)
    assert found.noise_variance_ > 0
    alone = best(candidates=[]).fit(doubled, labels)
    test = K_TEST[:, rows]
    np.testing.assert_allclose(found.decision_function(test), alone.decision_function(test), atol=1e-2)


def test_learning_without_support_is_one_option_away():
    refused = learner(candidates=[]).fit(K, LABELS)
    assert refused.support_ == ()
    assert len(refused.rho_) == 0
    assert refused.considered_ == []


def test_the_order_of_the_examples_does_not_matter():
    order = RNG.permutation(len(LABELS))
    found, mixed = learner().fit(K, LABELS), learner().fit(K[np.ix_(order, order)], LABELS[order])
    assert mixed.support_ == found.support_
    np.testing.assert_allclose(mixed.decision_function(K_TEST[:, order]), found.decision_function(K_TEST), atol=1e-8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "okapi"}, "target must be among the labels"),
        ({"background": "gerenuk"}, "background must be among the labels of the examples and play one part only"),
        ({"candidates": ["background"]}, "candidates must be among the labels"),
        ({"candidates": ["okapi"]}, "candidates must be among the labels .* got 'okapi'"),
        ({"candidates": "llama"}, "candidates must be a list of labels or None, got 'llama'"),
        ({"criterion": "luck"}, "criterion must be one of 'separation'"),
        ({"criterion": "roc_area"}, "criterion must be one of 'separation', .* to average by, got 'roc_area'"),
        ({"n_supports": "many"}, "n_supports must be one of 'all', got 'many'"),
        ({"offset": "zero"}, "offset must be one of 'left-out', got 'zero'"),
        ({"offset": float("nan")}, "offset must be a number from"),
        ({"n_supports": 0}, "n_supports must be a whole number >= 1, got 0"),
        ({"rho": 1.5}, "rho must be a number from 0 to 1, got 1.5"),
        ({"noise_variance": -1}, "noise_variance must be a finite number > 0, got -1"),
        ({"target": None, "background": None}, "Only binary classification is supported where no target is named"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(options, message):
    with pytest.raises(FewsightError, match=message):
        clone(learner()).set_params(**options).fit(K, LABELS)


@pytest.mark.parametrize(
    "options",
    [{}, {"n_supports": 2}, {"n_supports": 1, "offset": 0.0}, {"candidates": []}, {"rho": 0.5, "noise_variance": 0.1}],
)
def test_the_model_file_keeps_what_was_borrowed(options, tmp_path):
    model = learner(**options).fit(K, LABELS)
    save(model, tmp_path / "model")
    again = load_learner(tmp_path / "model")
    assert again.support_ == model.support_
    assert again.considered_ == model.considered_
    np.testing.assert_array_equal(again.rho_, model.rho_)
    np.testing.assert_array_equal(again.decision_function(K_TEST), model.decision_function(K_TEST))
    np.testing.assert_array_equal(again.predict_proba(K_TEST), model.predict_proba(K_TEST))
    np.testing.assert_array_equal(again.leave_one_out().mean, model.leave_one_out().mean)
    np.testing.assert_array_equal(again.shares_, model.shares_)
    assert again.left_out() == model.left_out()
    assert again.get_params()["target"] == "gerenuk"


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("rows", lambda rows: rows + len(LABELS)),
        ("rows", lambda rows: rows[:-1]),
        ("rows", lambda rows: rows.astype(float)),
        ("tasks", lambda tasks: tasks + 1),
        ("rhos", lambda rhos: rhos + 1.0),
        ("rhos", lambda rhos: np.append(rhos, 0.5)),
        ("shares", lambda shares: shares[:-1]),
        ("weights", lambda weights: weights[:-1]),
        ("left_out_mean", lambda mean: mean[:-1]),
        ("left_out_variance", lambda variance: -variance),
    ],
)
def test_a_state_that_does_not_fit_together_is_refused(name, wrong):
    state = learner(rho=0.6).fit(K, LABELS).state()
    with pytest.raises(FewsightError):
        TransferGPClassifier.from_state(State(state.header, {**state.arrays, name: wrong(state.arrays[name])}))


def test_left_out_accuracy_is_that_of_target_and_background():
    model = best(rho=0.6).fit(K, LABELS)
    own = model.tasks_ == 0
    right = np.sign(model.leave_one_out().mean[own, 0]) == model.posterior_.targets[own, 0]
    target = LABELS[model.rows_[own]] == "gerenuk"
    assert model.left_out().accuracy == pytest.approx((right[target].mean() + right[~target].mean()) / 2)


def test_the_average_is_that_of_the_single_ways():
    """Every support and correlation learned by itself, weighted as its own left-out examples say."""
    found = learner(noise_variance=NOISE, offset=0.0).fit(K, LABELS)
    means, log_weights = [], []
    for support in ("llama", "watch"):
        for rho in np.linspace(0.0, 1.0, 11):
            one = best(candidates=[support], rho=rho, noise_variance=NOISE).fit(K, LABELS)
            left_out = one.leave_one_out().mean[:42, 0]
            own = LABELS[one.rows_[:42]] == "gerenuk"
            separation = (left_out[own].mean() - left_out[~own].mean()) / left_out[~own].std()
            means.append(one.decision_function(K_TEST))
            log_weights.append(2.0 * np.sqrt(2.0) * separation)
    weights = np.exp(np.array(log_weights) - max(log_weights))
    np.testing.assert_allclose(found.decision_function(K_TEST), weights @ np.array(means) / weights.sum(), atol=1e-9)
    assert found.support_[0] == "llama"
    assert found.shares_[0] > found.shares_[1]
    assert found.shares_.sum() < 1  # what is left is learning alone


def test_the_average_at_correlation_zero_is_learning_alone():
    found = learner(rho=0.0, noise_variance=NOISE).fit(K, LABELS)
    alone = learner(candidates=[], noise_variance=NOISE).fit(K, LABELS)
    assert found.support_ == alone.support_ == ()
    np.testing.assert_allclose(found.decision_function(K_TEST), alone.decision_function(K_TEST), atol=1e-9)


def test_a_category_unlike_the_target_is_not_listened_to():
    """Left-out examples of the target lie further from the background with llamas than with watches."""
    shares = dict(zip(*(lambda found: (found.support_, found.shares_))(learner().fit(K, LABELS)), strict=True))
    assert shares["llama"] > 10 * shares.get("watch", 0.0)


def test_without_a_background_the_average_goes_by_probability():
    chosen = rows_of("gerenuk", "llama", "watch")
    found = TransferGPClassifier("precomputed", target="gerenuk", noise_variance=NOISE)
    found.fit(K[np.ix_(chosen, chosen)], LABELS[chosen])
    assert found.support_[0] == "llama"
    assert found.shares_[0] > 0.5
    assert found.offset_ == 0.0


def test_the_offset_lies_midway_between_both_sides_when_left_out():
    """Forty background examples against two draw all means down: at zero no new gerenuk is found, at the offset most are."""
    new = np.random.default_rng(5).normal(size=(60, 5)) + np.repeat([1.5, 0.0], 30)[:, None]
    K_new = RBF(scale=3.0).gram(new, X)
    at_zero, shifted = learner(candidates=[], offset=0.0).fit(K, LABELS), learner(candidates=[]).fit(K, LABELS)
    np.testing.assert_allclose(
        shifted.decision_function(K_new), at_zero.decision_function(K_new) - shifted.offset_, atol=1e-12
    )
    mean = at_zero.leave_one_out().mean[:, 0]
    own = LABELS[at_zero.rows_] == "gerenuk"
    assert shifted.offset_ == pytest.approx((mean[own].mean() + mean[~own].mean()) / 2)
    right = {
        name: found.predict(K_new) == np.repeat(["gerenuk", "background"], 30)
        for name, found in {"zero": at_zero, "shifted": shifted}.items()
    }
    assert right["shifted"].mean() > right["zero"].mean()
    assert right["shifted"][:30].mean() > right["zero"][:30].mean()
    proba = shifted.predict_proba(K_new)
    np.testing.assert_array_equal(shifted.classes_[proba.argmax(axis=1)], shifted.predict(K_new))


def test_a_model_file_without_an_offset_decides_at_zero():
    """As files were written before there was one: a single support, and no shares."""
    model = best(criterion="roc_area").fit(K, LABELS)
    state = model.state()
    options = {name: value for name, value in state.header["options"].items() if name != "offset"}
    header = {name: value for name, value in state.header.items() if name != "offset"} | {"options": options}
    arrays = {name: array for name, array in state.arrays.items() if name != "shares"}
    again = TransferGPClassifier.from_state(State(header, arrays))
    np.testing.assert_array_equal(again.decision_function(K_TEST), model.decision_function(K_TEST))
    assert again.get_params()["n_supports"] == 1
    assert again.offset_ == again.get_params()["offset"] == 0.0


def test_one_background_example_is_nothing_to_separate_from():
    kept = np.concatenate([rows_of("background")[:1], rows_of("gerenuk", "llama", "watch")])
    part, labels = K[np.ix_(kept, kept)], LABELS[kept]
    found = learner(noise_variance=NOISE).fit(part, labels)
    by_probability = learner(noise_variance=NOISE, criterion="predictive_probability").fit(part, labels)
    np.testing.assert_array_equal(found.decision_function(part), by_probability.decision_function(part))
    assert found.support_[0] == "llama"
