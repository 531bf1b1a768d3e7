"""What every exported learner must satisfy."""

import importlib
import pkgutil
import re
from inspect import isabstract

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from fewsight._base.archive import read_archive, write_archive
from fewsight._base.errors import FewsightError, ModelFileError
from fewsight._base.types import State
from fewsight.channels import SpatialPmk
from fewsight.images import sample_set
from fewsight.kernels import RBF, HistogramIntersection, Linear
from fewsight.learners import LEARNERS, KernelLearner, Learner
from fewsight.persistence import KINDS as STORED
from fewsight.persistence import load, load_learner, save

RNG = np.random.default_rng(0)
X, Y = make_blobs(90, 4, centers=3, cluster_std=1.5, random_state=3)
X = X - X.min() + 0.1  # numbers > 0, which learners of histograms ask for
NAMES = np.array(["ant", "bee", "cat"])[Y]
TRAIN, TEST = slice(0, 60), slice(60, 90)


KINDS = [*LEARNERS.values()]
KERNEL_LEARNERS = [kind for kind in KINDS if issubclass(kind, KernelLearner)]


def every_learner_class(base=Learner):
    """All classes of fewsight that are learners and not abstract."""
    for folder in ("learners", "transfer"):
        package = importlib.import_module(f"fewsight.{folder}")
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    below = [kind for child in base.__subclasses__() for kind in (child, *every_learner_class(child))]
    return [kind for kind in dict.fromkeys(below) if kind.__module__.startswith("fewsight.") and not isabstract(kind)]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def learner(request):
    return request.param()


@pytest.fixture(params=every_learner_class(), ids=lambda kind: kind.__name__)
def any_learner(request):
    """Every learner, also one that only tells one category from a background, which has learned two classes."""
    return request.param().fit(X[TRAIN], NAMES[TRAIN] == "bee")


@pytest.fixture(params=KERNEL_LEARNERS, ids=lambda kind: kind.__name__)
def kernel_learner(request):
    return request.param()


def test_every_learner_is_registered_under_its_name_and_can_be_stored():
    assert {kind.name: kind for kind in LEARNERS.values()} == LEARNERS
    assert set(every_learner_class()) <= set(STORED.values())
    assert len({kind.title for kind in LEARNERS.values()}) == len(LEARNERS)


@pytest.mark.parametrize("kind", every_learner_class(), ids=lambda kind: kind.__name__)
def test_a_learner_says_what_it_is(kind):
    assert all(isinstance(text, str) and text for text in (kind.name, kind.title, kind.note))
    assert kind.note.endswith(".")
    assert set(kind.ways) <= {"average", "evidence"}
    assert kind.ways


def test_a_stored_learner_answers_as_before(learner, tmp_path):
    assert_stored(learner.fit(X[TRAIN], NAMES[TRAIN]), tmp_path)


def test_a_stored_learner_of_two_classes_answers_as_before(any_learner, tmp_path):
    assert_stored(any_learner, tmp_path)


def assert_stored(learner, folder):
    """A learner that was fitted comes back from a file, which gives the same file again."""
    save(learner, folder / "model")
    again = load_learner(folder / "model")
    assert type(again) is type(learner)
    np.testing.assert_array_equal(again.predict(X[TEST]), learner.predict(X[TEST]))
    for one, other in zip(again.latent(X[TEST]), learner.latent(X[TEST]), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)
    np.testing.assert_allclose(again.predict_proba(X[TEST]), learner.predict_proba(X[TEST]), rtol=0, atol=1e-10)
    assert again.left_out() == learner.left_out()
    assert again.found() == pytest.approx(learner.found())
    np.testing.assert_allclose(again.shares(1), learner.shares(1))
    save(again, folder / "again")
    assert (folder / "again").read_bytes() == (folder / "model").read_bytes()


def test_an_edited_file_is_refused_in_one_sentence(kernel_learner, tmp_path):
    save(kernel_learner.fit(X[TRAIN], NAMES[TRAIN]), tmp_path / "model")
    whole = read_archive(tmp_path / "model")
    header = {key: value for key, value in whole.header.items() if key != "digest"}
    for name, array in whole.arrays.items():
        for wrong in (array[:-1], array[None], np.full_like(array, np.nan) if array.dtype.kind == "f" else -1 - array):
            write_archive(tmp_path / "edited", State(header, {**whole.arrays, name: wrong}))
            with pytest.raises(ModelFileError, match=r"damaged or edited by hand \("):
                load(tmp_path / "edited")


def test_what_a_learner_cannot_do_is_one_sentence(any_learner):
    learner = any_learner
    attempts = (
        lambda: learner.leave_one_out(),
        lambda: learner.add(X[TEST], NAMES[TEST] == "bee"),
        lambda: learner.remove(np.array([0])),
        lambda: learner.borrower(),
        lambda: learner.unknown_score(X[TEST]),
        lambda: learner.is_unknown(X[TEST]),
    )
    for refusal in filter(None, map(refusal_of, attempts)):
        assert re.fullmatch(rf"{type(learner).__name__}: it[^\n]*\.", refusal)


def refusal_of(attempt):
    """What an attempt was refused with; None where it succeeded."""
    try:
        attempt()
    except FewsightError as refusal:
        return str(refusal)


