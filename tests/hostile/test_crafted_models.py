"""Model files crafted to break `predict`, each with the digest that fits: refused in one sentence, before they cost anything."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz_models import array_edited, header_edited
from typer.testing import CliRunner

from fewsight._base.archive import read_archive, write_archive
from fewsight._base.types import State
from fewsight.apps.cli import app
from fewsight.channels import Channel, SpatialPmk
from fewsight.learners import HistogramGPClassifier
from fewsight.persistence import save
from fewsight.persistence.soundness import with_digest

VARIANCE = "model/variance/"


@pytest.fixture(scope="module")
def histogram_model(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the photographs that needs no matrix of all pairs."""
    files = sorted(photos.glob("*/*.png"))
    channel = SpatialPmk(n_words=10, n_descriptors=500, scales=(1.0,), step=16)
    learner = HistogramGPClassifier(channel, unknown_rule="contrast+variance").fit(
        files, [file.parent.name for file in files]
    )
    path = tmp_path_factory.mktemp("histograms") / "model.fewsight"
    save(learner, path)
    return path


def predicted(model: Path, photos: Path) -> tuple[int, str, str]:
    """Exit code, and what `predict` on one photograph printed and complained about."""
    result = CliRunner().invoke(app, ["predict", str(model), str(next(photos.glob("*/*.png")))])
    return result.exit_code, result.stdout, result.stderr


def refusal(model: Path, photos: Path) -> str:
    """The one sentence of a refusal, without the file's name."""
    code, out, said = predicted(model, photos)
    assert (code, out, said.count("\n")) == (1, "", 1), said
    assert said.startswith(f"fewsight: {model}: damaged or edited by hand ("), said
    return said.strip().removeprefix(f"fewsight: {model}: damaged or edited by hand ").strip("().")


def crafted(model: Path, folder: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Path:
    """The file after a change of its header and arrays, with the digest that fits."""
    whole = read_archive(model)
    header, arrays = json.loads(json.dumps(whole.header)), dict(whole.arrays)
    change(header, arrays)
    write_archive(folder / "crafted", with_digest(State(header, arrays)), compress=True)
    return folder / "crafted"


def with_array(name: str, change: Callable[[Any], Any]) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    def put(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[name] = change(arrays[name])

    return put


def test_the_model_answers_as_long_as_nobody_touches_it(histogram_model: Path, photos: Path, tmp_path: Path) -> None:
    untouched = crafted(histogram_model, tmp_path, lambda header, arrays: None)
    assert predicted(untouched, photos) == predicted(histogram_model, photos)
    assert predicted(untouched, photos)[0] == 0


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("coefficients", lambda a: a[:1], "coefficients must be float64 of shape 13, got float64 of shape 1"),
        ("columns", lambda a: a[:, :1], "the stored variance must have 1 to 16 directions, got 0"),
        ("columns", np.zeros_like, "the first columns must sum to a number > 0, got 0"),
        ("columns", lambda a: a[:-1], "columns must be float64 of shape 18 x any, got float64 of shape 17 x 17"),
        ("bins", lambda a: a[:2], "bins must be float64 of shape 3 x 210, got float64 of shape 2 x 210"),
        ("bins", lambda a: -a, "bins must hold numbers from 0 to 1e"),
        ("exact", lambda a: a * np.nan, "array model/variance/exact holds NaN or infinity"),
        ("fitted_to", lambda a: a + 18, "fitted_to must hold numbers from 0 to 17, got 18 to 35"),
    ],
)
def test_arrays_of_the_variance_are_checked(
    name: str, change: Any, said: str, histogram_model: Path, photos: Path, tmp_path: Path
) -> None:
    assert said in refusal(crafted(histogram_model, tmp_path, with_array(VARIANCE + name, change)), photos)


@pytest.mark.parametrize("change", [np.zeros_like, np.negative, lambda ones: 1e-200 * ones])
def test_a_variance_that_would_be_divided_by_nothing_is_refused(
    change: Any, histogram_model: Path, photos: Path, tmp_path: Path
) -> None:
    said = refusal(crafted(histogram_model, tmp_path, with_array("model/ones", change)), photos)
    assert said.startswith("the stored ones must sum to a number > 0 in each column, got ")


def test_thousands_of_directions_are_refused_before_they_are_multiplied(
    histogram_model: Path, photos: Path, tmp_path: Path
) -> None:
    """A hundred kilobytes that would become a gigabyte, or more by as much as there are more of them."""
    wide = crafted(histogram_model, tmp_path, with_array(VARIANCE + "columns", lambda a: np.zeros((18, 280_000))))
    assert wide.stat().st_size < 200_000
    tracemalloc.start()
    try:
        said = refusal(wide, photos)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "the stored variance must have 1 to 16 directions, got 279999" in said
    assert peak < 150 * 2**20


def test_a_class_name_that_cannot_be_printed_is_refused(histogram_model: Path, photos: Path, tmp_path: Path) -> None:
    def rename(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        header["model"]["classes"][0] = "\ud800"

    said = refusal(crafted(histogram_model, tmp_path, rename), photos)
    assert said == r"the stored classes: a label must be text that can be printed, got '\ud800'"


@pytest.mark.slow
@pytest.mark.parametrize(("learner", "count"), [("gp", 3_000), ("histogram_gp", 201)])
def test_thousands_of_channels_are_refused_before_one_is_opened(
    learner: str,
    count: int,
    histogram_model: Path,
    model_file: Path,
    photos: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def multiply(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        stored = header["model"]["input"]
        words = arrays["model/input/channel0/learned/words"]
        for number in range(count):
            stored[f"channel{number}"] = stored["channel0"]
            arrays[f"model/input/channel{number}/learned/words"] = words
        stored["n_channels"] = count

    many = crafted(model_file if learner == "gp" else histogram_model, tmp_path, multiply)
    monkeypatch.setattr(Channel, "from_state", lambda *_: pytest.fail("a channel was opened"))
    assert refusal(many, photos) == (
        f"the stored model/input: n_channels must be a whole number from {1 if learner == 'gp' else 0} to 200, got {count}"
    )


def test_an_array_that_no_model_has_is_refused(histogram_model: Path, photos: Path, tmp_path: Path) -> None:
    def add(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays["model/more"] = np.zeros(3)

    said = refusal(crafted(histogram_model, tmp_path, add), photos)
    assert said == "the stored array model/more is read by nobody, or not with State.array"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_changed_predict_answers_or_says_one_sentence(
    seed: int, histogram_model: Path, photos: Path, tmp_path: Path
) -> None:
    """A few of the files of `fuzz_readers.py --target models`, through the command line."""
    rng = np.random.default_rng(seed)
    state = (array_edited if seed % 4 else header_edited)(read_archive(histogram_model), rng)
    write_archive(tmp_path / "edited", with_digest(state), compress=True)
    code, out, said = predicted(tmp_path / "edited", photos)
    assert code in (0, 1)
    if code:
        assert (out, said.count("\n"), said[:10]) == ("", 1, "fewsight: ")
    else:
        assert "nan" not in out
        assert "inf" not in out
