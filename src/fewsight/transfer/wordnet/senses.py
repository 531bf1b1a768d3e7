"""What a name can mean, and which meaning a category most likely has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from fewsight.transfer.wordnet.measures import steps_up
from fewsight.transfer.wordnet.names import Match
from fewsight.transfer.wordnet.nouns import Nouns

THINGS = "physical_entity"
WORTH_OF_THINGS = 10  # a thing comes first unless an idea is ten times as frequent: categories are photographed
WORTH_OF_ANIMALS = 20  # texts speak of skunks among people as often as of the animal
ANIMALS, ARTEFACTS, PLANTS = 5, 6, 20  # the lexicographers' files
FILES_FIRST = (ANIMALS, PLANTS, ARTEFACTS)  # before their flesh, fur and namesakes


@final
@dataclass(frozen=True)
class Sense:
    """One meaning of a name.

    Attributes
    ----------
    number : its place among the senses of the name, from 1; the first is the default.
    synset : WordNet's number for it, as in n02128385.
    name : its usual name, as in leopard.n.02.
    lemmas : the words and compounds for it.
    gloss : what it means.
    count : how often the word was met in this meaning, in the texts that WordNet counts.
    row : where `Nouns` has it.
    """

    number: int
    synset: str
    name: str
    lemmas: tuple[str, ...]
    gloss: str
    count: int
    row: int

    def __str__(self) -> str:
        meaning = self.gloss.split('; "')[0]
        return f"{self.number}. {self.name} ({meaning if len(meaning) <= 80 else meaning[:77] + '...'})"


def senses_of(nouns: Nouns, match: Match) -> list[Sense]:
    """All meanings, the likeliest first.

    That is the most frequent one, where a thing counts ten times what an idea does and an animal twenty times. Many senses were
    never met in the texts, and WordNet lists these in no order: among them animals, plants and artefacts come first, then synsets
    that the word stands at the head of. `docs/wordnet.md` has how often this is right.
    """
    met: dict[int, int] = {}
    for lemma in match.lemmas:
        for row, count in zip(nouns.senses[lemma], nouns.counts[lemma], strict=True):
            met[row] = max(count, met.get(row, 0))
    spellings = {nouns.lemmas[lemma] for lemma in match.lemmas}
    rows = sorted(met, key=lambda row: _likeliest_first(nouns, row, met[row], spellings))
    return [sense_at(nouns, row, number, met[row]) for number, row in enumerate(rows, start=1)]


def sense_at(nouns: Nouns, row: int, number: int = 1, count: int = 0) -> Sense:
    """A synset as a sense."""
    synset = f"n{nouns.offsets[row]:08d}"
    return Sense(
        number, synset, _usual_name(nouns, row), tuple(nouns.words[row].split()), nouns.glosses[row], count, row
    )


def row_by_name(nouns: Nouns, text: str) -> int | None:
    """The synset called so (`n02128385`, `leopard.n.02`), None where there is none."""
    lemma, _, number = text.lower().rpartition(".n.")
    if lemma in nouns.row_of_lemma and number.isdecimal() and len(number) < 9:
        rows = nouns.senses[nouns.row_of_lemma[lemma]]
        return rows[int(number) - 1] if 1 <= int(number) <= len(rows) else None
    if len(text) == 9 and text[0] in "nN" and text[1:].isdecimal():
        return nouns.row_of_offset.get(int(text[1:]))
    return None


def _likeliest_first(nouns: Nouns, row: int, count: int, spellings: set[str]) -> tuple[int, int, int]:
    file = int(nouns.files[row])
    worth = (count + 1) * (WORTH_OF_ANIMALS if file == ANIMALS else WORTH_OF_THINGS if _is_thing(nouns, row) else 1)
    words = nouns.words[row].lower().split()
    place = next((place for place, word in enumerate(words) if word in spellings), len(words))
    return -worth, FILES_FIRST.index(file) if file in FILES_FIRST else len(FILES_FIRST), place


def _is_thing(nouns: Nouns, row: int) -> bool:
    things = nouns.row_of_lemma.get(THINGS)
    return things is not None and nouns.senses[things][0] in steps_up(nouns, row)


def _usual_name(nouns: Nouns, row: int) -> str:
    first = nouns.words[row].split()[0].lower()
    lemma = nouns.row_of_lemma.get(first)
    rows = nouns.senses[lemma] if lemma is not None else []
    return f"{first}.n.{rows.index(row) + 1:02d}" if row in rows else f"n{nouns.offsets[row]:08d}"
