"""`fewsight demo`: the whole way, on images that come with the program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewsight.apps.cli import options
from fewsight.apps.cli.console import plural, progress_bars, show_accuracies, tell

if TYPE_CHECKING:
    from fewsight.apps.workbench import Demonstration

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
    """Learn, evaluate and predict on a small set of images that comes with the program; takes about a minute."""
    workplace = options.workplace(jobs, cache_folder, no_cache)
    from fewsight.apps.workbench import demo as run

    with progress_bars():
        shown = run(output, workplace=workplace)
    _answer(shown)


def _answer(shown: Demonstration) -> None:
    from fewsight.evaluation import asking_in_words

    categories = plural(len(shown.learned.counts), "category", "categories")
    show_accuracies(shown.evaluation)
    tell(
        "",
        f"That is how well {categories} are told apart after a few examples of each.",
        asking_in_words(shown.asking),
        *shown.lessons,
        f"Then it learned {categories} from {plural(sum(shown.learned.counts.values()), 'image')} into a model file,",
        f"and asked that file about {plural(shown.n_predicted, 'other image')}: {shown.n_right:,} right.",
        "",
        f"Look at    {shown.report_file}  in a browser: curves, confusions, the most confident mistakes",
        f"Figures    {shown.json_file}",
        f"Model      {shown.model_file}",
        f"Answers    {shown.predictions_file}",
        "",
        "To label images yourself, in the browser, starting with these:",
        "  fewsight label --demo",
        "With images of your own, in one folder per category:",
        "  fewsight learn FOLDER -o model.fewsight",
        "  fewsight predict model.fewsight OTHER_IMAGES -o predictions.csv",
    )
