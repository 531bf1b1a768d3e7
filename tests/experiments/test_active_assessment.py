"""Small versions of the experiments on judging: they run on every pool, go on where they were, and say what they found."""

import argparse
import importlib
import json
from pathlib import Path

import pytest

from fewsight.images.sample_set import write_sample_set

ROOT = Path(__file__).parents[2]
FOUR = ("airplanes", "caltech4_cars_rear", "Faces", "Motorbikes")
SMALL = {
    "audit": {"MARKS": (10, 20), "SIZE": 60},
    "stopping": {"MOST": 40},
    "rare": {},
    "exploring": {"MARKS": (12, 20), "SIZE": 90},
    "wrong_labels": {"MARKS": (40,)},
    "lag": {"POOLS": 2, "SIZE": 120, "LABELS": 25, "MOST": 40, "WINDOW": 3},
}
NONE = {"N_INSIDE": 4, "N_OUTSIDE": 2, "N_NEVER": 2, "SIZES": (6,), "TEST": 6}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Categories of the sample set under the names of Caltech-4, and four of them as Caltech-101 with a background."""
    sample, folder = tmp_path_factory.mktemp("sample"), tmp_path_factory.mktemp("data")
    write_sample_set(sample)
    sources = sorted(path for path in sample.iterdir() if path.is_dir())
    (folder / "caltech101").mkdir()
    for name, source in zip(FOUR, sources, strict=False):
        (folder / name).symlink_to(source)
    for name, source in zip(("cup", "dollar_bill", "Faces", "Motorbikes", "airplanes"), sources, strict=False):
        (folder / "caltech101" / name).symlink_to(source)
    (folder / "caltech101" / "BACKGROUND_Google").symlink_to(sources[5])
    return folder


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


@pytest.fixture
def run(data, work, tmp_path, monkeypatch):
    """Runs a small version of a command and returns what it writes."""
    monkeypatch.syspath_prepend(str(ROOT))

    def command(name, *more):
        module = importlib.import_module(f"experiments.active.{name}")
        shared = importlib.import_module("experiments.common.command")
        for constant, value in {**SMALL, "none_of_these": NONE}[name].items():
            monkeypatch.setattr(module, constant, value)
        words = [str(data), "--work", str(work), "--channel", "colour", "--n-jobs", "1", "--seeds", "0,1", *more]
        module.work(shared.read(module.parser(), [*words, "--json", str(tmp_path / "out.json")]))
        return json.loads((tmp_path / "out.json").read_text())

    return command


@pytest.mark.parametrize("name", list(SMALL))
def test_an_experiment_writes_its_records_and_a_second_run_computes_nothing(run, work, name):
    found = run(name, "--pools", "digits")
    assert found["protocol"]["seeds"] == [0, 1]
    assert found["protocol"]["command"].startswith(f"python -m experiments.active.{name} DATA --work WORK")
    assert all(row["data"] == "digits" and row["standard_error"] >= 0 for row in found["records"])
    before = {path: path.stat().st_mtime_ns for path in work.rglob("*.json")}
    assert run(name, "--pools", "digits")["records"] == found["records"]
    assert {path: path.stat().st_mtime_ns for path in work.rglob("*.json")} == before


@pytest.mark.parametrize("pool", ["caltech4", "caltech101"])
def test_images_are_a_pool_as_well(run, pool):
    rows = {(row["metric"], row["labels"]): row for row in run("audit", "--pools", pool)["records"]}
    assert {key for key in rows if key[0] == "coverage"} == {("coverage", 10), ("coverage", 20)}
    assert rows["coverage", 20]["channels"] == "colour"
    assert 0 <= rows["truth", 20]["mean"] <= 1


def test_the_hard_images_are_compared_by_a_network_as_well(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    pools = importlib.import_module("experiments.active.pools")
    asked = []

    def remembered(name, **options):
        asked.append(name)
        raise StopIteration

    monkeypatch.setattr(pools, "make_channel", remembered)
    for name in ("caltech101", "caltech101_pretrained"):
        with pytest.raises(StopIteration):
            pools.source(name, argparse.Namespace(channel="dense_pmk", n_jobs=1))
    assert asked == ["dense_pmk", "pretrained"]


def test_answers_of_none_are_compared_with_silence(run, work):
    import numpy as np

    rng = np.random.default_rng(0)
    labels = np.repeat([f"category {n}" for n in range(8)], 14)
    vectors = np.abs(rng.normal(size=(112, 20))) + 3.0 * np.repeat(np.eye(8, 20), 14, axis=0)
    (work / "vectors").mkdir(exist_ok=True)
    np.savez(work / "vectors" / "caltech101.npz", vectors=vectors.astype(np.float32), labels=labels)
    rows = {(row["metric"], row.get("way")): row for row in run("none_of_these")["records"]}
    gained = rows["either_outside", "said"]["mean"] - rows["either_outside", "unsaid"]["mean"]
    assert rows["either_outside_gained", None]["mean"] == pytest.approx(gained)
    assert rows["accuracy", "said"]["mean"] > 0.8


def _curve(behind):
    """Labels and accuracies that are some labels behind."""
    return [[labels, min(1.0, (labels - behind) / 100)] for labels in range(10, 61)]


def test_labels_needed_are_those_at_which_the_averaged_curve_reaches_the_target(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    lag, pools = (importlib.import_module(f"experiments.active.{name}") for name in ("lag", "pools"))
    monkeypatch.setattr(lag, "LABELS", 30)
    rows = lag.describe(pools.VectorSource("v", None), [{str(lag): _curve(lag) for lag in lag.LAGS}] * 2)
    found = {(row["metric"], row["lag"]): row["mean"] for row in rows}
    assert found["labels_needed", 0] == 30
    assert (found["labels_more", 1], found["labels_more", 3]) == (1, 3)
    assert found["share_more", 3] == pytest.approx(3 / 30)


def test_a_rare_category_is_one_in_a_hundred(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    import numpy as np

    pools, rare = (importlib.import_module(f"experiments.active.{name}") for name in ("pools", "rare"))
    whole, _ = pools._digits()
    thin = rare.thinned(whole, 3, np.random.default_rng(0))
    assert np.mean(thin.truth == 3) == pytest.approx(0.01, abs=0.001)
    assert set(np.unique(thin.truth)) == set(range(10))
