"""Several channels at once: `evaluate --combine`, `learn --channels auto`, and the model file that keeps the combination."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

from fewsight.apps.workbench import AUTO_CHANNELS, ImageSource, learn_folder, learners
from fewsight.channels import CHANNELS
from fewsight.images import image_set_from_class_folders
from fewsight.persistence import load

Run = Callable[..., Result]
Refused = Callable[..., str]
TWO = ("--channels", "colour,texture")
QUICK = ("--per-class", "3", "--repeats", "2", "--test-per-class", "3", "--jobs", "1")
SMALL_AUTO = {
    "spatial_pmk": {"n_words": 20, "n_descriptors": 2000},
    "dense_pmk": {"n_descriptors": 2000},
    "opponent_sift": {"n_trees": 1, "n_descriptors": 2000},
}


def rows_of(results: Path) -> set[tuple[str, str, str]]:
    """Channels, combination and learner of everything that was measured."""
    records = json.loads(results.read_text(encoding="utf-8"))["records"]
    return {(record["channels"], record["combine"], record["learner"]) for record in records}


@pytest.fixture(autouse=True)
def _only_classic_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    """As without the extra; tests/apps/cli/test_vector_channels.py has what it brings."""
    monkeypatch.setattr(CHANNELS["pretrained"], "missing", lambda: "pretrained is not here")


@pytest.fixture
def single_images(tmp_path: Path) -> Path:
    """A table with one image of each of two categories."""
    table = tmp_path / "labels.csv"
    table.write_text("file,category\nbrick/0.png,b\ngrass/0.png,g\n")
    return table


def test_several_channels_are_measured_alone_averaged_and_with_learned_shares(
    run: Run, photos: Path, tmp_path: Path
) -> None:
    results = tmp_path / "out.json"
    result = run("evaluate", photos, *TWO, *QUICK, "--learners", "gp,nn", "--json", results)
    assert result.exit_code == 0, result.stderr
    both = "colour+texture"
    assert rows_of(results) == {
        *((channel, "none", learner) for channel in ("colour", "texture") for learner in ("gp", "nn")),
        (both, "average", "gp"),
        (both, "average", "nn"),
        (both, "evidence", "gp"),
    }
    assert "combined by" in result.stdout
    assert result.stdout.count("Shares learned at 3 per category: ") == 1
    said = re.search(r"per category: (\w+) (\d+) %, (\w+) (\d+|under 1) %\.", result.stdout)
    assert said is not None
    assert {said[1], said[3]} == {"colour", "texture"}
    assert int(said[2]) >= 50


def test_only_the_asked_for_ways_of_combining_are_measured(run: Run, photos: Path, tmp_path: Path) -> None:
    results = tmp_path / "out.json"
    options = ("--combine", "evidence, none", "--learners", "gp,nn", "--json", results)
    assert run("evaluate", photos, *TWO, *QUICK, *options).exit_code == 0
    assert {way for _, way, _ in rows_of(results)} == {"none", "evidence"}


def test_a_learner_without_a_row_is_told_of(run: Run, photos: Path) -> None:
    result = run("evaluate", photos, *TWO, *QUICK, "--combine", "evidence", "--learners", "gp,nn")
    assert result.exit_code == 0, result.stderr
    assert (
        "No row for nn: only gp, histogram_gp, sparse_gp, combination and span_bound learn shares by evidence; "
        "--combine average takes the others." in result.stdout
    )


def test_one_channel_is_combined_with_nothing(run: Run, photos: Path, tmp_path: Path) -> None:
    results = tmp_path / "out.json"
    result = run("evaluate", photos, "--channels", "colour", *QUICK, "--learners", "gp", "--json", results)
    assert rows_of(results) == {("colour", "none", "gp")}
    assert "Shares" not in result.stdout


def test_learners_that_cannot_learn_shares_are_measured_without(run: Run, photos: Path, tmp_path: Path) -> None:
    results = tmp_path / "out.json"
    assert run("evaluate", photos, *TWO, *QUICK, "--learners", "nn", "--json", results).exit_code == 0
    assert {way for _, way, _ in rows_of(results)} == {"none", "average"}


def test_shares_of_one_image_per_category_are_said_to_be_the_average(run: Run, photos: Path) -> None:
    options = ("--per-class", "1,3", "--repeats", "1", "--learners", "gp", "--combine", "evidence", "--jobs", "1")
    result = run("evaluate", photos, *TWO, *options)
    assert (
        "At 1 per category the average of the channels was used: "
        "nothing can be learned about their shares from one image per category." in result.stdout
    )
    assert "Shares learned at 1 " not in result.stdout
    assert "Shares learned at 3 " in result.stdout


def test_auto_is_a_set_of_channels_for_evaluate_too(refused: Refused, photos: Path) -> None:
    said = refused("evaluate", photos, "--channels", "auto", "--set", "harris_pmk.n_descriptors=2000")
    assert said.endswith(f"but the channels asked for are {', '.join(AUTO_CHANNELS)}.")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            [*TWO, "--combine", "best"],
            "combine must be one of 'none', 'average', 'evidence', 'l1', 'l1_even', 'l2', got 'best'.",
        ),
        (["--combine", "average"], "combine 'average' needs two or more channels, got only spatial_pmk."),
        (["--combine", "none,evidence"], "combine 'evidence' needs two or more channels, got only spatial_pmk."),
        ([*TWO, "--combine", ","], "combine must be a list of one or more words"),
        (
            [*TWO, "--combine", "evidence", "--learners", "nn"],
            "needs a learner that learns weights, as gp does, got nn.",
        ),
        (["--channels", "auto,phog"], "channels: auto chooses the channels and stands alone, got auto, phog."),
    ],
)
def test_a_wrong_combination_is_one_sentence_from_evaluate(
    arguments: list[str], sentence: str, refused: Refused, photos: Path
) -> None:
    assert sentence in refused("evaluate", photos, *QUICK, *arguments)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            [*TWO, "--combine", "none"],
            "learn: combine must be one of 'average', 'evidence', 'l1', 'l1_even', 'l2', got 'none'.",
        ),
        (["--combine", "average"], "learn: combine 'average' needs two or more channels, got only spatial_pmk."),
        (["--channels", "auto,phog"], "channels: auto chooses the channels and stands alone, got auto, phog."),
    ],
)
def test_a_wrong_combination_is_one_sentence_from_learn(
    arguments: list[str], sentence: str, refused: Refused, photos: Path, tmp_path: Path
) -> None:
    assert sentence in refused("learn", photos, "-o", tmp_path / "model", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_learn_says_what_decides_and_the_model_file_keeps_it(run: Run, photos: Path, tmp_path: Path) -> None:
    output = tmp_path / "model"
    learned = learn_folder(ImageSource(photos), output, channels=("colour", "texture"))
    said = run("learn", photos, "-o", tmp_path / "again", *TWO).stdout
    assert f"What decides: {next(iter(learned.shares))} " in said
    assert output.read_bytes() == (tmp_path / "again").read_bytes()
    restored = load(output)
    np.testing.assert_array_equal(restored.weights_, learned.model.weights_)
    assert [channel.name for channel in restored.kernel] == ["colour", "texture"]
    images = image_set_from_class_folders(photos).images
    np.testing.assert_array_equal(restored.predict_proba(images), learned.model.predict_proba(images))
    predicted = run("predict", output, photos / "brick").stdout
    assert predicted.count(",brick,") == 8


def test_the_average_can_be_asked_for(run: Run, photos: Path, tmp_path: Path) -> None:
    result = run("learn", photos, "-o", tmp_path / "model", *TWO, "--combine", "average")
    assert "What decides: colour 50 %, texture 50 %." in result.stdout
    assert "was used" not in result.stdout
    np.testing.assert_array_equal(load(tmp_path / "model").weights_, [0.5, 0.5])


def test_one_image_per_category_says_that_the_average_was_used(
    run: Run, photos: Path, single_images: Path, tmp_path: Path
) -> None:
    result = run("learn", photos, "--labels", single_images, "-o", tmp_path / "model", *TWO)
    assert (
        "The average of the channels was used: "
        "nothing can be learned about their shares from one image per category." in result.stdout
    )
    np.testing.assert_array_equal(load(tmp_path / "model").weights_, [0.5, 0.5])


def test_one_channel_decides_all_and_nothing_is_said_of_it(
    run: Run, photos: Path, single_images: Path, tmp_path: Path
) -> None:
    result = run("learn", photos, "--labels", single_images, "-o", tmp_path / "model", "--channels", "colour")
    assert result.exit_code == 0
    assert "What decides" not in result.stdout


def test_auto_learns_shares_of_all_its_channels(run: Run, photos: Path, tmp_path: Path) -> None:
    given = [f"{name}.{option}={value}" for name, some in SMALL_AUTO.items() for option, value in some.items()]
    settings = [part for setting in given for part in ("--set", setting)]
    result = run("learn", photos, "-o", tmp_path / "model", "--channels", "auto", *settings)
    assert result.exit_code == 0, result.stderr
    (decides,) = [line for line in result.stdout.splitlines() if line.startswith("What decides: ")]
    assert all(f"{name} " in decides for name in AUTO_CHANNELS)
    model = load(tmp_path / "model")
    assert [channel.name for channel in model.kernel] == list(AUTO_CHANNELS)
    assert model.weights_.sum() == pytest.approx(1.0)


def test_the_list_of_channels_says_what_auto_is(run: Run) -> None:
    lines = run("channels").stdout.splitlines()
    assert lines[-2].endswith(", ".join(AUTO_CHANNELS) + ".")
    assert lines[-1] == "Used unless others are named: spatial_pmk."
    assert "  not installed: pretrained is not here" in lines


def test_every_further_channel_needs_memory(
    refused: Refused, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learners, "memory_of_this_machine", lambda: 80 * 10**2)
    said = refused("learn", photos, "-o", tmp_path / "model", "--learner", "gp", *TWO)
    assert said.endswith("use at most 10 images, or --learner sparse_gp.")


def test_norms_are_measured_with_the_learners_that_have_them(run: Run, photos: Path, tmp_path: Path) -> None:
    results = tmp_path / "out.json"
    options = ("--learners", "mkl,infinite", "--combine", "l1,l2", "--json", results)
    result = run("evaluate", photos, *TWO, *QUICK, *options)
    assert result.exit_code == 0, result.stderr
    both = "colour+texture"
    assert rows_of(results) == {(both, "l1", "mkl"), (both, "l2", "mkl"), (both, "l1", "infinite")}
    assert "Shares learned by mkl (l2) at 3 per category: " in result.stdout


def test_a_norm_is_refused_where_no_learner_has_it(run: Run, photos: Path) -> None:
    result = run("evaluate", photos, *TWO, *QUICK, "--learners", "gp,svm", "--combine", "l2")
    assert result.exit_code != 0
    assert (
        "evaluate: combine 'l2' needs a learner that learns weights with a quadratic penalty, as mkl does, got gp, svm."
        in " ".join(result.stderr.split())
    )
