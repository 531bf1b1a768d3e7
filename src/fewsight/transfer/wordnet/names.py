"""From what a person calls a category to a lemma of WordNet.

The rules, the first that finds something being the one that counts: the name itself; its singular (`Faces`), or its plural where
only that is a word (`binocular`); the same letters with other gaps (`inline_skate`); a slip of the pen where a word is unknown
(`water_lilly`); and of a compound, its head (`ceiling_fan`), unless the head names a part or a side (`cougar_face`, `car_side`):
then what it is a part of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple, final

from fewsight.transfer.wordnet.nouns import Nouns
from fewsight.transfer.wordnet.spelling import closest_spellings, slips_allowed

SINGULAR_ENDINGS = (
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
)
PARTS_AND_PLACES = (8, 15)  # the lexicographers' files noun.body and noun.location
LEAST_LETTERS = 2  # of a name; single letters and digits are words of WordNet's, but as names they number categories
LEAST_HEAD_LETTERS = 3

_GAPS = re.compile(r"[\s_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NUMBERING = re.compile(r"^\d+[._\-\s]+|[._\-\s]+\d+$")
_BETWEEN = str.maketrans("", "", "_-'. /")


class Match(NamedTuple):
    """The rows of the lemmas that a name stands for, and the rule that found them."""

    lemmas: tuple[int, ...]
    rule: str


@final
class Names:
    """Finds lemmas by name."""

    def __init__(self, nouns: Nouns) -> None:
        self._nouns = nouns

    def find(self, name: str) -> Match | None:
        """The lemmas that a name stands for, or None."""
        spellings = [text for text in _spellings(name) if _n_letters(text) >= LEAST_LETTERS]
        for rule in (self._whole, self._misspelt, self._compound):
            for text in spellings:
                match = rule(text)
                if match:
                    return match
        return None

    def _whole(self, text: str) -> Match | None:
        rows = self._nouns.row_of_lemma
        for rule, forms in (
            ("name", (text, text.replace("-", "_"), text.replace("_", "-"))),
            ("singular", self._singulars(text)),
            ("plural", (text + "s",)),
        ):
            found = next((rows[form] for form in forms if form in rows), None)
            if found is not None:
                return Match((found,), rule)
        for form in (text, *self._singulars(text)):
            if form.translate(_BETWEEN) in self._without_gaps:
                return Match(tuple(self._without_gaps[form.translate(_BETWEEN)]), "gaps")
        return None

    def _misspelt(self, text: str) -> Match | None:
        """Only where a word of the name is unknown, and only if the closest lemmas mean one thing."""
        words = text.split("_")
        if all(self._whole(word) for word in words):
            return None
        most = min(slips_allowed(text), 1 if len(words) > 1 else 2)
        found = closest_spellings(text, self._nouns.lemmas, most) if most else []
        meanings = {tuple(self._nouns.senses[row]) for row in found}
        return Match((found[0],), "spelling") if len(meanings) == 1 else None

    def _compound(self, text: str) -> Match | None:
        words = re.split("[_-]", text)
        heads = ("_".join(words[start:]) for start in range(1, len(words)))
        head = self._first(heads, LEAST_HEAD_LETTERS)
        if head and not self._is_part(head):
            return Match(head.lemmas, "head")
        owner = self._first(("_".join(words[:end]) for end in range(len(words) - 1, 0, -1)), LEAST_LETTERS)
        return Match(owner.lemmas, "owner") if owner else head and Match(head.lemmas, "head")

    def _first(self, texts: Iterator[str], least_letters: int) -> Match | None:
        long_enough = (text for text in texts if _n_letters(text) >= least_letters)
        return next((match for match in map(self._whole, long_enough) if match), None)

    def _is_part(self, match: Match) -> bool:
        most_frequent = self._nouns.senses[match.lemmas[0]][0]
        return int(self._nouns.files[most_frequent]) in PARTS_AND_PLACES

    def _singulars(self, text: str) -> list[str]:
        """What the name may be the plural of: the irregular forms, then the endings, of its last word."""
        start, gap, last = text.rpartition("_")
        irregular = self._nouns.singular_forms
        forms = [*irregular.get(text, ()), *(start + gap + form for form in irregular.get(last, ()))]
        return forms + [
            text.removesuffix(ending) + instead
            for ending, instead in SINGULAR_ENDINGS
            if last.endswith(ending) and last != ending and not last.endswith("ss")
        ]

    @cached_property
    def _without_gaps(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row, lemma in enumerate(self._nouns.lemmas):
            found.setdefault(lemma.translate(_BETWEEN), []).append(row)
        return found


def _n_letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _spellings(name: str) -> list[str]:
    """A name as lemmas are written; then with gaps at its humps (`StopSign`), then without numbers around it (`045.rose`)."""
    humps = _HUMP.sub("_", name)
    written = (
        _GAPS.sub("_", form.strip().lower()).strip("_") for form in (name, humps, _NUMBERING.sub("", humps.strip()))
    )
    return list(dict.fromkeys(written))
