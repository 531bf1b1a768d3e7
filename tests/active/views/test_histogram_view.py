"""Asking with the learner of many histograms: exact after every label, for rows and images, and undone at will."""

import numpy as np
import pytest
import scipy.sparse

from fewsight import ActiveLearner, load, save
from fewsight._base.errors import FewsightError
from fewsight.active import QUERY_RULES, ImagePool, Random
from fewsight.active.pools import histogram_rows
from fewsight.active.views import HistogramView
from fewsight.channels import Phog, SpatialPmk
from fewsight.images import sample_set
from fewsight.kernels import HistogramIntersection
from fewsight.learners import HistogramGPClassifier

RNG = np.random.default_rng(3)
TRUTH = np.arange(150) % 3
SHAPES = RNG.gamma(1.0, size=(3, 30)) + 0.3
X = np.array([RNG.dirichlet(SHAPES[c]) for c in TRUTH]) * (RNG.random((150, 30)) < 0.8)
NAMES = np.array(["ant", "bee", "cat"])[TRUTH]


def dense(positions, labels, classes, noise, transform=lambda x: x):
    """Means and variances of the whole pool with a free mean, by inverting."""
    rows = transform(X)
    K = HistogramIntersection().gram(rows)
    K = K / K.diagonal().mean()
    inverse = np.linalg.inv(K[np.ix_(positions, positions)] + noise * np.eye(len(positions)))
    targets = np.where(np.array(labels)[:, None] == np.array(classes), 1.0, -1.0)
    ones = inverse.sum(axis=0)
    means = ones @ targets / ones.sum()
    k = K[positions]
    variance = K.diagonal() - np.einsum("ij,ik,kj->j", k, inverse, k) + (1 - ones @ k) ** 2 / ones.sum()
    return k.T @ inverse @ (targets - means) + means, variance


def asked(n, rows=X, **options):
    active = ActiveLearner(
        HistogramGPClassifier(noise_variance=0.05), audit_share=0, relearn_every=None, **options
    ).fit(rows)
    for position in range(n):
        assert len(active.view_.mean) == 150  # so that the next label is followed, not learned with all others
        active.teach([position], [NAMES[position]])
    return active


@pytest.mark.parametrize("rows", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_means_and_variances_after_every_label_are_those_of_a_dense_reference(rows, n):
    view = asked(n, rows(X)).view_
    assert isinstance(view, HistogramView)
    mean, variance = dense(np.arange(n), NAMES[:n], view.classes, 0.05)
    np.testing.assert_allclose(view.mean, mean, atol=1e-5)
    np.testing.assert_allclose(view.variance, variance, atol=1e-5)


def test_covariances_say_how_the_next_answer_changes_all_means():
    active = asked(20)
    view, before = active.view_, active.view_.mean.copy()
    everything = np.arange(150)
    g = view.covariance(np.array([77]), everything)[0]
    np.testing.assert_allclose(view.covariance(everything, everything).diagonal(), view.variance, atol=1e-5)
    expected = before + np.outer(
        g / (view.variance[77] + 0.05), np.where(np.array(view.classes) == "ant", 1, -1) - before[77]
    )
    active.teach([77], ["ant"])
    np.testing.assert_allclose(active.view_.mean, expected, atol=1e-5)


def test_undo_and_another_answer_give_what_the_answers_alone_would_have_given():
    active = asked(12)
    active.teach([50, 51], ["newt", "ant"]).undo().teach([60], ["bee"])
    straight = asked(12).teach([60], ["bee"])
    np.testing.assert_allclose(active.view_.mean, straight.view_.mean, atol=1e-5)
    assert active.view_.classes == straight.view_.classes
    active.correct(60, "cat").undo()
    np.testing.assert_allclose(active.view_.mean, straight.view_.mean, atol=1e-5)


def test_with_more_labels_than_may_be_kept_means_are_the_same_to_the_tolerance(monkeypatch):
    kept = asked(40)
    monkeypatch.setattr(histogram_rows, "MOST_KEPT", 4 * 150 * 30)
    beyond = asked(40)
    np.testing.assert_allclose(beyond.view_.mean, kept.view_.mean, atol=2e-2)
    assert np.corrcoef(beyond.view_.variance, kept.view_.variance)[0, 1] > 0.8
    beyond.query()
    with pytest.raises(FewsightError, match="up to about 30 labels of this pool, got 40"):
        beyond.view_.covariance(np.array([0]), np.array([1]))


@pytest.mark.parametrize("rule", QUERY_RULES)
def test_every_rule_asks_and_the_whole_loop_learns(rule):
    active = ActiveLearner(HistogramGPClassifier(), rule).fit(X)
    for _ in range(36):
        query = active.query()
        active.teach(query.indices, NAMES[query.indices])
    assert len(set(active.view_.positions.tolist())) == 36
    assert (np.array(active.predict()) == NAMES).mean() > 0.75
    assert active.predict_proba().shape == (150, 3)
    assert active.status().accuracy is not None
    assert active.skip(active.query().indices).undo().query().indices.size == 1


def test_noise_is_learned_at_intervals_and_the_learner_is_taken_away_and_saved(tmp_path):
    active = ActiveLearner(HistogramGPClassifier(feature_transform="power"), rule=Random()).fit(X)
    active.teach(np.arange(60), NAMES[:60])
    model = active.learner_
    assert model.noise_variance_ != 0.01
    np.testing.assert_allclose(model.posterior_.exact_mean(X), active.view_.mean, atol=2e-2)
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), model.predict(X))
    assert model.predict(X[:5]).tolist() == [active.predict()[place] for place in range(5)]
    assert len(active.suspicious(5)) == 5


