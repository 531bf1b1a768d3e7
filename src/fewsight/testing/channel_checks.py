"""What every channel must satisfy."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from fewsight._base.archive import read_archive, write_archive
from fewsight._base.errors import ModelFileError, UnreadableImage
from fewsight._base.types import State
from fewsight.active import ActiveLearner
from fewsight.channels import CHANNELS, Channel, Encodings, make_channel
from fewsight.evaluation import Protocol, evaluate
from fewsight.images import FeatureCache, Image, ImageSet, as_image, sample_set
from fewsight.learners import GPClassifier
from fewsight.persistence import load, load_learner, save
from fewsight.testing.refusals import check_is, refusal

Images = Sequence[Image]
ODD_IMAGES: list[Image] = [
    as_image(np.full(shape, 0.5, np.float32)) for shape in [(1, 1, 3), (2, 300, 3), (300, 2, 3), (7, 7, 3)]
]
FLAT_IMAGES: list[Image] = [as_image(np.full((40, 40, 3), level, np.float32)) for level in (0.2, 0.8)]


def some_images(n: int = 12) -> list[Image]:
    """Tiles of the sample set, of as many categories as there are."""
    tiles = sample_set()
    return [tiles.images[index] for index in range(0, len(tiles), len(tiles) // n)][:n]


def same(A: Encodings, B: Encodings) -> bool:
    """Whether encodings are equal to the last bit; some have millions of columns, so never made dense."""
    one, other = A.state(), B.state()
    return (
        one.header == other.header
        and one.arrays.keys() == other.arrays.keys()
        and all(np.array_equal(one.arrays[name], other.arrays[name]) for name in one.arrays)
    )


def it_is_registered_under_its_name(channel: Channel, images: Images) -> None:
    name = type(channel).__name__
    assert CHANNELS.is_registered(type(channel)), f"{name} must be registered: fewsight.register({name})"
    assert (type(channel).__doc__ or "").strip(), "a channel must have a docstring, which `fewsight channels` shows"


def every_image_is_encoded_and_the_gram_matrix_is_valid(channel: Channel, images: Images) -> None:
    fitted = clone(channel).fit(images[:8])
    A = fitted.encode(images)
    assert isinstance(A, fitted.encodings)
    assert A.shape == (len(images), fitted.n_columns)
    K = fitted.gram(A)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-10
    np.testing.assert_allclose(np.diag(K), fitted.diag(A), rtol=1e-12)
    np.testing.assert_allclose(fitted.gram(A, A.take(np.arange(5))), K[:, :5], rtol=1e-12)
    np.testing.assert_allclose(np.diag(fitted.distances(A, A)), 0, atol=1e-7)


def its_encodings_can_be_taken_joined_and_stored(channel: Channel, images: Images) -> None:
    fitted = clone(channel).fit(images[:8])
    A = fitted.encode(images)
    assert same(fitted.encode(images[:5]).join(fitted.encode(images[5:])), A)
    assert same(A.take(np.array([3, 0, 3])), fitted.encode([images[3], images[0], images[3]]))
    assert same(fitted.encodings.from_state(A.state()), A)
    assert len(fitted.encode([])) == 0
    np.testing.assert_allclose(fitted.against(A).gram(A.take(np.array([2]))), fitted.gram(A)[2:3], rtol=1e-12)
    rounded, scale = fitted.against(A, single=True).gram(A.take(np.array([2]))), np.abs(fitted.diag(A)).max()
    np.testing.assert_allclose(rounded, fitted.gram(A)[2:3], atol=1e-6 * scale)


def an_encoding_does_not_depend_on_its_company(channel: Channel, images: Images) -> None:
    fitted = clone(channel).fit(images[:8])
    together, alone = fitted.encode(images), fitted.encode(images[9:10])
    assert same(together.take(np.array([9])), alone)


def the_number_of_jobs_changes_nothing(channel: Channel, images: Images) -> None:
    one, several = (clone(channel).set_workplace(cache=None, n_jobs=jobs).fit(images) for jobs in (1, 2))
    assert same(one.encode(images), several.encode(images))


def the_cache_changes_nothing_and_is_used(channel: Channel, images: Images) -> None:
    plain = clone(channel).fit(images).encode(images)
    with tempfile.TemporaryDirectory() as folder:
        cache = FeatureCache(Path(folder))
        for _ in range(2):  # the first fills it, the second reads it
            kept = clone(channel).set_workplace(cache=cache, n_jobs=None).fit(images)
            assert same(kept.encode(images), plain)
        if kept._kept is not None:  # what is quick to make anew need not be kept
            kept._describe = _never
            assert same(kept.fit(images).encode(images), plain)


def _never(image: Image) -> None:
    raise AssertionError("an image that is in the cache must not be described again")


def damaged_entries_of_the_cache_are_computed_again(channel: Channel, images: Images) -> None:
    """Features, what was learned and encodings: whole files that hold something else than they should."""
    expected = clone(channel).set_workplace(cache=None, n_jobs=None).fit(images[:2]).encode(images[:2])
    with tempfile.TemporaryDirectory() as folder:
        here = clone(channel).set_workplace(cache=FeatureCache(folder), n_jobs=None)
        clone(here).fit(images[:2]).encode(images[:2])
        for damage in _DAMAGES:
            for entry in Path(folder).glob("??/*"):
                whole = read_archive(entry)
                write_archive(entry, State(whole.header, damage(whole.arrays)))
            assert same(clone(here).fit(images[:2]).encode(images[:2]), expected)


Arrays = dict[str, npt.NDArray[Any]]
_DAMAGES: tuple[Callable[[Arrays], Arrays], ...] = (
    lambda arrays: {name: array[None] for name, array in arrays.items()},
    lambda arrays: {name: array.astype("U8") for name, array in arrays.items()},
    lambda arrays: {name: array * np.nan if array.dtype.kind == "f" else array[:0] for name, array in arrays.items()},
    lambda arrays: {**arrays, "more": np.zeros(3)},
    lambda arrays: {},
)


def it_learns_from_training_images_only(channel: Channel, images: Images) -> None:
    """What test images look like never reaches the encoding of others."""
    fitted = clone(channel).fit(images[:8])
    before = fitted.encode(images[:8])
    fitted.encode(images)
    assert same(fitted.encode(images[:8]), before)


def its_state_survives_json_and_gives_the_same_encodings(channel: Channel, images: Images) -> None:
    fitted = clone(channel).fit(images[:8])
    state = fitted.state()
    restored = type(channel).from_state(State(json.loads(json.dumps(state.header, allow_nan=False)), state.arrays))
    assert same(restored.encode(images), fitted.encode(images))


def an_edited_file_of_it_is_refused(channel: Channel, images: Images) -> None:
    with tempfile.TemporaryDirectory() as folder:
        model, edited = Path(folder) / "model", Path(folder) / "edited"
        save(clone(channel).fit(images[:8]), model)
        whole = read_archive(model)
        header = {key: value for key, value in whole.header.items() if key != "digest"}
        for name, array in whole.arrays.items():
            other = np.full_like(array, np.nan) if array.dtype.kind == "f" else -2 - array
            for wrong in (array[:0], array[None], other, array.astype("U8")):
                write_archive(edited, State(header, {**whole.arrays, name: wrong}))
                with refusal(r"damaged or edited by hand \(", ModelFileError):
                    load(edited)
        write_archive(edited, State(header, {**whole.arrays, "model/learned/more": np.zeros(3)}))
        with refusal(r"the stored array model/learned/more is read by nobody", ModelFileError):
            load(edited)


def it_can_be_cloned_and_an_unfitted_one_says_so(channel: Channel, images: Images) -> None:
    unfitted = clone(clone(channel).fit(images[:8]))
    with refusal("call fit"):
        unfitted.encode(images)


def fit_leaves_its_options_alone(channel: Channel, images: Images) -> None:
    before = channel.get_params()
    assert clone(channel).fit(images[:4]).get_params() == before


def tiny_and_narrow_images_have_an_encoding(channel: Channel, images: Images) -> None:
    fitted = clone(channel).fit(images[:4])
    for odd in ODD_IMAGES:
        assert np.isfinite(fitted.gram(fitted.encode([odd]), fitted.encode(images[:4]))).all()


def flat_images_alone_can_be_fitted(channel: Channel, images: Images) -> None:
    fitted = clone(channel).fit(FLAT_IMAGES)
    assert np.isfinite(fitted.gram(fitted.encode(FLAT_IMAGES))).all()


def what_cannot_be_read_is_reported_and_not_encoded(channel: Channel, images: Images) -> None:
    with tempfile.TemporaryDirectory() as folder:
        broken = Path(folder) / "broken.jpg"
        broken.write_bytes(b"not an image")
        cache = FeatureCache(Path(folder) / "cache")
        fitted = clone(channel).set_workplace(cache=cache, n_jobs=None).fit(images[:4])
        assert [error.name for error in fitted.prepare([*images[:2], broken])] == [str(broken)]
        with refusal(r"broken\.jpg", UnreadableImage):
            fitted.encode([broken])


def no_images_at_all_is_one_sentence(channel: Channel, images: Images) -> None:
    with refusal("at least one image"):
        clone(channel).fit([])


def a_wrong_name_or_option_lists_the_right_ones(channel: Channel, images: Images) -> None:
    with refusal(channel.name):
        make_channel("no_such_channel")
    with refusal("n_jobs"):
        make_channel(channel.name, no_such_option=1)


def options_that_are_none_are_refused_with_and_without_a_cache(channel: Channel, images: Images) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for cache in (None, FeatureCache(Path(folder))):
            here = clone(channel).set_workplace(cache=cache, n_jobs=None)
            with refusal("random_state must be a whole number"):
                clone(here).set_params(random_state=-1).fit(images[:2])
            if "longest_side" in here.get_params():
                with refusal("longest_side must be a whole number from 16 to 5,000, got 3"):
                    clone(here).set_params(longest_side=3).fit(images[:2])


def a_learner_takes_it_and_is_stored_with_it(channel: Channel, images: Images) -> None:
    labels = np.array(["a", "b"])[np.arange(len(images)) % 2]
    learner = GPClassifier(clone(channel), noise_variance=0.1).fit(images[:8], labels[:8])
    fitted = learner.channels[0]
    A, B = fitted.encode(images[:8]), fitted.encode(images)
    plain = GPClassifier("precomputed", noise_variance=0.1).fit(fitted.gram(A), labels[:8])
    np.testing.assert_allclose(learner.latent(images).mean, plain.latent(fitted.gram(B, A)).mean, atol=1e-8)
    learner.add(images[8:10], labels[8:10]).remove(np.array([0, 9]))
    with tempfile.TemporaryDirectory() as folder:
        save(learner, Path(folder) / "model")
        again = load_learner(Path(folder) / "model")
        np.testing.assert_allclose(again.latent(images).mean, learner.latent(images).mean, atol=1e-10)


def images_are_asked_about_with_it(channel: Channel, images: Images) -> None:
    asking = ActiveLearner(GPClassifier(clone(channel), noise_variance=0.1)).fit(list(images))
    for label in ("a", "b", "a", "b"):
        (place,) = asking.query().indices.tolist()
        asking.teach(place, label)
    assert asking.predict_proba().shape == (len(images), 2)


def it_can_be_evaluated(channel: Channel, images: Images) -> None:
    labelled = ImageSet(images, [["a", "b"][place % 2] for place in range(len(images))])
    protocol = Protocol(images_per_class=len(images) // 2, per_class=(2,), repeats=1)
    evaluation = evaluate(labelled, protocol, {channel.name: clone(channel)}, {"gp": GPClassifier()})
    assert {record["channels"] for record in evaluation.records()} == {channel.name}


Check = Callable[[Channel, Images], None]
CHANNEL_CHECKS: tuple[Check, ...] = (
    it_is_registered_under_its_name,
    every_image_is_encoded_and_the_gram_matrix_is_valid,
    its_encodings_can_be_taken_joined_and_stored,
    an_encoding_does_not_depend_on_its_company,
    the_number_of_jobs_changes_nothing,
    the_cache_changes_nothing_and_is_used,
    damaged_entries_of_the_cache_are_computed_again,
    it_learns_from_training_images_only,
    its_state_survives_json_and_gives_the_same_encodings,
    an_edited_file_of_it_is_refused,
    it_can_be_cloned_and_an_unfitted_one_says_so,
    fit_leaves_its_options_alone,
    tiny_and_narrow_images_have_an_encoding,
    flat_images_alone_can_be_fitted,
    what_cannot_be_read_is_reported_and_not_encoded,
    no_images_at_all_is_one_sentence,
    a_wrong_name_or_option_lists_the_right_ones,
    options_that_are_none_are_refused_with_and_without_a_cache,
    a_learner_takes_it_and_is_stored_with_it,
    images_are_asked_about_with_it,
    it_can_be_evaluated,
)


def check_channel(channel: Channel, images: Images | None = None) -> None:
    """Raise where a channel is not what one must be; `channel` is unfitted, with options that make it quick, and stays so.

    It is tried on tiles of the sample set, or on twelve images of your own, and on ODD_IMAGES and FLAT_IMAGES.

    Parameters
    ----------
    channel : an unfitted channel; it stays unfitted.
    images : twelve images to try it on; None for tiles of the sample set.
    """
    check_is("check_channel", "channel", channel, Channel)
    for check in CHANNEL_CHECKS:
        check(channel, some_images() if images is None else images)
