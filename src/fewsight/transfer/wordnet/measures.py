"""How alike synsets are, for all pairs at once. [Resnik1995]

- resnik: the information content, in nats, of the most telling synset that both are a kind of; 0 where there is none.
- path: 1 / (1 + steps) of the shortest way from one to the other by a synset that both are a kind of; 0 where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fewsight._base.types import Array
from fewsight.transfer.wordnet.nouns import Nouns

MEASURES = ("resnik", "path")


def steps_up(nouns: Nouns, row: int) -> dict[int, int]:
    """The synset and all it is a kind of, each with the least number of steps to it."""
    steps, level = {row: 0}, [row]
    while level:
        level = [up for below in level for up in nouns.hypernyms[below] if up not in steps]
        steps |= dict.fromkeys(level, max(steps.values()) + 1)
    return steps


def similarities(nouns: Nouns, information: Array, rows: Sequence[int], measure: str) -> Array:
    """The similarity of every pair of `rows`, as a symmetric matrix."""
    members = _members_of_ancestors(nouns, rows)
    if measure == "path":
        return _path(members, len(rows))
    return _resnik(members, information, len(rows))


def _members_of_ancestors(nouns: Nouns, rows: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
    """Of every synset above any of `rows`: which of them, by position, are below it and how far."""
    members: dict[int, list[tuple[int, int]]] = {}
    for position, row in enumerate(rows):
        for ancestor, steps in steps_up(nouns, row).items():
            members.setdefault(ancestor, []).append((position, steps))
    return members


def _resnik(members: dict[int, list[tuple[int, int]]], information: Array, n: int) -> Array:
    """The least telling ancestor writes first, so that the most telling one stays."""
    alike = np.zeros((n, n))
    for ancestor in sorted(members, key=lambda row: information[row]):
        below = [position for position, _ in members[ancestor]]
        alike[np.ix_(below, below)] = information[ancestor]
    return alike


def _path(members: dict[int, list[tuple[int, int]]], n: int) -> Array:
    shortest = np.full((n, n), np.inf)
    for pairs in members.values():
        below, steps = (np.array(column) for column in zip(*pairs, strict=True))
        block = np.ix_(below, below)
        shortest[block] = np.minimum(shortest[block], steps[:, None] + steps)
    return 1.0 / (1.0 + shortest)
