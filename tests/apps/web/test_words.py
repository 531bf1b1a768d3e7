"""All words stand in one place: every one that is used is there, and every one that is there is used."""

from __future__ import annotations

import re
import string
from pathlib import Path
from typing import Any

import pytest

import fewsight.apps.web
from fewsight.apps.web.site import VIEWS, Site, load_words
from fewsight.apps.workbench.session import LabellingSession

ROOT = Path(fewsight.apps.web.__file__).parent
WORDS = load_words("en")
SOURCES = [*(ROOT / "templates").glob("*.j2"), *(ROOT / "static").glob("*.js"), *ROOT.glob("*.py")]
TEXT = "\n".join(path.read_text("utf-8") for path in SOURCES)


def paths(words: dict[str, Any], before: str = "") -> list[str]:
    found = []
    for key, value in words.items():
        found += paths(value, f"{before}{key}.") if isinstance(value, dict) else [before + key]
    return found


def test_words_that_are_used_are_there() -> None:
    used = set(re.findall(r"\bwords\.([a-z_]+)\.([a-z_0-9]+)", TEXT))
    assert len(used) > 100
    assert [f"{section}.{name}" for section, name in sorted(used) if name not in WORDS[section]] == []


def test_words_that_are_there_are_used() -> None:
    known = set(re.findall(r"\w+", TEXT))
    unused = []
    for path in paths(WORDS):
        name = path.rpartition(".")[2]
        stems = {name, name.removesuffix("_one"), name.removesuffix("_title"), re.sub(r"_waiting(_one)?$", "", name)}
        by_name = path.startswith(("actions.", "views.", "results.ways.", "state.models."))  # looked up by a variable
        unused += [] if by_name or stems & known else [path]
    assert unused == []


def test_every_word_of_a_template_is_shown_as_it_stands(session: LabellingSession) -> None:
    templates = Site(session)._templates
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "templates").glob("*.j2"))
    used = sorted(set(re.findall(r"\bwords\.([a-z_]+)\.([a-z_0-9]+)", source)))
    assert ("mine", "clear") in used  # also the name of a method of every dictionary
    for section, name in used:
        shown = templates.from_string(f"{{{{ words.{section}.{name} | safe }}}}").render(words=WORDS)
        assert shown == str(WORDS[section][name]), (section, name)


def test_texts_have_places_that_can_be_filled() -> None:
    for path in paths(WORDS):
        text: Any = WORDS
        for part in path.split("."):
            text = text[part]
        fields = [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
        assert all(name.isidentifier() for name in fields), path


@pytest.mark.parametrize("view", VIEWS)
def test_templates_hold_no_words_of_their_own(view: str) -> None:
    source = (ROOT / "templates" / f"{view}.html.j2").read_text("utf-8")
    without_code = re.sub(r"\{[%{].*?[%}]\}|<[^>]*>", " ", source, flags=re.DOTALL)
    assert set(re.findall(r"[A-Za-z]{2,}", without_code)) == set()
