"""The view of a pool equals what fitting again would say, whatever was appended and taken back."""

import numpy as np
import pytest
import scipy.sparse

from fewsight._base.errors import InvalidInput
from fewsight._base.none_of_these import NONE_OF_THESE
from fewsight.active import GramPool, ImagePool, PoolView, VectorPool
from fewsight.active.views import Hyperparameters
from fewsight.channels import Colour, Phog, SpatialPmk, Texture
from fewsight.images import sample_set
from fewsight.kernels import RBF, HistogramIntersection, Linear
from fewsight.learners import GPClassifier
from fewsight.learners.balance import balanced_targets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 5))
NAMES = np.array(["ant", "bee", "cat", "dog"])[RNG.integers(0, 4, 80)]
SETTINGS = Hyperparameters(np.ones(1), 0.05)


def assert_equals_refit(view, positions, labels, kernel, examples, noise=0.05):
    """A classifier fitted on these examples says the same about all of them."""
    refit = GPClassifier(kernel, noise_variance=noise, balanced=False).fit(examples[positions], labels)
    latent = refit.latent(examples)
    columns = [refit.classes_.tolist().index(label) for label in view.classes]
    np.testing.assert_allclose(view.mean, latent.mean[:, columns], atol=1e-8)
    np.testing.assert_allclose(np.sqrt(view.variance), latent.std[:, 0], atol=1e-7)
    np.testing.assert_array_equal(np.array(view.classes)[view.decisions()], refit.predict(examples))


@pytest.mark.parametrize("n", [1, 2, 17, 40])  # 17: past the first room for rows
def test_appending_label_by_label_equals_refitting(n):
    view = PoolView(VectorPool(X, RBF(scale=2.0)), SETTINGS)
    for position in range(n):
        view.append(position, str(NAMES[position]))
    assert_equals_refit(view, np.arange(n), NAMES[:n], RBF(scale=2.0), X)
    assert view.n_labelled == n
    assert view.unlabelled.sum() == 80 - n


def test_starting_with_many_labels_equals_appending_them():
    pool = GramPool(RBF(scale=2.0).gram(X))
    one, all_at_once = PoolView(pool, SETTINGS), PoolView(pool, SETTINGS)
    for position in range(20):
        one.append(position, str(NAMES[position]))
    all_at_once.start(range(20), NAMES[:20].tolist(), one.classes)
    for view in (one, all_at_once):
        view.append(33, "a class seen for the first time")
    np.testing.assert_allclose(one.mean, all_at_once.mean, atol=1e-10)
    np.testing.assert_allclose(one.variance, all_at_once.variance, atol=1e-10)


@pytest.mark.parametrize("many", [1, 5_000])  # images from which on single precision is used
def test_a_pool_of_images_gives_one_answer_however_labels_come(many, monkeypatch):
    """The kernel of two images depends a little on whose row it is read from; learning anew must not stumble over that."""
    monkeypatch.setattr("fewsight.active.pools.images.MANY", many)
    sample = sample_set()
    pool = ImagePool(sample.images[::4], [Colour(), Phog(), Texture()])
    labels, known = [str(label) for label in sample.labels[::4]], np.arange(0, 120, 2)
    rows = pool.parts(known)
    assert any((block[:, known] != block[:, known].T).any() for block in rows)  # else this tests nothing
    settings = Hyperparameters(np.full(3, 1 / 3), 0.01)
    one_by_one, block, at_once = (PoolView(pool, settings) for _ in range(3))
    names = [labels[position] for position in known]
    for position, name in zip(known.tolist(), names, strict=True):
        one_by_one.append(position, name)
    block.extend(known.tolist(), names)
    at_once.start(known.tolist(), names, one_by_one.classes)
    assert_same = np.testing.assert_allclose
    for view in (block, at_once):
        rest = np.setdiff1d(np.arange(len(pool)), known)
        assert_same(view.mean[rest], one_by_one.mean[rest], rtol=0, atol=1e-9)
        assert_same(view.variance[rest], one_by_one.variance[rest], rtol=0, atol=1e-9)
        assert_same(view.mean[known], one_by_one.mean[known], rtol=0, atol=1e-5)
    assert np.isfinite(at_once.closed_form().posterior().dual_weights).all()


