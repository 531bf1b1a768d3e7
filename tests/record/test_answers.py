"""The record of answers is the same twice, and a comparison notices what changed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from answer_record import DEFECT, Record, compare
from answers import main, record_answers

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def record() -> Record:
    found, whole = record_answers(only=["simulate", "model files"])
    assert whole
    return found


def changed(record: Record, name: str, value: object) -> Record:
    return Record({**record.arrays, name: np.asarray(value)})


def test_recording_twice_gives_the_same_numbers(record: Record) -> None:
    again, _ = record_answers(only=["simulate", "model files"])
    lines, same = compare(record, again)
    assert same
    assert lines[0].startswith(f"answers: {len(record.arrays)} arrays compared, 0 differ; largest difference 0,")


def test_a_file_comes_back_as_it_was(record: Record, tmp_path: Path) -> None:
    record.write(tmp_path / "one.npz")
    assert compare(record, Record.read(tmp_path / "one.npz"))[1]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ([1.0, 1000.0], [1.0, 1000.0 + 5e-8], True),  # relative to the value
        ([1.0, 1000.0], [1.0 + 2e-10, 1000.0], False),
        ([0.0, np.nan, np.inf], [0.0, np.nan, np.inf], True),
        ([0.0, np.nan], [0.0, 1.0], False),
        ([0.0, 1.0], [0.0, np.inf], False),
        ([True, False], [True, True], False),
        ([1.0, 2.0], [1.0], False),
        (["ant", "bee"], ["ant", "bee"], True),
        (["ant", "bee"], ["ant", "cat"], False),
        (["1"], [1.0], False),
        ([], [], True),
    ],
)
def test_what_counts_as_a_difference(before: list[object], after: list[object], same: bool) -> None:
    one, other = Record(), Record()
    one.put("values", before)
    other.put("values", after)
    assert compare(one, other)[1] == same


def test_the_command_notices_a_changed_number(
    record: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = next(name for name in record.arrays if name.endswith("probabilities"))
    before, after = tmp_path / "before.npz", tmp_path / "after.npz"
    record.write(before)
    changed(record, name, record.arrays[name] + 1e-6).write(after)
    assert main(["--compare", str(before), str(after)]) == 1
    assert f"  {name}: differs by 1e-06" in capsys.readouterr().out
    assert main(["--compare", str(before), str(before)]) == 0


def test_a_known_defect_may_change_and_a_new_name_may_come_but_none_may_go() -> None:
    one = Record({f"{DEFECT}undo": np.zeros(2), "answer": np.ones(3)})
    assert compare(one, changed(one, f"{DEFECT}undo", [0.0, 1.0]))[1]
    assert compare(one, changed(one, "new", [0.0]))[1]
    assert not compare(changed(one, "new", [0.0]), one)[1]
