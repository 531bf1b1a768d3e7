"""Categories at their places in WordNet, and which of them are close to which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, final

from fewsight._base.checks import check_choice, check_integer, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.transfer.wordnet.measures import MEASURES
from fewsight.transfer.wordnet.senses import Sense

if TYPE_CHECKING:
    from fewsight.transfer.wordnet.lexicon import WordNet


@final
class Taxonomy:
    """Made by `WordNet.taxonomy`. Every category stays, whether WordNet knows it or not.

    Attributes
    ----------
    names : the categories.
    unresolved : those that WordNet does not know; they are alike to nothing, and no selection leaves them out.
    ambiguous : those with several senses, of which nobody set one: the likeliest was taken.
    """

    def __init__(self, wordnet: WordNet, names: Sequence[str], senses: Mapping[str, str | int]) -> None:
        self.names = tuple(dict.fromkeys(_checked_names(names)))
        self._wordnet = wordnet
        self._chosen = {name: _sense_of(wordnet, name, senses.get(name)) for name in self.names}
        self.unresolved = [name for name in self.names if self._chosen[name] is None]
        self.ambiguous = [name for name in self.names if name not in senses and len(wordnet.senses(name)) > 1]
        resolved = (name for name in self.names if self._chosen[name] is not None)
        self._places = {name: place for place, name in enumerate(resolved)}  # in the matrices
        self._matrices: dict[str, Array] = {}
        for name in senses:
            self._check_listed(name)

    def sense(self, name: str) -> Sense | None:
        """What a category is taken for, None where WordNet does not know it."""
        self._check_listed(name)
        return self._chosen[name]

    def describe(self, name: str) -> str:
        """What a category is taken for and what else it could be, in one line."""
        sense = self.sense(name)
        if sense is None:
            return f"{name}: not known to WordNet"
        others = [str(other) for other in self._wordnet.senses(name) if other.row != sense.row]
        return f"{name}: {sense.name} ({sense.gloss})" + (f"; not {'; '.join(others)}" if others else "")

    def similarity(self, a: str, b: str, measure: str = "resnik") -> float:
        """How alike two categories are, 0 where WordNet does not know one of them. See `measures.py`."""
        matrix = self._matrix(measure)
        both = self._is_known(a) and self._is_known(b)
        return float(matrix[self._places[a], self._places[b]]) if both else 0.0

    def closest(
        self, name: str, candidates: Sequence[str] | None = None, k: int = 10, measure: str = "resnik"
    ) -> list[tuple[str, float]]:
        """The `k` categories that are closest to one, with their similarities, the closest first. [Rodner2010, section 3.2]

        Without candidates, all others are. Where the measure cannot tell, the shorter path decides, then the order of the
        candidates. Those that WordNet does not know come after the `k`, with similarity 0: nothing speaks against them. To a
        category that WordNet does not know, all candidates come back.
        """
        k = check_integer("Taxonomy", "k", k, least=1)
        check_choice("Taxonomy", "measure", measure, MEASURES)
        others = [other for other in dict.fromkeys(self.names if candidates is None else candidates) if other != name]
        known = [other for other in others if self._is_known(other)]
        rest = [other for other in others if not self._is_known(other)]
        if not self._is_known(name):
            return [(other, 0.0) for other in others]
        known.sort(key=lambda other: (-self.similarity(name, other, measure), -self.similarity(name, other, "path")))
        return [(other, self.similarity(name, other, measure)) for other in (*known[:k], *rest)]

    def _is_known(self, name: str) -> bool:
        self._check_listed(name)
        return name in self._places

    def _matrix(self, measure: str) -> Array:
        check_choice("Taxonomy", "measure", measure, MEASURES)
        if measure not in self._matrices:
            rows = [sense.row for sense in self._chosen.values() if sense is not None]
            self._matrices[measure] = self._wordnet.similarities(rows, measure)
        return self._matrices[measure]

    def _check_listed(self, name: str) -> None:
        if name not in self._chosen:
            raise InvalidInput(
                f"Taxonomy: {shown(name)} must be one of the {len(self.names)} categories, but it is not."
            )


def _checked_names(names: Sequence[str]) -> Sequence[str]:
    if isinstance(names, str):
        raise InvalidInput(f"Taxonomy: names must be a list of texts, got the text {shown(names)}.")
    return names


def _sense_of(wordnet: WordNet, name: str, wanted: str | int | None) -> Sense | None:
    if wanted is not None:
        return wordnet.choose(name, wanted)
    return next(iter(wordnet.senses(name)), None)
