"""Where a project stands, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from fewsight.apps.workbench.project.catalogue import KnownFile, shown_path
from fewsight.apps.workbench.project.present import Choice, Present
from fewsight.images.capture import Capture, bursts


@dataclass(frozen=True)
class ProjectStatus:
    """Where a project stands."""

    counts: dict[str, int]  # labels for each category, by its name
    n_files: int
    n_unread: int
    n_labelled: int
    n_none: int
    n_discarded: int
    n_skipped: int
    n_duplicates: int  # files whose content another file has
    n_bursts: int
    n_vanished: int
    broken: dict[str, str]  # files that cannot be used, and why
    disagreements: list[str]
    persons: dict[str, int]  # images that each person has said something about
    can_undo: bool
    can_redo: bool


def status_of(
    present: Present, files: Mapping[bytes, KnownFile], taken: Mapping[str, Capture], who: str
) -> ProjectStatus:
    """Counts of everything; what can be undone is this person's."""
    there = [file for file in files.values() if file.vanished_at is None]
    contents = Counter(file.hash for file in there if file.hash)
    standings = present.standings()
    kinds = Counter(standing.choice.kind for standing in standings.values() if standing.choice)
    labels = Counter(present.labels().values())
    persons = Counter(person for standing in standings.values() for person in standing.votes)
    return ProjectStatus(
        counts={name: labels[key] for key, name in present.categories.items()},
        n_files=len(there),
        n_unread=sum(file.hash is None and file.unreadable is None for file in there),
        n_labelled=labels.total(),
        n_none=kinds["none"],
        n_discarded=kinds["discard"],
        n_skipped=len(present.skipped()),
        n_duplicates=contents.total() - len(contents),
        n_bursts=len(bursts({image: capture for image, capture in taken.items() if image in contents})),
        n_vanished=len(files) - len(there),
        broken={shown_path(file.path): file.unreadable for file in there if file.unreadable is not None},
        disagreements=disagreements(present, files),
        persons=dict(sorted(persons.items())),
        can_undo=present.last_done(who) is not None,
        can_redo=present.last_undone(who) is not None,
    )


def disagreements(present: Present, files: Mapping[bytes, KnownFile]) -> list[str]:
    """The images that persons disagree about, a line for each: the file, and who says what."""
    names = {file.hash: shown_path(path) for path, file in files.items() if file.hash}
    lines = []
    for image, votes in present.ties().items():
        said = ", ".join(f"{who} says {choice_in_words(present, choice)}" for who, choice in sorted(votes.items()))
        lines.append(f"{names.get(image, image)}: {said}")
    return sorted(lines)


def choice_in_words(present: Present, choice: Choice) -> str:
    """`owl`, `none of these` or `discarded`."""
    return (
        present.categories[choice.category]
        if choice.category is not None
        else "none of these"
        if choice.kind == "none"
        else "discarded"
    )
