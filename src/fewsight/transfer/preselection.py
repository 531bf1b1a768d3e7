"""Whom a category may borrow from, by meaning: the closest in WordNet, where there is one. [Rodner2010, section 3.2]"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fewsight._base.errors import InvalidInput, WordNetMissing
from fewsight.transfer.wordnet import WordNet

CLOSEST = 10


def closest_lenders(
    names: Sequence[str], k: int = CLOSEST, senses: Mapping[str, str | int] | None = None
) -> dict[str, list[str]] | None:
    """For each category the k others that are closest in meaning, and all that WordNet does not know.

    None where this machine has no WordNet: then nothing is preselected. That is an error if senses are set.
    """
    senses = senses or {}
    for name in senses:
        if name not in names:
            raise InvalidInput(f"borrow: a sense must be set for one of the categories, got {name!r}.")
    try:
        wordnet = WordNet.open()
    except WordNetMissing:
        if senses:
            raise
        return None
    taxonomy = wordnet.taxonomy(list(names), senses)
    return {name: [other for other, _ in taxonomy.closest(name, list(names), k)] for name in names}
