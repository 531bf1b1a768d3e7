"""Small stand-ins: images of one colour, a channel that sees their mean colour, a learner that picks the nearest example."""

from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator

from fewsight._base.errors import UnreadableImage
from fewsight._base.types import State
from fewsight.evaluation import Evaluation, Outcome, Protocol, Setting, evaluate
from fewsight.images import ImageArray, ImageSet
from fewsight.learners import Assessment, Latent, Learner
from fewsight.learners.needs import GramsNeeded, Needs


class MeanColour(BaseEstimator):
    """A channel as far as the runner knows one. It notes which images it was fitted on and which it encoded."""

    informed: ClassVar[bool] = False
    learns_from_unlabelled: ClassVar[bool] = False
    fitted_on: ClassVar[list[set[str]]] = []
    encoded: ClassVar[list[set[str]]] = []
    seeds: ClassVar[list[int]] = []
    prepared: ClassVar[list[str]] = []

    def __init__(self, weight=1.0, random_state=0, n_jobs=None, cache=None):
        self.weight = weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.cache = cache

    def prepare(self, images):
        self.prepared.extend(image.name for image in images)
        return [UnreadableImage(image.name, "it is broken") for image in images if "broken" in image.name]

    def fit(self, images, labels=None):
        assert not any("broken" in image.name for image in images)
        assert len(images) == len(labels)
        self.fitted_on.append({image.name for image in images})
        self.seeds.append(self.random_state)
        self.centre_ = np.mean([image.pixels().mean(axis=(0, 1)) for image in images], axis=0)
        return self

    def encode(self, images):
        self.encoded.append({image.name for image in images})
        rows = [self.weight * (image.pixels().mean(axis=(0, 1)) - self.centre_) for image in images]
        return scipy.sparse.csr_array(np.array(rows, dtype=np.float64))

    def gram(self, A, B=None):
        squared = ((A.toarray()[:, None] - (A if B is None else B).toarray()[None]) ** 2).sum(axis=2)
        return np.exp(-10 * squared)


class Nearest(Learner):
    """Gives the label of the most similar training example; sure of it by the share of similarity."""

    name: ClassVar[str] = "nearest"
    title: ClassVar[str] = "Nearest"
    note: ClassVar[str] = "a stand-in."
    needs: ClassVar[Needs] = GramsNeeded()

    def __init__(self, kernel=None, sharpness=4.0, n_jobs=None):
        self.kernel = kernel
        self.sharpness = sharpness
        self.n_jobs = n_jobs

    def fit(self, X, y):
        assert self.kernel == "precomputed"
        self.labels_ = np.asarray(y)
        self.classes_ = np.unique(self.labels_)
        self.n_grams_ = len(X) if isinstance(X, list) else 1
        return self

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        mean = np.mean(X, axis=0) if isinstance(X, list) else X
        best = np.stack([mean[:, self.labels_ == label].max(axis=1) for label in self.classes_], axis=1)
        values = np.exp(self.sharpness * best)
        return values / values.sum(axis=1, keepdims=True)

    def latent(self, X):
        values = self.predict_proba(X)
        return Latent(values, np.zeros_like(values))

    def state(self):
        return State({"labels": self.labels_.tolist()}, {})

    @classmethod
    def from_state(cls, state):
        learner = cls()
        learner.labels_ = np.array(state.header["labels"])
        return learner


