"""Make the project of the present version that later versions must open: `python make.py`, once for each version."""

from __future__ import annotations

from pathlib import Path

from fewsight.apps.workbench.project import Asked, ProjectFile, schema
from fewsight.apps.workbench.project.events import (
    Clear,
    Discard,
    Import,
    Label,
    Loan,
    Merge,
    NewCategory,
    NoneOfThese,
    Question,
    Redo,
    RefuseLoan,
    Relearned,
    Rename,
    Skip,
    Undo,
)
from fewsight.apps.workbench.project.file import Draft

IMAGES = [f"{number:040x}" for number in range(10)]


def make(path: Path) -> None:
    """Every kind of act, every table, two persons, a batch and a disagreement."""
    with ProjectFile(path) as project:

        def say(who: str, *acts: Draft | Question | Label, request: str | None = None) -> str:
            return project.append(who, f"{who}'s page", acts, request).events[0].act_id

        project.set("channels", ["spatial_pmk", "colour"])
        project.set("seed", 7)
        owl, tit, eagle = (say("ann", NewCategory(name)) for name in ("owl", "tit", "eagle"))
        asked = Asked("check", 40, 3, {"model": 2, "likeliest": [[owl, 0.75], [tit, 0.25]], "unknown": 0.5})
        say("ann", Question(IMAGES[1], "uncertainty"))
        say("ann", Draft(Label(IMAGES[1], owl), asked))
        say("ann", Label(IMAGES[2], tit), Label(IMAGES[3], eagle))
        say("ann", NoneOfThese(IMAGES[4]))
        say("bob", Discard(IMAGES[5]))
        say("bob", Label(IMAGES[6], tit))
        say("ann", Label(IMAGES[6], owl))
        say("ann", Skip(IMAGES[7]))
        say("bob", Label(IMAGES[8], tit))
        say("bob", Clear(IMAGES[8]))
        say("ann", Rename(owl, "barn owl"))
        say("ann", Merge(eagle, owl))
        say("ann", Loan(owl, tit))
        say("bob", RefuseLoan(tit, owl))
        say("bob", Import("labels.csv"), Label(IMAGES[9], tit))
        say("bob", Undo(project.events()[-1][1].act_id))
        mistake = say("ann", Label(IMAGES[1], tit))
        say("ann", Undo(mistake))
        say("ann", Redo(mistake))
        say("ann", Undo(mistake))
        say("ann", Relearned(mistake, "ab" * 20, '{"noise": 0.5}'))
        with project.writing() as connection:
            connection.execute("INSERT INTO images VALUES (?, 640, 480, 1700000000000, 'A camera')", (IMAGES[1],))
            files = [
                (b"owl.jpg", IMAGES[1], 100, 10, 1, None, None),
                (b"caf\xe9.jpg", IMAGES[2], 200, 20, 2, None, None),
                (b"gone.jpg", IMAGES[3], 300, 30, 3, None, 5),
                (b"empty.jpg", None, 0, 40, 4, "empty file", None),
            ]
            connection.executemany("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", files)
            connection.execute("INSERT INTO sortings VALUES (1, 50, ?, 'copy')", (b"/sorted",))
            connection.execute(
                "INSERT INTO sorted VALUES (1, ?, ?, ?, 'done')", (b"owl.jpg", b"barn owl/owl.jpg", IMAGES[1])
            )


if __name__ == "__main__":
    make(Path(__file__).parent / f"version-{schema.VERSION}.sqlite")
