"""`fewsight predict`: what a model file says about images."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewsight.apps.cli import options
from fewsight.apps.cli.console import list_unreadable, plural, progress_bars, say, show_table, tell

if TYPE_CHECKING:
    from fewsight.apps.workbench import Prediction, Predictions

EXAMPLES = """
[bold]fewsight predict birds.fewsight new-photos -o predictions.csv[/bold]

[bold]fewsight predict birds.fewsight one.jpg two.jpg[/bold]

[bold]fewsight predict birds.fewsight new-photos -o predictions.csv --report predictions.html[/bold]  (pictures to look through)
"""


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", show_default=False, help="A file written by `learn`.")],
    images: Annotated[
        list[Path],
        typer.Argument(
            metavar="IMAGES", show_default=False, help="Image files, or folders: all images in them are used."
        ),
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
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Also write an HTML page: the pictures by category and by how sure it is, unknown ones apart.",
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
            help="Where to find a file the model needs, as in --set vectors.table=new.csv or --set embedding.model=net.onnx.",
        ),
    ] = None,
    cluster: options.Cluster = None,
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
                 images that do belong to a category, about 5 % are called
                 unknown (up to 10 % on some sets of images), if it was
                 learned from five images or more

    Files that cannot be read are listed on stderr and get no row. A name that
    a spreadsheet would run as a formula, such as =1+1, has an apostrophe in
    front; `learn --labels` takes it away again.
    """
    workplace = options.workplace(jobs, cache_folder, no_cache)
    from fewsight.apps.workbench import predict_images, read_settings, write_prediction_report

    predictions = predict_images(
        model,
        images,
        options=read_settings(settings or []),
        output=output,
        report=report,
        workplace=workplace,
        cluster=cluster,
    )
    seen: list[Prediction] | None = None if report is None else []
    try:
        _answer(predictions, output, predictions.categories if probabilities else (), seen)
        if report is not None and seen is not None:
            write_prediction_report(report, seen, predictions, model)
    finally:
        list_unreadable(predictions.unreadable)
    if output is not None:
        tell(f"Wrote {output}: {plural(predictions.n_predicted, 'prediction')}.")
    if report is not None:
        written = f"Wrote {report}: pictures by category."
        tell(written) if output is not None else say(written)  # stdout may be the table


def _answer(source: Predictions, output: Path | None, columns: Sequence[str], seen: list[Prediction] | None) -> None:
    """The table; what it is made of goes to `seen`, where somebody wants it."""
    from fewsight.apps.workbench import table_rows, write_rows, write_table

    predictions = source if seen is None else _noted(source, seen)

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


def _noted(predictions: Iterable[Prediction], seen: list[Prediction]) -> Iterator[Prediction]:
    """The predictions as they come, each noted on the way."""
    for prediction in predictions:
        seen.append(prediction)
        yield prediction
