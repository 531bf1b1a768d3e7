"""Small versions of the figures on active learning: they run, go on where they were, and hold what they say."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fewsight.active import simulate
from fewsight.channels import make_channel
from fewsight.images.sample_set import write_sample_set
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier

ROOT = Path(__file__).parents[2]
FOUR = ("airplanes", "caltech4_cars_rear", "Faces", "Motorbikes")
SMALL4 = ("--channels", "colour", "--seeds", "0,9", "--labels", "12", "--block", "2", "--n-jobs", "1")
SMALL101 = ("--channel", "colour", "--seeds", "0,1", "--queries", "5", "--test-per-class", "3", "--n-jobs", "1")


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The folders of the sample set."""
    folder = tmp_path_factory.mktemp("sample")
    write_sample_set(folder)
    return sorted(path for path in folder.iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def four(sample, tmp_path_factory):
    """Four categories of the sample set under the names of Caltech-4."""
    return linked(tmp_path_factory.mktemp("four"), dict(zip(FOUR, sample, strict=False)))


@pytest.fixture(scope="module")
def several(sample, tmp_path_factory):
    """Four categories and, as background, a fifth."""
    names = [*(folder.name for folder in sample[:4]), "BACKGROUND_Google"]
    return linked(tmp_path_factory.mktemp("several"), dict(zip(names, sample, strict=False)))


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """What is computed is shared by the tests, as by the figures."""
    return tmp_path_factory.mktemp("work")


@pytest.fixture
def run(work, tmp_path, monkeypatch):
    """Runs a command here and returns the results it writes."""
    monkeypatch.syspath_prepend(str(ROOT))

    def command(name, data, *more, figure=True):
        module = importlib.import_module(f"experiments.kapoor2010.{name}")
        shared = importlib.import_module("experiments.common.command")
        outputs = ["--json", str(tmp_path / "out.json")]
        outputs += ["--figure", str(tmp_path / "out.png")] if figure else []
        module.work(shared.read(module.parser(), [str(data), "--work", str(work), *more, *outputs]))
        if figure:
            assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
        return json.loads((tmp_path / "out.json").read_text())

    return command


def linked(folder, sources):
    for name, source in sources.items():
        (folder / name).symlink_to(source)
    return folder


def files_and_times(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_figure_10_has_every_rule_from_one_label_per_category_on_and_a_second_run_computes_nothing(run, four, work):
    found = run("fig10", four, *SMALL4)
    rows = {(r["learner"], r["rule"], r["mode"], r["noise"], r["labels"]): r for r in found["records"]}
    assert {key[:2] for key in rows} == {
        *(("gp", rule) for rule in ("uncertainty", "margin", "variance", "random")),
        *(("svm", rule) for rule in ("margin", "random")),
    }
    assert {key[4] for key in rows} == {4, 8, 12}
    assert all(len(row["values"]) == 2 and row["standard_error"] >= 0 for row in rows.values())
    first = [tuple(row["values"]) for key, row in rows.items() if key[0] == "gp" and key[3:] == ("paper", 4)]
    assert len(set(first)) == 1  # all rules start with the same labels
    before = files_and_times(work)
    assert run("fig10", four, *SMALL4)["records"] == found["records"]
    assert files_and_times(work) == before


def test_figure_10_compares_rules_run_by_run(run, four):
    found = run("fig10", four, *SMALL4, "--shown-only")
    values = {(r["rule"], r["labels"]): r["values"] for r in found["records"] if r["learner"] == "gp"}
    row = next(r for r in found["comparisons"] if r["labels"] == 12 and r["theirs"].startswith("gp random"))
    np.testing.assert_allclose(row["values"], np.subtract(values["uncertainty", 12], values["random", 12]), atol=2e-6)
    assert row["standard_error_over_draws"] >= 0
    assert all(row["reported"] for row in found["paper"])


def test_table_4_counts_every_test_image_once_and_agrees_with_figure_10(run, four):
    curves = run("fig10", four, *SMALL4, "--shown-only")["records"]
    table = run("table4", four, *SMALL4, figure=False)
    at_end = next(r for r in curves if (r["learner"], r["rule"], r["labels"]) == ("gp", "uncertainty", 12))
    accuracy = next(r for r in table["records"] if r["metric"] == "accuracy")
    assert accuracy["values"] == at_end["values"]
    np.testing.assert_allclose(np.sum(table["confusion"]["colour"]["mean_counts"]), table["protocol"]["n_test"])
    shares = [r["mean"] for r in table["records"] if r["metric"] == "share" and r["true"] == "faces"]
    np.testing.assert_allclose(sum(shares), 1)


@pytest.mark.parametrize("cars", ["blocks", "twins"])
def test_pool_and_test_images_share_nothing_and_tear_no_group_of_cars(four, work, monkeypatch, cars):
    monkeypatch.syspath_prepend(str(ROOT))
    module = importlib.import_module("experiments.common.caltech4")
    store = module.Caltech4(module.caltech4(four), make_channel("colour"), work, block=3, cars=cars)
    for number in range(4):
        pool, test = store.split(number)
        assert np.array_equal(np.sort(np.concatenate([pool, test])), np.arange(len(store.images.images)))
        for unit in store._units("cars_rear", np.flatnonzero(np.array(store.images.labels) == "cars_rear")):
            assert np.isin(unit, pool).all() or np.isin(unit, test).all()


def test_images_that_differ_by_a_little_noise_are_twins_and_others_are_not(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    twins = importlib.import_module("experiments.common.twins")
    from fewsight.images import as_image

    rng = np.random.default_rng(0)
    scenes = rng.random((3, 40, 60, 3)).repeat(4, axis=1).repeat(4, axis=2)
    frames = [np.clip(scene + 0.01 * rng.normal(size=scene.shape), 0, 1) for scene in scenes for _ in range(2)]
    found = twins.twin_sets([as_image(frame) for frame in frames], np.arange(6))
    assert sorted(sorted(group.tolist()) for group in found) == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize("rule", ["uncertainty", "random"])
def test_the_bare_steps_of_detection_equal_a_simulation(rule, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    detection = importlib.import_module("experiments.kapoor2010.detection")
    X, digits = load_digits(return_X_y=True)
    K, own, test = RBF(scale=30.0).gram(X[:400]).astype(np.float32), digits[:400] == 3, np.arange(300, 400)
    learner = GPClassifier("precomputed", noise_variance=1e-5, calibrated=False, balanced=False)
    for seed in (4, 5):
        records = simulate(learner, K, own.astype(int), rule, 20, start=1, test=test, seeds=[seed])
        found = detection.detection_curve(K, own, test, rule, 20, 1e-5, seed)
        np.testing.assert_allclose(found, [record["accuracy"] for record in records])


def test_figures_8_and_9_share_their_runs(run, several, work):
    found = run("fig8", several, *SMALL101)
    classes = found["protocol"]["classes"]
    assert len(classes) == 4
    assert "BACKGROUND_Google" not in classes
    rows = {(r["category"], r["rule"], r["metric"]): r for r in found["records"]}
    for category in classes:
        active, chance = (np.array(rows[category, rule, "accuracy"]["values"]) for rule in ("uncertainty", "random"))
        np.testing.assert_allclose(rows[category, "uncertainty", "gain"]["values"], active - chance, atol=2e-6)
    assert found["overview"]["positive"] == sum(rows[c, "uncertainty", "gain"]["mean"] > 0 for c in classes)
    assert {r["labels"] for r in found["records"]} == {7}
    before = files_and_times(work)
    curves = run("fig9", several, *SMALL101, "--shown", ",".join(classes[:2]))
    assert files_and_times(work) == before
    assert {r["labels"] for r in curves["records"]} == set(range(2, 8))
    assert {r["category"] for r in curves["records"]} == set(classes[:2])


def test_the_active_benchmark_asks_the_same_question_as_learning_anew(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    bench = importlib.import_module("bench_active")
    monkeypatch.setitem(sys.modules, "skactiveml.classifier", None)  # the peer is missing
    K, classes = bench.problem(200)
    assert [row["peer"] for row in bench.bench_anew(K, classes, 40, 2)] == [
        "conditioning and scoring anew",
        "GPClassifier.fit and scoring anew",
    ]
    assert bench.bench_peer(K, classes, 40, 1) is None