def test_taking_back_everything_returns_to_the_prior_step_by_step():
    view = PoolView(VectorPool(X, RBF(scale=2.0)), SETTINGS)
    view.start(range(3), ["a", "b", "a"], ["a", "b"])
    before = []
    for position in range(3, 30):
        before.append((view.mean.copy(), view.variance.copy(), list(view.classes)))
        view.append(position, f"class {position % 7}")
    for mean, variance, classes in reversed(before):
        view.take_back()
        assert view.classes == classes
        np.testing.assert_allclose(view.mean, mean, atol=1e-8)
        np.testing.assert_allclose(view.variance, variance, atol=1e-8)
    assert [view.take_back() for _ in range(3)] == ["a", "b", "a"]
    assert view.classes == []
    assert view.unlabelled.all()
    np.testing.assert_allclose(view.variance, 1.0, atol=1e-8)
    with pytest.raises(InvalidInput, match="no label of this pool is left to take back"):
        view.take_back()


@pytest.mark.parametrize(
    ("kernel", "examples"),
    [
        (RBF(scale=2.0), X),
        (Linear(), X),  # whose diagonal is not 1
        (HistogramIntersection(), np.abs(X)),
        (HistogramIntersection(), scipy.sparse.csr_array(np.abs(X) * (X > 0))),
    ],
)
def test_a_view_of_a_fitted_learner_follows_its_add(kernel, examples):
    learner = GPClassifier(kernel, noise_variance=0.1, balanced=False).fit(examples[:20], NAMES[:20])
    view = PoolView.of(learner, examples[20:])
    np.testing.assert_allclose(view.mean, learner.latent(examples[20:]).mean, atol=1e-8)
    for position, label in enumerate(["ant", "elk", "bee"]):
        view.append(position, label)
        learner.add(examples[[20 + position]], [label])
    latent = learner.latent(examples[20:])
    assert view.classes == learner.classes_.tolist()
    np.testing.assert_allclose(view.mean, latent.mean, atol=1e-8)
    np.testing.assert_allclose(view.variance, latent.std[:, 0] ** 2, atol=1e-8)
    np.testing.assert_allclose(view.probabilities(), learner.predict_proba(examples[20:]), atol=1e-8)


@pytest.mark.parametrize("kernel", [RBF(scale=2.0), Linear()])
def test_balanced_targets_follow_every_label(kernel):
    """By brute force: the levels are those of all labels there are, also of examples outside the pool."""
    labels = np.array(["ant"] * 9 + ["bee"] * 3)
    learner = GPClassifier(kernel, noise_variance=0.1).fit(X[:12], labels)
    view = PoolView.of(learner, X[12:])
    np.testing.assert_allclose(view.mean, learner.latent(X[12:]).mean, atol=1e-8)
    every, K, seen = labels.tolist(), kernel.gram(X) / learner.input_.scales[0], []
    for position, label in enumerate(["bee", "elk", NONE_OF_THESE, "ant"]):
        view.append(position, label)
        every.append(label)
        plain = np.array([[1.0 if label == name else -1.0 for name in view.classes] for label in every])
        n, targets = len(every), balanced_targets(plain)
        expected = K[12:, :n] @ np.linalg.solve(K[:n, :n] + 0.1 * np.eye(n), targets)
        np.testing.assert_allclose(view.mean, expected, atol=1e-8)
        np.testing.assert_allclose(view.targets_if(0), targets[0], atol=1e-12)
        seen.append(expected)
    view.take_back()
    np.testing.assert_allclose(view.mean, seen[-2], atol=1e-8)


def test_a_view_of_a_learner_on_gram_matrices_needs_the_one_of_the_pool():
    K = RBF(scale=2.0).gram(X)
    learner = GPClassifier("precomputed", noise_variance=0.1).fit(K[:20, :20], NAMES[:20])
    view = PoolView.of(learner, K[20:, :20], K[20:, 20:])
    np.testing.assert_allclose(view.mean, learner.latent(K[20:, :20]).mean, atol=1e-8)
    with pytest.raises(InvalidInput, match=r"Gram matrix must be given as pool_gram \(m x m\), got none"):
        PoolView.of(learner, K[20:, :20])


def test_several_kernels_are_combined_by_weight_over_scale():
    grams = [RBF(scale=2.0).gram(X), 5.0 * Linear().gram(X)]
    labels = NAMES[:20]
    learner = GPClassifier("precomputed", noise_variance=0.1, weights=[0.7, 0.3], balanced=False)
    learner.fit([gram[:20, :20] for gram in grams], labels)
    settings = Hyperparameters(learner.weights_ / learner.input_.scales, 0.1)
    view = PoolView(GramPool(grams), settings)
    for position in range(20):
        view.append(position, str(labels[position]))
    expected = learner.latent([gram[:, :20] for gram in grams]).mean
    columns = [learner.classes_.tolist().index(label) for label in view.classes]
    np.testing.assert_allclose(view.mean, expected[:, columns], atol=1e-8)