def test_a_wrong_label_is_among_the_first_to_look_at_again():
    told = NAMES[:60].copy()
    told[17] = "cat" if NAMES[17] != "cat" else "ant"
    active = ActiveLearner(HistogramGPClassifier(), audit_share=0).fit(X)
    active.teach(np.arange(60), told)
    assert 17 in active.suspicious(6).indices


def test_images_are_asked_about_through_channels_that_compare_histograms():
    images = sample_set()
    chosen = np.arange(0, len(images), 5)
    channels = [
        SpatialPmk(n_words=12, n_levels=1, n_descriptors=500),
        SpatialPmk(n_words=8, n_levels=1, n_descriptors=500),
    ]
    pool = ImagePool([images.images[i] for i in chosen], channels)
    truth = np.array(images.labels)[chosen]
    active = ActiveLearner(HistogramGPClassifier(channels, relevance="channels")).fit(pool)
    for _ in range(25):
        query = active.query()
        active.teach(query.indices, truth[query.indices])
    model = active.learner_
    assert len(model.weights_) == 2
    assert model.predict([images.images[i] for i in chosen[:2]]).shape == (2,)


@pytest.mark.parametrize(
    ("learner", "pool", "said"),
    [
        (HistogramGPClassifier(balanced=True), X, "one noise for all classes, got balanced=True"),
        (HistogramGPClassifier(), X - 0.5, "X must hold numbers >= 0"),
        (HistogramGPClassifier("precomputed"), np.eye(5), "rows of numbers >= 0, or images"),
        (HistogramGPClassifier(Phog()), [np.zeros((40, 40, 3))] * 3, "rows of numbers >= 0, or images"),
    ],
)
def test_what_cannot_be_asked_about_is_refused_in_one_sentence(learner, pool, said):
    with pytest.raises(FewsightError, match=said):
        ActiveLearner(learner).fit(pool)


def test_a_rule_asks_a_fitted_learner_as_it_is():
    learner = HistogramGPClassifier().fit(X[:60], NAMES[:60])
    assert len(QUERY_RULES["uncertainty"]().query(learner, X[60:], batch_size=4)) == 4
    with pytest.raises(FewsightError, match="without covariances"):
        QUERY_RULES["value_of_information"]().query(learner, X[60:])
