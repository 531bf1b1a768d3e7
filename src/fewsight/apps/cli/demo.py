"""`fewsight demo`: the whole way, on images that come with the program."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewsight.apps.cli import options
from fewsight.apps.cli.console import plural, progress_bars, show_table, tell

if TYPE_CHECKING:
    from fewsight.apps.workbench import Demonstration
    from fewsight.evaluation import Evaluation, Summary

EXAMPLES = """
[bold]fewsight demo[/bold]

[bold]fewsight demo --output somewhere[/bold]
"""


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to put the results; made if missing.")
    ] = Path("fewsight-demo"),
    jobs: options.Jobs = None,
    cache_folder: options.CacheFolder = None,
    no_cache: options.NoCache = False,
) -> None:
    """Learn, evaluate and predict on a small set of images that comes with the program; takes a minute or two."""
    workplace = options.workplace(jobs, cache_folder, no_cache)
    from fewsight.apps.workbench import demo as run

    with progress_bars():
        shown = run(output, workplace=workplace)
    _answer(shown)


def _answer(shown: Demonstration) -> None:
    from fewsight.evaluation import asking_in_words

    categories = plural(len(shown.learned.counts), "category", "categories")
    _show_accuracies(shown.evaluation)
    tell(
        shown.compared,
        "",
        asking_in_words(shown.asking),
        *shown.lessons,
        f"Then it learned {categories} from {plural(sum(shown.learned.counts.values()), 'image')} into a model file,",
        f"and asked that file about {plural(shown.predicted.n_images, 'other image')}: {shown.predicted.n_right:,} right.",
        "",
        f"Look at    {shown.report_file}  in a browser: curves, confusions, the most confident mistakes",
        f"Figures    {shown.json_file}",
        f"Model      {shown.model_file}",
        f"Answers    {shown.predictions_file}",
        "",
        f"To sort {shown.photos} by this model, into one folder per category:",
        f"  fewsight sort {_quoted(shown.photos)} {_quoted(shown.photos.with_name('sorted'))} "
        f"--model {_quoted(shown.model_file)}",
        "To label images yourself, in the browser, starting with these:",
        "  fewsight label --demo",
        "With images of your own, in one folder per category:",
        "  fewsight learn FOLDER -o model.fewsight",
        "  fewsight predict model.fewsight OTHER_IMAGES -o predictions.csv",
    )


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _show_accuracies(evaluation: Evaluation) -> None:
    """All cues together for every learner, and each cue alone for ours; the report has every other combination."""
    found = {
        (s.channels, s.combine, s.learner, s.per_class): each["accuracy"] for s, each in evaluation.summaries.items()
    }
    sizes = evaluation.protocol.per_class
    cells = [
        [f"{name}, {_cues(channels)}", *(_percent(found[channels, way, learner, size]) for size in sizes)]
        for name, channels, way, learner in _rows(evaluation)
    ]
    show_table(["right, in %", *(f"{size} per category" for size in sizes)], cells, numbers=range(1, 1 + len(sizes)))
    tell(
        f"On images not learned from: mean over {plural(evaluation.n_learned, 'category', 'categories')} ± standard deviation "
        f"over {plural(evaluation.protocol.repeats, 'repeat')}."
    )


def _rows(evaluation: Evaluation) -> Iterator[tuple[str, str, str, str]]:
    settings = list(evaluation.summaries)
    together = next(setting.channels for setting in settings if "+" in setting.channels)
    from fewsight.apps.workbench.demonstration import OTHERS, OURS

    yield OURS, together, "evidence", "gp"
    for channels in together.split("+"):
        yield OURS, channels, "none", "gp"
    for learner, name in OTHERS.items():
        yield name, together, "average", learner


def _cues(channels: str) -> str:
    return " and ".join(channels.split("+")) + ("" if "+" in channels else " alone")


def _percent(accuracy: Summary) -> str:
    return f"{100 * accuracy.mean:.1f}" + ("" if accuracy.std is None else f" ± {100 * accuracy.std:.1f}")
