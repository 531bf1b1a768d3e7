"""Encodings of every kind are counted, taken, joined and stored alike."""

import json

import numpy as np
import pytest
import scipy.sparse

from fewsight._base.encodings import DenseRows, DescriptorSets, SparseRows
from fewsight._base.errors import InvalidInput
from fewsight._base.types import State

RNG = np.random.default_rng(0)
COUNTS = [3, 0, 1, 4, 0]


def sparse_entries():
    drawn = [np.sort(RNG.choice(20, count, replace=False)) for count in COUNTS]
    return [SparseRows.entry(columns, RNG.random(len(columns))) for columns in drawn]


def set_entries(positions=True, weights=True):
    return [
        DescriptorSets.entry(
            RNG.integers(0, 255, (count, 20)).astype(np.uint8),
            RNG.random((count, 2), dtype=np.float32) if positions else None,
            RNG.random(count) if weights else None,
        )
        for count in COUNTS
    ]


CASES = {
    "sparse rows": (SparseRows, sparse_entries()),
    "dense rows": (DenseRows, [DenseRows.entry(RNG.random(20)) for _ in COUNTS]),
    "sets": (DescriptorSets, set_entries(False, False)),
    "sets with positions and weights": (DescriptorSets, set_entries()),
}
every_kind = pytest.mark.parametrize(("kind", "entries"), CASES.values(), ids=list(CASES))


def equal(A, B):
    A, B = A.state(), B.state()
    return A.header == B.header and all(
        np.array_equal(A.arrays[name], B.arrays[name]) for name in {*A.arrays, *B.arrays}
    )


@every_kind
def test_they_are_as_many_as_there_are_entries(kind, entries):
    assert kind.stack(entries, 20).shape == (5, 20)
    assert len(kind.stack(entries, 20)) == 5
    assert kind.stack([], 20).shape == (0, 20)


@every_kind
@pytest.mark.parametrize("chosen", [[2], [4, 0, 3, 0], [1, 4], [], [-1]])
def test_taking_some_is_stacking_their_entries(kind, entries, chosen):
    taken = kind.stack(entries, 20).take(np.array(chosen, dtype=np.intp))
    if chosen:
        assert equal(taken, kind.stack([entries[place] for place in chosen], 20))
    assert taken.shape == (len(chosen), 20)


@every_kind
@pytest.mark.parametrize("part", [(0, 5), (1, 4), (0, 2), (4, 5), (3, 3)])
def test_a_part_is_taking_what_stands_there(kind, entries, part):
    whole = kind.stack(entries, 20)
    assert equal(whole.part(*part), whole.take(np.arange(*part)))
    assert whole.part(*part).shape == (part[1] - part[0], 20)


@every_kind
@pytest.mark.parametrize("first", range(1, 5))
def test_joining_two_is_stacking_all_entries(kind, entries, first):
    joined = kind.stack(entries[:first], 20).join(kind.stack(entries[first:], 20))
    assert equal(joined, kind.stack(entries, 20))


@every_kind
def test_none_at_all_can_be_taken_and_joined(kind, entries):
    some = kind.stack(entries, 20)
    assert equal(some.take(np.arange(0)).join(some), some)


@every_kind
def test_they_survive_the_model_file(kind, entries):
    stored = kind.stack(entries, 20).state()
    again = kind.from_state(State(json.loads(json.dumps(stored.header)), stored.arrays))
    assert equal(again, kind.stack(entries, 20))
    assert again.shape == (5, 20)


def test_rows_of_one_kind_are_not_taken_for_the_other():
    sparse, dense = (kind.stack(entries, 20).state() for kind, entries in list(CASES.values())[:2])
    with pytest.raises(InvalidInput, match="must be a dense matrix, got a sparse one"):
        DenseRows.from_state(sparse)
    with pytest.raises(InvalidInput, match="must be a sparse matrix, got a dense one"):
        SparseRows.from_state(dense)


def test_the_matrix_inside_is_the_one_that_entries_describe():
    columns, values = [np.array([1, 3]), np.array([0])], [np.array([0.5, 0.25]), np.array([2.0])]
    rows = SparseRows.stack([SparseRows.entry(*pair) for pair in zip(columns, values, strict=True)], 4)
    np.testing.assert_array_equal(rows.matrix.toarray(), [[0, 0.5, 0, 0.25], [2, 0, 0, 0]])
    assert scipy.sparse.issparse(rows.matrix)


def test_a_set_is_what_was_put_in():
    entries = set_entries()
    sets = DescriptorSets.stack(entries, 20)
    for place, entry in enumerate(entries):
        np.testing.assert_array_equal(sets.of(place), entry["descriptors"])
    np.testing.assert_array_equal(sets.counts, COUNTS)


def test_sets_with_and_without_positions_are_not_joined():
    with_positions, without = (DescriptorSets.stack(set_entries(given, False), 20) for given in (True, False))
    with pytest.raises(InvalidInput, match="must have the same parts, got descriptors, positions and descriptors"):
        with_positions.join(without)


@pytest.mark.parametrize(
    ("name", "wrong", "sentence"),
    [
        ("starts", np.array([0, 3, 2, 4, 8, 8]), "starts must ascend from 0 to 8"),
        ("starts", np.array([0, 3, 3, 4, 8, 9]), "starts must ascend from 0 to 8"),
        ("starts", np.array([1, 3, 3, 4, 8, 8]), "starts must ascend from 0 to 8"),
        ("positions", np.zeros((7, 2), np.float32), "array positions must be numbers of shape 8 x 2, got"),
        ("weights", np.full(8, np.nan), "array weights must hold numbers from .* got NaN"),
        ("descriptors", np.zeros((8, 2, 2)), "array descriptors must be numbers of shape any x any, got"),
        ("colours", np.zeros(8), "the stored array colours is read by nobody"),
    ],
)
def test_edited_sets_are_refused(name, wrong, sentence):
    stored = DescriptorSets.stack(set_entries(), 20).state()
    edited = State(stored.header, {**stored.arrays, name: wrong})
    with pytest.raises(InvalidInput, match=sentence):
        _ = DescriptorSets.from_state(edited), edited.check_all_read()
