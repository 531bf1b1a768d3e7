"""`fewsight predict`: what a model file says about images."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewsight.apps.cli import options
from fewsight.apps.cli.console import list_unreadable, plural, progress_bars, show_table, tell

if TYPE_CHECKING:
    from fewsight.apps.workbench import Predictions

EXAMPLES = """
[bold]fewsight predict birds.fewsight new-photos -o predictions.csv[/bold]

[bold]fewsight predict birds.fewsight one.jpg two.jpg[/bold]
"""


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", show_default=False, help="A file written by `learn`.")],
    images: Annotated[
        list[Path],
        typer.Argument(metavar="IMAGES", show_default=False, help="Image files, and folders with all they hold."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            show_default="a table on a terminal, else CSV on stdout",
            help="The CSV file to write.",
        ),
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add a column probability_CATEGORY for every category.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="CHANNEL.OPTION=FILE",
            show_default=False,
            help="Where a file lies that the model needs, as in --set vectors.table=new.csv or --set embedding.model=net.onnx.",
        ),
    ] = None,
    jobs: options.Jobs = None,
    cache_folder: options.CacheFolder = None,
    no_cache: options.NoCache = False,
) -> None:
    """Say which category each image belongs to, and how sure that is. Never learns anything.

    The columns of the table:
    file         the image, as it was given
    category     the most probable category
    probability  of that category
    uncertainty  0 is certain, 1 is no idea: the entropy of all
                 probabilities, divided by the largest it could be
    unknown      yes if the image is unlike all that was learned, else no; of
                 images that do belong to a category, 5 % are called unknown

    Files that cannot be read are listed on stderr and get no row. A name that
    a spreadsheet would run as a formula, such as =1+1, has an apostrophe in
    front; `learn --labels` takes it away again.
    """
    workplace = options.workplace(jobs, cache_folder, no_cache)
    from fewsight.apps.workbench import predict_images, read_settings

    predictions = predict_images(
        model, images, options=read_settings(settings or []), output=output, workplace=workplace
    )
    try:
        _answer(predictions, output, predictions.categories if probabilities else ())
    finally:
        list_unreadable(predictions.unreadable)
    if output is not None:
        tell(f"Wrote {output}: {plural(predictions.n_predicted, 'prediction')}.")


def _answer(predictions: Predictions, output: Path | None, columns: Sequence[str]) -> None:
    from fewsight.apps.workbench import table_rows, write_rows, write_table

    rows: list[list[str]] = []
    with progress_bars():
        if output is not None:
            write_table(output, predictions, columns)
        elif sys.stdout.isatty():
            rows.extend(table_rows(predictions, columns, digits=3))
        else:
            write_rows(sys.stdout.buffer, predictions, columns)
    if rows:
        show_table(rows[0], rows[1:], numbers=range(2, len(rows[0])))
