"""Model files that are damaged, cut short, put together anew or edited by hand: refused in one sentence, or unharmed."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from fewsight._base.archive import read_archive, write_archive
from fewsight._base.errors import ModelFileError
from fewsight._base.types import State
from fewsight.apps.cli import app
from fewsight.persistence import load

SLOWLY = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def refusal(model: Path, photos: Path) -> str:
    """The one sentence that `predict` has for a model file, without the file's name."""
    result = CliRunner().invoke(app, ["predict", str(model), str(photos)])
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    said = result.stderr.splitlines()
    assert len(said) == 1
    assert said[0].startswith(f"fewsight: {model}: ")
    return said[0].removeprefix(f"fewsight: {model}: ")


@pytest.fixture
def own(model_file: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    path = tmp_path / "model.fewsight"
    path.write_bytes(model_file.read_bytes())
    return path


def repacked(path: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    """The same zip file with its members changed, as with an archive manager."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_called_damaged(share: float, own: Path, photos: Path) -> None:
    whole = own.read_bytes()
    own.write_bytes(whole[: int(share * len(whole))])
    assert refusal(own, photos) == "a damaged or incomplete model file; copy or learn it again."


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7])
def test_a_hole_in_a_file_is_called_damaged(share: float, own: Path, photos: Path) -> None:
    whole = own.read_bytes()
    start = int(share * len(whole))
    own.write_bytes(whole[:start] + bytes(64) + whole[start + 64 :])
    assert refusal(own, photos) == "a damaged or incomplete model file; copy or learn it again."


def test_a_photograph_and_an_empty_file_are_no_models(own: Path, photos: Path) -> None:
    for content in (next(photos.glob("*/*.png")).read_bytes(), b""):
        own.write_bytes(content)
        assert refusal(own, photos) == "not a fewsight model file."


def test_any_two_arrays_that_changed_places_are_noticed(own: Path) -> None:
    whole = read_archive(own)
    for one, other in combinations(whole.arrays, 2):
        if whole.arrays[one].tobytes() == whole.arrays[other].tobytes():
            continue
        exchanged = {**whole.arrays, one: whole.arrays[other], other: whole.arrays[one]}
        write_archive(own, State(whole.header, exchanged))
        with pytest.raises(ModelFileError, match="damaged or edited by hand"):
            load(own)


def test_exchanged_arrays_are_one_sentence_on_the_command_line(own: Path, photos: Path) -> None:
    def exchange(members: dict[str, bytes]) -> None:
        one, other = "model/posterior/targets.npy", "model/posterior/dual_weights.npy"
        members[one], members[other] = members[other], members[one]

    repacked(own, exchange)
    assert refusal(own, photos) == "damaged or edited by hand (its content does not match its digest)."


def test_a_category_renamed_by_hand_is_noticed(own: Path, photos: Path) -> None:
    def rename(members: dict[str, bytes]) -> None:
        members["header.json"] = members["header.json"].replace(b'"brick"', b'"stone"')

    repacked(own, rename)
    assert refusal(own, photos) == "damaged or edited by hand (its content does not match its digest)."


def test_files_from_before_there_was_a_digest_are_opened(own: Path) -> None:
    whole = read_archive(own)
    write_archive(own, State({key: value for key, value in whole.header.items() if key != "digest"}, whole.arrays))
    assert load(own).classes_.tolist() == ["brick", "grass", "tissue"]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_file_packed_in_another_way_is_refused_unopened(method: int, own: Path, photos: Path) -> None:
    with zipfile.ZipFile(own, "a") as archive:
        archive.writestr("model/more.npy", bytes(10**6), compress_type=method)
    assert refusal(own, photos) == "a damaged or incomplete model file; copy or learn it again."


def bomb(n_bytes: int) -> bytes:
    """An array of zeros, a thousand times smaller than it is."""
    stream = io.BytesIO()
    heading = {"descr": "|u1", "fortran_order": False, "shape": (n_bytes,)}
    np.lib.format.write_array_header_1_0(stream, heading)
    return stream.getvalue() + bytes(n_bytes)


def test_a_bomb_is_refused_before_it_is_unpacked(own: Path, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(own, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model/bomb.npy", bomb(300 * 2**20))
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("something was unpacked"))
    assert refusal(own, photos) == "a damaged or incomplete model file; copy or learn it again."


def test_a_header_that_hides_its_size_is_not_unpacked(own: Path, photos: Path) -> None:
    """The table of contents says 10 bytes; behind it stand 200 megabytes."""
    with zipfile.ZipFile(own, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b" " * 200 * 2**20)
    content = bytearray(own.read_bytes())
    for position in (content.index(b"PK\1\2") + 24, content.index(b"PK\3\4") + 22):
        content[position : position + 4] = struct.pack("<I", 10)
    own.write_bytes(content)
    assert refusal(own, photos) == "a damaged or incomplete model file; copy or learn it again."


@SLOWLY
@given(data=st.data())
def test_whatever_bytes_change_a_model_is_refused_or_unharmed(data: st.DataObject, model_file: Path) -> None:
    content = bytearray(model_file.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content) - 1))
        content[start : start + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=8))
    path = model_file.with_name("mutated")
    path.write_bytes(content)
    try:
        model = load(path)
    except ModelFileError:
        return
    expected = load(model_file)
    np.testing.assert_array_equal(model.posterior_.dual_weights, expected.posterior_.dual_weights)
