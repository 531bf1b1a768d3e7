"""The Gaussian process classifier beyond the common contract."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs

from fewsight._base.errors import FewsightError
from fewsight._base.none_of_these import NONE_OF_THESE
from fewsight.channels import Colour, SpatialPmk
from fewsight.gp import log_evidence_and_gradients
from fewsight.images import sample_set
from fewsight.kernels import RBF, Linear
from fewsight.learners import GPClassifier, gp_classifier
from fewsight.learners.folds import accuracy_of_left_out
from fewsight.persistence import load, save

X, Y = make_blobs(60, 3, centers=4, cluster_std=2.0, random_state=1)


NAMES = np.array(["ant", "bee", "cat", "dog"])[Y]


KERNEL = RBF(scale=3.0)


def test_latent_values_are_those_of_the_equations():
    """[Kapoor2010, eq. 5 and 6], written with an explicit inverse."""
    gp = GPClassifier(KERNEL, noise_variance=0.2, balanced=False).fit(X[:40], NAMES[:40])
    inverse = np.linalg.inv(KERNEL.gram(X[:40]) + 0.2 * np.eye(40))
    K_test = KERNEL.gram(X[40:], X[:40])
    targets = np.where(NAMES[:40, None] == gp.classes_, 1, -1)
    latent = gp.latent(X[40:])
    np.testing.assert_allclose(latent.mean, K_test @ inverse @ targets, atol=1e-10)
    variance = 1 - np.einsum("ij,jk,ik->i", K_test, inverse, K_test)
    np.testing.assert_allclose(latent.std, np.sqrt(variance)[:, None] + np.zeros(4), atol=1e-10)


def test_the_learned_noise_maximises_the_evidence():
    A, y = make_blobs(80, 3, centers=3, cluster_std=6.0, random_state=1)  # they overlap: some noise explains it best
    gp = GPClassifier(KERNEL, noise_variance="evidence").fit(A, y)
    targets = np.where(y[:, None] == gp.classes_, 1.0, -1.0)
    K = KERNEL.gram(A)

    def evidence(noise):
        return log_evidence_and_gradients([K], np.ones(1), targets, noise).value

    best = evidence(gp.noise_variance_)
    assert best >= max(evidence(gp.noise_variance_ * factor) for factor in (0.5, 0.9, 1.1, 2.0))


def test_learned_weights_tell_a_kernel_that_knows_from_one_that_does_not():
    A, y = make_blobs(80, 3, centers=4, cluster_std=5.0, random_state=1)  # they overlap
    useless = RBF(scale=3.0).gram(np.random.default_rng(0).normal(size=(80, 3)))
    grams = [RBF(scale=8.0).gram(A), useless]
    learned = GPClassifier("precomputed", weights="evidence").fit(grams, y)
    assert learned.weights_.sum() == pytest.approx(1.0)
    assert learned.weights_[1] < 0.2
    assert GPClassifier("precomputed", weights="evidence", noise_variance=0.3).fit(grams, y).noise_variance_ == 0.3


def test_given_weights_are_used_as_given():
    grams = [KERNEL.gram(X), Linear().gram(X)]
    gp = GPClassifier("precomputed", weights=[0.25, 2.0], noise_variance=0.1).fit(grams, NAMES)
    scaled = [K / np.diag(K).mean() for K in grams]
    K = 0.25 * scaled[0] + 2.0 * scaled[1]
    targets = np.where(NAMES[:, None] == gp.classes_, 1, -1)
    expected = np.linalg.solve(K + 0.1 * np.eye(60), targets)
    np.testing.assert_allclose(gp.posterior_.dual_weights, expected, atol=1e-8)


def test_balanced_targets_follow_the_class_sizes_and_the_noise_is_one():
    labels = np.array(["rare"] * 5 + ["common"] * 55)
    gp = GPClassifier(KERNEL, noise_variance=0.3, balanced=True).fit(X, labels)
    np.testing.assert_array_equal(gp.posterior_.noise_variance, np.full(60, 0.3))
    power = 0.8 * (30 / 6) ** -0.32  # two classes of 30 labels on average
    common, rare = (30 / 55) ** power, (30 / 5) ** power
    np.testing.assert_allclose(gp.posterior_.targets[[0, -1]], [[-rare, rare], [common, -common]])


def unevenly(generator):
    """Rows of classes of very different sizes and of none, in any order."""
    sizes = {"ant": 12, "bee": 3, "cat": 5, "dog": 1, NONE_OF_THESE: 4}
    labels = [label for label, size in sizes.items() for _ in range(size)]
    order = generator.permutation(len(labels))
    return generator.normal(size=(len(labels), 3)), [labels[place] for place in order]


def test_left_out_examples_are_what_balanced_classifiers_without_them_say():
    A, y = unevenly(np.random.default_rng(4))
    gp = GPClassifier(KERNEL, noise_variance=0.3).fit(A, y)
    groups = np.arange(len(y)) % 6
    for left_out, numbers in ((gp.leave_one_out(), np.arange(len(y))), (gp.leave_group_out(groups), groups)):
        for number in np.unique(numbers):
            rest, out = np.flatnonzero(numbers != number), np.flatnonzero(numbers == number)
            alone = GPClassifier(KERNEL, noise_variance=0.3).fit(A[rest], [y[place] for place in rest])
            columns = np.searchsorted(gp.classes_, alone.classes_)
            np.testing.assert_allclose(left_out.mean[np.ix_(out, columns)], alone.latent(A[out]).mean, atol=1e-9)


def test_classes_that_borrow_are_left_out_with_balanced_targets_too():
    A, y = unevenly(np.random.default_rng(5))
    gp = GPClassifier(KERNEL, noise_variance=0.3).fit(A, y).borrow("bee", "ant", 0.7)
    left_out = gp.leave_one_out().mean[:, 1]
    for place in range(len(y)):
        rest = np.delete(np.arange(len(y)), place)
        alone = GPClassifier(KERNEL, noise_variance=0.3).fit(A[rest], [y[other] for other in rest])
        column = alone.classes_.tolist().index("bee")
        alone.borrow("bee", "ant", 0.7)
        assert left_out[place] == pytest.approx(alone.latent(A[[place]]).mean[0, column], abs=1e-9)


def test_coming_and_going_examples_leave_the_balance_of_a_fresh_fit():
    A, y = unevenly(np.random.default_rng(6))
    grown = GPClassifier(KERNEL, noise_variance=0.3).fit(A[:8], y[:8])
    for place in range(8, len(y)):
        grown.add(A[[place]], y[place : place + 1])
    grown.remove([1, 9, 20])
    kept = np.delete(np.arange(len(y)), [1, 9, 20])
    whole = GPClassifier(KERNEL, noise_variance=0.3).fit(A[kept], [y[place] for place in kept])
    columns = [grown.classes_.tolist().index(label) for label in whole.classes_]
    np.testing.assert_allclose(grown.latent(X).mean[:, columns], whole.latent(X).mean, atol=1e-9)


def test_categories_are_balanced_unless_it_is_declined():
    labels = np.array(["rare"] * 5 + ["common"] * 55)
    plain, *balanced = (
        GPClassifier(KERNEL, noise_variance=0.3, **options).fit(X, labels).posterior_.targets[0, 1]
        for options in ({"balanced": False}, {"balanced": True}, {})
    )
    assert plain == 1.0
    assert balanced[0] == balanced[1] > 1.0


@pytest.mark.parametrize("precomputed", [False, True])
def test_adding_equals_fitting_on_everything_also_with_a_new_class(precomputed):
    order = np.argsort(Y, kind="stable")  # the last class is new
    A, y = X[order], NAMES[order]
    K = KERNEL.gram(A)
    if precomputed:
        grown = GPClassifier("precomputed", noise_variance=0.2).fit(K[:40, :40], y[:40]).add(K[40:, :], y[40:])
        whole = GPClassifier("precomputed", noise_variance=0.2).fit(K, y)
        test = KERNEL.gram(X[:7], A)
    else:
        grown = GPClassifier(KERNEL, noise_variance=0.2).fit(A[:40], y[:40]).add(A[40:], y[40:])
        whole = GPClassifier(KERNEL, noise_variance=0.2).fit(A, y)
        test = X[:7]
    assert grown.classes_.tolist() == whole.classes_.tolist()
    np.testing.assert_allclose(grown.latent(test).mean, whole.latent(test).mean, atol=1e-9)
    np.testing.assert_allclose(grown.latent(test).std, whole.latent(test).std, atol=1e-9)


def test_removing_what_was_added_restores_the_model():
    gp = GPClassifier(KERNEL, noise_variance=0.2).fit(X[:40], NAMES[:40])
    before = gp.latent(X[50:]).mean
    gp.add(X[40:45], NAMES[40:45]).remove(np.arange(40, 45))
    np.testing.assert_allclose(gp.latent(X[50:]).mean, before, atol=1e-9)


def test_leave_one_out_labels_are_those_of_refitting_without_each():
    gp = GPClassifier(KERNEL, noise_variance=0.2).fit(X, NAMES)
    by_hand = []
    for index in range(len(X)):
        rest = np.delete(np.arange(len(X)), index)
        by_hand.append(GPClassifier(KERNEL, noise_variance=0.2).fit(X[rest], NAMES[rest]).predict(X[[index]])[0])
    assert gp.leave_one_out_labels().tolist() == by_hand
    assert gp.labels_.tolist() == NAMES.tolist()


def test_bad_options_are_refused_in_one_sentence():
    with pytest.raises(FewsightError, match=r"GPClassifier: noise_variance must be a finite number > 0, got -1\."):
        GPClassifier(noise_variance=-1).fit(X, Y)
    with pytest.raises(FewsightError, match="noise_variance must be one of 'left-out', 'evidence', got 'evidense'"):
        GPClassifier(noise_variance="evidense").fit(X, Y)
    with pytest.raises(FewsightError, match="weights must be one of 'average', 'evidence'"):
        GPClassifier(weights="mean").fit(X, Y)
    with pytest.raises(FewsightError, match="weights must be >= 0"):
        GPClassifier(weights=[-1.0]).fit(X, Y)
    with pytest.raises(FewsightError, match="every added example must have a label"):
        GPClassifier().fit(X, NAMES).add(X[:2], ["ant", None])


def test_copies_of_a_picture_answer_for_none_of_them_and_are_remembered(tmp_path):
    tiles = [image for image in sample_set().images if image.name.startswith(("grass", "gravel"))][::9]
    names = [image.name.split("/")[0] for image in tiles]
    channel = SpatialPmk(n_words=5, n_descriptors=200, scales=(1.0,), step=16)
    plain = GPClassifier(channel, noise_variance=0.01).fit(tiles, names)
    twice = GPClassifier(channel, noise_variance=0.01).fit(tiles * 2, names * 2)
    assert plain.input_.copies() is None
    assert twice.input_.copies().tolist() == [*range(len(tiles))] * 2
    each = accuracy_of_left_out(twice.leave_one_out().mean, twice.posterior_.targets.argmax(axis=1))
    assert each == 1.0  # every image is recognised by its copy
    assert twice.left_out().accuracy < 1.0
    assert twice.left_out().which == "the images when each is left out with its copies"
    save(twice, tmp_path / "model")
    assert load(tmp_path / "model").left_out() == twice.left_out()
    assert twice.remove(np.arange(len(tiles))).input_.copies() is None
    assert twice.add(tiles[:2], names[:2]).left_out() is not None


@pytest.mark.parametrize("K", [-np.eye(6), np.diag([1.0, 1, 1, -5, 1, 1]), np.eye(6) - 0.5])
@pytest.mark.parametrize("noise", ["left-out", 0.001])
def test_a_gram_matrix_that_is_none_is_not_blamed_on_the_noise(K, noise):
    sentence = (
        r"semi-definite, got one with the eigenvalue -[0-9.]+, where|"
        "GPClassifier: the diagonal of a Gram matrix X must be >= 0, got -[15]"
    )
    with pytest.raises(FewsightError, match=sentence):
        GPClassifier("precomputed", noise_variance=noise).fit(K, [0, 0, 0, 1, 1, 1])


# None of these.


@pytest.fixture(scope="module")
def outsiders():
    """Four groups of points; the last belongs to no category."""
    rng = np.random.default_rng(0)
    group = np.arange(240) % 4
    rows = 3.0 * np.eye(4)[group] + rng.normal(size=(240, 4))
    labels = np.array(["ant", "bee", "cat", NONE_OF_THESE], dtype=object)[group]
    return rows, group, labels


@pytest.mark.parametrize("balanced", [False, True])
def test_an_example_of_none_is_one_more_with_minus_one_everywhere(outsiders, balanced):
    rows, _, labels = outsiders
    model = GPClassifier(RBF(scale=3.0), noise_variance=0.1, balanced=balanced).fit(rows[:80], labels[:80])
    targets = np.array([[1.0 if label == name else -1.0 for name in ("ant", "bee", "cat")] for label in labels[:80]])
    K = RBF(scale=3.0).gram(rows)
    dual = np.linalg.solve(K[:80, :80] + 0.1 * np.eye(80), targets)  # equal classes: balancing changes nothing
    np.testing.assert_allclose(model.latent(rows).mean, K[:, :80] @ dual, atol=1e-10)
    assert model.labels_.tolist() == labels[:80].tolist()
    added = GPClassifier(RBF(scale=3.0), noise_variance=0.1, balanced=balanced).fit(rows[:40], labels[:40])
    added.add(rows[40:80], labels[40:80])
    np.testing.assert_allclose(added.latent(rows).mean, model.latent(rows).mean, atol=1e-10)


def test_calibration_and_left_out_accuracy_are_about_categories_alone(outsiders):
    rows, group, labels = outsiders
    model = GPClassifier(RBF(scale=3.0)).fit(rows[:120], labels[:120])
    assert model.calibration_.n_examples == model.novelty_.n_examples == (group[:120] < 3).sum()
    mean = model.leave_one_out().mean[group[:120] < 3]
    right = mean.argmax(axis=1) == group[:120][group[:120] < 3]
    assert model.left_out().accuracy == pytest.approx(right.mean())


@pytest.mark.parametrize(("rule", "more"), [("latent", 0.3), ("contrast", 0.05), ("auto", 0.0)])
def test_what_belongs_to_none_is_called_unknown_more_often_once_that_was_said(outsiders, rule, more):
    rows, group, labels = outsiders
    known = np.where(group < 3, labels, None)
    learner = GPClassifier(RBF(scale=3.0), unknown_rule=rule)
    said, unsaid = (clone(learner).fit(rows[:120], y[:120]) for y in (labels, known))
    outside, inside = rows[120:][group[120:] == 3], rows[120:][group[120:] < 3]
    assert said.is_unknown(outside).mean() >= unsaid.is_unknown(outside).mean() + more
    assert said.is_unknown(inside).mean() < 0.15
    left_out = said.left_out_unknown()
    assert left_out[group[:120] == 3].mean() > 0.5 > left_out[group[:120] < 3].mean()


@pytest.mark.parametrize("noise", ["left-out", "evidence"])
def test_noise_and_weights_are_learned_from_the_categories_alone(outsiders, noise):
    rows, group, labels = outsiders
    kernels = [RBF(scale=3.0), RBF(scale=1.0), RBF(scale=0.3)]
    inside = group[:60] < 3
    said = GPClassifier(kernels, noise_variance=noise).fit(rows[:60], labels[:60])
    unsaid = GPClassifier(kernels, noise_variance=noise).fit(rows[:60][inside], labels[:60][inside])
    assert said.noise_variance_ == pytest.approx(unsaid.noise_variance_, rel=1e-9)
    np.testing.assert_allclose(said.weights_, unsaid.weights_, rtol=1e-9)


def test_with_few_examples_what_is_stranger_than_all_of_them_is_unknown_only_if_somebody_said_none(outsiders):
    rows, _, labels = outsiders
    model = GPClassifier(RBF(scale=3.0)).fit(rows[:9], labels[:9])
    assert np.isfinite(model.novelty_.threshold)
    assert not model.novelty_.holds
    without = GPClassifier(RBF(scale=3.0)).fit(rows[:9], [None if y is NONE_OF_THESE else y for y in labels[:9]])
    assert np.isinf(without.novelty_.threshold)


def test_one_category_and_what_is_none_of_it_is_learned(outsiders):
    rows, group, labels = outsiders
    some = np.isin(group, (0, 3))
    model = GPClassifier(RBF(scale=3.0)).fit(rows[some][:60], labels[some][:60])
    mean = model.latent(rows[some][60:]).mean[:, 0]
    assert np.mean((mean > 0) == (group[some][60:] == 0)) > 0.85


@pytest.mark.parametrize(
    ("indices", "said"),
    [
        ([60], r"GPClassifier: indices must be from 0 to below 60, got \[60\]\."),
        ([-1], r"GPClassifier: indices must be from 0 to below 60, got \[-1\]\."),
        ([1.0], r"GPClassifier: indices must be a list of whole numbers, got \[1\.0\]\."),
        (np.arange(60) < 2, "GPClassifier: indices must be a list of whole numbers"),
        ([3, 3], "GPClassifier: indices must name each example once"),
        (np.arange(60), "GPClassifier: indices must leave an example of some category, got those of all, 60"),
    ],
)
def test_indices_that_cannot_be_removed_are_said_by_the_classifier_and_change_nothing(indices, said):
    gp = GPClassifier(KERNEL).fit(X[:60], NAMES[:60])
    with pytest.raises(FewsightError, match=said):
        gp.remove(indices)
    assert len(gp.labels_) == 60


def test_the_width_of_a_row_is_known_also_of_gram_matrices_and_after_images_it_is_none():
    K = KERNEL.gram(X[:60])
    gp = GPClassifier("precomputed").fit(K[:50, :50], NAMES[:50])
    assert gp.n_features_in_ == 50
    assert gp.add(K[50:, :], NAMES[50:60]).n_features_in_ == 60
    tiles = sample_set().select(range(0, 550, 50))
    gp.set_params(kernel=Colour(longest_side=64)).fit(list(tiles.images), list(tiles.labels))
    assert not hasattr(gp, "n_features_in_")


def test_a_sparse_gram_matrix_is_refused_in_a_sentence():
    with pytest.raises(
        FewsightError, match=r"GPClassifier: X must be dense, got a sparse matrix; pass its toarray\(\)\."
    ):
        GPClassifier("precomputed").fit(scipy.sparse.csr_array(KERNEL.gram(X[:10])), NAMES[:10])


@pytest.mark.parametrize("outsiders", [False, True])
def test_many_new_examples_are_looked_at_some_at_a_time(outsiders, monkeypatch):
    labels = [NONE_OF_THESE if outsiders and place < 5 else name for place, name in enumerate(NAMES[:40].tolist())]
    gp = GPClassifier(KERNEL).fit(X[:40], labels)
    whole = gp.assess(X)
    monkeypatch.setattr(gp_classifier, "AT_A_TIME", 7)
    parts = gp.assess(X)
    np.testing.assert_allclose(parts.latent.mean, whole.latent.mean, atol=1e-12)
    np.testing.assert_allclose(parts.latent.std, whole.latent.std, atol=1e-12)
    np.testing.assert_allclose(parts.unknown_score, whole.unknown_score, atol=1e-10)
