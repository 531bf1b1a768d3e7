"""What a learner says where it cannot do something, and what follows from little."""

from typing import ClassVar

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.kernels import Linear
from fewsight.learners import Latent, Learner
from fewsight.learners.needs import ImagesNeeded, Needs


class Constant(Learner):
    """As little as a learner may be: every example is of the first class, more or less."""

    name: ClassVar[str] = "constant"
    title: ClassVar[str] = "Constant"
    note: ClassVar[str] = "always the first category."
    needs: ClassVar[Needs] = ImagesNeeded()

    def __init__(self, kernel=None):
        self.kernel = kernel

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def latent(self, X):
        mean = np.tile(np.linspace(1.0, 0.0, len(self.classes_)), (len(X), 1))
        return Latent(mean, np.ones_like(mean))

    def predict_proba(self, X):
        mean = self.latent(X).mean
        return mean / mean.sum(axis=1, keepdims=True)

    def state(self):
        return State({}, {})

    @classmethod
    def from_state(cls, state):
        return cls()


@pytest.fixture
def learner():
    return Constant().fit(["x", "y"], ["b", "a"])


def test_the_most_probable_class_is_predicted(learner):
    assert learner.predict(["z"]).tolist() == ["a"]


def test_an_assessment_says_nothing_about_unknowns_unless_the_learner_does(learner):
    found = learner.assess(["z"])
    np.testing.assert_array_equal(found.latent.mean, [[1.0, 0.0]])
    np.testing.assert_array_equal(found.probabilities, [[1.0, 0.0]])
    assert (found.unknown_score, found.unknown, found.threshold) == (None, None, None)


def test_what_is_not_known_is_none_or_nothing(learner):
    assert learner.left_out() is None
    assert learner.found() == {}
    assert learner.channels == []
    np.testing.assert_array_equal(learner.shares(4), [0.25] * 4)


def test_without_more_to_say_channels_are_averaged_and_kernels_kept(learner):
    assert learner.ways == ("average",)
    assert learner.weigh("average") is learner
    assert learner.usual_kernel(Linear()) == Linear()


@pytest.mark.parametrize(
    ("attempt", "sentence"),
    [
        (lambda learner: learner.add(["z"], ["a"]), "it cannot take in more examples; fit it again with all of them."),
        (lambda learner: learner.remove(np.array([0])), "it cannot forget examples; fit it again without them."),
        (lambda learner: learner.leave_one_out(), "it cannot leave out single examples in closed form."),
        (lambda learner: learner.borrower(), "its categories cannot borrow."),
        (lambda learner: learner.unknown_score(["z"]), "it does not say what is unlike anything learned."),
        (lambda learner: learner.is_unknown(["z"]), "it does not say what is unlike anything learned."),
    ],
)
def test_what_it_cannot_do_it_says(learner, attempt, sentence):
    with pytest.raises(InvalidInput) as refusal:
        attempt(learner)
    assert str(refusal.value) == f"Constant: {sentence}"


def test_a_learner_that_leaves_something_out_cannot_be_made():
    class Half(Constant):
        latent = Learner.latent

    with pytest.raises(TypeError, match="abstract"):
        Half()
