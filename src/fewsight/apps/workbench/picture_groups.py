"""Images that are best asked about at once: copies of one picture, and photographs of one burst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fewsight.images import KnownLooks
from fewsight.images.capture import Capture, bursts


def picture_groups(captures: Mapping[str, Capture], looks: KnownLooks) -> list[tuple[str, ...]]:
    """Groups of two or more images, each known by the hash of its content, in the order of `captures`.

    Images of one picture by their looks, which the image workers keep, belong together, and so do the photographs of a burst; a
    group is a chain of those. No file is read. `looks` is to be kept between calls: it remembers what it has found.
    """
    hashes = list(captures)
    same = [[hashes[position] for position in positions] for positions in looks.same_pictures(hashes).sets]
    return _joined(hashes, [*same, *bursts(captures)])


def _joined(hashes: Sequence[str], sets: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """What some of the sets connect."""
    group_of = {each: {each} for each in hashes}
    for members in sets:
        whole = set().union(*(group_of[each] for each in members))
        for each in whole:
            group_of[each] = whole
    order = {each: place for place, each in enumerate(hashes)}
    groups = {min(map(order.__getitem__, group)): group for group in group_of.values() if len(group) > 1}
    return [tuple(sorted(group, key=order.__getitem__)) for _, group in sorted(groups.items())]
