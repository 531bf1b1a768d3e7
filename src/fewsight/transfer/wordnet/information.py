"""How much it says of a thing that it is an animal, a cat, a leopard: information content. [Resnik1995]

The frequency of a synset is how often it, or anything that is a kind of it, was met; its information content is
-log(frequency / total). The counts come with WordNet, plus one for every synset, so that those nobody met have a frequency too;
or from a file in the form of WordNet::Similarity, which sums over kinds already.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.transfer.wordnet.folder import Folder, numbered_lines
from fewsight.transfer.wordnet.nouns import Nouns

OTHER_FOLDER = "wordnet_ic"  # where the wheel and NLTK keep such files, beside WordNet's


def information_from_tags(nouns: Nouns) -> Array:
    """(n,) information content in nats, from the tag counts + 1."""
    own = np.asarray(nouns.counts_of_synsets() + 1, dtype=np.float64)
    return _information(_frequencies(nouns, own), float(own.sum()))


def read_information(nouns: Nouns, path: Path) -> Array:
    """(n,) information content in nats from a file."""
    return information_from_file(nouns, Folder(path.parent).read(path.name) or b"", str(path))


def information_from_file(nouns: Nouns, content: bytes, name: str) -> Array:
    """As `read_information`, from what is in the file. A synset that the texts never had tells nothing: 0."""
    frequencies, total = np.zeros(len(nouns)), 0.0
    for number, line in numbered_lines(content):
        if number == 1 or not line.split()[0].endswith("n"):  # a header; verbs
            continue
        row, frequency, is_root = _counted(nouns, line, f"line {number} of {name}")
        frequencies[row] = frequency
        total += frequency * is_root
    if total <= 0.0:
        raise InvalidInput(
            f"WordNet: {name} must be a file of information content with a noun as its ROOT, but it is not."
        )
    return _information(frequencies, total)


def find_information(folder: Folder, chosen: str | os.PathLike[str]) -> Path:
    """The file that was asked for: by its path, or by the name of its texts (`brown`) where WordNet brings such files."""
    path = Path(os.path.expanduser(chosen))
    beside = [folder.path, folder.path.parent / OTHER_FOLDER]
    for candidate in (path, *(place / f"ic-{chosen}.dat" for place in beside), *(place / path for place in beside)):
        if candidate.is_file():
            return candidate
    raise InvalidInput(
        f"WordNet: information_content must be a file, or the name of one in {beside[1]}, got {os.fspath(chosen)!r}."
    )


def _frequencies(nouns: Nouns, own: Array) -> Array:
    """How often each synset or anything under it was met. What is under it in two ways is counted once."""
    frequencies = np.zeros(len(nouns))
    above: dict[int, frozenset[int]] = {}
    for row in range(len(nouns)):
        frequencies[list(_with_all_above(nouns, row, above))] += own[row]
    return frequencies


def _with_all_above(nouns: Nouns, row: int, known: dict[int, frozenset[int]]) -> frozenset[int]:
    """A synset and all it is a kind of; ends even where a damaged folder goes round in a circle."""
    found, waiting = {row}, [row]
    while waiting:
        for up in nouns.hypernyms[waiting.pop()]:
            if up in known:
                found |= known[up]
            elif up not in found:
                found.add(up)
                waiting.append(up)
    known[row] = frozenset(found)
    return known[row]


def _counted(nouns: Nouns, line: str, where: str) -> tuple[int, float, bool]:
    fields = line.split()
    try:
        offset, frequency = int(fields[0][:-1]), float(fields[1])
    except (ValueError, IndexError):
        raise InvalidInput(f"WordNet: {where} is not one of information content.") from None
    if offset not in nouns.row_of_offset:
        raise InvalidInput(f"WordNet: {where} names synset {offset:08d}, so it belongs to another WordNet.")
    if not 0.0 <= frequency < np.inf:
        raise InvalidInput(f"WordNet: {where} must have a frequency >= 0, got {fields[1]}.")
    return nouns.row_of_offset[offset], frequency, fields[2:] == ["ROOT"]


def _information(frequencies: Array, total: float) -> Array:
    information = np.zeros(len(frequencies))
    met = frequencies > 0.0
    information[met] = np.maximum(0.0, np.log(total / frequencies[met]))
    return information
