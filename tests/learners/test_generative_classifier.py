"""One model of parts for each category, and Bayes' rule: what it answers, what it takes and what it refuses."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.channels import FisherDog, FisherHarris, Phog
from fewsight.images import ImageArray
from fewsight.learners import GenerativeClassifier
from fewsight.persistence import load_learner, save

QUICK = {"width": 48, "smallest": 3.0, "max_points": 8, "n_parts": 2, "n_components": 5, "scale": 1.0, "n_starts": 1}


def spots(first, seed, size=(48, 36)):
    """A bright spot left of a dark one, or the other way round."""
    rng = np.random.default_rng(seed)
    y, x = np.indices(size[::-1])
    picture, left = rng.normal(110.0, 2.0, size=size[::-1]), rng.integers(9, 16)
    for place, sign in (((left, 12), first), ((left + 20, 20 + rng.integers(-2, 3)), -first)):
        picture += sign * 90 * np.exp(-((x - place[0]) ** 2 + (y - place[1]) ** 2) / 18)
    return ImageArray(np.clip(picture, 0, 255).astype(np.uint8))


@pytest.fixture(scope="module")
def images():
    return [spots(1 - 2 * (number % 2), number) for number in range(40)]


LABELS = np.array(["up", "down"] * 20)  # not in the order of their names


@pytest.fixture(scope="module")
def learner(images):
    return GenerativeClassifier(FisherDog(**QUICK)).fit(images[:30], LABELS[:30])


def test_new_images_are_told_apart_by_the_ratio_of_likelihoods(learner, images):
    assert learner.predict(images[30:]).tolist() == LABELS[30:].tolist()
    ratio = np.diff(learner.log_likelihood(images[30:]), axis=1)[:, 0]  # of "up" against "down"
    np.testing.assert_array_equal(ratio > 0, LABELS[30:] == "up")


def test_columns_are_the_likelihoods_of_the_channels_own_models(learner, images):
    own = FisherDog(models="each", **QUICK).fit(images[:30], LABELS[:30]).log_likelihood(images[30:])
    np.testing.assert_allclose(learner.log_likelihood(images[30:]), own[:, ::-1])  # "up" came first


def test_likelihoods_of_several_channels_are_added_up(learner, images):
    channels = [FisherDog(**QUICK), FisherHarris(**QUICK)]
    both = GenerativeClassifier(channels).fit(images[:30], LABELS[:30])
    other = GenerativeClassifier(channels[1]).fit(images[:30], LABELS[:30])
    np.testing.assert_allclose(
        both.log_likelihood(images[30:]), learner.log_likelihood(images[30:]) + other.log_likelihood(images[30:])
    )
    assert not hasattr(channels[0], "learned_")


def test_a_frequent_category_is_more_probable_before_the_image_is_seen(images):
    few = [*range(0, 30, 2), 1, 3, 5, 7, 9]
    train, names = [images[i] for i in few], LABELS[few]
    equal, frequent = (
        GenerativeClassifier(FisherDog(**QUICK), prior=prior).fit(train, names) for prior in ("equal", "frequency")
    )
    np.testing.assert_allclose(np.exp(equal.log_priors_), [0.5, 0.5])
    np.testing.assert_allclose(np.exp(frequent.log_priors_), [0.25, 0.75])  # down, up
    apart = frequent.latent(images[30:]).mean - equal.latent(images[30:]).mean
    np.testing.assert_allclose(apart, np.log([[0.5, 1.5]] * 10))


def test_images_without_a_label_belong_to_no_model_but_are_looked_at(learner, images):
    names = LABELS[:30].astype(object)
    names[20:] = None
    some = GenerativeClassifier(FisherDog(**QUICK)).fit(images[:30], names)
    alone = GenerativeClassifier(FisherDog(**QUICK)).fit(images[:20], LABELS[:20])
    assert some.classes_.tolist() == ["down", "up"]
    assert some.channels[0].n_models == 2
    assert not np.allclose(some.log_likelihood(images[30:]), alone.log_likelihood(images[30:]))
    assert np.mean(some.predict(images[30:]) == LABELS[30:]) > 0.85


def test_it_is_stored_with_its_models_and_an_absurd_file_is_refused(learner, images, tmp_path):
    save(learner, tmp_path / "model")
    again = load_learner(tmp_path / "model")
    np.testing.assert_array_equal(again.log_likelihood(images), learner.log_likelihood(images))
    assert again.channels[0].localise(images[:1])[0].shape == (2, 3)
    state = learner.state()
    state.arrays["columns"] = np.array([0, 0])
    with pytest.raises(InvalidInput, match="the stored columns must name each of 2 models"):
        GenerativeClassifier.from_state(state)
    state = learner.state()
    state.header["classes"], state.arrays["columns"] = ["a", "b", "c"], np.arange(3)
    with pytest.raises(InvalidInput, match="every stored channel must have a model for each of 3 classes"):
        GenerativeClassifier.from_state(state)


@pytest.mark.parametrize(
    ("kernel", "prior", "X", "message"),
    [
        (Phog(), "equal", None, "kernel must be a channel that models images, such as FisherKb"),
        ([FisherDog(), Phog()], "equal", None, "kernel must be .*, or a list of them, got Phog"),
        ([], "equal", None, "kernel must be one or more channels, got none"),
        (FisherDog(), "even", None, "prior must be one of 'equal', 'frequency', got 'even'"),
        (FisherDog(), "equal", np.ones((4, 3)), "X must be a list of images, got"),
    ],
)
def test_what_it_cannot_learn_from_is_refused_in_one_sentence(kernel, prior, X, message, images):
    with pytest.raises(InvalidInput, match=f"GenerativeClassifier: {message}"):
        GenerativeClassifier(kernel, prior=prior).fit(images[:4] if X is None else X, ["a", "b", "a", "b"])