class Doubting(Nearest):
    """As `Nearest`, and says how strange an image is. It notes which labels it was taught, and how often it was asked."""

    taught: ClassVar[list[set[str]]] = []
    asked: ClassVar[list[str]] = []

    def __init__(self, kernel=None, sharpness=4.0, n_jobs=None, threshold=0.2):
        super().__init__(kernel, sharpness, n_jobs)
        self.threshold = threshold

    def fit(self, X, y):
        self.taught.append(set(y))
        return super().fit(X, y)

    def predict(self, X):
        return self.classes_[super().predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        self.asked.append("predict_proba")
        return super().predict_proba(X)

    def assess(self, X):
        self.asked.append("assess")
        score = 1.0 - np.asarray(X).max(axis=1)
        probabilities = super().predict_proba(X)
        latent = Latent(probabilities, np.zeros_like(probabilities))
        return Assessment(latent, probabilities, score, score > self.threshold, self.threshold)


@pytest.fixture
def mean_colour():
    """The channel class, with empty notes."""
    for notes in (MeanColour.fitted_on, MeanColour.encoded, MeanColour.seeds, MeanColour.prepared):
        notes.clear()
    return MeanColour


@pytest.fixture
def nearest():
    """The learner class."""
    return Nearest


@pytest.fixture
def doubting():
    """The learner class that says what is strange, with empty notes."""
    Doubting.taught.clear()
    Doubting.asked.clear()
    return Doubting


def coloured_set(classes, per_class=8, spread=0.25, broken=(), seed=0):
    """Noisy images around one colour per class; `broken` are (class position, number) pairs."""
    rng = np.random.default_rng(seed)
    images, labels = [], []
    for position, label in enumerate(classes):
        colour = np.random.default_rng(position).uniform(0.2, 0.8, 3)
        for number in range(per_class):
            pixels = np.clip(colour + spread * rng.normal(size=3) + 0.1 * rng.normal(size=(12, 16, 1)), 0, 1)
            word = "broken" if (position, number) in broken else "image"
            images.append(ImageArray(pixels.astype(np.float32), f"{label}/{word}{number}.png"))
            labels.append(label)
    return ImageSet(images, labels)


@pytest.fixture
def make_set():
    """Makes a small labelled set; see `coloured_set`."""
    return coloured_set


@pytest.fixture
def run(mean_colour, nearest):
    """Evaluates the stand-ins on a set."""

    def run_on(image_set, protocol=None, **options):
        protocol = protocol or Protocol(per_class=(2, 4), test_per_class=3, repeats=3, seed=5)
        options = {"channels": {"colour": mean_colour()}, "learners": {"near": nearest()}} | options
        return evaluate(image_set, protocol, **options)

    return run_on


@pytest.fixture
def small_evaluation():
    """Two repeats of two learners, made by hand: 3 of 4 and 4 of 4 right, and a learner without probabilities."""
    truth = np.array(["a", "a", "b", "b"], dtype=object)
    wrong = np.array(["a", "b", "b", "b"], dtype=object)
    sure = np.array([[0.8, 0.2], [0.4, 0.6], [0.1, 0.9], [0.3, 0.7]], dtype=np.float32)
    certain = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)
    seconds = {"seconds_features": 4.0, "seconds_gram": 0.5, "seconds_fit": 0.25, "seconds_predict": 0.125}

    def outcome(learner, repeat, predicted, probabilities):
        return Outcome(
            setting=Setting("colour", learner, "none", 1),
            repeat=repeat,
            train=np.array([0, 3]),
            test=np.array([1, 2, 4, 5]),
            truth=truth,
            predicted=predicted,
            classes=("a", "b"),
            probabilities=probabilities,
            seconds=seconds,
        )

    return Evaluation(
        protocol=Protocol(images_per_class=3, per_class=(1,), test_per_class=2, repeats=2, seed=0),
        classes=("a", "b"),
        names=("a0", "a1", "a2", "b0", "b1", "b2"),
        outcomes=(
            outcome("near", 0, wrong, sure),
            outcome("far", 0, wrong, None),
            outcome("near", 1, truth, certain),
            outcome("far", 1, wrong, None),
        ),
        unreadable=(UnreadableImage("a9", "it is broken"),),
        channels={"colour": {"class": "MeanColour", "weight": 1.0}},
        learners={"near": {"class": "Nearest"}, "far": {"class": "Farthest"}},
        combine=("none",),
        timings={"total": 1.0},
    )
