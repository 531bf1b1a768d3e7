"""From the text files of a WordNet folder to `Nouns`.

Lines are parsed, and synsets known by the offset that stands at the head of their line: a file whose lines end in another way
than its maker's has other positions, and the same offsets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight.transfer.wordnet.folder import Folder, numbered_lines
from fewsight.transfer.wordnet.nouns import Nouns, Ragged

KIND_OF = ("@", "@i")  # is a kind of, is an instance of

TAGS = ("cntlist.rev", "index.sense")  # the same counts, the shorter file first; a folder may have one, both or none
FILES = ("data.noun", "index.noun", "noun.exc", *TAGS)

MAX_NUMBER = 2**31 - 1  # of any number in these files

T = TypeVar("T")
Tags = dict[str, int]  # by sense key


class Synset(NamedTuple):
    """A line of data.noun."""

    offset: int
    file: int
    words: list[str]
    keys: list[str]
    hypernyms: list[int]
    gloss: str


def parse_nouns(folder: Folder) -> Nouns:
    """Read a folder. What is missing or damaged is one sentence that names the file and the line."""
    synsets = [_parse(_synset, "data.noun", *line, folder) for line in _lines(folder, "data.noun")]
    rows = {synset.offset: row for row, synset in enumerate(synsets)}
    if not synsets or len(rows) < len(synsets):
        raise InvalidInput(f"WordNet: data.noun of {folder.path} must have each synset once, but one occurs twice.")
    entries = [_parse(_entry, "index.noun", *line, folder) for line in _lines(folder, "index.noun")]
    senses = [[_row(rows, offset, "index.noun", folder) for offset in offsets] for _, offsets in entries]
    lemmas = [lemma for lemma, _ in entries]
    senses, counts = _by_frequency(senses, _counts(lemmas, senses, synsets, _tags(folder)))
    return Nouns(
        offsets=np.array([synset.offset for synset in synsets], dtype=np.int64),
        files=np.array([synset.file for synset in synsets], dtype=np.int64),
        words=[" ".join(synset.words) for synset in synsets],
        glosses=[synset.gloss for synset in synsets],
        hypernyms=Ragged.of([[_row(rows, up, "data.noun", folder) for up in synset.hypernyms] for synset in synsets]),
        lemmas=lemmas,
        senses=Ragged.of(senses),
        counts=Ragged.of(counts),
        exceptions=[line for _, line in numbered_lines(folder.read("noun.exc") or b"") if len(line.split()) > 1],
    )


def _synset(line: str) -> Synset:
    facts, bar, gloss = line.partition("|")
    fields = facts.split()
    n_words = int(fields[3], 16)
    words, ids = fields[4 : 4 + 2 * n_words : 2], fields[5 : 5 + 2 * n_words : 2]
    pointers = fields[5 + 2 * n_words :]
    if not bar or len(words) != n_words or n_words < 1 or len(pointers) != 4 * int(fields[4 + 2 * n_words]):
        raise ValueError
    keys = [f"{word.lower()}%1:{fields[1]}:{int(number, 16):02d}::" for word, number in zip(words, ids, strict=True)]
    kinds = zip(pointers[::4], pointers[1::4], pointers[2::4], strict=True)
    hypernyms = [int(offset) for symbol, offset, part in kinds if symbol in KIND_OF and part == "n"]
    return Synset(_number(fields[0]), _number(fields[1]), words, keys, hypernyms, gloss.strip())


def _entry(line: str) -> tuple[str, list[int]]:
    fields = line.split()
    n_senses = int(fields[2])
    offsets = [int(field) for field in fields[6 + int(fields[3]) :]]
    if len(offsets) != n_senses or n_senses < 1:
        raise ValueError
    return fields[0], offsets


def _tags(folder: Folder) -> Tags:
    """How often each sense of a noun was met."""
    for name in TAGS:
        content = folder.read(name)
        if content is not None:
            parsed = (_parse(_tag, name, *line, folder) for line in numbered_lines(content) if "%1:" in line[1])
            return {key: count for key, count in parsed if count}
    return {}


def _tag(line: str) -> tuple[str, int]:
    fields = line.split()
    return fields[0].lower(), _number(fields[-1])


def _counts(lemmas: list[str], senses: list[list[int]], synsets: list[Synset], tags: Tags) -> list[list[int]]:
    met: dict[tuple[str, int], int] = {}
    for row, synset in enumerate(synsets):
        for key in synset.keys:
            if key in tags:
                met[key.partition("%")[0], row] = tags[key]
    return [[met.get((lemma, row), 0) for row in rows] for lemma, rows in zip(lemmas, senses, strict=True)]


def _by_frequency(senses: list[list[int]], counts: list[list[int]]) -> tuple[list[list[int]], list[list[int]]]:
    """The most frequent sense first: Princeton's files have this order already, others' need not."""
    pairs = [sorted(zip(*both, strict=True), key=_count, reverse=True) for both in zip(senses, counts, strict=True)]
    return [[row for row, _ in pair] for pair in pairs], [[count for _, count in pair] for pair in pairs]


def _count(pair: tuple[int, int]) -> int:
    return pair[1]


def _number(field: str) -> int:
    number = int(field)
    if not 0 <= number <= MAX_NUMBER:
        raise ValueError
    return number


def _lines(folder: Folder, name: str) -> list[tuple[int, str]]:
    content = folder.read(name)
    if content is None:
        raise InvalidInput(f"WordNet: {folder.path} must have a file {name}, but it has none.")
    return list(numbered_lines(content))


def _parse(parser: Callable[[str], T], name: str, number: int, line: str, folder: Folder) -> T:
    try:
        return parser(line)
    except (ValueError, IndexError):
        raise InvalidInput(f"WordNet: line {number} of {name} of {folder.path} is not WordNet's, or damaged.") from None


def _row(rows: dict[int, int], offset: int, name: str, folder: Folder) -> int:
    if offset not in rows:
        raise InvalidInput(f"WordNet: {name} of {folder.path} names synset {offset:08d}, which is not in data.noun.")
    return rows[offset]
