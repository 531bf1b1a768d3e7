"""Records what fewsight answers, so that a change can be shown to change no number.

    python tests/record/answers.py OUT.npz [--data DIR] [--only SECTION ...]
    python tests/record/answers.py --compare BEFORE.npz AFTER.npz

The first command writes decisions, probabilities, latent values, what was learned, questions and advice as named arrays; DIR
holds the folder `caltech101`, without which the section of that name is left out. Sections are the first parts of the names.
A section that fails is reported, and the others are recorded all the same. The second command lists every array that differs by
more than 1e-10, relative to max(1, |value|), and ends with status 1 if there is one, or if one is missing. Names that begin with
`defect/` are answers that were known to be wrong when the record was made; they are listed apart and never count.

Only names that fewsight exports are used, so that the same script runs before and after a change of its insides.
"""

from __future__ import annotations

import argparse
import functools
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from answer_record import Record, compare
from asking_answers import record_asking, record_defects, record_simulations
from learner_answers import (
    caltech_images,
    record_channels,
    record_channels_together,
    record_evaluation,
    record_grams,
    record_histograms,
    record_model_files,
    record_vectors,
    sample_images,
)
from threadpoolctl import threadpool_limits

Section = Callable[[Record, Path], None]


def sections(data: Path | None) -> dict[str, Section]:
    """What is recorded, by the first part of the names."""
    found: dict[str, Section] = {
        "vectors": record_vectors,
        "grams": record_grams,
        "histograms": record_histograms,
        "samples": _samples,
        "evaluate": record_evaluation,
        "model files": record_model_files,
        "asking": record_asking,
        "simulate": record_simulations,
        "defect": record_defects,
    }
    return found if data is None else {**found, "caltech": functools.partial(_caltech, data)}


def _samples(record: Record, folder: Path) -> None:
    images = sample_images()
    record_channels(record, images, "samples", folder)
    record_channels_together(record, images, "samples", folder)


def _caltech(data: Path, record: Record, folder: Path) -> None:
    images = caltech_images(data)
    record_channels(record, images, "caltech", folder)
    record_channels_together(record, images, "caltech", folder)


def record_answers(data: Path | None = None, only: Sequence[str] = ()) -> tuple[Record, bool]:
    """The record, and whether every section was recorded to its end."""
    record, whole = Record(), True
    for name, section in sections(data).items():
        if only and name not in only:
            continue
        start = time.process_time()
        with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):  # sums must not depend on the machine
            try:
                section(record, Path(folder))
            except Exception:  # the others are worth having
                whole = False
                traceback.print_exc()
                print(f"{name}: failed, what came before is recorded", file=sys.stderr)
        print(f"{name}: {len(record.arrays)} arrays so far, {time.process_time() - start:.1f} s", file=sys.stderr)
    return record, whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Record or compare, as the arguments say; the status to end with."""
    parser = argparse.ArgumentParser(description="Record what fewsight answers, or compare two records.")
    parser.add_argument("output", nargs="?", type=Path, help="the file to write")
    parser.add_argument("--data", type=Path, help="the folder that holds caltech101")
    parser.add_argument("--only", nargs="+", default=(), choices=list(sections(Path())), help="these sections alone")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"), help="two files to compare")
    chosen = parser.parse_args(arguments)
    if chosen.compare:
        lines, same = compare(*map(Record.read, chosen.compare))
        print("\n".join(lines))
        return 0 if same else 1
    if chosen.output is None:
        parser.error("name a file to write, or two to --compare")
    record, whole = record_answers(chosen.data, chosen.only)
    record.write(chosen.output)
    print(f"{len(record.arrays)} arrays written to {chosen.output}")
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
