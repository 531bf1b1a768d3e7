"""What every exported learner must satisfy."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from fewsight._base.errors import FewsightError
from fewsight.channels import SpatialPmk
from fewsight.images import sample_set
from fewsight.kernels import RBF, HistogramIntersection, Linear
from fewsight.learners import LEARNERS, KernelCombination

RNG = np.random.default_rng(0)
X, Y = make_blobs(90, 4, centers=3, cluster_std=1.5, random_state=3)
NAMES = np.array(["ant", "bee", "cat"])[Y]
TRAIN, TEST = slice(0, 60), slice(60, 90)


KINDS = [*LEARNERS.values(), KernelCombination]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def learner(request):
    return request.param()


@pytest.mark.parametrize(
    ("estimator", "check"),
    [pair for kind in KINDS for pair in estimator_checks_generator(kind())],
    ids=lambda item: getattr(getattr(item, "func", item), "__name__", type(item).__name__),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::fewsight._base.errors.JitterWarning")
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("labels", [Y, NAMES, Y == 1, NAMES.tolist(), NAMES.astype(object)])
def test_labels_of_every_kind_come_back_as_they_were(learner, labels):
    predicted = learner.fit(X[TRAIN], labels[TRAIN]).predict(X[TEST])
    assert set(predicted) <= set(labels)
    assert np.mean(predicted == np.asarray(labels[TEST])) > 0.85


def test_probabilities_sum_to_one_and_agree_with_the_decision(learner):
    learner.fit(X[TRAIN], NAMES[TRAIN])
    probability = learner.predict_proba(X[TEST])
    assert probability.shape == (30, 3)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_array_equal(learner.classes_[probability.argmax(axis=1)], learner.predict(X[TEST]))


def test_latent_has_a_column_per_class_also_for_two(learner):
    for labels in (NAMES, Y == 1):
        latent = learner.fit(X[TRAIN], labels[TRAIN]).latent(X[TEST])
        assert latent.mean.shape == latent.std.shape == (30, len(learner.classes_))
        assert (latent.std >= 0).all()


def test_precomputed_equals_the_kernel_itself(learner):
    kernel = RBF(scale=2.0)
    direct = learner.set_params(kernel=kernel).fit(X[TRAIN], NAMES[TRAIN])
    gram = clone(learner).set_params(kernel="precomputed").fit(kernel.gram(X[TRAIN]), NAMES[TRAIN])
    K_test = kernel.gram(X[TEST], X[TRAIN])
    np.testing.assert_allclose(gram.latent(K_test).mean, direct.latent(X[TEST]).mean, atol=1e-9)
    np.testing.assert_allclose(gram.predict_proba(K_test), direct.predict_proba(X[TEST]), atol=1e-9)


def test_a_list_of_gram_matrices_is_their_average(learner):
    grams = [kernel.gram(X) / np.diag(kernel.gram(X))[TRAIN].mean() for kernel in (RBF(scale=2.0), Linear())]
    learner.set_params(kernel="precomputed")
    several = clone(learner).fit([K[TRAIN, TRAIN] for K in grams], NAMES[TRAIN])
    one = clone(learner).fit(np.mean(grams, axis=0)[TRAIN, TRAIN], NAMES[TRAIN])
    expected = one.latent(np.mean(grams, axis=0)[TEST, TRAIN]).mean
    np.testing.assert_allclose(several.latent([K[TEST, TRAIN] for K in grams]).mean, expected, atol=1e-8)


def test_the_scale_of_the_kernel_does_not_matter(learner):
    K = RBF(scale=2.0).gram(X)
    learner.set_params(kernel="precomputed")
    small, large = (clone(learner).fit(f * K[TRAIN, TRAIN], Y[TRAIN]).latent(f * K[TEST, TRAIN]) for f in (1e-6, 1e6))
    np.testing.assert_allclose(small.mean, large.mean, atol=1e-8)
    np.testing.assert_allclose(small.std, large.std, atol=1e-6)


@pytest.mark.parametrize("kernel", [RBF(scale=2.0), "precomputed"])
def test_examples_without_a_label_are_left_out(learner, kernel):
    labels = NAMES.astype(object)
    labels[::3] = None
    kept = [index for index in range(60) if labels[index] is not None]
    learner.set_params(kernel=kernel)
    if kernel == "precomputed":
        K = RBF(scale=2.0).gram(X)
        some = clone(learner).fit(K[TRAIN, TRAIN], labels[TRAIN]).latent(K[TEST, TRAIN])
        only = clone(learner).fit(K[np.ix_(kept, kept)], labels[kept]).latent(K[TEST][:, kept])
    else:
        some = clone(learner).fit(X[TRAIN], labels[TRAIN]).latent(X[TEST])
        only = clone(learner).fit(X[kept], labels[kept]).latent(X[TEST])
    np.testing.assert_allclose(some.mean, only.mean, atol=1e-10)


def test_images_go_through_a_channel(learner):
    tiles = sample_set()
    brick, grass = (
        [image for image, label in zip(tiles.images, tiles.labels, strict=True) if label == name][:8]
        for name in tiles.classes[:2]
    )
    channel = SpatialPmk(n_words=20, n_descriptors=1_000, scales=(1.0,), longest_side=64)
    learner.set_params(kernel=channel).fit([*brick[:5], *grass[:5]], ["a"] * 5 + ["b"] * 5)
    assert learner.predict([*brick[5:], *grass[5:]]).tolist().count("a") in {2, 3, 4}
    assert not hasattr(channel, "learned_")  # the channel that was passed is left as it was


def test_sparse_histograms_equal_dense_ones(learner):
    H = RNG.random((40, 12)) * (RNG.random((40, 12)) < 0.4)
    labels = np.arange(40) % 2
    learner.set_params(kernel=HistogramIntersection())
    dense = clone(learner).fit(H[:30], labels[:30]).latent(H[30:]).mean
    sparse = clone(learner).fit(scipy.sparse.csr_array(H[:30]), labels[:30]).latent(scipy.sparse.csr_array(H[30:])).mean
    np.testing.assert_allclose(sparse, dense, atol=1e-10)


def test_it_works_in_pipelines_and_cross_validation(learner):
    assert cross_val_score(make_pipeline(StandardScaler(), learner), X, NAMES, cv=3).mean() > 0.85


def test_a_block_of_the_wrong_width_names_the_right_one(learner):
    learner.set_params(kernel="precomputed").fit(RBF(scale=1.0).gram(X[TRAIN]), Y[TRAIN])
    with pytest.raises(FewsightError, match=r"X \(test x training\) must be a matrix of any x 60, got 30 x 59"):
        learner.predict(np.ones((30, 59)))


@pytest.mark.parametrize("kernel", ["rbf", 3, [], ["spatial_pmk"]])
def test_a_kernel_that_is_none_is_refused(learner, kernel):
    with pytest.raises(FewsightError, match="kernel must be a kernel object"):
        learner.set_params(kernel=kernel).fit(X, Y)


def test_labels_that_cannot_be_used_are_refused(learner):
    with pytest.raises(FewsightError, match="at least one example must have a label"):
        learner.fit(X[:2], [None, None])
    with pytest.raises(FewsightError, match="same length, got 90 and 5"):
        learner.fit(X, Y[:5])
