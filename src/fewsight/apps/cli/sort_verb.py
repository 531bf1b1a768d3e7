"""`fewsight sort`: images into one folder per category, and back."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewsight.apps.cli import options
from fewsight.apps.cli.console import progress_bars
from fewsight.apps.cli.project_verbs import AsJson, Folder, Project, open_project, tell_json

if TYPE_CHECKING:
    from fewsight.apps.workbench.sort import SortOutcome, SortPlan

EXAMPLES = """
[bold]fewsight sort photos sorted[/bold]  (shows the plan, then asks)

[bold]fewsight sort photos sorted --model birds.fewsight --yes[/bold]  (images without a label as the model says)

[bold]fewsight sort photos sorted --way symlink --yes[/bold]

[bold]fewsight sort photos --undo[/bold]
"""


def sort(
    folder: Folder,
    target: Annotated[
        Path | None,
        typer.Argument(metavar="TARGET", show_default=False, help="The folder to sort into; made if missing."),
    ] = None,
    project: Project = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL", show_default=False, help="A model file that says what the images without a label are."
        ),
    ] = None,
    way: Annotated[
        str,
        typer.Option(metavar="WAY", help="copy, hardlink, symlink, or move, which takes the images away from FOLDER."),
    ] = "copy",
    least: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="PROBABILITY",
            help="Images that the model is less sure of than this go to _unsure.",
        ),
    ] = 0.5,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take the last sorting back: files that were changed since then stay.")
    ] = False,
    as_json: AsJson = False,
    jobs: options.Jobs = None,
    cache_folder: options.CacheFolder = None,
    no_cache: options.NoCache = False,
) -> None:
    """Sort images into one folder per category, plus _unsure and _unknown.

    Shows the plan first. Nothing is overwritten or deleted; a run that was stopped can be repeated or undone. With --undo, a copy
    whose original is gone stays. The project file remembers what was sorted; with --model one is begun where there is none.
    """
    from fewsight.apps.cli.console import list_unreadable, plural, say

    if undo:
        with open_project(folder, project, None) as bench, progress_bars():
            _answer_undo(bench.undo_sort(target), _undoing(folder, target, project), as_json)
        return
    if target is None:
        raise typer.BadParameter("TARGET is missing: the folder to sort into.")
    _check_model(model)
    with open_project(folder, project, None, create=model is not None) as bench, progress_bars():
        bench.scan()
        items, unreadable, n_open = bench.labelled_files(), bench.unreadable_files(), 0
        if model is not None:
            predicted, unread = bench.predicted_files(model, options.workplace(jobs, cache_folder, no_cache))
            items, unreadable = items + predicted, unreadable + unread
        else:
            n_open = len(bench.unanswered_files())
        plan = bench.plan_sort(items, target, way, least)
    _answer_plan(plan, as_json)
    list_unreadable(unreadable)
    if n_open:
        say(f"{plural(n_open, 'image')} without a label will stay; --model MODEL sorts images without a label, too.")
    if (plan.files or plan.half_moved) and _may(yes, as_json):
        with open_project(folder, project, None) as bench, progress_bars():
            outcome = bench.sort(plan)
        _answer(outcome, plan, _undoing(folder, None, project), as_json)


def _undoing(folder: Path, target: Path | None, project: Path | None) -> str:
    """What to type to take the last sorting back (into this target, if one is named)."""
    named = [str(folder)] if target is None else [str(folder), str(target)]
    return shlex.join(["fewsight", "sort", *named, *(["--project", str(project)] if project else []), "--undo"])


def _check_model(model: Path | None) -> None:
    """Before a project is begun for it."""
    if model is not None:
        from fewsight.apps.workbench.predicting import model_for_images

        model_for_images(model)


def _may(yes: bool, as_json: bool) -> bool:
    """Whether to go on: told so, or asked."""
    if yes:
        return True
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        from fewsight.apps.cli.console import say

        say("nothing was done; add --yes to do it.")
        return False
    return typer.confirm("Do it?")


def _answer_plan(plan: SortPlan, as_json: bool) -> None:
    from fewsight.apps.cli.console import plural, show_table, tell

    if as_json:
        return
    if plan.counts:
        show_table(["folder", "files"], [[name, str(count)] for name, count in plan.counts.items()], numbers=[1])
    verb = {"copy": "copied", "hardlink": "linked", "symlink": "linked", "move": "moved"}[plan.way]
    tell(f"{plural(len(plan.files), 'file')} will be {verb} into {plan.target}; {plan.n_in_place:,} are there already.")
    if plan.taken_back:
        tell(f"{plural(len(plan.taken_back), 'file')} of an earlier sorting will change folders.")


def _answer(outcome: SortOutcome, plan: SortPlan, undoing: str, as_json: bool) -> None:
    from fewsight.apps.cli.console import list_unreadable, plural, tell

    if as_json:
        tell_json({"done": outcome.n_done, "left": [str(each) for each in outcome.left], "folders": plan.counts})
        return
    tell(f"Sorted {plural(outcome.n_done, 'file')}. To take it back: {undoing}")
    list_unreadable(outcome.left)


def _answer_undo(outcome: SortOutcome, undoing: str, as_json: bool) -> None:
    from fewsight.apps.cli.console import plural, say, tell

    if as_json:
        left = [str(each) for each in outcome.left]
        tell_json({"undone": outcome.n_done, "left": left, "earlier": outcome.n_earlier})
        return
    tell(f"Took back {plural(outcome.n_done, 'file')}.")
    if outcome.n_earlier:
        tell(f"Still there from an earlier sorting: {plural(outcome.n_earlier, 'file')}. To take back, too: {undoing}")
    for failure in outcome.left:
        say(str(failure))
