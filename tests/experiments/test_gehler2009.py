"""A small version of each experiment runs, is taken up where it was, and finds what the whole finds."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from experiments.gehler2009.brodatz import halves, histograms, parser, splits_of
from experiments.gehler2009.chessboard import APART, board
from experiments.gehler2009.layouts import Kernels, Way, answers, draw
from experiments.gehler2009.measuring import Learned
from experiments.gehler2009.pca_sift import Grid, PcaSift

from fewsight._base.errors import InvalidInput
from fewsight.gp import GramStack
from fewsight.images import ImageSet, as_image
from fewsight.learners.mkl import Weighted

ROOT = Path(__file__).parents[2]


def test_the_board_has_blobs_of_two_classes_by_turns():
    X, y = board(3_000, np.random.default_rng(0))
    assert X.shape == (3_000, 20)
    places = np.round(X[:, :2] / APART).astype(int)
    assert set(np.unique(places)) <= {-1, 0, 1, 2, 3, 4}
    assert np.mean(places.sum(axis=1) % 2 == y) > 0.999
    assert abs(np.corrcoef(X[:, 5], y)[0, 1]) < 0.06


@pytest.mark.slow
def test_the_chessboard_is_learned_from_one_draw(tmp_path):
    command = [sys.executable, "-m", "experiments.gehler2009.chessboard", "--work", tmp_path, "--seeds", "100"]
    files = ["--json", tmp_path / "r.json", "--figure", tmp_path / "f.png", "--starts", "3", "--grid", "5"]
    subprocess.run([*command, *files], cwd=ROOT, check=True, capture_output=True)
    found = {row["metric"]: row["mean"] for row in json.loads((tmp_path / "r.json").read_text())["records"]}
    assert found["accuracy"] > 0.99 > 0.7 > found["accuracy_gaussian"]
    assert found["weight_of_first"] > 0.9
    assert 1.8 < found["theta_ratio"] < 2.2
    assert found["noise_share"] < 0.01
    assert found["excess"] <= 1e-3
    assert (tmp_path / "f.png").stat().st_size > 1_000


def test_half_of_each_texture_is_trained_on():
    labels = np.repeat(np.arange(112), 9)
    train, test = halves(labels, 0)
    assert len(train) == len(test) == 504
    assert not set(train) & set(test)
    assert set(np.bincount(labels[train])) == {4, 5}
    assert not np.array_equal(train, halves(labels, 1)[0])


def test_photographs_that_stand_in_the_data_twice_are_never_on_both_sides(tmp_path):
    names = [(label, number) for label in ("Faces", "Faces_easy", "Leopards", "ant") for number in range(1, 181)]
    files = [tmp_path / label / f"image_{number:04}.jpg" for label, number in names]
    images = ImageSet([as_image(file) for file in files], [label for label, _ in names])
    drawn = draw(images, 15, 50, 0)
    trained = {(Path(image.name).parent.name.removesuffix("_easy"), Path(image.name).stem) for image in drawn.train}
    for image in drawn.test:
        assert (Path(image.name).parent.name.removesuffix("_easy"), Path(image.name).stem) not in trained
    numbers = [
        {int(Path(i.name).stem[6:]) % 100 for i in part if "Leopards" in i.name} for part in (drawn.train, drawn.test)
    ]
    assert not numbers[0] & numbers[1]
    assert sum(label == "ant" for label in drawn.test_labels) == 50


def test_all_ways_get_their_sums_from_one_pass_over_the_test_kernels():
    rng = np.random.default_rng(0)
    matrices = np.float32(rng.random((11, 7, 5)))  # kernels, test images, training images
    weights, own = rng.random(11), np.where(rng.random((3, 11)) < 0.5, rng.random((3, 11)), 0.0)
    duals = rng.normal(size=(3, 5))
    found = [Weighted(own[c], duals[c], 0.5 * c, np.zeros(11), 1.0, 1.0, 1, 1) for c in range(3)]
    learned = Learned(np.array(["a", "b", "c"]), found)
    ways = [
        Way({}, "windows", weights, lambda K_test: {"sum": K_test}),
        Way({}, "windows", learned.weights, lambda margins: {"sum": margins}, learned),
    ]
    grams = {"levels": GramStack(5)}
    kernels = Kernels(grams, {"windows": [1.0] * 11}, None, None, 11, 7)
    object.__setattr__(kernels, "each", lambda places: (("windows", i, K[places]) for i, K in enumerate(matrices)))
    plain, margins = (given["sum"] for given in answers(kernels, ways))
    np.testing.assert_allclose(plain, np.tensordot(weights, matrices, 1), rtol=1e-6)
    expected = [np.tensordot(own[c], matrices, 1) @ duals[c] + 0.5 * c for c in range(3)]
    np.testing.assert_allclose(margins, np.stack(expected, axis=1), rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["caltech101", "evidence"])
def test_windows_are_measured_on_a_few_images_and_taken_up_again(tmp_path, command):
    """Tiles of the sample set as photographs of classes."""
    write_classes(tmp_path / "images")
    options = ["--work", tmp_path / "work", "--windows", "6", "--seeds", "100", "--most-test", "4"]
    sizes = ["--per-class", "4"] if command == "caltech101" else ["--sizes", "3"]
    figure = ["--figure", tmp_path / "f.png"] if command == "caltech101" else []
    words = [sys.executable, "-m", f"experiments.gehler2009.{command}", tmp_path / "images"]
    run = [*words, *options, *sizes, *figure, "--json", tmp_path / "r.json"]
    subprocess.run(run, cwd=ROOT, check=True, capture_output=True)
    rows = json.loads((tmp_path / "r.json").read_text())["records"]
    errors = {(row["learner"], row["layout"], row["combine"]) for row in rows if row["metric"] == "error"}
    assert {("svm", "windows", way) for way in ("average", "l1", "l2")} | {("gp", "windows", "evidence")} <= errors
    assert all(0 <= row["mean"] <= 100 for row in rows if row["metric"] == "error")
    kept = sorted((tmp_path / "work" / "cells").glob("*/*.json"))
    assert len(kept) == 2  # what is learned by evidence, and the rest
    kept[0].unlink()  # one is found again, the other taken from the work folder
    subprocess.run(run, cwd=ROOT, check=True, capture_output=True)
    again = json.loads((tmp_path / "r.json").read_text())["records"]
    assert [row for row in again if row["metric"] == "error"] == [row for row in rows if row["metric"] == "error"]


@pytest.mark.slow
def test_codebooks_are_measured_on_a_few_textures(tmp_path):
    write_textures(tmp_path / "images")
    options = ["--work", tmp_path / "work", "--words", "4", "--codebooks", "12", "--seeds", "100"]
    files = ["--json", tmp_path / "r.json", "--figure", tmp_path / "f.png"]
    words = [sys.executable, "-m", "experiments.gehler2009.brodatz", tmp_path / "images"]
    subprocess.run([*words, *options, *files], cwd=ROOT, check=True, capture_output=True)
    found = {
        row["combine"]: row["mean"]
        for row in json.loads((tmp_path / "r.json").read_text())["records"]
        if row["metric"] == "error" and "n_kernels" not in row and "reported" not in row
    }
    random = {"as_many", "as_many_own", "as_many_weighted"}
    assert set(found) == {"single", "single_kmeans", "average", "l1", "l1_even", "l2"} | random
    assert found["average"] <= 30.0
    assert (tmp_path / "f.png").stat().st_size > 1_000


@pytest.mark.slow
def test_many_halves_are_measured_with_one_set_of_codebooks(tmp_path):
    write_textures(tmp_path / "images")
    options = ["--work", tmp_path / "work", "--words", "4", "--codebooks", "12", "--seeds", "200-202"]
    words = [sys.executable, "-m", "experiments.gehler2009.brodatz_halves", tmp_path / "images"]
    subprocess.run([*words, *options, "--json", tmp_path / "r.json"], cwd=ROOT, check=True, capture_output=True)
    found = json.loads((tmp_path / "r.json").read_text())
    errors = {row["combine"]: row["values"] for row in found["records"] if row["metric"] == "error"}
    assert {len(values) for values in errors.values()} == {3}
    for row in found["paired"]:
        apart = np.subtract(errors[row["way"]], errors[row["against"]])
        assert row["mean"] == pytest.approx(apart.mean())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((), {10: 4, 300: 4, 1000: 4}),
        (("--splits", "2"), {10: 2, 300: 2, 1000: 2}),
        (("--splits", "4,2,2"), {10: 4, 300: 2, 1000: 2}),
    ],
)
def test_each_size_of_codebook_has_its_number_of_splits(given, expected):
    options = parser().parse_args(["DATA", "--work", "WORK", "--seeds", "0-3", *given])
    assert splits_of(options) == expected


@pytest.mark.parametrize("given", ["4,2", "0"])
def test_numbers_of_splits_that_fit_no_sizes_are_refused(given):
    options = parser().parse_args(["DATA", "--work", "WORK", "--splits", given])
    with pytest.raises(InvalidInput, match="one for each of the 3 sizes of codebook"):
        splits_of(options)


def write_textures(folder):
    """Five pictures of stripes, each in a direction of its own."""
    import cv2

    rng = np.random.default_rng(0)
    folder.mkdir()
    for number in range(1, 6):
        rows, columns = np.indices((150, 150))
        stripes = 127 + 80 * np.sin(0.6 * (rows * np.sin(0.6 * number) + columns * np.cos(0.6 * number)))
        spread = np.clip(stripes + 15 * rng.normal(size=(150, 150)), 0, 255).astype(np.uint8)
        cv2.imwrite(str(folder / f"D{number}.jpg"), spread)


def write_classes(folder):
    """Ten tiles of each of four categories of the sample set, as files."""
    from PIL import Image

    from fewsight.images import sample_set

    tiles = sample_set()
    for label in sorted(set(tiles.labels))[:4]:
        (folder / str(label)).mkdir(parents=True)
        members = [image for image, name in zip(tiles.images, tiles.labels, strict=True) if name == label]
        for number, image in enumerate(members[:10], start=1):
            pixels = (255 * image.pixels(80)).astype(np.uint8)
            Image.fromarray(pixels).save(folder / str(label) / f"image_{number:04}.jpg")


def test_pca_sift_describes_every_point_at_every_radius_whatever_the_contrast():
    rng = np.random.default_rng(0)
    tiles = [np.float32(rng.random((60, 70))) for _ in range(3)]
    features = PcaSift.learned_from(tiles, 5, Grid(points=4, radii=(4.0, 16.0)), rng)
    descriptors = features.describe_all(tiles)
    assert descriptors.shape == (3, 2 * 4**2, 5)
    np.testing.assert_allclose(features.describe(0.5 * tiles[0] + 0.2), descriptors[0], atol=1e-5)
    assert np.isfinite(features.describe(np.zeros((60, 70), np.float32))).all()


def test_a_larger_codebook_is_compared_once_and_serves_the_smaller_one():
    rng = np.random.default_rng(0)
    points = np.float32(rng.normal(size=(4, 30, 3)))
    books = [np.float32(rng.normal(size=(6, 3))) for _ in range(3)]
    both = histograms(points, books, [2, 6])
    for K in (2, 6):
        nearest = [np.linalg.norm(points[1][:, None] - book[:K], axis=2).argmin(axis=1) for book in books]
        for counts, words in zip(both[K], nearest, strict=True):
            np.testing.assert_array_equal(counts[1], np.bincount(words, minlength=K))
