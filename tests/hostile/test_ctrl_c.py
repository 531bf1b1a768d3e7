"""Ctrl-C at every stage of every command: it ends with code 130, nothing half-written, what stood there stays."""

from __future__ import annotations

import os
import pkgutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile_commands import SMALL, command, environment, interrupt_after, interrupt_when, run
from typer.testing import CliRunner

from fewsight.apps.cli import app
from older_results import are_older, write_older

RESULTS = ("json", "model", "report", "table")
WORDS = "stopped; nothing half-written"
MANY_DESCRIPTORS = ("--set", "spatial_pmk.step=2", "--set", "spatial_pmk.n_words=300")

LEARN = ("learn", "PHOTOS", "-o", "model")
PREDICT = ("predict", "MODEL", "PHOTOS", "-o", "table")
EVALUATE = ("evaluate", "PHOTOS", "--per-class", "2", "--repeats", "1", "--json", "json", "--report", "report")
COMMANDS = (LEARN, PREDICT, EVALUATE)

# A command, a function that it calls, and what the arguments of that call hold: the function may serve the cache too.
STAGES = [
    (LEARN, "fewsight.images.image_set.list_images", ""),
    (LEARN, "fewsight.images.image.read_bytes", ""),
    (LEARN, "fewsight.channels.spatial_pmk.SpatialPmk._describe", ""),
    (LEARN, "fewsight.images.cache.write_archive", ""),
    (LEARN, "fewsight.channels.spatial_pmk.SpatialPmk._learn", ""),
    (LEARN, "fewsight.channels.spatial_pmk.SpatialPmk._encode", ""),
    (LEARN, "fewsight.learners.gp_classifier.GPClassifier._learn", ""),
    (LEARN, "fewsight.persistence.model_file.write_archive", ""),
    (LEARN, "fewsight._base.archive._entry", ", 8)"),
    (LEARN, "fewsight._base.archive.os.replace", "('model')"),
    (LEARN, "fewsight._base.scratch.shutil.rmtree", ""),
    (PREDICT, "fewsight.persistence.model_file.read_archive", ""),
    (PREDICT, "fewsight.apps.workbench.predicting.images_in", ""),
    (PREDICT, "fewsight.channels.spatial_pmk.SpatialPmk._describe", ""),
    (PREDICT, "fewsight.apps.workbench.predicting.Predictions._row", ""),
    (PREDICT, "fewsight.apps.workbench.prediction_table.csv.writer", ""),
    (PREDICT, "fewsight._base.archive.os.replace", "('table')"),
    (PREDICT, "fewsight._base.scratch.shutil.rmtree", ""),
    (EVALUATE, "fewsight.evaluation.draws.Readable.draws", ""),
    (EVALUATE, "fewsight.channels.spatial_pmk.SpatialPmk._learn", ""),
    (EVALUATE, "fewsight.evaluation.runner.Outcome", ""),
    (EVALUATE, "fewsight.evaluation.results.write_text", ""),
    (EVALUATE, "fewsight._base.archive.os.replace", "('json')"),
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the results of yesterday, and one for temporary files."""
    write_older(tmp_path)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def filled(words: tuple[str, ...], photos: Path, model_file: Path, *more: str) -> list[str]:
    """A command line with its places filled in."""
    places = {"PHOTOS": str(photos), "MODEL": str(model_file)}
    small = SMALL if words[0] != "predict" else ()
    return [*(places.get(word, word) for word in words), "--no-cache", *small, *more]


def check_untouched(place: Path) -> None:
    assert sorted(os.listdir(place)) == [*RESULTS, "temporary"]
    assert os.listdir(place / "temporary") == []
    assert are_older(place)


def interrupted(function: Callable[..., Any], mark: str) -> Callable[..., Any]:
    """The function, with Ctrl-C pressed when it is first called with such arguments."""
    pressed: list[bool] = []

    def wrapper(*arguments: Any, **settings: Any) -> Any:
        if not pressed and mark in repr(arguments):
            pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)
        return function(*arguments, **settings)

    return wrapper


@pytest.mark.parametrize(
    ("words", "stage", "mark"), STAGES, ids=lambda value: value if isinstance(value, str) else value[0]
)
def test_ctrl_c_at_a_stage_leaves_everything_as_it_was(
    words: tuple[str, ...],
    stage: str,
    mark: str,
    place: Path,
    photos: Path,
    model_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stage, interrupted(pkgutil.resolve_name(stage), mark))
    result = CliRunner().invoke(app, filled(words, photos, model_file, "--jobs", "1"))
    assert (result.exit_code, result.stderr) == (130, f"fewsight: {WORDS}\n"), result.output
    check_untouched(place)


@pytest.mark.parametrize(
    "words", [LEARN, PREDICT, pytest.param(EVALUATE, marks=pytest.mark.slow)], ids=lambda words: words[0]
)
def test_ctrl_c_in_the_middle_of_the_work_of_several_threads(
    words: tuple[str, ...], place: Path, photos: Path, model_file: Path
) -> None:
    temporary = place / "temporary"
    finished = run(
        command(*filled(words, photos, model_file, "--jobs", "2", *(MANY_DESCRIPTORS if words != PREDICT else ()))),
        env=environment(place / "cache", TMPDIR=str(temporary)),
        disturb=interrupt_when(lambda: any(temporary.glob("fewsight-*/*/*")), times=3),
    )
    assert finished.code == 130, finished.err
    assert finished.said[-1] == WORDS
    check_untouched(place)


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_ctrl_c_at_any_time_leaves_whole_files_only(
    words: tuple[str, ...], place: Path, photos: Path, model_file: Path
) -> None:
    rng = np.random.default_rng(0)
    arguments = command(*filled(words, photos, model_file))
    env = environment(place / "cache", TMPDIR=str(place / "temporary"))
    start = time.monotonic()
    assert run(arguments, env=env).code == 0
    whole = time.monotonic() - start
    for delay in rng.uniform(0, 1.1 * whole, size=8):
        write_older(place)
        finished = run(arguments, env=env, disturb=interrupt_after(delay, times=1 + int(rng.integers(3))))
        assert "Traceback" not in finished.err, (delay, finished.err)
        assert sorted(os.listdir(place)) == [*RESULTS, "temporary"], delay
        assert os.listdir(place / "temporary") == [], delay
        if finished.code != 0:  # it may also have come to its end before
            assert finished.code in (130, -signal.SIGINT), (delay, finished.err)
            assert finished.err.splitlines()[-1:] in ([], [f"fewsight: {WORDS}"]), (delay, finished.err)
