"""`learn` and `evaluate` with images that have no label, for a channel of another package that learns from them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from example_parts.unlabelled_channel import CentredColour
from typer.testing import Result

from fewsight import register
from fewsight.channels import CHANNELS
from fewsight.persistence import load

Run = Callable[..., Result]
Refused = Callable[..., str]


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHANNELS, "_others", {})
    register(CentredColour)


@pytest.fixture
def table(photos: Path, tmp_path: Path) -> Path:
    """Every second photograph has no category."""
    files = sorted(photos.rglob("*.png"))
    rows = [f"{f.relative_to(photos).as_posix()},{f.parent.name if i % 2 else ''}" for i, f in enumerate(files)]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["file,category", *rows]), encoding="utf-8")
    return path


def test_learn_says_how_many_images_were_labelled(run: Run, photos: Path, table: Path, tmp_path: Path) -> None:
    output = tmp_path / "model.fewsight"
    result = run("learn", photos, "--labels", table, "--channels", "centred_colour", "-o", output)
    assert result.exit_code == 0, result.stderr
    assert "Learned 3 categories from 24 images, 12 of them labelled." in result.stdout
    assert load(output).channels[0].learned_.header == {"images": 24, "labelled": 12}


def test_channels_that_do_not_ask_learn_from_labelled_images_alone(
    run: Run, photos: Path, table: Path, tmp_path: Path
) -> None:
    result = run("learn", photos, "--labels", table, "--channels", "colour", "-o", tmp_path / "model.fewsight")
    assert "Learned 3 categories from 12 images." in result.stdout


def test_evaluate_draws_them_and_the_protocol_says_so(run: Run, photos: Path, tmp_path: Path) -> None:
    sizes = ("--per-class", "1", "--test-per-class", "2", "--repeats", "2", "--unlabelled", "7")
    results = tmp_path / "out.json"
    result = run("evaluate", photos, *sizes, "--channels", "centred_colour", "--learners", "gp", "--json", results)
    assert result.exit_code == 0, result.stderr
    assert json.loads(results.read_text(encoding="utf-8"))["protocol"]["unlabelled"] == 7


def test_images_without_a_category_may_be_among_them(run: Run, photos: Path, table: Path) -> None:
    sizes = ("--per-class", "1", "--test-per-class", "3", "--repeats", "1", "--unlabelled", "12")
    more = ("--labels", table, "--channels", "centred_colour", "--learners", "gp")
    assert run("evaluate", photos, *more, *sizes).exit_code == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--unlabelled", "3", "--channels", "colour"],
            "unlabelled images need a channel or a learner that learns from them",
        ),
        (["--unlabelled", "300", "--channels", "centred_colour"], "unlabelled must be at most"),
    ],
)
def test_what_cannot_be_is_refused(refused: Refused, photos: Path, options: list[str], sentence: str) -> None:
    assert sentence in refused("evaluate", photos, "--per-class", "1", "--test-per-class", "2", *options)
