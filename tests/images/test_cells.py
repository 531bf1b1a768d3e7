"""Names in cells: shown by a spreadsheet, never run, and read back as they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewsight.images.cells import as_cell, from_cell

RUN = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"


@pytest.mark.parametrize("start", RUN)
def test_no_cell_begins_as_a_formula(start: str) -> None:
    assert as_cell(start + "cmd|' /C calc'!A0") == "'" + start + "cmd|' /C calc'!A0"


@pytest.mark.parametrize("name", ["owl", "", "'", "'owl'", "a=b", "1-2", " =x", "été"])
def test_other_names_stay_as_they_are(name: str) -> None:
    assert as_cell(name) == name


@given(st.text(alphabet=st.sampled_from(RUN + "'ab "), max_size=6) | st.text(max_size=6))
def test_every_name_comes_back(name: str) -> None:
    assert from_cell(as_cell(name)) == name
    assert as_cell(name)[:1] not in set(RUN)
