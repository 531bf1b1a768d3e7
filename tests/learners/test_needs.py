"""What learners need: each kind is given what it takes, and a learner of images needs no word in the evaluation."""

from typing import ClassVar

import numpy as np
import pytest
from PIL import Image as Pillow
from sklearn.utils.validation import check_is_fitted

import fewsight
from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.apps.workbench import Workplace, predict_images
from fewsight.channels import Colour, SpatialPmk
from fewsight.evaluation import Protocol, evaluate
from fewsight.images import as_image, sample_set
from fewsight.learners import LEARNERS, GPClassifier, HistogramGPClassifier, Latent, Learner
from fewsight.learners.labels import classes_from, classes_header, labelled
from fewsight.learners.needs import GramsNeeded, ImagesNeeded, Needs, PreparedImages, RowsNeeded
from fewsight.learners.probability import softmax
from fewsight.persistence import load_learner, save

SMALL = {"n_words": 16, "n_levels": 1, "n_descriptors": 500, "longest_side": 48}


class BrightnessClassifier(Learner):
    """The category whose images are, on average, as bright: it looks at pixels and at nothing else."""

    name: ClassVar[str] = "brightness"
    title: ClassVar[str] = "Brightness"
    note: ClassVar[str] = "the category whose training images are as bright."
    needs: ClassVar[Needs] = ImagesNeeded()

    def __init__(self, kernel=None):
        self.kernel = kernel

    def fit(self, X, y):
        labels, positions = labelled(self, y, len(X))
        values = brightness(X)[positions]
        self.classes_ = np.unique(labels)
        self.means_ = np.array([values[labels == label].mean() for label in self.classes_])
        return self

    def latent(self, X):
        check_is_fitted(self)
        mean = -np.abs(brightness(X)[:, None] - self.means_)
        return Latent(mean, np.zeros_like(mean))

    def predict_proba(self, X):
        return softmax(self.latent(X).mean)

    def state(self):
        return State(classes_header(self.classes_), {"means": self.means_})

    @classmethod
    def from_state(cls, state):
        learner = cls()
        learner.classes_ = classes_from(state.header)
        learner.means_ = state.array("means", learner.classes_.shape, np.float64)
        return learner


def brightness(images):
    return np.array([float(as_image(image).pixels().mean()) for image in images])


@pytest.fixture(scope="module")
def tiles():
    whole = sample_set()
    return whole.select(np.flatnonzero(np.isin(whole.labels, ["brick", "galaxies", "grass"])))


def prepared(tiles, *channels):
    train, asked = tiles.images[:20], tiles.images[20:25]
    return [PreparedImages(channel, train, tiles.labels[:20], asked) for channel in channels]


def test_a_learner_of_images_is_evaluated_beside_the_others(tiles):
    learners = {"brightness": BrightnessClassifier(), "gp": GPClassifier(), "histogram_gp": HistogramGPClassifier()}
    protocol = Protocol(images_per_class=8, per_class=(4,), test_per_class=4, repeats=1)
    channels = {"coarse": SpatialPmk(**SMALL), "fine": SpatialPmk(**{**SMALL, "n_words": 24})}
    found = evaluate(tiles, protocol, channels, learners, combine=("none", "average", "evidence"))
    rows = {(setting.combine, setting.learner) for setting in found.groups}
    assert rows == {
        *((way, name) for way in ("none", "average") for name in learners),
        ("evidence", "gp"),
        ("evidence", "histogram_gp"),
    }
    first = next(outcome for outcome in found.outcomes if outcome.setting.learner == "brightness")
    expected = BrightnessClassifier().fit([tiles.images[i] for i in first.train], tiles.labels[first.train])
    assert first.predicted.tolist() == expected.predict([tiles.images[i] for i in first.test]).tolist()
    assert first.strangeness is None


def test_a_learner_of_images_is_stored_once_it_is_registered(tiles, tmp_path, monkeypatch):
    learner = BrightnessClassifier().fit(tiles.images, tiles.labels)
    with pytest.raises(InvalidInput, match=r"call fewsight\.register\(BrightnessClassifier\) first"):
        save(learner, tmp_path / "model")
    monkeypatch.setattr(LEARNERS, "_others", {})  # what is registered here is forgotten afterwards
    fewsight.register(BrightnessClassifier)
    save(learner, tmp_path / "model")
    again = load_learner(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(tiles.images), learner.predict_proba(tiles.images))
    Pillow.fromarray(np.full((8, 8), 255, np.uint8)).save(tmp_path / "white.png")
    row = next(
        iter(predict_images(tmp_path / "model", [tmp_path / "white.png"], workplace=Workplace(keep_features=False)))
    )
    assert (row.category, row.unknown) == (learner.classes_[learner.means_.argmax()], "")


def test_gram_matrices_are_those_of_the_channel_one_or_a_list(tiles):
    sides = prepared(tiles, SpatialPmk(**SMALL), Colour())
    one, several = GramsNeeded().given(sides[:1]), GramsNeeded().given(sides)
    channel = SpatialPmk(**SMALL).fit(tiles.images[:20])
    train, asked = channel.encode(tiles.images[:20]), channel.encode(tiles.images[20:25])
    np.testing.assert_array_equal(one.train, channel.gram(train))
    np.testing.assert_array_equal(one.asked, channel.gram(asked, train))
    assert [block.shape for block in several.asked] == [(5, 20), (5, 20)]
    assert one.kernel == several.kernel == "precomputed"


def test_rows_stand_side_by_side_with_the_channel_of_each_column(tiles):
    sides = prepared(tiles, SpatialPmk(**SMALL), SpatialPmk(**{**SMALL, "n_words": 24}))
    given = RowsNeeded().given(sides)
    widths = [side.encodings[0].shape[1] for side in sides]
    assert given.train.shape == (20, sum(widths))
    assert given.asked.shape == (5, sum(widths))
    assert np.bincount(given.groups).tolist() == widths
    assert given.kernel is None


def test_images_are_passed_on_with_unfitted_channels(tiles):
    sides = prepared(tiles, SpatialPmk(**SMALL))
    given = ImagesNeeded().given(sides)
    assert given.train == sides[0].images[0]
    assert given.asked == sides[0].images[1]
    assert given.kernel == [sides[0].channel]
    assert not hasattr(given.kernel[0], "learned_")


def test_nothing_is_computed_that_nobody_needs(tiles):
    class Idle(Colour):
        def fit(self, images, labels=None):
            raise AssertionError("nobody asked for encodings")

    sides = prepared(tiles, Idle())
    ImagesNeeded().given(sides)
    assert sides[0].seconds_encodings == sides[0].seconds_gram == 0.0


def test_only_rows_must_be_compared_by_histogram_intersection():
    assert RowsNeeded().accepts(SpatialPmk())
    assert not RowsNeeded().accepts(Colour())
    assert GramsNeeded().accepts(Colour())
    assert ImagesNeeded().accepts(Colour())


def test_only_gram_matrices_take_memory_for_every_pair():
    assert GramsNeeded().bytes_of_pairs(10, 1) == 6_400
    assert GramsNeeded().bytes_of_pairs(10, 3) == 9_600
    assert RowsNeeded().bytes_of_pairs(10, 3) == ImagesNeeded().bytes_of_pairs(10, 3) == 0


def test_every_learner_has_needs():
    assert all(isinstance(learner.needs, Needs) for learner in LEARNERS.values())
