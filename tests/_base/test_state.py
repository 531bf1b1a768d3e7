"""What is stored is checked where it is read: shape, type, finiteness and range, each refusal one sentence."""

from __future__ import annotations

import numpy as np
import pytest

from fewsight._base.checks import check_memory
from fewsight._base.errors import InvalidInput
from fewsight._base.state import INTEGERS, NUMBERS, State

DUAL = np.arange(6.0).reshape(3, 2)


def stored(**arrays: np.ndarray) -> State:
    return (
        State({"own": 1}, {})
        .join("model", State({"n": 3, "noise": 0.5, "words": ["a"], "on": True}, arrays))
        .nested("model")
    )


def test_an_array_as_it_must_be_comes_back():
    state = stored(dual=DUAL, swapped=DUAL.astype(">f8"), counts=np.array([0, 2], np.int64))
    np.testing.assert_array_equal(state.array("dual", (3, 2), np.float64), DUAL)
    np.testing.assert_array_equal(state.array("dual", (3, None), np.float64, least=0, most=5), DUAL)
    assert (
        state.array("swapped", (3, 2), np.float64).dtype == np.float64
    )  # written on a machine of the other byte order
    assert state.array("counts", (2,), np.int64, least=0, most=2).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("array", "settings", "said"),
    [
        (DUAL[:2], {}, r"model/dual must be float64 of shape 3 x any, got float64 of shape 2 x 2\."),
        (DUAL.ravel(), {}, r"must be float64 of shape 3 x any, got float64 of shape 6\."),
        (DUAL.astype(np.float32), {}, r"must be float64 .* got float32 of shape 3 x 2\."),
        (DUAL.astype("U3"), {}, r"must be float64 .* got <U3 of shape"),
        (DUAL * np.nan, {}, r"must hold numbers from -1e\+100 to 1e\+100, got NaN\."),
        (DUAL + np.inf, {}, "got inf to inf"),
        (DUAL * 1e101, {}, r"from -1e\+100 to 1e\+100, got 0 to 5e\+101\."),
        (DUAL, {"above": 0.0}, r"above 0 and at most 1e\+100, got 0 to 5\."),
        (DUAL - 1, {"least": 0}, r"from 0 to 1e\+100, got -1 to 4\."),
        (DUAL, {"most": 4}, r"from -1e\+100 to 4, got 0 to 5\."),
    ],
)
def test_any_other_array_is_refused_in_one_sentence(array, settings, said):
    with pytest.raises(InvalidInput, match=said):
        stored(dual=array).array("dual", (3, None), np.float64, **settings)


def test_an_array_that_is_missing_is_named():
    with pytest.raises(InvalidInput, match=r"model/dual must be float64 of shape 3, got nothing\."):
        stored().array("dual", (3,), np.float64)


def test_what_nobody_read_with_a_check_is_known():
    whole = State({}, {"own": DUAL}).join("part", State({}, {"a": DUAL, "b": DUAL}))
    part = whole.nested("part")
    part.array("a", (3, 2), np.float64)
    assert part.arrays["b"] is DUAL  # looked at, but not checked
    assert part.unread() == ["b"]
    assert whole.unread() == ["own", "part/b"]
    part.array("b", (3, 2), np.float64)
    whole.array("own", (3, 2), np.float64)
    assert whole.unread() == []


def test_what_nobody_read_with_a_check_is_refused_by_its_name():
    whole = State({}, {}).join("part", State({}, {"a": DUAL}))
    with pytest.raises(InvalidInput, match=r"the stored array part/a is read by nobody, or not with State\.array\."):
        whole.check_all_read()
    with pytest.raises(InvalidInput, match="the stored array part/a is read by nobody"):
        whole.nested("part").check_all_read()
    whole.nested("part").array("a", (3, 2), np.float64)
    whole.check_all_read()


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "f2", "f4", "f8", ">i8", ">f8"])
def test_one_of_several_types_is_kept_in_our_byte_order(dtype):
    array = np.arange(3).astype(dtype)
    wanted = NUMBERS if array.dtype.kind == "f" else INTEGERS
    found = stored(a=array).array("a", (3,), wanted, least=0, most=2)
    assert found.dtype == array.dtype.newbyteorder("=")
    assert found.tolist() == [0, 1, 2]
    with pytest.raises(InvalidInput, match="must hold numbers from 0 to 1, got 0 to 2"):
        stored(a=array).array("a", (3,), wanted, least=0, most=1)


@pytest.mark.parametrize("dtype", ["u8", "f8", "?", "c16", "U3", "M8[s]"])
def test_no_other_type_is_a_whole_number(dtype):
    with pytest.raises(InvalidInput, match=r"must be whole numbers of shape 3, got .* of shape 3"):
        stored(a=np.zeros(3).astype(dtype)).array("a", (3,), INTEGERS)


def test_an_array_that_was_refused_counts_as_unread():
    state = stored(dual=DUAL)
    with pytest.raises(InvalidInput):
        state.array("dual", (1,), np.float64)
    assert state.unread() == ["dual"]


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda s: s.number("gone"), "the stored model: gone is missing"),
        (lambda s: s.number("noise", least=1, most=2), "noise must be a number from 1 to 2, got 0.5"),
        (lambda s: s.number("words"), "words must be a number"),
        (lambda s: s.numbers("words", 2), r"words must be a list of 2, got \['a'\]"),
        (lambda s: s.numbers("words"), "words must be a number from"),
        (lambda s: s.numbers("n"), "n must be a list, got 3"),
        (lambda s: s.integer("n", most=2), "n must be a whole number from 0 to 2, got 3"),
        (lambda s: s.integer("on", most=2), "on must be a whole number"),
        (lambda s: s.choice("n", ["a", "b"]), "n must be one of 'a', 'b', got 3"),
        (lambda s: s.flag("n"), "n must be true or false, got 3"),
        (lambda s: s.text("n"), "n must be a text, got 3"),
        (lambda s: s.number_or_none("words"), "words must be a number"),
        (lambda s: s.number_or_none("gone"), "the stored model: gone is missing"),
        (lambda s: s.nested("n"), "model/n must be an object, got 3"),
    ],
)
def test_header_entries_are_checked_as_well(read, said):
    with pytest.raises(InvalidInput, match=said):
        read(stored())


def test_header_entries_as_they_must_be_come_back():
    state = stored()
    assert (state.number("noise"), state.integer("n", most=3), state.flag("on")) == (0.5, 3, True)
    assert "n" in state
    assert "gone" not in state


def test_numbered_parts_are_as_many_as_the_header_says():
    state = (
        State({"n_channels": 2}, {})
        .join("channel0", State({"name": "a"}, {}))
        .join("channel1", State({"name": "b"}, {}))
    )
    assert [part.header["name"] for part in state.parts("channel", most=5)] == ["a", "b"]
    with pytest.raises(InvalidInput, match="n_channels must be a whole number from 1 to 1, got 2"):
        list(state.parts("channel", most=1))


def test_what_would_not_fit_is_refused_before_it_is_made():
    check_memory("FastVariance", "its tables", 10, 10)
    with pytest.raises(InvalidInput, match=r"FastVariance: its tables must fit into 1 megabytes of memory, got 3 mega"):
        check_memory("FastVariance", "its tables", 3 * 2**20, 2**20)
