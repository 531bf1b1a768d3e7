"""Every kind of act comes back from its row; rows that nobody wrote are refused."""

from __future__ import annotations

from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewsight._base.errors import InvalidInput, ProjectError
from fewsight.apps.workbench.project.events import (
    ASKED_COLUMNS,
    COLUMNS,
    KINDS,
    LAST_TIME,
    Act,
    Asked,
    Event,
    Label,
    check_name,
    folded,
    from_row,
    to_row,
)

IMAGE = "0123456789abcdef0123456789abcdef01234567"

texts = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=20)
beliefs = st.none() | st.dictionaries(texts, st.floats(allow_nan=False, allow_infinity=False) | texts, max_size=3)
counts = st.none() | st.integers(0, 2**40)


VALUES = {int: st.integers(0, 2**40), float: st.floats(0, 1), str: texts}


@st.composite
def acts(draw: st.DrawFn) -> Act:
    kind = draw(st.sampled_from(list(KINDS.values())))
    hints = {name: hint for name, hint in get_type_hints(kind).items() if name not in ("kind", "undoable")}
    return kind(**{name: IMAGE if name == "image" else draw(VALUES[hint]) for name, hint in hints.items()})


@given(
    event=st.builds(
        Event,
        st.integers(0, LAST_TIME - 1),
        texts,
        texts,
        texts,
        acts(),
        st.none() | texts,
        st.none() | st.builds(Asked, texts, counts, counts, beliefs),
    )
)
def test_an_event_comes_back_from_its_row(event: Event) -> None:
    row = to_row(event)
    assert len(row) == len(COLUMNS) + len(ASKED_COLUMNS)
    assert from_row(row) == event


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("at", "now"),
        ("at", 2**62),
        ("who", None),
        ("act", "explode"),
        ("image", "../../etc/passwd"),
        ("image", None),
        ("category", None),
        ("data", "{}}"),
        ("data", '{"more": 1}'),
        ("data", "[]"),
        ("n_labelled", "many"),
        ("believed", "3"),
    ],
)
def test_a_row_that_nobody_wrote_is_refused(column: str, value: str | int | None) -> None:
    row = list(to_row(Event(1, "ann", "s", "r", Label(IMAGE, "c"), None, Asked())))
    row[(*COLUMNS, *ASKED_COLUMNS).index(column)] = value
    with pytest.raises(ProjectError, match="an event is damaged"):
        from_row(row)


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "two\nlines", "nul\0", "half \ud800", "line\u2028separator"])
def test_a_category_name_must_be_one_short_line(name: str) -> None:
    with pytest.raises(InvalidInput, match="must have 1 to 100 characters and no line breaks, got"):
        check_name("category", name)


def test_names_are_composed_and_fold_by_case() -> None:
    assert check_name("category", " Cafe\u0301 ") == "Caf\u00e9"
    assert folded("CAFE\u0301") == folded("caf\u00e9")
    assert folded("Stra\u00dfe") == folded("STRASSE")
