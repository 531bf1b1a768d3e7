"""`fewsight status`, `history`, `undo`, `import` and `export`: a project from the command line."""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from fewsight._base.errors import InvalidInput
from fewsight.apps.cli.console import progress_bars

if TYPE_CHECKING:
    from fewsight.apps.workbench.project.status_counts import ProjectStatus
    from fewsight.apps.workbench.scan import Scan
    from fewsight.apps.workbench.verbs import Imported, Workbench

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False, help="The folder of images.")]
Project = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="PROJECT",
        show_default="FOLDER/fewsight.sqlite",
        help="The project file; it keeps every label that was ever given.",
    ),
]
Name = Annotated[
    str | None,
    typer.Option("--name", metavar="WHO", show_default="the user's name", help="Your name; kept with each label."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON on stdout, for other programs.")]

STATUS_EXAMPLES = """
[bold]fewsight status photos[/bold]

[bold]fewsight status photos --json[/bold]
"""
HISTORY_EXAMPLES = """
[bold]fewsight history photos[/bold]

[bold]fewsight history photos --most 100[/bold]
"""
UNDO_EXAMPLES = """
[bold]fewsight undo photos[/bold]

[bold]fewsight undo photos --redo[/bold]  (takes the undo back)

[bold]fewsight undo photos --name Ann[/bold]  (what Ann did last)
"""
IMPORT_EXAMPLES = """
[bold]fewsight import photos labels.csv[/bold]  (columns file and category)

[bold]fewsight import photos sorted[/bold]  (one folder of images per category, compared by content)

[bold]fewsight import photos copy/fewsight.sqlite[/bold]  (another project: the two are merged)
"""
EXPORT_EXAMPLES = """
[bold]fewsight export photos -o labels.csv[/bold]

[bold]fewsight learn photos --labels labels.csv -o birds.fewsight[/bold]
"""
SHOWN = 5  # lines of a list

Fact: TypeAlias = "str | int | bool | list[str] | dict[str, int] | dict[str, str] | None"


def status(folder: Folder, project: Project = None, name: Name = None, as_json: AsJson = False) -> None:
    """Say where a project stands: labels of each category, disagreements, and files that are new, moved or unreadable."""
    from fewsight.apps.cli.console import plural, show_table, tell

    with open_project(folder, project, name) as bench, progress_bars():
        scan, found = bench.scan(must_save=False), bench.status()
    if as_json:
        facts = {**vars(found), **_scan_counts(scan), "unsaved": scan.unsaved}
        tell_json({"folder": str(folder), "project": str(bench.file.path), **facts})
        return
    if found.counts:
        show_table(["category", "labels"], [[each, str(count)] for each, count in found.counts.items()], numbers=[1])
    images = plural(found.n_files, "image")
    tell(f"{images}: {found.n_labelled:,} labelled, {found.n_none:,} none of these, {found.n_discarded:,} discarded.")
    tell(*_remarks(bench, found, scan))


def history(
    folder: Folder,
    project: Project = None,
    most: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="How many lines, the latest first.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List what was done, the latest first: labels, categories, imports, undo."""
    from fewsight.apps.cli.console import show_table, tell

    with open_project(folder, project, None) as bench:
        acts = bench.history(most)
    if as_json:
        tell_json([{**vars(act), "at": _time(act.at).isoformat()} for act in acts])
        return
    rows = [
        [f"{_time(act.at):%Y-%m-%d %H:%M}", act.who, act.what + ("" if act.on else " (undone)"), _files(act.files)]
        for act in acts
    ]
    if rows:
        show_table(["when", "who", "what", "images"], rows)
    else:
        tell("Nothing has been done yet.")


def undo(
    folder: Folder,
    project: Project = None,
    name: Name = None,
    redo: Annotated[bool, typer.Option("--redo", help="Take back the last undo.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take back what a person did last: a label, a batch of labels, an import, a category. Repeat it to go further back."""
    from fewsight.apps.cli.console import tell

    with open_project(folder, project, name) as bench:
        _check_person(bench, redo)
        written = bench.redo() if redo else bench.undo()
        act = next(each for each in bench.history() if each.id == getattr(written.events[0].act, "of", ""))
        again = bench.status()
    if as_json:
        tell_json({**vars(act), "can_undo": again.can_undo, "can_redo": again.can_redo})
        return
    tell(f"{'Brought back' if redo else 'Took back'}: {act.what}{f' ({_files(act.files)})' if act.files else ''}.")


def _check_person(bench: Workbench, redo: bool) -> None:
    """Whoever has nothing to take back may be here under another name."""
    present = bench.present
    last = present.last_undone if redo else present.last_done
    others = [who for who in sorted({event.who for event in present.events}) if last(who) is not None]
    if others and last(bench.who) is None:
        what = "redo" if redo else "undo"
        raise InvalidInput(
            f"{what}: {bench.who} has nothing left to {what}; --name names another person, of {', '.join(others[:5])}."
        )


def import_(
    folder: Folder,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            show_default=False,
            help="A CSV table, a folder of class folders, or another project file.",
        ),
    ],
    project: Project = None,
    name: Name = None,
    as_json: AsJson = False,
) -> None:
    """Import labels from a table, class folders or another project. Safe to repeat: nothing is taken twice.

    Labels go to images of the same content. Files that are named but missing are listed, and so are images that two persons
    disagree about.
    """
    from fewsight.apps.cli.console import list_unreadable, plural, tell

    if not source.exists():  # before a project is begun for it
        raise InvalidInput(
            f"{source}: must be a CSV table, a folder of class folders or a project file, got: no such file."
        )
    with open_project(folder, project, name, create=True) as bench, progress_bars():
        bench.scan()
        found = bench.import_labels(source)
    if as_json:
        tell_json({**vars(found), "unreadable": [str(each) for each in found.unreadable]})
        return
    tell(f"Imported {plural(found.n_new, 'new label')}; {found.n_same:,} were known already.")
    tell(*_about_import(found))
    list_unreadable(found.unreadable)


def export(
    folder: Folder,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", show_default=False, help="The CSV file to write.")
    ],
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Write all labels to a CSV table that `fewsight import` and `fewsight learn --labels` read.

    The columns of the table:
    file      the image, relative to the folder
    category  its category; empty if it has none
    answer    category, none of these, discarded, or disagreement
    hash      a hash of the file's content
    who       who said so
    """
    from fewsight.apps.cli.console import plural, tell
    from fewsight.apps.workbench.output_paths import check_outputs
    from fewsight.apps.workbench.result_kinds import LABELS

    check_outputs({LABELS: output}, [folder, *([] if project is None else [project])])
    with open_project(folder, project, None) as bench:
        found = bench.export_labels(output)
    if as_json:
        tell_json({**vars(found), "file": str(output)})
        return
    tell(f"Wrote {output}: {plural(found.n_rows, 'row')}.")
    if found.n_without_file:
        tell(f"{plural(found.n_without_file, 'labelled image')} left out: no file has this content any more.")


def open_project(folder: Path, project: Path | None, name: str | None, create: bool = False) -> Workbench:
    """The project of a folder; one that is not there yet is refused, or begun."""
    from fewsight.apps.cli.signals import undisturbed

    with undisturbed():
        from fewsight.apps.workbench.verbs import Workbench

    return Workbench(folder, project=project, who=name, create=create)


def _remarks(bench: Workbench, found: ProjectStatus, scan: Scan) -> list[str]:
    """What else a person should know, a line each."""
    from fewsight.apps.cli.console import plural
    from fewsight.apps.workbench.project.catalogue import shown_path

    counts = _scan_counts(scan)
    news = [f"{counts[what]:,} {what}" for what in ("new", "moved", "vanished") if counts[what]]
    lines = [bench.remark] if bench.remark else []
    lines += [f"Since the last time: {', '.join(news)}."] if news else []
    lines += [f"The counts above are those of the last time: {scan.unsaved}"] if scan.unsaved else []
    replaced = [shown_path(path) for path in scan.replaced]
    lines += [f"The content of this file has changed, so it has no label now: {each}" for each in replaced[:SHOWN]]
    if found.n_duplicates:
        lines.append(f"{plural(found.n_duplicates, 'file')} with the same content as another one.")
    lines += [f"Disagreement about {each}" for each in found.disagreements[:SHOWN]]
    lines += [f"Cannot be used: {name}: {reason}" for name, reason in list(found.broken.items())[:SHOWN]]
    hidden = sum(max(0, len(each) - SHOWN) for each in (replaced, found.disagreements, found.broken))
    return [*lines, *([f"... and {hidden:,} more such lines; --json shows all."] if hidden else [])]


def _scan_counts(scan: Scan) -> dict[str, int]:
    return {
        "new": len(scan.new) + len(scan.copies),
        "changed": len(scan.changed),
        "replaced": len(scan.replaced),
        "moved": len(scan.moved),
        "vanished": len(scan.vanished),
        "returned": len(scan.returned),
    }


def _about_import(found: Imported) -> list[str]:
    lines = [f"New categories: {', '.join(found.categories)}."] if found.categories else []
    lists = (
        ("Not among the images", found.missing),
        ("Present, but not with the content that was labelled", found.other_content),
        ("Disagreement about", found.disagreements),
    )
    for what, names in lists:
        lines += [f"{what}: {name}" for name in names[:SHOWN]]
        lines += [f"... and {len(names) - SHOWN:,} more; --json shows all."] if len(names) > SHOWN else []
    return lines


def _files(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def _time(at: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(at / 1e6, datetime.UTC).astimezone()


def tell_json(value: dict[str, Fact] | list[dict[str, Fact]]) -> None:
    """An answer for other programs, on stdout."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True, default=str) + "\n")
