"""What cannot have been written is noticed."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.persistence.soundness import check_digest, check_numbers, with_digest

STATE = State({"kind": "x", "parts": [1, 2.5, {"deep": True}]}, {"a": np.arange(3.0), "b": np.arange(3.0) + 1})


def test_an_untouched_state_has_its_digest():
    check_digest(with_digest(STATE))
    check_digest(STATE)  # files from before there was one


@pytest.mark.parametrize(
    "edited",
    [
        State(STATE.header, {"a": STATE.arrays["b"], "b": STATE.arrays["a"]}),
        State({**STATE.header, "kind": "y"}, STATE.arrays),
        State(STATE.header, {**STATE.arrays, "a": np.arange(3)}),
        State(STATE.header, {**STATE.arrays, "a": np.arange(3.0)[:, None]}),
    ],
)
def test_what_changed_places_or_was_edited_does_not_match(edited):
    digest = with_digest(STATE).header["digest"]
    with pytest.raises(InvalidInput, match="does not match its digest"):
        check_digest(State({**edited.header, "digest": digest}, edited.arrays))


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (State({"a": [1, {"b": float("nan")}]}, {}), "its header holds NaN or infinity"),
        (State({"a": 10**101}, {}), "its header holds numbers larger than any model's"),
        (State({}, {"w": np.array([0.0, -np.inf])}), "array w holds NaN or infinity"),
        (State({}, {"w": np.array([-1e101])}), "array w holds numbers larger than any model's"),
    ],
)
def test_numbers_that_mean_nothing_are_noticed(state, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        check_numbers(state)


def test_sound_numbers_pass():
    check_numbers(STATE)
