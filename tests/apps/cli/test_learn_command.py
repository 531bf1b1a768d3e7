"""`fewsight learn` on a small folder, and on everything that can be wrong with one."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow
from typer.testing import Result

from fewsight.persistence import load

SMALL = ("--set", "spatial_pmk.n_words=20", "--set", "spatial_pmk.n_descriptors=2000")
Run = Callable[..., Result]
Refused = Callable[..., str]


@pytest.fixture
def own_photos(photos: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return Path(shutil.copytree(photos, tmp_path / "photos"))


def test_learn_writes_a_model_and_says_what_it_learned(run: Run, photos: Path, tmp_path: Path) -> None:
    output = tmp_path / "model.fewsight"
    result = run("learn", photos, "-o", output, *SMALL)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "Learned 3 categories from 24 images." in result.stdout
    assert "when each is left out" in result.stdout
    assert f"Wrote {output}." in result.stdout
    assert load(output).classes_.tolist() == ["brick", "grass", "tissue"]
    assert [path.name for path in tmp_path.iterdir()] == ["model.fewsight"]


def test_learning_again_replaces_the_file_says_so_and_gives_the_same_bytes(
    run: Run, photos: Path, tmp_path: Path
) -> None:
    output = tmp_path / "model.fewsight"
    run("learn", photos, "-o", output, *SMALL)
    first = output.read_bytes()
    assert f"Replaced {output}." in run("learn", photos, "-o", output, "--no-cache", "--jobs", "1", *SMALL).stdout
    assert output.read_bytes() == first


def test_a_table_of_labels_learns_what_class_folders_learn(run: Run, photos: Path, tmp_path: Path) -> None:
    rows = [(str(path.relative_to(photos)), path.parent.name) for path in sorted(photos.glob("*/*.png"))]
    table = tmp_path / "labels.csv"
    table.write_text("file,category\n" + "".join(f"{file},{category}\n" for file, category in rows))
    run("learn", photos, "-o", tmp_path / "folders", *SMALL)
    assert run("learn", photos, "--labels", table, "-o", tmp_path / "table", *SMALL).exit_code == 0
    assert (tmp_path / "table").read_bytes() == (tmp_path / "folders").read_bytes()


def test_excluded_categories_are_left_out_with_folders_and_with_a_table(run: Run, photos: Path, tmp_path: Path) -> None:
    run("learn", photos, "-o", tmp_path / "a", "--exclude", "brick", *SMALL)
    assert load(tmp_path / "a").classes_.tolist() == ["grass", "tissue"]
    table = tmp_path / "labels.csv"
    table.write_text("file,category\nbrick/0.png,b\nbrick/1.png,b\ngrass/0.png,g\ntissue/0.png,t\ntissue/1.png,t\n")
    result = run("learn", photos, "--labels", table, "-o", tmp_path / "b", "--exclude", "g", *SMALL)
    assert load(tmp_path / "b").classes_.tolist() == ["b", "t"]
    assert result.exit_code == 0


def test_the_noise_can_be_given(run: Run, photos: Path, tmp_path: Path) -> None:
    result = run("learn", photos, "-o", tmp_path / "model", "--noise", "0.25", "--verbose", *SMALL)
    assert "Noise variance 0.25." in result.stdout
    assert "Noise variance" not in run("learn", photos, "-o", tmp_path / "again", "--noise", "0.25", *SMALL).stdout
    assert load(tmp_path / "model").noise_variance_ == 0.25


def test_broken_files_are_listed_and_the_rest_is_learned(run: Run, own_photos: Path, tmp_path: Path) -> None:
    (own_photos / "brick" / "broken\n.png").write_bytes(b"\x89PNG\r\n\x1a\n and then nothing")
    (own_photos / "nothing").mkdir()
    (own_photos / "beside.png").write_bytes((own_photos / "brick" / "0.png").read_bytes())
    result = run("learn", own_photos, "-o", tmp_path / "model", *SMALL)
    assert result.exit_code == 0
    said = result.stderr.splitlines()
    assert said[0].startswith(f"fewsight: {own_photos}/brick/broken\\n.png: ")
    assert said[1] == "fewsight: 1 file could not be used."
    assert said[2] == "fewsight: no usable image in the category nothing, which was left out."
    assert said[3] == f"fewsight: 1 image in no category's folder left out, such as {own_photos}/beside.png."
    assert "Learned 3 categories from 24 images." in result.stdout


def test_a_category_of_one_image_is_learned_but_cannot_be_checked(run: Run, own_photos: Path, tmp_path: Path) -> None:
    for path in sorted((own_photos / "brick").iterdir())[1:]:
        path.unlink()
    result = run("learn", own_photos, "-o", tmp_path / "model", *SMALL)
    assert result.exit_code == 0
    assert "Only one image each, so nothing to check with: brick." in result.stdout
    assert load(tmp_path / "model").classes_.tolist() == ["brick", "grass", "tissue"]


def test_one_image_of_each_category_is_enough(run: Run, photos: Path, tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("file,category\nbrick/0.png,b\ngrass/0.png,g\n")
    result = run("learn", photos, "--labels", table, "-o", tmp_path / "model", *SMALL)
    assert result.exit_code == 0
    assert "left out (mean" not in result.stdout


def test_images_beside_a_single_folder_are_meant_to_be_labelled(refused: Refused, photos: Path, tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    shutil.copytree(photos / "grass", folder / "trip")
    for path in (photos / "brick").iterdir():
        shutil.copy(path, folder)
    n = len(list((photos / "brick").iterdir()))
    assert refused("learn", folder, "-o", tmp_path / "model.fewsight", *SMALL) == (
        f"learn: needs readable images of at least two categories, found only 'trip'; {n} images lie in no category's folder "
        "(`fewsight label` asks what they show)."
    )


def test_a_single_category_is_refused(refused: Refused, photos: Path, tmp_path: Path) -> None:
    output = tmp_path / "model.fewsight"
    said = refused("learn", photos, "-o", output, "--exclude", "brick,grass", *SMALL)
    assert said == (
        "learn: needs readable images of at least two categories, found only 'tissue'; a folder of other images will do."
    )
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--set", "spatial_pmk.n_wrods=3"], "its option must be one of 'n_words', "),
        (["--set", "sift.n_words=3"], "its channel must be one of 'spatial_pmk'"),
        (["--set", "n_words=3"], "a setting must have the form CHANNEL.OPTION=VALUE, got 'n_words=3'."),
        (["--set", "spatial_pmk.cache=x"], "its option must be one of "),
        (["--set", "spatial_pmk.n_words=many"], "n_words must be a whole number from 1 to 50,000, got 'many'."),
        (["--channels", "sift"], "name must be one of 'spatial_pmk'"),
        (["--channels", ","], "channels: at least one name, each of them once, is needed, got none."),
        (["--channels", "spatial_pmk,spatial_pmk"], "each of them once, is needed, got spatial_pmk, spatial_pmk."),
        (["--noise", "-1"], "noise_variance must be a finite number > 0, got -1.0."),
        (["--noise", "nan"], "noise_variance must be a finite number > 0, got nan."),
        (["--exclude", "bricks"], "did you mean brick?"),
        (["--labels", "nowhere.csv"], "nowhere.csv: "),
    ],
)
def test_a_wrong_option_is_one_sentence_and_no_file(
    arguments: list[str], sentence: str, refused: Refused, photos: Path, tmp_path: Path
) -> None:
    assert sentence in refused("learn", photos, "-o", tmp_path / "model.fewsight", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_categories_is_one_sentence(refused: Refused, photos: Path, tmp_path: Path) -> None:
    assert "one folder of images for each category" in refused("learn", photos / "brick", "-o", tmp_path / "model")
    assert "must be a folder" in refused("learn", tmp_path / "nowhere", "-o", tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["nowhere/model.fewsight", "photos", "file/model.fewsight"])
def test_a_place_that_cannot_hold_the_file_is_refused_before_any_work(
    place: str, refused: Refused, tmp_path: Path
) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "file").touch()
    said = refused("learn", tmp_path / "no such folder", "-o", tmp_path / place)  # the missing images are not reached
    assert said.startswith(f"{tmp_path / place}: ")


def test_a_device_is_never_replaced(refused: Refused, photos: Path) -> None:
    assert refused("learn", photos, "-o", os.devnull) == f"{os.devnull}: not an ordinary file, so it is not replaced."
    assert not Path(os.devnull).is_file()


def test_images_of_every_size_and_mode_are_learned(run: Run, own_photos: Path, tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (40, 700, 3), dtype=np.uint8)
    Pillow.fromarray(noise).convert("CMYK").save(own_photos / "brick" / "wide.jpg")
    Pillow.fromarray(noise[:1, :1]).save(own_photos / "grass" / "one pixel.png")
    result = run("learn", own_photos, "-o", tmp_path / "model", *SMALL)
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("noise", ["1e101", "1e300", "inf", "nan", "0", "-1"])
def test_a_noise_that_no_model_file_takes_is_refused_before_any_work(
    noise: str, refused: Refused, photos: Path, tmp_path: Path
) -> None:
    said = refused("learn", photos, "-o", tmp_path / "model", "--noise", noise)
    assert "noise_variance must be " in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("noise", ["1e100", "1e50", "1e-10", "1e-300"])
@pytest.mark.parametrize("learner", ["gp", "histogram_gp"])
def test_a_model_of_an_extreme_noise_is_refused_by_learn_or_opened_by_predict(
    noise: str, learner: str, run: Run, photos: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model"
    learned = run("learn", photos, "-o", model, "--noise", noise, "--learner", learner, *SMALL)
    if learned.exit_code == 0:
        assert run("predict", model, photos).exit_code == 0
    else:
        assert len(learned.stderr.splitlines()) == 1
        assert not model.exists()


def copy_each(photos: Path, quality: int | None) -> None:
    """Beside every photograph a copy under another name: the same bytes, or encoded anew."""
    for path in sorted(photos.glob("*/*.*")):
        if quality is None:
            shutil.copy(path, path.with_name(f"a copy of {path.name}"))
        else:
            Pillow.open(path).convert("RGB").save(path.with_name(f"a copy of {path.stem}.jpg"), quality=quality)


@pytest.mark.parametrize("learner", ["gp", "histogram_gp", "combination"])
@pytest.mark.parametrize("quality", [None, 80, 50])
def test_copies_do_not_make_the_accuracy_look_better(
    learner: str, quality: int | None, run: Run, own_photos: Path, tmp_path: Path
) -> None:
    few = ("--set", "spatial_pmk.n_words=5", "--set", "spatial_pmk.n_descriptors=200", "--learner", learner)
    plain = run("learn", own_photos, "-o", tmp_path / "plain", *few).stdout
    copy_each(own_photos, quality)
    copied = run("learn", own_photos, "-o", tmp_path / "copied", *few).stdout
    assert "24 images are copies of others: each picture was learned from once." in copied
    assert copied.count("The same picture: ") == 5
    assert "... and 19 more pictures with copies." in copied
    accuracies = [float(re.search(r"Right on ([0-9.]+)%", text)[1]) for text in (plain, copied)]
    assert accuracies[0] < 100  # there is something to make look better
    assert abs(accuracies[0] - accuracies[1]) <= 100 / 24 + 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("channels", "quality"), [("phog,colour", None), ("phog,colour", 40), ("spatial_pmk", 75), ("spatial_pmk", 95)]
)
def test_copies_of_real_photographs_do_not_make_the_accuracy_look_better(
    channels: str, quality: int | None, run: Run, caltech101: Path, tmp_path: Path
) -> None:
    """Every file copied once under another name, as it is or re-encoded; then one of them lies in a wrong category as well."""
    photos, n = tmp_path / "photos", 20
    cues = ("--channels", channels)
    for category in ("chair", "lotus", "sunflower", "water_lilly"):
        (photos / category).mkdir(parents=True)
        for path in sorted((caltech101 / category).glob("*.jpg"))[:n]:
            shutil.copy(path, photos / category)
    plain = run("learn", photos, "-o", tmp_path / "plain", *cues).stdout
    copy_each(photos, quality)
    copied = run("learn", photos, "-o", tmp_path / "copied", *cues).stdout
    counts = [re.search(r"(\d+) images? (?:are copies|is a copy)", text) for text in (plain, copied)]
    before, after = (0 if found is None else int(found[1]) for found in counts)  # Caltech-101 has a few copies itself
    assert after == before + 4 * n
    assert copied.count("The same picture: ") == 5
    accuracies = [float(re.search(r"Right on ([0-9.]+)%", text)[1]) for text in (plain, copied)]
    assert accuracies[0] < 100  # there is something to make look better
    assert abs(accuracies[0] - accuracies[1]) <= 100 / (4 * n) + 0.1
    shutil.copy(photos / "chair" / "image_0001.jpg", photos / "lotus" / "by mistake.jpg")
    mistaken = run("learn", photos, "-o", tmp_path / "mistaken", *cues).stdout
    wrong = mistaken.split("The same picture in two categories, of which one must be wrong: ")[1].splitlines()[0]
    assert f"{photos}/chair/image_0001.jpg (chair)" in wrong
    assert f"{photos}/lotus/by mistake.jpg (lotus)" in wrong


def test_a_picture_with_two_labels_is_named(run: Run, own_photos: Path, tmp_path: Path) -> None:
    shutil.copy(own_photos / "brick" / "0.png", own_photos / "grass" / "renamed.png")
    result = run("learn", own_photos, "-o", tmp_path / "model", *SMALL)
    named = f"{own_photos}/brick/0.png (brick), {own_photos}/grass/renamed.png (grass)"
    assert f"The same picture in two categories, of which one must be wrong: {named}" in result.stdout
    assert "images are copies" not in result.stdout  # both were learned from
    assert "Learned 3 categories from 25 images." in result.stdout


def test_without_copies_nothing_is_said_of_them(run: Run, photos: Path, tmp_path: Path) -> None:
    assert "same picture" not in run("learn", photos, "-o", tmp_path / "model", *SMALL).stdout


def test_the_help_groups_its_options() -> None:
    import typer

    from fewsight.apps.cli.program import app

    command = typer.main.get_command(app).commands["learn"]
    panels: dict[str | None, set[str]] = {}
    for option in command.params:
        if option.param_type_name == "option":
            panels.setdefault(option.rich_help_panel, set()).add(option.opts[0])
    assert panels["What to learn from"] == {"--labels", "--project", "--exclude"}
    assert panels["How to look at images"] == {"--channels", "--combine", "--set"}
    assert panels["Few images"] == {"--borrow", "--refuse", "--closest", "--sense"}
    assert panels["Many images"] == {"--learner", "--many", "--cluster"}
    assert panels["Where to keep things"] == {"--output", "--cache-dir", "--no-cache"}
    assert panels[None] >= {"--noise", "--seed", "--jobs"}