def test_images_are_encoded_once_and_give_the_same_as_a_fitted_learner():
    tiles = sample_set()
    images = tiles.images[::12]
    labels = tiles.labels[::12]
    channel = SpatialPmk(n_words=20, n_descriptors=1_000, scales=(1.0,), longest_side=64)
    learner = GPClassifier(channel, noise_variance=0.1, balanced=False).fit(images[::2], labels[::2])
    view = PoolView.of(learner, images[1::2])
    np.testing.assert_allclose(view.mean, learner.latent(images[1::2]).mean, atol=1e-8)
    view.append(0, "new")
    learner.add([images[1]], ["new"])
    np.testing.assert_allclose(view.mean, learner.latent(images[1::2]).mean, atol=1e-8)


def test_exact_duplicates_with_hardly_any_noise_stay_finite():
    view = PoolView(VectorPool(np.zeros((6, 2)), RBF(scale=1.0)), Hyperparameters(np.ones(1), 1e-12))
    for position in range(5):
        view.append(position, "a" if position % 2 else "b")
    assert np.isfinite(view.mean).all()
    assert (view.variance >= 0).all()


def test_covariances_predict_what_an_answer_changes():
    view = PoolView(VectorPool(X, RBF(scale=2.0)), SETTINGS)
    for position in range(12):
        view.append(position, str(NAMES[position]))
    covariance = view.covariance(np.array([50]), np.arange(80))[0]
    before, here, pivot = view.mean.copy(), view.mean[50].copy(), view.variance[50] + 0.05
    view.append(50, view.classes[0])
    targets = np.where(np.arange(len(view.classes)) == 0, 1.0, -1.0)
    np.testing.assert_allclose(view.mean, before + np.outer(covariance / pivot, targets - here), atol=1e-10)


@pytest.mark.parametrize(
    ("grams", "message"),
    [
        (np.ones((2, 3)), r"square \(pool x pool\), got shape \(2, 3\)"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "finite numbers only"),
        (np.array([[1.0, 0.5], [0.1, 1.0]]), "symmetric"),
        ([np.eye(2), np.eye(3)], "one size, got"),
    ],
)
def test_a_matrix_that_is_no_gram_matrix_of_a_pool_is_refused(grams, message):
    with pytest.raises(InvalidInput, match=message):
        GramPool(grams)


@pytest.mark.parametrize("balanced", [False, True])
def test_labels_learned_as_a_block_are_what_they_are_one_by_one(balanced, monkeypatch):
    monkeypatch.setattr("fewsight.active.views.pool_view.AT_A_TIME", 7)  # several blocks
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(60, 3))
    labels = [f"class {int(number)}" for number in rng.integers(0, 4, 20)]
    settings = Hyperparameters(np.ones(1), 0.1, balanced)
    block, single = (PoolView(VectorPool(rows, RBF(scale=1.0)), settings) for _ in range(2))
    believed = []
    for position, label in enumerate(labels):
        believed.append(single.guess(position))
        single.append(position, label)
    assert block.extend(range(20), labels) == believed
    assert believed[0] is None
    np.testing.assert_allclose(block.mean, single.mean, atol=1e-12)
    np.testing.assert_allclose(block.variance, single.variance, atol=1e-12)
    assert block.labelled == single.labelled


@pytest.mark.parametrize("balanced", [False, True])
def test_a_supposition_counts_as_labels_and_leaves_no_trace(balanced):
    settings = Hyperparameters(np.ones(1), 0.05, balanced)
    view, other = (PoolView(VectorPool(X, RBF(scale=2.0)), settings) for _ in range(2))
    for each in (view, other):
        each.extend(range(12), NAMES[:12].tolist())
    mean, variance, held = view.mean.copy(), view.variance.copy(), np.array([20, 31])
    with view.supposing(held) as learned:
        assert learned
        assert not view.unlabelled[held].any()
        other.append(20, other.guess(20))
        other.append(31, other.guess(31))
        np.testing.assert_allclose(view.mean, other.mean, atol=1e-12)
        assert view.n_labelled == 14
    np.testing.assert_array_equal(view.mean, mean)
    np.testing.assert_array_equal(view.variance, variance)
    assert view.n_labelled == 12
    assert view.unlabelled.sum() == 68
    with pytest.raises(KeyError), view.supposing(held):
        raise KeyError
    np.testing.assert_array_equal(view.mean, mean)
    view.append(20, "new")
    view.take_back()
    np.testing.assert_allclose(view.mean, mean, atol=1e-12)