def test_an_assessment_agrees_with_the_single_answers(any_learner):
    learner = any_learner
    found = learner.assess(X[TEST])
    np.testing.assert_allclose(found.latent.mean, learner.latent(X[TEST]).mean, atol=1e-10)
    np.testing.assert_allclose(found.probabilities, learner.predict_proba(X[TEST]), atol=1e-10)
    if found.unknown_score is not None:
        np.testing.assert_array_equal(found.unknown, found.unknown_score > found.threshold)
        np.testing.assert_array_equal(learner.is_unknown(X[TEST]), found.unknown)


def test_left_out_examples_are_recognised_where_the_learner_says_so(any_learner):
    found = any_learner.left_out()
    assert found is None or (0.8 < found.accuracy <= 1 and found.which)


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


def test_precomputed_equals_the_kernel_itself(kernel_learner):
    kernel = RBF(scale=2.0)
    direct = kernel_learner.set_params(kernel=kernel).fit(X[TRAIN], NAMES[TRAIN])
    gram = clone(kernel_learner).set_params(kernel="precomputed").fit(kernel.gram(X[TRAIN]), NAMES[TRAIN])
    K_test = kernel.gram(X[TEST], X[TRAIN])
    np.testing.assert_allclose(gram.latent(K_test).mean, direct.latent(X[TEST]).mean, atol=1e-9)
    np.testing.assert_allclose(gram.predict_proba(K_test), direct.predict_proba(X[TEST]), atol=1e-9)


@pytest.mark.parametrize("kind", [kind for kind in KERNEL_LEARNERS if "average" in kind.ways])
def test_a_list_of_gram_matrices_is_their_average(kind):
    grams = [kernel.gram(X) / np.diag(kernel.gram(X))[TRAIN].mean() for kernel in (RBF(scale=2.0), Linear())]
    several = kind("precomputed").fit([K[TRAIN, TRAIN] for K in grams], NAMES[TRAIN])
    one = kind("precomputed").fit(np.mean(grams, axis=0)[TRAIN, TRAIN], NAMES[TRAIN])
    expected = one.latent(np.mean(grams, axis=0)[TEST, TRAIN]).mean
    np.testing.assert_allclose(several.latent([K[TEST, TRAIN] for K in grams]).mean, expected, atol=1e-8)


def test_the_scale_of_the_kernel_does_not_matter(kernel_learner):
    K = RBF(scale=2.0).gram(X)
    kernel_learner.set_params(kernel="precomputed")
    small, large = (
        clone(kernel_learner).fit(f * K[TRAIN, TRAIN], Y[TRAIN]).latent(f * K[TEST, TRAIN]) for f in (1e-6, 1e6)
    )
    np.testing.assert_allclose(small.mean, large.mean, atol=1e-8)
    np.testing.assert_allclose(small.std, large.std, atol=1e-6)


def test_examples_without_a_label_are_left_out(learner):
    labels, kept = some_labels()
    learner.set_params(kernel=HistogramIntersection())
    some = clone(learner).fit(X[TRAIN], labels[TRAIN]).latent(X[TEST])
    only = clone(learner).fit(X[kept], labels[kept]).latent(X[TEST])
    np.testing.assert_allclose(some.mean, only.mean, atol=1e-10)


def test_examples_without_a_label_are_left_out_of_gram_matrices(kernel_learner):
    labels, kept = some_labels()
    kernel_learner.set_params(kernel="precomputed")
    K = RBF(scale=2.0).gram(X)
    some = clone(kernel_learner).fit(K[TRAIN, TRAIN], labels[TRAIN]).latent(K[TEST, TRAIN])
    only = clone(kernel_learner).fit(K[np.ix_(kept, kept)], labels[kept]).latent(K[TEST][:, kept])
    np.testing.assert_allclose(some.mean, only.mean, atol=1e-10)


def some_labels():
    """Labels of which every third is missing, and where the others stand among the training examples."""
    labels = NAMES.astype(object)
    labels[::3] = None
    return labels, [index for index in range(60) if labels[index] is not None]


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
    assert cross_val_score(make_pipeline(MinMaxScaler(clip=True), learner), X, NAMES, cv=3).mean() > 0.85


def test_a_block_of_the_wrong_width_names_the_right_one(kernel_learner):
    kernel_learner.set_params(kernel="precomputed").fit(RBF(scale=1.0).gram(X[TRAIN]), Y[TRAIN])
    with pytest.raises(FewsightError, match=r"X \(test x training\) must be a matrix of any x 60, got 30 x 59"):
        kernel_learner.predict(np.ones((30, 59)))


@pytest.mark.parametrize("kernel", ["rbf", 3, [], ["spatial_pmk"]])
def test_a_kernel_that_is_none_is_refused(learner, kernel):
    with pytest.raises(FewsightError, match="kernel must be"):
        learner.set_params(kernel=kernel).fit(X, Y)


def test_labels_that_cannot_be_used_are_refused(learner):
    with pytest.raises(FewsightError, match="at least one example must have a label"):
        learner.fit(X[:2], [None, None])
    with pytest.raises(FewsightError, match="same length, got 90 and 5"):
        learner.fit(X, Y[:5])
