"""The large-scale learner agrees with dense references, learns what it should, and survives what users do."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import estimator_checks_generator

from bags_of_words import X_TEST, Y_TEST, X, Y, words
from fewsight._base.errors import FewsightError
from fewsight._base.none_of_these import NONE_OF_THESE
from fewsight.gp import targets_of_columns
from fewsight.kernels import HistogramIntersection
from fewsight.learners import GPClassifier, HistogramGPClassifier
from fewsight.learners.histograms import balance_of, left_out_search
from fewsight.persistence import load, save

K, K_TEST = HistogramIntersection().gram(X), HistogramIntersection().gram(X_TEST, X)


@pytest.mark.parametrize(
    ("estimator", "check"),
    list(estimator_checks_generator(HistogramGPClassifier())),
    ids=lambda item: getattr(getattr(item, "func", item), "__name__", type(item).__name__),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_contract(estimator, check):
    check(estimator)


def dense_means(noise, labels=Y, K=K, K_test=K_TEST):
    """Latent means with a free mean for each class, by factorisations. noise: (n, c)"""
    columns = []
    for c, name in enumerate(np.unique(labels)):
        y = np.where(labels == name, 1.0, -1.0)
        inverse = np.linalg.inv(K + np.diag(noise[:, c]))
        mean = inverse.sum(axis=0) @ y / inverse.sum()
        columns.append(mean + K_test @ inverse @ (y - mean))
    return np.transpose(columns)


@pytest.mark.parametrize("rows", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("balanced", [False, True])
def test_training_and_exact_prediction_equal_a_dense_reference(rows, balanced):
    learner = HistogramGPClassifier(
        noise_variance=0.4, balanced=balanced, tolerance=1e-12, quantization_bins=None, calibrated=False
    ).fit(rows(X), Y)
    targets = np.where(Y[:, None] == np.unique(Y), 1.0, -1.0)
    factor = np.where(targets > 0, 2 / 3, 4 / 3) if balanced else np.ones_like(targets)
    np.testing.assert_allclose(learner.latent_mean(rows(X_TEST)), dense_means(0.4 * factor), rtol=1e-8, atol=1e-9)
    assert learner.converged_


def test_a_table_says_how_far_off_it_may_be():
    bounds = []
    for bins in (10, 100):
        learner = HistogramGPClassifier(noise_variance=0.4, quantization_bins=bins).fit(X, Y)
        bounds.append(learner.tabulate())
        off = np.abs(learner.latent_mean(X_TEST) - learner.posterior_.exact_mean(X_TEST)).max()
        assert 0 < off <= bounds[-1]
    assert bounds[1] < 0.3 * bounds[0]
    assert HistogramGPClassifier(noise_variance=0.4, quantization_bins=None).fit(X, Y).tabulate() == 0
    powers = HistogramGPClassifier(noise_variance=0.4, feature_transform="power", transform_parameter=0.5).fit(X, Y)
    assert powers.tabulate() is None  # not known


def test_two_classes_are_each_others_opposites():
    two = Y != "cat"
    learner = HistogramGPClassifier(noise_variance=0.4, tolerance=1e-12, quantization_bins=None).fit(X[two], Y[two])
    found = learner.latent_mean(X_TEST)
    expected = dense_means(np.full((two.sum(), 2), 0.4), Y[two], K[np.ix_(two, two)], K_TEST[:, two])
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found[:, 0], -found[:, 1])


def test_what_is_learned_by_evidence_classifies_well():
    learner = HistogramGPClassifier().fit(X, Y)
    assert np.mean(learner.predict(X_TEST) == Y_TEST) > 0.85
    assert learner.left_out_accuracy_ > 0.8
    assert learner.noise_variance_ > 0.01
    probabilities = learner.predict_proba(X_TEST)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(learner.classes_[probabilities.argmax(axis=1)], learner.predict(X_TEST))


@pytest.mark.parametrize(
    "options",
    [
        {"balanced": True},
        {"noise_per_class": True},
        {"noise_per_class": True, "balanced": True},
        {"feature_transform": "power"},
        {"feature_transform": "power", "transform_parameter": "evidence"},
        {"feature_transform": "power", "transform_parameter": "evidence", "criterion": "bound"},
        {"feature_transform": "exponential", "transform_parameter": 2.0},
        {"relevance": "evidence", "relevance_steps": 5},
        {"variance": "exact", "calibrated": False},
        {"unknown_rule": "contrast+variance"},
    ],
    ids=str,
)
def test_every_option_still_classifies(options):
    learner = HistogramGPClassifier(**options).fit(X, Y)
    found = learner.assess(X_TEST)
    assert np.mean(learner.predict(X_TEST) == Y_TEST) > 0.8
    assert found.latent.std.shape == (90, 3)
    assert (found.latent.std > 0).all()
    assert found.unknown.mean() < 0.3


def test_a_rare_class_is_ranked_well_without_a_choice_of_noise():
    rare, label = words(600, 2, 3)
    kept = np.flatnonzero((label == "ant") | (np.arange(600) % 40 == 1))
    learner = HistogramGPClassifier().fit(rare[kept], label[kept])
    test, truth = words(400, 2, 4)
    assert roc_auc_score(truth == "bee", learner.latent_mean(test)[:, 1]) > 0.8


def test_adding_examples_and_classes_ends_where_training_on_all_does():
    old = Y != "cat"
    options = {"noise_variance": 0.4, "tolerance": 1e-11, "quantization_bins": None}
    grown = HistogramGPClassifier(**options).fit(X[old][:60], Y[old][:60])
    grown.add(X[old][60:], Y[old][60:]).add(X[~old], Y[~old])
    whole = HistogramGPClassifier(**options).fit(np.vstack([X[old], X[~old]]), np.concatenate([Y[old], Y[~old]]))
    assert grown.classes_.tolist() == ["ant", "bee", "cat"]
    # the kernel keeps the scale of the first examples, which have the same mean diagonal as all
    np.testing.assert_allclose(grown.latent_mean(X_TEST), whole.latent_mean(X_TEST), atol=1e-7)
    grown.recalibrate()
    assert grown.calibration_.n_examples > 100


def test_classes_that_are_only_announced_keep_their_whole_name():
    learner = HistogramGPClassifier().partial_fit(X[:40], Y[:40], classes=["ant", "bee", "cat", "elephant", "ant"])
    assert learner.classes_.tolist() == ["ant", "bee", "cat", "elephant"]
    with pytest.raises(FewsightError, match=r"HistogramGPClassifier: labels must be strings, .* got 1"):
        HistogramGPClassifier().partial_fit(X[:40], Y[:40], classes=[1, 2])


def test_partial_fit_goes_on_from_warm_starts():
    learner = HistogramGPClassifier(noise_variance=0.4, tolerance=1e-6)
    learner.partial_fit(X[:120], Y[:120], classes=["ant", "bee", "cat"])
    first = learner.n_iter_
    learner.partial_fit(X[120:123], Y[120:123])
    assert learner.n_iter_ <= first
    assert len(learner.labels_) == 123


@pytest.mark.parametrize("labels", [Y, np.unique(Y, return_inverse=True)[1]], ids=["strings", "numbers"])
def test_the_model_file_brings_it_back(tmp_path, labels):
    learner = HistogramGPClassifier(feature_transform="power", transform_parameter=0.7).fit(X, labels)
    save(learner, tmp_path / "model.fewsight")
    again = load(tmp_path / "model.fewsight")
    before, after = learner.assess(X_TEST), again.assess(X_TEST)
    np.testing.assert_allclose(after.latent.mean, before.latent.mean, atol=1e-12)
    np.testing.assert_allclose(after.latent.std, before.latent.std, atol=1e-12)
    np.testing.assert_allclose(after.unknown_score, before.unknown_score, atol=1e-10)
    np.testing.assert_array_equal(again.predict(X_TEST), learner.predict(X_TEST))
    again.add(X_TEST[:3], labels[:3])
    assert again.posterior_.n == 183


@pytest.mark.parametrize(
    ("rows", "labels", "sentence"),
    [
        (np.array([[1.0, np.nan], [1, 2]]), [0, 1], "NaN"),
        (np.array([[1.0, np.inf], [1, 2]]), [0, 1], "infinity"),
        (np.array([[1.0, -2.0], [1, 2]]), [0, 1], "Negative values in data: X must hold numbers >= 0 only, got -2"),
        (np.ones((3, 2)), [1, 1, 1], "y must hold two classes or more, got one class only: 1"),
        (np.ones((3, 2)), [1, 2], "inconsistent numbers of samples|same length"),
    ],
)
def test_input_that_cannot_be_learned_from_gets_one_sentence(rows, labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        HistogramGPClassifier().fit(rows, labels)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"feature_transform": "log"}, "feature_transform must be one of"),
        ({"transform_parameter": "best"}, "transform_parameter must be one of 'left-out', 'evidence'"),
        ({"noise_variance": -1}, "noise_variance must be a finite number > 0"),
        ({"hellinger_share": 2}, "hellinger_share must be a number from 0 to 1, got 2"),
        ({"hellinger_share": "evidence"}, "hellinger_share must be one of 'left-out', 'auto', got 'evidence'"),
        ({"noise_balance": 2}, "noise_balance must be a number from 0 to 1, got 2"),
        ({"noise_balance": "evidence"}, "noise_balance must be one of 'left-out', 'auto', got 'evidence'"),
        ({"relevance": "some"}, "relevance must be one of"),
        ({"relevance": [1.0, -1.0]}, "relevance must be a list of numbers >= 0"),
        ({"relevance": [1.0, 1.0]}, "weights must be 60 numbers"),
        ({"tolerance": 0}, "tolerance must be a finite number > 0"),
        ({"quantization_bins": 0}, "quantization_bins must be a whole number"),
        ({"unknown_rule": "distance"}, "unknown_rule must be one of"),
        ({"false_alarm_rate": 1}, "false_alarm_rate must be a number between 0 and 1"),
        ({"criterion": "guess"}, "criterion must be one of"),
        ({"variance": "none"}, "variance must be one of"),
        ({"kernel": "precomputed"}, "kernel must be None for rows of histograms, a channel"),
    ],
    ids=lambda item: next(iter(item)) if isinstance(item, dict) else "",
)
def test_options_that_mean_nothing_get_one_sentence(options, sentence):
    with pytest.raises(FewsightError, match=sentence):
        HistogramGPClassifier(**options).fit(X, Y)


def test_a_row_of_another_width_names_the_right_one():
    learner = HistogramGPClassifier(noise_variance=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="60 features"):
        learner.predict(np.ones((2, 59)))


def test_empty_rows_empty_columns_ties_and_single_examples():
    rows = np.zeros((6, 5))
    rows[0, 0] = rows[1, 0] = rows[2, 1] = rows[3, 1] = 1.0  # ties; the last two rows and three columns are empty
    learner = HistogramGPClassifier().fit(rows, ["a", "a", "b", "b", "a", "b"])
    assert np.isfinite(learner.assess(rows).latent.std).all()
    two = HistogramGPClassifier().fit(np.eye(2), ["a", "b"])
    assert two.predict(np.eye(2)).tolist() == ["a", "b"]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"balanced": True}, {"noise_per_class": True}])
def test_examples_of_none_have_minus_one_everywhere(n_classes, options):
    rng = np.random.default_rng(5)
    group = np.arange(120) % (n_classes + 1)
    rows = np.abs(rng.normal(size=(120, 6))) + 2.0 * np.eye(6)[group]
    labels = np.array([*"abc"[:n_classes], NONE_OF_THESE], dtype=object)[group]
    model = HistogramGPClassifier(tolerance=1e-10, quantization_bins=None, **options).fit(rows, labels)
    assert model.classes_.tolist() == list("abc"[:n_classes])
    assert model.labels_.tolist() == labels.tolist()
    posterior = model.posterior_
    targets = np.where(group[:, None] == np.arange(n_classes), 1.0, -1.0)
    K, expected = posterior.operator @ np.eye(120), []
    for column in range(n_classes):
        noise = posterior.noise[:, column if posterior.noise.shape[1] > 1 else 0]
        inverse = np.linalg.inv(K + np.diag(noise))
        mean = inverse.sum(axis=0) @ targets[:, column] / inverse.sum()
        expected.append(K @ inverse @ (targets[:, column] - mean) + mean)
    np.testing.assert_allclose(model.latent_mean(rows), np.column_stack(expected), atol=1e-6)
    assert model.calibration_.n_examples == (group < n_classes).sum()
    added = HistogramGPClassifier(tolerance=1e-10, noise_variance=0.1).fit(rows[:60], labels[:60])
    grown = HistogramGPClassifier(tolerance=1e-10, noise_variance=0.1).fit(
        rows[:60][group[:60] < n_classes], labels[:60][group[:60] < n_classes]
    )
    grown.add(rows[:60][group[:60] == n_classes], labels[:60][group[:60] == n_classes])
    assert grown.latent_mean(rows).shape == added.latent_mean(rows).shape
    assert (grown.posterior_.classes == -1).sum() == (added.posterior_.classes == -1).sum() > 0


@pytest.mark.parametrize("balanced", [False, True])
def test_left_out_examples_choose_the_noise_where_evidence_is_a_poor_judge(balanced, monkeypatch):
    learner = HistogramGPClassifier(balanced=balanced)
    usual = learner.fit(X, Y).noise_variance_
    best, slope = 8.0, 1.0

    def stated(operator, classes, n_classes, noise, folds):
        return np.full(sum(map(len, folds)), slope * abs(np.log(noise.mean() / (best * usual * noise_scale))))

    noise_scale = balance_of(targets_of_columns(np.unique(Y, return_inverse=True)[1], 3)).mean() if balanced else 1.0
    monkeypatch.setattr(left_out_search, "left_out_losses", stated)
    chosen = HistogramGPClassifier(noise_variance="left-out", balanced=balanced).fit(X, Y)
    np.testing.assert_allclose(chosen.noise_variance_, 8 * usual)
    slope = 0.0  # no gain: that of the evidence stays
    again = HistogramGPClassifier(noise_variance="left-out", balanced=balanced).fit(X, Y)
    np.testing.assert_allclose(again.noise_variance_, usual)


def test_a_share_of_hellingers_kernel_equals_a_dense_reference_also_after_adding_and_from_a_file(tmp_path):
    roots, roots_test = np.sqrt(X), np.sqrt(X_TEST)
    mixed, mixed_test = 0.7 * K + 0.3 * roots @ roots.T, 0.7 * K_TEST + 0.3 * roots_test @ roots.T
    scale = np.trace(mixed) / len(mixed)
    options = {"noise_variance": 0.4, "hellinger_share": 0.3, "tolerance": 1e-12, "quantization_bins": None}
    learner = HistogramGPClassifier(**options).fit(X, Y)
    expected = dense_means(np.full((len(Y), 3), 0.4), K=mixed / scale, K_test=mixed_test / scale)
    np.testing.assert_allclose(learner.latent_mean(X_TEST), expected, rtol=1e-8, atol=1e-9)
    save(learner, tmp_path / "model.fewsight")
    opened = load(tmp_path / "model.fewsight")
    assert opened.hellinger_share_ == opened.hellinger_share == 0.3
    np.testing.assert_allclose(opened.latent_mean(X_TEST), learner.latent_mean(X_TEST), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(opened.latent(X_TEST).std, learner.latent(X_TEST).std, rtol=1e-6)
    grown = opened.add(X_TEST, Y_TEST)
    whole = grown.posterior_.operator @ np.eye(len(Y) + len(Y_TEST))
    np.testing.assert_allclose(whole[: len(Y), : len(Y)], mixed / scale, rtol=1e-10, atol=1e-12)


def test_left_out_examples_choose_how_much_of_the_kernel_is_hellingers(monkeypatch):
    best = 1.0

    def stated(operator, classes, n_classes, noise, folds):
        return np.full(sum(map(len, folds)), abs(operator.hellinger - best))

    monkeypatch.setattr(left_out_search, "left_out_losses", stated)
    for best in (0.0, 0.5, 1.0):
        learner = HistogramGPClassifier(noise_variance=0.4, hellinger_share="left-out").fit(X, Y)
        assert learner.hellinger_share_ == best
        assert learner.noise_variance_ == 0.4


def test_a_rare_class_is_ranked_better_by_left_out_examples_than_by_the_evidence():
    rare, label = words(900, 2, 3)
    kept = np.flatnonzero((label == "ant") | (np.arange(900) % 20 == 1))
    test, truth = words(600, 2, 4)
    usual, chosen = (
        roc_auc_score(truth == "bee", learner.fit(rare[kept], label[kept]).latent_mean(test)[:, 1])
        for learner in (
            HistogramGPClassifier(),
            HistogramGPClassifier(noise_variance="left-out", hellinger_share="left-out"),
        )
    )
    assert chosen > usual


def test_the_noise_of_left_out_examples_makes_them_no_less_probable():
    learner = HistogramGPClassifier(noise_variance="left-out").fit(X, Y)
    assert learner.score(X_TEST, Y_TEST) >= HistogramGPClassifier().fit(X, Y).score(X_TEST, Y_TEST) - 0.02


def test_with_one_example_of_each_class_nothing_is_learned_about_the_noise():
    rows, digits = load_digits(return_X_y=True)
    first = np.array([np.flatnonzero(digits == digit)[0] for digit in range(10)])
    learner = HistogramGPClassifier().fit(rows[first], digits[first])
    assert learner.noise_variance_ == 0.2
    exact = GPClassifier(HistogramIntersection()).fit(rows[first], digits[first])
    assert learner.score(rows, digits) > exact.score(rows, digits) - 0.02
    by_evidence = HistogramGPClassifier(noise_variance="evidence").fit(rows[first], digits[first])
    assert by_evidence.noise_variance_ > 100, "what is asked for is done: all is noise"
