"""The file of arrays: whole or absent, and nothing in it is trusted."""

import io
import json
import pickle
import warnings
import zipfile

import numpy as np
import pytest

from fewsight._base import archive
from fewsight._base.archive import read_archive, write_archive
from fewsight._base.errors import ArchiveError
from fewsight._base.progress import reporting
from fewsight._base.replacement import write_text
from fewsight._base.types import State

STATE = State(
    {"name": "caf\u00e9 \udcff", "numbers": [1, 2.5, None]},
    {"a": np.arange(6.0).reshape(2, 3), "b/c": np.zeros((0, 4), np.uint8), "f": np.asfortranarray(np.eye(3)[:, :2])},
)


@pytest.mark.parametrize("compress", [False, True])
def test_what_was_written_comes_back(tmp_path, compress):
    write_archive(tmp_path / "x", STATE, compress=compress)
    back = read_archive(tmp_path / "x")
    assert back.header == STATE.header
    assert back.arrays.keys() == STATE.arrays.keys()
    for name, array in STATE.arrays.items():
        np.testing.assert_array_equal(back.arrays[name], array)
        assert back.arrays[name].dtype == array.dtype


def test_what_packs_too_well_to_be_believed_is_not_packed(tmp_path, monkeypatch):
    monkeypatch.setattr("fewsight._base.archive.PLAUSIBLE_BYTES", 1000)
    zeros = State({}, {"zeros": np.zeros(10**6), "ones": np.ones(3)})
    write_archive(tmp_path / "x", zeros, compress=True)
    np.testing.assert_array_equal(read_archive(tmp_path / "x").arrays["zeros"], zeros.arrays["zeros"])
    assert (tmp_path / "x").stat().st_size > 8 * 10**6
    write_archive(tmp_path / "x", State({}, {"few": np.tile(np.arange(50.0), 100)}), compress=True)
    assert (tmp_path / "x").stat().st_size < 10**4  # as usual


def test_the_same_state_gives_the_same_bytes(tmp_path):
    write_archive(tmp_path / "x", STATE)
    write_archive(tmp_path / "y", STATE)
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()


def test_nested_states_come_apart_again():
    outer = State({"own": 1}, {"z": np.ones(1)}).join("inner", STATE)
    inner = outer.nested("inner")
    assert inner.header == STATE.header
    assert set(inner.arrays) == set(STATE.arrays)


def test_every_single_damaged_byte_is_noticed_or_harmless(tmp_path):
    write_archive(tmp_path / "x", STATE)
    whole = (tmp_path / "x").read_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 0xFF
        (tmp_path / "y").write_bytes(damaged)
        try:
            back = read_archive(tmp_path / "y")
        except ArchiveError:
            continue
        assert back.arrays.keys() == STATE.arrays.keys()
        for name in STATE.arrays:
            np.testing.assert_array_equal(back.arrays[name], STATE.arrays[name])


def test_every_truncation_is_refused(tmp_path):
    write_archive(tmp_path / "x", STATE)
    whole = (tmp_path / "x").read_bytes()
    for length in range(0, len(whole), 7):
        (tmp_path / "y").write_bytes(whole[:length])
        with pytest.raises(ArchiveError):
            read_archive(tmp_path / "y")


def _zip_with(path, array_bytes):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({}))
        archive.writestr("a.npy", array_bytes)


def test_an_array_of_objects_is_never_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    stream = io.BytesIO()
    np.save(stream, np.array([Trap()], dtype=object), allow_pickle=True)
    _zip_with(tmp_path / "x", stream.getvalue())
    with pytest.raises(ArchiveError, match="Python objects"):
        read_archive(tmp_path / "x")
    assert not (tmp_path / "sprung").exists()
    assert pickle.dumps(1)  # the trap itself is sound: pickle is what would have sprung it


def test_an_array_that_claims_more_than_it_holds_allocates_nothing(tmp_path):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    _zip_with(tmp_path / "x", stream.getvalue() + b"12345678")
    with pytest.raises(ArchiveError, match="claims more"):
        read_archive(tmp_path / "x")


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    write_text(tmp_path / "x", "old")
    broken = State({"cannot": {1, 2}}, {})
    with pytest.raises(TypeError):
        write_archive(tmp_path / "x", broken)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_text() == "old"


def test_a_member_that_is_no_array_or_there_twice_is_refused(tmp_path):
    for name in ("letter.txt", "a.npy"):
        write_archive(tmp_path / "x", STATE)
        with warnings.catch_warnings(), zipfile.ZipFile(tmp_path / "x", "a") as archive:
            warnings.simplefilter("ignore")  # zipfile's, of the second member of one name
            archive.writestr(name, b"")
        with pytest.raises(ArchiveError, match="damaged"):
            read_archive(tmp_path / "x")


def test_progress_of_writing_and_reading_is_told_in_chunks_where_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "CHUNK", 1_000)
    told = []

    def reporter(items, what, total):
        for item in items:
            told.append((what, item, total))
            yield item

    state = State({}, {"a": np.arange(700), "b": np.arange(10)})
    with reporting(reporter):
        archive.write_archive(tmp_path / "quiet", state)
        assert told == []
        archive.write_archive(tmp_path / "file", state, what="writing")
        assert told == [("writing", step, 6) for step in range(6)]
        found = archive.read_archive(tmp_path / "file", what="reading")
    assert told[6:] == [("reading", step, 6) for step in range(6)]
    np.testing.assert_array_equal(found.arrays["a"], np.arange(700))
