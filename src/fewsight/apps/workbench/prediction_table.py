"""What `predict` gives: a table, CSV as in RFC 4180, one row per image, whatever characters its name holds; and a page."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fewsight._base.replacement import replacing
from fewsight.apps.workbench.output_paths import checked_files
from fewsight.apps.workbench.predicting import Prediction, Predictions
from fewsight.apps.workbench.result_kinds import PREDICTION_COLUMNS, PREDICTION_PAGE, PREDICTIONS
from fewsight.images.cells import as_cell


def table_rows(
    predictions: Iterable[Prediction], categories: Sequence[str] = (), *, digits: int = 6
) -> Iterator[list[str]]:
    """Headings and then a row per image; with `categories`, the model's, also a column for the probability of each."""
    yield [*PREDICTION_COLUMNS, *(f"probability_{category}" for category in categories)]
    for row in predictions:
        numbers = [f"{number:.{digits}f}" for number in (row.probability, row.uncertainty)]
        each = [f"{number:.{digits}f}" for number in row.probabilities] if categories else []
        yield [row.file, row.category, *numbers, row.unknown, *each]


@checked_files(writes={"path": PREDICTIONS})
def write_table(path: str | Path, predictions: Iterable[Prediction], categories: Sequence[str] = ()) -> None:
    """Write the table to a file, whole or not at all, row by row as the predictions arrive."""
    with replacing(Path(path)) as stream:
        write_rows(stream, predictions, categories)


@checked_files(reads=("model_file",), writes={"path": PREDICTION_PAGE})
def write_prediction_report(
    path: str | Path, predictions: Sequence[Prediction], source: Predictions, model_file: str | Path
) -> None:
    """Write the page of pictures, by category and by how sure the model is; `source` is where the predictions came from."""
    from fewsight.evaluation.report import (
        write_prediction_page,  # brings the drawing of figures along: only where it is asked for
    )

    write_prediction_page(
        path, predictions, source.categories, model=Path(model_file).name, unreadable=source.unreadable
    )


def write_rows(stream: BinaryIO, predictions: Iterable[Prediction], categories: Sequence[str] = ()) -> None:
    """Write the table to an open binary stream. A name that is not UTF-8 keeps its very bytes; none is run as a formula."""
    rows = table_rows(predictions, categories)
    csv.writer(_Utf8(stream)).writerows([as_cell(cell) for cell in row] for row in rows)
    stream.flush()


@dataclass(frozen=True)
class _Utf8:
    """As much of a text file as `csv` needs, over a binary stream that stays somebody else's to close."""

    stream: BinaryIO

    def write(self, text: str) -> int:
        return self.stream.write(text.encode("utf-8", "surrogateescape"))
