"""`fewsight predict`: the table, on whatever files and names it meets."""

from __future__ import annotations

import csv
import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from fewsight.persistence import load
from older_results import OLDER

Run = Callable[..., Result]
Refused = Callable[..., str]
COLUMNS = ["file", "category", "probability", "uncertainty", "unknown"]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as stream:
        return list(csv.DictReader(stream))


def test_predict_writes_a_row_per_image(run: Run, model_file: Path, photos: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    result = run("predict", model_file, photos, "-o", output)
    assert result.exit_code == 0
    assert result.stdout == f"Wrote {output}: 24 predictions.\n"
    assert result.stderr == ""
    rows = rows_of(output)
    assert list(rows[0]) == COLUMNS
    assert [row["file"] for row in rows] == sorted(str(path) for path in photos.glob("*/*.png"))
    assert all(0 < float(row["probability"]) <= 1 and 0 <= float(row["uncertainty"]) <= 1 for row in rows)
    right = sum(Path(row["file"]).parent.name == row["category"] for row in rows)
    assert right >= 20  # it learned from these very images


def test_what_the_table_says_is_what_the_model_says(run: Run, model_file: Path, photos: Path, tmp_path: Path) -> None:
    run("predict", model_file, photos, "-o", tmp_path / "out.csv", "--probabilities")
    model, rows = load(model_file), rows_of(tmp_path / "out.csv")
    expected = model.predict_proba([row["file"] for row in rows])
    columns = [f"probability_{category}" for category in model.classes_]
    assert list(rows[0]) == COLUMNS + columns
    for row, probabilities in zip(rows, expected, strict=True):
        assert [float(row[column]) for column in columns] == pytest.approx(probabilities.tolist(), abs=1e-6)
        assert float(row["probability"]) == pytest.approx(probabilities.max(), abs=1e-6)
        assert row["category"] == model.classes_[probabilities.argmax()]


def test_without_an_output_the_table_goes_to_stdout_as_csv(run: Run, model_file: Path, photos: Path) -> None:
    result = run("predict", model_file, photos / "brick" / "0.png", photos / "grass")
    assert result.exit_code == 0
    assert len(list(csv.DictReader(io.StringIO(result.stdout)))) == 9
    assert result.stdout_bytes.count(b"\r\n") == 10


def test_the_report_shows_every_image_of_the_table(run: Run, model_file: Path, photos: Path, tmp_path: Path) -> None:
    output, report = tmp_path / "out.csv", tmp_path / "out.html"
    (tmp_path / "broken.jpg").write_bytes(b"no image")
    result = run("predict", model_file, photos, tmp_path / "broken.jpg", "-o", output, "--report", report)
    assert result.exit_code == 0
    assert result.stdout == f"Wrote {output}: 24 predictions.\nWrote {report}: pictures by category.\n"
    page = report.read_text(encoding="utf-8")
    assert page.count('src="data:image/jpeg;base64,') == len(rows_of(output)) == 24
    assert "broken.jpg" in page
    assert model_file.name in page


def test_with_a_report_alone_stdout_is_still_the_table(
    run: Run, model_file: Path, photos: Path, tmp_path: Path
) -> None:
    result = run("predict", model_file, photos / "grass", "--report", tmp_path / "out.html")
    assert result.exit_code == 0
    assert len(list(csv.DictReader(io.StringIO(result.stdout)))) == 8
    assert (tmp_path / "out.html").exists()


HOSTILE = [
    b"a,b.png",
    b'say "hi".png',
    b"line\nbreak.png",
    b"cr\rhere.png",
    b"caf\xe9.png",
    b" =1+1.png",
    "été.png".encode(),
]


def test_hostile_names_survive_the_table(model_file: Path, photos: Path, tmp_path: Path, run: Run) -> None:
    folder = os.fsencode(tmp_path / "photos")
    os.mkdir(folder)
    for name in HOSTILE:
        shutil.copy(photos / "brick" / "0.png", os.path.join(folder, name))
    result = run("predict", model_file, tmp_path / "photos", "-o", tmp_path / "out.csv")
    assert result.exit_code == 0, result.stderr
    found = {os.path.basename(os.fsencode(row["file"])) for row in rows_of(tmp_path / "out.csv")}
    assert found == set(HOSTILE)


def test_unreadable_files_are_listed_and_get_no_row(run: Run, model_file: Path, photos: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"\xff\xd8\xff no picture")
    result = run("predict", model_file, broken, tmp_path / "missing.png", photos / "brick" / "0.png")
    assert result.exit_code == 0
    assert len(list(csv.DictReader(io.StringIO(result.stdout)))) == 1
    said = result.stderr.splitlines()
    assert sorted(line.split(": ")[1] for line in said[:2]) == [str(broken), str(tmp_path / "missing.png")]
    assert said[2] == "fewsight: 2 files could not be used."


def test_if_no_file_can_be_read_it_fails_and_leaves_what_was_there(run: Run, model_file: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    output.write_bytes(OLDER["table"])
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no picture")
    result = run("predict", model_file, broken, "-o", output)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1] == (
        "fewsight: not one of the images could be read, so there is nothing to predict."
    )
    assert output.read_bytes() == OLDER["table"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.png", "out.csv"]


def test_predicting_never_changes_the_model_and_repeats_exactly(
    run: Run, model_file: Path, photos: Path, tmp_path: Path
) -> None:
    before = model_file.read_bytes()
    for name, options in (("a", ["--jobs", "1"]), ("b", ["--no-cache", "--jobs", "2"])):
        run("predict", model_file, photos, "-o", tmp_path / name, *options)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert model_file.read_bytes() == before


def test_the_batches_leave_no_trace(
    run: Run, model_file: Path, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("predict", model_file, photos, "-o", tmp_path / "whole")
    monkeypatch.setattr("fewsight.apps.workbench.predicting.BATCH", 5)
    run("predict", model_file, photos, "-o", tmp_path / "batches")
    assert (tmp_path / "batches").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("content", [b"", b"\xff\xd8\xff\xe0 a photograph", b"PK\x03\x04 half a zip"])
def test_what_is_no_model_is_one_sentence(content: bytes, refused: Refused, photos: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.fewsight"
    path.write_bytes(content)
    assert refused("predict", path, photos) == f"{path}: not a fewsight model file."


def test_a_missing_model_is_one_sentence(refused: Refused, photos: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.fewsight"
    assert refused("predict", path, photos, "-o", tmp_path / "out.csv") == f"{path}: there is no such file."
    assert list(tmp_path.iterdir()) == []


def test_a_model_of_numbers_is_refused_for_images(refused: Refused, photos: Path, tmp_path: Path) -> None:
    from fewsight.kernels import RBF
    from fewsight.learners import GPClassifier
    from fewsight.persistence import save

    path = tmp_path / "numbers.fewsight"
    save(GPClassifier(RBF(scale=1.0)).fit([[0.0], [1.0]], ["a", "b"]), path)
    assert refused("predict", path, photos) == (
        f"{path}: this model does not classify images; it can be used from Python only."
    )


def test_a_folder_without_images_is_one_sentence(refused: Refused, model_file: Path, tmp_path: Path) -> None:
    assert "at least one image file" in refused("predict", model_file, tmp_path)


def test_a_place_that_cannot_hold_the_table_is_one_sentence(
    refused: Refused, model_file: Path, photos: Path, tmp_path: Path
) -> None:
    said = refused("predict", model_file, photos, "-o", tmp_path / "nowhere" / "out.csv")
    assert said.endswith("does not exist; make it first.")
    assert "not an ordinary file" in refused("predict", model_file, photos, "-o", os.devnull)
