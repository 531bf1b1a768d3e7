"""Too few images, and too many."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hostile_commands import SMALL, command, environment, run
from typer.testing import CliRunner

from fewsight.apps.cli import app
from fewsight.apps.workbench import learners, learning
from fewsight.persistence import load

MANY = 100_000
MEMORY_LIMIT = 2**30


def answer(*arguments: str | Path) -> tuple[int, list[str]]:
    """The exit code of a command, and its lines on stderr."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return result.exit_code, result.stderr.splitlines()


def test_one_category_only_is_one_sentence(photos: Path, tmp_path: Path) -> None:
    only = shutil.copytree(photos / "brick", tmp_path / "photos" / "brick")
    for command_line in (["learn", "-o", tmp_path / "model"], ["evaluate", "--per-class", "1"]):
        code, said = answer(command_line[0], only.parent, *command_line[1:], *SMALL)
        assert code == 1
        assert len(said) == 1
        assert "two" in said[0]
    assert not (tmp_path / "model").exists()


def test_a_category_left_without_a_readable_image_is_left_out_and_said(photos: Path, tmp_path: Path) -> None:
    own = shutil.copytree(photos, tmp_path / "photos")
    for path in (own / "brick").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    code, said = answer("learn", own, "-o", tmp_path / "model", *SMALL)
    assert code == 0
    assert said[-2:] == [
        "fewsight: 6 files could not be used.",
        "fewsight: no usable image in the category brick, which was left out.",
    ]
    assert load(tmp_path / "model").classes_.tolist() == ["grass", "tissue"]


def test_a_category_of_one_image_is_learned_and_predicted(photos: Path, tmp_path: Path) -> None:
    own = shutil.copytree(photos, tmp_path / "photos")
    for path in list((own / "brick").iterdir())[1:]:
        path.unlink()
    assert answer("learn", own, "-o", tmp_path / "model", *SMALL) == (0, [])
    assert answer("predict", tmp_path / "model", own, "-o", tmp_path / "table") == (0, [])
    assert load(tmp_path / "model").classes_.tolist() == ["brick", "grass", "tissue"]
    code, said = answer("evaluate", own, "--per-class", "1", "--repeats", "1", *SMALL)
    assert code == 1
    assert "every class must have at least 2 images" in said[0]
    assert "brick (1)" in said[0]


def test_more_images_than_memory_can_compare_are_refused_before_any_is_read(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learners, "memory_of_this_machine", lambda: 64 * 10**2)
    monkeypatch.setattr(learning, "unreadable_among", lambda *_: pytest.fail("an image was read"))
    code, said = answer("learn", photos, "-o", tmp_path / "model", "--learner", "gp", *SMALL)
    assert code == 1
    assert said[0].startswith("fewsight: learn: 18 images would need about ")
    assert said[0].endswith("use at most 10 images, or --learner histogram_gp.")


@pytest.fixture(scope="module")
def crowded(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Good photographs, and one category with 100,000 more files that are empty."""
    folder = Path(shutil.copytree(photos, tmp_path_factory.mktemp("crowded") / "photos"))
    for number in range(MANY):
        os.close(os.open(folder / "brick" / f"empty {number:06d}.jpg", os.O_CREAT | os.O_WRONLY))
    return folder


@pytest.mark.slow
def test_a_hundred_thousand_empty_files_are_listed_and_the_rest_is_learned(
    crowded: Path, cache: Path, tmp_path: Path
) -> None:
    learn = run(command("learn", crowded, "-o", tmp_path / "model", *SMALL), env=environment(cache))
    predict = run(command("predict", tmp_path / "model", crowded, "-o", tmp_path / "table"), env=environment(cache))
    assert "Learned 3 categories from 18 images." in learn.out
    assert len((tmp_path / "table").read_text().splitlines()) == 19
    for finished in (learn, predict):
        assert finished.code == 0, finished.err[-500:]
        assert finished.said[-1] == f"{MANY:,} files could not be used."
        assert sum(line.endswith(": empty file") for line in finished.said) == MANY
        assert finished.peak_bytes < MEMORY_LIMIT


@pytest.mark.slow
def test_a_hundred_thousand_good_images_are_refused_in_one_sentence_with_what_would_do(
    photos: Path, cache: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(photos, tmp_path / "photos"))
    for number in range(MANY):
        os.link(folder / "brick" / f"{number % 6}.png", folder / "brick" / f"again {number:06d}.png")
    finished = run(
        command("learn", folder, "-o", tmp_path / "model", "--learner", "gp", *SMALL), env=environment(cache)
    )
    assert finished.code == 1
    assert len(finished.said) == 1
    assert finished.said[0].startswith(f"learn: {MANY + 18:,} images would need about ")
    assert finished.said[0].endswith("or --learner histogram_gp.")
    assert finished.peak_bytes < MEMORY_LIMIT
    assert not (tmp_path / "model").exists()
