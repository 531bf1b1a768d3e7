"""Every figure of the kernel combination runs on a part of the sample set, goes on where it was stopped, and says how."""

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from fewsight.channels import make_channel
from fewsight.images import image_set_from_class_folders
from fewsight.images.sample_set import write_sample_set

ROOT = Path(__file__).parents[2]
CHANNELS = ("colour", "texture")
SMALL = ("--seeds", "0,1", "--images-per-class", "7", "--test-per-class", "4", "--channels", ",".join(CHANNELS))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Six categories of the sample set, as a folder."""
    whole, part = (tmp_path_factory.mktemp(name) for name in ("sample", "six"))
    write_sample_set(whole)
    for folder in sorted(whole.iterdir())[:6]:
        (part / folder.name).symlink_to(folder)
    return part


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """What is computed is shared by the tests, as by the figures."""
    return tmp_path_factory.mktemp("work")


def command(module, data, work, *more):
    folder = "common" if module == "grams" else "kapoor2010"
    return [sys.executable, "-m", f"experiments.{folder}.{module}", str(data), "--work", str(work), *SMALL, *more]


@pytest.fixture
def run(data, work, tmp_path, monkeypatch):
    """Runs a figure here and returns the results it writes; a new process would spend its time on starting."""
    monkeypatch.syspath_prepend(str(ROOT))

    def figure(name, *more):
        module = importlib.import_module(f"experiments.kapoor2010.{name}")
        command = importlib.import_module("experiments.common.command")
        outputs = ("--json", str(tmp_path / "out.json"), "--figure", str(tmp_path / "out.png"))
        words = [str(data), "--work", str(work), *SMALL, *more, *outputs]
        module.work(command.read(module.parser(), words))
        assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
        return json.loads((tmp_path / "out.json").read_text())

    return figure


def means(found, metric, key="combine"):
    return {(row[key], row["per_class"]): row["mean"] for row in found["records"] if row["metric"] == metric}


def files_and_times(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_figure_4_compares_all_penalties_and_a_second_run_computes_nothing_again(run, work, capsys):
    found = run("fig4", "--sizes", "1,3")
    ways = {"average", "average_left_out", "evidence", "l1", "l2", "auto"}
    accuracy = means(found, "accuracy")
    assert set(accuracy) == {(way, size) for way in (*ways, "none") for size in (1, 3)}
    assert set(found["meaning"]) == {*ways, "none"}
    assert accuracy["auto", 3] > 0.5  # guessing is right in a sixth
    first, second = found["comparisons"]
    assert (
        first["auto_minus_average"]["mean"] == 0
    )  # one example per category: nothing can be left out, the average stays
    difference = np.subtract(*[
        next(row["values"] for row in found["records"] if (row["combine"], row["per_class"], row["metric"]) == key)
        for key in (("auto", 3, "accuracy"), (second["better_of_evidence_and_average"], 3, "accuracy"))
    ])  # fmt: skip
    np.testing.assert_allclose(second["auto_minus_better"]["values"], difference)
    assert "auto - unpenalised" in capsys.readouterr().out
    before = files_and_times(work)
    assert run("fig4", "--sizes", "1,3")["records"] == found["records"]
    assert files_and_times(work) == before


def test_another_setting_is_not_mistaken_for_one_that_is_there(run):
    weak, strong = (run("fig4", "--sizes", "3", "--l2", text) for text in ("1e-6", "1000"))
    assert weak["protocol"]["learners"]["gp l2"]["strength"] == 1e-6
    assert means(weak, "weight_colour")["l2", 3] != means(strong, "weight_colour")["l2", 3]


def test_a_file_says_how_it_was_made_and_names_no_folder_of_a_machine(run, data, work, tmp_path):
    found = run("fig7", "--sizes", "1,3")
    protocol = found["protocol"]
    assert protocol["command"].startswith("python -m experiments.kapoor2010.fig7 DATA --work WORK --seeds 0,1")
    assert protocol["seeds"] == [0, 1]
    assert set(protocol["channels"]) == set(CHANNELS)
    assert {"numpy", "scipy", "scikit-learn", "python"} <= set(protocol["versions"])
    text = (tmp_path / "out.json").read_text()
    assert not any(str(folder) in text for folder in (data, work, tmp_path, ROOT))


def test_figure_7_has_weights_that_add_up_to_one_and_are_alike_where_nothing_can_be_learned(run):
    found = run("fig7", "--sizes", "1,3")
    values = {
        (row["metric"], row["per_class"]): row["values"]
        for row in found["records"]
        if row["metric"].startswith("weight_")
    }
    assert set(values) == {(f"weight_{name}", size) for name in CHANNELS for size in (1, 3)}
    np.testing.assert_allclose(values["weight_colour", 1], 0.5)
    np.testing.assert_allclose(np.add(values["weight_colour", 3], values["weight_texture", 3]), 1.0)


def test_figure_5_tests_shared_weights_against_own_ones_and_runs_the_peer_on_some_splits(run):
    found = run("fig5", "--sizes", "3", "--peer-splits", "1")
    accuracy = {
        (row["learner"], row.get("scope")): row["values"] for row in found["records"] if row["metric"] == "accuracy"
    }
    assert {key: len(values) for key, values in accuracy.items()} == {
        ("gp", "global"): 2,
        ("gp", "classwise"): 2,
        ("simple_mkl", None): 1,
    }
    apart = np.subtract(accuracy["gp", "global"], accuracy["gp", "classwise"])
    assert found["global_minus_classwise"]["mean_difference"] == pytest.approx(apart.mean())
    assert found["beside_simple_mkl"]["peer_seconds"] > 0
    assert min(np.ravel(accuracy["simple_mkl", None])) > 0.4


def test_all_sizes_share_their_test_images_and_small_ones_are_part_of_large_ones(data, work, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from experiments.common.grams import GramStore, Place

    store = GramStore(image_set_from_class_folders(data), {}, work, 7, 4)
    small, large = store.split(Place(0, 1)), store.split(Place(0, 3))
    np.testing.assert_array_equal(small.test, large.test)
    assert set(small.train) < set(large.train)
    assert not set(large.train) & set(large.test)


def test_with_a_pool_small_sizes_are_parts_of_one_gram_matrix(data, work, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from experiments.common.grams import GramStore, Place

    images, channels = image_set_from_class_folders(data), {"phog": make_channel("phog")}
    pooled = GramStore(images, channels, work / "pooled", 7, 4, pool=3)
    pooled.make([Place(0, 1), Place(0, 3)])
    assert len(list((work / "pooled").rglob("*.npz"))) == 1
    small, large = pooled.load(Place(0, 1)), pooled.load(Place(0, 3))
    rows = [list(pooled.split(Place(0, 3)).train).index(i) for i in pooled.split(Place(0, 1)).train]
    np.testing.assert_array_equal(small.train["phog"], large.train["phog"][np.ix_(rows, rows)])
    np.testing.assert_array_equal(small.test["phog"], large.test["phog"][:, rows])
    np.testing.assert_array_equal(small.labels, large.labels[rows])


def test_a_damaged_file_of_gram_matrices_is_made_again(run, work):
    first = run("fig7", "--sizes", "3", "--seeds", "1")
    for path in (work / "grams").rglob("seed1_n3.npz"):
        path.write_bytes(path.read_bytes()[:1000])
    for path in (work / "cells").rglob("seed1_n3.json"):
        path.unlink()
    again = run("fig7", "--sizes", "3", "--seeds", "1")
    assert means(first, "accuracy") == means(again, "accuracy")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
def test_ctrl_c_leaves_nothing_half_written(data, tmp_path):
    words = [*command("grams", data, tmp_path / "work", "--sizes", "1,2,3"), "--seeds", "0-99"]
    process = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while not list((tmp_path / "work").rglob("*.npz")) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip() == "stopped; nothing half-written. The same command goes on from here."
    assert not list((tmp_path / "work").rglob(".writing-*"))
    for path in (tmp_path / "work").rglob("*.npz"):
        assert np.load(path)["train"].dtype == np.float32


@pytest.mark.slow
def test_what_cannot_be_done_is_said_in_one_line(data, work):
    words = command("fig7", data, work, "--sizes", "9", "--json", f"{work}/fig7.json")
    done = subprocess.run(words, cwd=ROOT, timeout=120, capture_output=True, text=True)
    assert done.returncode == 1
    assert "from 1 to 3" in done.stderr
    assert done.stderr.count("\n") == 1
