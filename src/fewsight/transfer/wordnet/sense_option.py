"""The sense that a person sets for a category: `bass=fish`, `bass=2`, `bass=bass.n.08`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight.transfer.wordnet.measures import steps_up
from fewsight.transfer.wordnet.nouns import Nouns
from fewsight.transfer.wordnet.senses import Sense, row_by_name, sense_at

Lookup = Callable[[str], list[Sense]]


def choose_sense(nouns: Nouns, look_up: Lookup, category: str, wanted: str | int) -> Sense:
    """The sense of a category that was asked for.

    By its number, or the name of any synset; else by a word for it, for what it is a kind of, or in its gloss. A category that
    WordNet does not know takes the meaning of the word itself.
    """
    if isinstance(wanted, bool) or not isinstance(wanted, (str, int)) or not str(wanted).strip():
        raise InvalidInput(f"WordNet: the sense of {category!r} must be a word or a number, got {shown(wanted)}.")
    text, senses = str(wanted).strip(), look_up(category)
    row = row_by_name(nouns, text)
    if row is not None:
        return next((sense for sense in senses if sense.row == row), sense_at(nouns, row))
    if not senses:
        return _meaning_of(look_up, category, text)
    if text.isdecimal():
        matching = [sense for sense in senses if str(sense.number) == text]
    else:
        matching = _matching(nouns, senses, text, look_up(text))
    if len(matching) != 1:
        raise InvalidInput(_refusal(category, text, senses, matching))
    return matching[0]


def _meaning_of(look_up: Lookup, category: str, text: str) -> Sense:
    meanings = look_up(text)
    if not meanings:
        raise InvalidInput(f"WordNet: the sense of {category!r} must be a noun that WordNet knows, got {text!r}.")
    return meanings[0]


def _matching(nouns: Nouns, senses: Sequence[Sense], text: str, meanings: Sequence[Sense]) -> list[Sense]:
    """Those that match in the first way in which any does; the later ways decide where it leaves several."""
    wanted = _words(text)
    ways: tuple[Callable[[Sense], bool], ...] = (
        lambda sense: any(wanted == _words(lemma) for lemma in sense.lemmas),
        lambda sense: bool(meanings) and meanings[0].row in steps_up(nouns, sense.row),
        lambda sense: any(wanted <= _words(nouns.words[row]) for row in steps_up(nouns, sense.row)),
        lambda sense: wanted <= _words(sense.gloss),
    )
    left: list[Sense] = []
    for way in ways:
        left = [sense for sense in left or senses if way(sense)] or left
    return left


def _words(text: str) -> set[str]:
    return {word.removesuffix("s") for word in re.findall(r"[^\W_]+", text.lower())}


def _refusal(category: str, text: str, senses: Sequence[Sense], matching: Sequence[Sense]) -> str:
    listed = "; ".join(map(str, matching or senses))
    if matching:
        return f"WordNet: the sense {text!r} of {category!r} must be one of its senses, several match: {listed}."
    return f"WordNet: the sense {text!r} of {category!r} must match one of its senses, which are {listed}."
