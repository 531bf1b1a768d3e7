"""WordNet as the rest of fewsight sees it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import final

import numpy as np

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, State
from fewsight.images import FeatureCache
from fewsight.transfer.wordnet.folder import Folder
from fewsight.transfer.wordnet.information import find_information, information_from_tags, read_information
from fewsight.transfer.wordnet.locate import find_wordnet
from fewsight.transfer.wordnet.measures import similarities
from fewsight.transfer.wordnet.names import Names
from fewsight.transfer.wordnet.nouns import Nouns
from fewsight.transfer.wordnet.parsing import FILES, parse_nouns
from fewsight.transfer.wordnet.sense_option import choose_sense
from fewsight.transfer.wordnet.senses import Sense, row_by_name, sense_at, senses_of
from fewsight.transfer.wordnet.taxonomy import Taxonomy

RECIPE = {"wordnet nouns": 1}  # the number changes with what is kept of a folder


@final
class WordNet:
    """The nouns of WordNet with their information content. `WordNet.open()` makes one.

    Parameters
    ----------
    folder : where its files are.
    nouns : their words and how they hang together.
    information : array (n_synsets,), the information content of each.
    """

    def __init__(self, folder: Path, nouns: Nouns, information: Array) -> None:
        self.folder = folder
        self._nouns = nouns
        self._information = information
        self._names = Names(nouns)
        self._senses: dict[str, list[Sense]] = {}

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str] | None = None,
        *,
        information_content: str | os.PathLike[str] | None = None,
        cache: FeatureCache | None = None,
    ) -> WordNet:
        """Read a WordNet 3.x folder; the second time, what the cache kept of the same files.

        Parameters
        ----------
        folder : a `dict` folder; without it, see `find_wordnet`.
        information_content : a file in the form of WordNet::Similarity, or the name of one (`brown`) where WordNet brings them.
            Without it, WordNet's own tag counts + 1.
        cache : keeps what was read; None for the user's own.
        """
        found = Folder(find_wordnet(folder))
        cache = FeatureCache() if cache is None else cache
        key = cache.key_of(RECIPE, *(found.read(name) or b"" for name in FILES))
        kept = cache.read(key, _kept_tables)
        if kept is None:
            nouns = parse_nouns(found)
            kept = nouns, information_from_tags(nouns)
            cache.put(key, State({}, {**nouns.state().arrays, "information": kept[1]}))
        nouns, by_tags = kept
        if information_content is None:
            return cls(found.path, nouns, by_tags)
        return cls(found.path, nouns, read_information(nouns, find_information(found, information_content)))

    def senses(self, name: str) -> list[Sense]:
        """What a category's name can mean, the likeliest first; nothing where WordNet does not know it.

        Parameters
        ----------
        name : of the category.
        """
        if not isinstance(name, str):
            raise InvalidInput(f"WordNet: the name of a category must be a text, got {shown(name)}.")
        if name not in self._senses:
            self._senses[name] = self._look_up(name)
        return list(self._senses[name])

    def choose(self, name: str, wanted: str | int) -> Sense:
        """The sense of a name that a person asks for: by a word for it, by its number or by the name of a synset.

        Parameters
        ----------
        name : of the category.
        wanted : the word ("fish"), the number from 1 or the synset ("bass.n.01").
        """
        return choose_sense(self._nouns, self.senses, name, wanted)

    def taxonomy(self, names: Sequence[str], senses: Mapping[str, str | int] | None = None) -> Taxonomy:
        """Categories at their places.

        Parameters
        ----------
        names : of the categories.
        senses : what some of them mean, as in {"bass": "fish"}.
        """
        return Taxonomy(self, names, senses or {})

    def similarities(self, rows: Sequence[int], measure: str) -> Array:
        """Of every pair of synsets.

        Parameters
        ----------
        rows : which synsets, each given by `Sense.row`.
        measure : its name; see docs/wordnet.md.

        Returns
        -------
        array (n, n)
            A number for each pair; larger for closer meanings.
        """
        return similarities(self._nouns, self._information, rows, measure)

    def __repr__(self) -> str:
        return f"WordNet({str(self.folder)!r}, {len(self._nouns):,} synsets)"

    def _look_up(self, name: str) -> list[Sense]:
        row = row_by_name(self._nouns, name)
        if row is not None:
            return [sense_at(self._nouns, row)]
        match = self._names.find(name)
        return senses_of(self._nouns, match) if match else []


def closest_categories(
    name: str,
    candidates: Sequence[str],
    k: int = 10,
    *,
    measure: str = "resnik",
    senses: Mapping[str, str | int] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> list[tuple[str, float]]:
    """The `k` candidates whose meaning is closest to a category's; see `Taxonomy.closest`."""
    taxonomy = WordNet.open(folder).taxonomy([name, *candidates], senses)
    return taxonomy.closest(name, candidates, k, measure)


def _kept_tables(state: State) -> tuple[Nouns, Array]:
    nouns = Nouns.from_state(state)
    return nouns, state.array("information", (len(nouns),), np.float64, least=0.0)
