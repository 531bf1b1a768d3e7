"""What is printed: nothing that a file name could do to a terminal."""

from __future__ import annotations

import pytest

from fewsight.apps.cli.console import printable


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("owl.jpg", "owl.jpg"),
        ("a\nb", "a\\nb"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("caf\udce9", "caf\\xe9"),
        ("\ud800", "\\ud800"),
        ("été", "été"),
        ("\u202egpj", "\\u202egpj"),
    ],
)
def test_a_name_can_do_nothing_to_the_terminal(name: str, shown: str) -> None:
    assert printable(name) == shown
