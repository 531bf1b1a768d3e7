"""The lemma that a misspelt name is closest to: letters dropped, added, replaced or swapped, counted for all lemmas at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

LETTERS_PER_SLIP = 6  # shorter names have no slip: too many words are one letter apart
MAX_SLIPS = 2

Codes = npt.NDArray[np.uint32]


def slips_allowed(word: str) -> int:
    """How many letters may be wrong in a word for it to be taken for another."""
    return min(MAX_SLIPS, len(word) // LETTERS_PER_SLIP)


def closest_spellings(word: str, lemmas: Sequence[str], most: int) -> list[int]:
    """The positions of the lemmas with the fewest slips, at most `most`; the first letter is never wrong."""
    near = [at for at, lemma in enumerate(lemmas) if lemma[:1] == word[:1] and abs(len(lemma) - len(word)) <= most]
    if not near or not word:
        return []
    slips = edit_distances(word, [lemmas[at] for at in near])
    least = slips.min()
    return [at for at, distance in zip(near, slips, strict=True) if distance == least <= most]


def edit_distances(word: str, others: Sequence[str]) -> npt.NDArray[np.int64]:
    """From one word to each of the others: how many letters are dropped, added, replaced, or swapped with the next."""
    codes, lengths = _codes(others)
    n, width = codes.shape
    before, last = None, np.broadcast_to(np.arange(width + 1), (n, width + 1))
    for i, letter in enumerate(word, start=1):
        row = np.empty((n, width + 1), dtype=np.int64)
        row[:, 0] = i
        same = codes == ord(letter)
        for j in range(1, width + 1):
            row[:, j] = np.minimum(np.minimum(last[:, j], row[:, j - 1]) + 1, last[:, j - 1] + ~same[:, j - 1])
            if before is not None and j > 1:
                swapped = same[:, j - 2] & (codes[:, j - 1] == ord(word[i - 2]))
                row[:, j] = np.where(swapped, np.minimum(row[:, j], before[:, j - 2] + 1), row[:, j])
        before, last = last, row
    return last[np.arange(n), lengths]


def _codes(words: Sequence[str]) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Words as rows of character codes, filled up with zeros, and their lengths."""
    texts = np.array(words, dtype=np.str_)
    width = texts.dtype.itemsize // 4
    return texts.view(np.uint32).reshape(len(words), width), np.char.str_len(texts)
