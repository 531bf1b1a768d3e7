"""The nouns of WordNet as a few tables, and as the arrays that the cache keeps of them. [Miller1995]"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import LARGEST
from fewsight._base.errors import InvalidInput
from fewsight._base.types import State

Integers = npt.NDArray[np.int64]


@final
@dataclass(frozen=True)
class Ragged:
    """Rows of different lengths: row i is `values[starts[i]:starts[i + 1]]`."""

    starts: Integers
    values: Integers

    @classmethod
    def of(cls, rows: list[list[int]]) -> Ragged:
        """From lists."""
        starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return cls(starts, np.array([value for row in rows for value in row], dtype=np.int64))

    @classmethod
    def from_state(cls, state: State, name: str, n_rows: int, *, most: float = LARGEST) -> Ragged:
        """From a state that holds it under a name: `n_rows` rows of numbers from 0 to `most`."""
        starts = state.array(f"{name}/starts", (n_rows + 1,), np.int64, least=0)
        if starts[0] != 0 or (np.diff(starts) < 0).any():
            raise InvalidInput(f"the stored starts of {name} must ascend from 0.")
        return cls(starts, state.array(f"{name}/values", (int(starts[-1]),), np.int64, least=0, most=most))

    def __getitem__(self, row: int) -> list[int]:
        return self.values[self.starts[row] : self.starts[row + 1]].tolist()

    def __len__(self) -> int:
        return len(self.starts) - 1


@final
@dataclass(frozen=True)
class Nouns:
    """Synsets are known by their row, lemmas by theirs.

    Attributes
    ----------
    offsets : (n,) what WordNet itself numbers the synsets by.
    files : (n,) the lexicographer's file each comes from: 5 is animals, 8 the body, 15 places.
    words : (n,) the lemmas of each synset as they are written, separated by blanks.
    glosses : (n,) what each means.
    hypernyms : of each synset, the synsets it is a kind or an instance of.
    lemmas : (m,) all words and compounds, in small letters, with underscores.
    senses : of each lemma, its synsets, the most frequent one first.
    counts : how often each of `senses` was met in the texts that were tagged.
    exceptions : irregular plurals, each followed by its singular forms.
    """

    offsets: Integers
    files: Integers
    words: list[str]
    glosses: list[str]
    hypernyms: Ragged
    lemmas: list[str]
    senses: Ragged
    counts: Ragged
    exceptions: list[str]

    def __len__(self) -> int:
        return len(self.offsets)

    @cached_property
    def row_of_lemma(self) -> dict[str, int]:
        """The row of each lemma."""
        return {lemma: row for row, lemma in enumerate(self.lemmas)}

    @cached_property
    def row_of_offset(self) -> dict[int, int]:
        """The row of each synset."""
        return {offset: row for row, offset in enumerate(self.offsets.tolist())}

    @cached_property
    def singular_forms(self) -> dict[str, list[str]]:
        """The singular forms of each irregular plural."""
        return {plural: forms for plural, *forms in map(str.split, self.exceptions)}

    def counts_of_synsets(self) -> Integers:
        """How often each synset was met, under any of its lemmas."""
        totals = np.zeros(len(self), dtype=np.int64)
        np.add.at(totals, self.senses.values, self.counts.values)
        return totals

    def state(self) -> State:
        """The tables as arrays: texts become bytes, a line for each."""
        ragged = {name: getattr(self, name) for name in _RAGGED}
        arrays: dict[str, npt.NDArray[Any]] = {"offsets": self.offsets, "files": self.files}
        arrays |= {f"{name}/starts": rows.starts for name, rows in ragged.items()}
        arrays |= {f"{name}/values": rows.values for name, rows in ragged.items()}
        arrays |= {name: _as_bytes(getattr(self, name)) for name in _TEXTS}
        return State({}, arrays)

    @classmethod
    def from_state(cls, state: State) -> Nouns:
        """The tables back, checked: the cache may be damaged."""
        texts = {name: _as_texts(state.array(name, (None,), np.uint8)) for name in _TEXTS}
        n, m = len(texts["words"]), len(texts["lemmas"])
        if len(texts["glosses"]) != n:
            raise InvalidInput(f"there must be a gloss for each of {n} synsets, got {len(texts['glosses'])}.")
        senses = Ragged.from_state(state, "senses", m, most=n - 1)
        counts = Ragged.from_state(state, "counts", m)
        if not np.array_equal(senses.starts, counts.starts):
            raise InvalidInput("there must be a count for each sense.")
        return cls(
            offsets=state.array("offsets", (n,), np.int64, least=0),
            files=state.array("files", (n,), np.int64, least=0),
            hypernyms=Ragged.from_state(state, "hypernyms", n, most=n - 1),
            senses=senses,
            counts=counts,
            **texts,
        )


_RAGGED = ("hypernyms", "senses", "counts")
_TEXTS = ("words", "glosses", "lemmas", "exceptions")


def _as_bytes(texts: list[str]) -> npt.NDArray[np.uint8]:
    return np.frombuffer("".join(text + "\n" for text in texts).encode(), dtype=np.uint8)


def _as_texts(content: npt.NDArray[np.uint8]) -> list[str]:
    return content.tobytes().decode().split("\n")[:-1]
