"""The experiments on transfer: their splits keep learning and testing apart, and a small version finds what the whole finds."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from experiments.rodner2010.adapted_svm import adapted
from experiments.rodner2010.grams import BACKGROUND, NAMED, targets_of
from experiments.rodner2010.tasks import Sizes, draw

from fewsight.channels import Phog
from fewsight.evaluation import Protocol, evaluate_borrowing
from fewsight.images import FeatureCache, image_set_from_class_folders
from fewsight.kernels import RBF

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
LABELS = np.repeat([BACKGROUND, "gerenuk", "llama", "watch"], [60, 30, 30, 30]).astype(object)
SMALL = Sizes(support=10, background=20, most=5)
RESULTS = ROOT / "experiments/results/rodner2010"


def test_no_image_is_learned_from_and_tested_on():
    fitted = np.flatnonzero(LABELS == "gerenuk")[:8]
    for seed in range(5):
        split = draw(LABELS, "gerenuk", seed, SMALL, fitted)
        learned = np.concatenate([split.examples, split.background, *split.supports.values(), fitted])
        assert not np.isin(split.test, learned).any()
        assert set(LABELS[split.test[split.positive]]) == {"gerenuk"}
        assert set(LABELS[split.test[~split.positive]]) == {BACKGROUND}
        assert sorted(split.supports) == ["llama", "watch"]
        assert [len(rows) for rows in split.supports.values()] == [10, 10]


def test_the_targets_are_those_named_and_every_fourth_of_the_others():
    classes = [*NAMED, BACKGROUND, *(f"other{i:02}" for i in range(8))]
    assert targets_of(classes) == sorted([*NAMED, "other00", "other04"])


def test_left_out_predictions_of_the_adapted_machine_equal_learning_without_the_example():
    X = RNG.normal(size=(15, 3))
    K, y, prior = RBF(scale=1.0).gram(X), np.where(np.arange(15) < 4, 1.0, -1.0), RNG.normal(size=15)
    inside = adapted(K, y, prior)
    n, cost_ridge = 15, None
    for cost in (0.1, 1.0, 10.0, 100.0):
        ridge = 1.0 / (cost * n * np.where(y > 0, 0.5 / 4, 0.5 / 11))
        system = np.block([[K + np.diag(ridge), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
        solved = np.linalg.solve(system, np.append(y - inside.beta * prior, 0.0))
        if np.allclose(solved[:-1], inside.own.coefficients):
            cost_ridge = ridge, system, solved
    assert cost_ridge is not None
    ridge, system, solved = cost_ridge
    shown = y - solved[:-1] / np.linalg.inv(system).diagonal()[:-1]
    for i in range(n):
        kept = np.delete(np.arange(n + 1), i)
        without = np.linalg.solve(system[np.ix_(kept, kept)], np.append(y - inside.beta * prior, 0.0)[kept])
        rest = np.delete(np.arange(n), i)
        value = K[i, rest] @ without[:-1] + without[-1] + inside.beta * prior[i]
        assert shown[i] == pytest.approx(value, abs=1e-9)


def test_the_default_criterion_is_the_best_or_within_a_standard_error():
    content = json.loads((RESULTS / "fig4_criteria.json").read_text())
    found = {row["criterion"]: row for row in content["records"]}
    default, best = found[content["default"]], max(found.values(), key=lambda row: row["mean"])
    assert default["mean"] >= best["mean"] - best["standard_error"]


def test_what_the_result_files_say_of_one_example():
    content = json.loads((RESULTS / "fig3.json").read_text())
    one = next(found for found in content["transfer_minus_independent"] if found["per_class"] == 1)
    assert one["targets"] >= 25
    assert len(content["protocol"]["seeds"]) >= 20
    assert one["mean"] > 0
    assert one["p_paired_t_over_targets"] < 0.05
    means = content["mended"]["means"]
    assert means["transfer_wordnet_10"] > means["transfer"]
    for name in ("borrowing", "borrowing_12"):
        rows = json.loads((RESULTS / f"{name}.json").read_text())["records"]
        others = {row["method"]: row["mean"] for row in rows if row["metric"] == "accuracy_others"}
        assert others["borrowed"] > others["independent"] - 0.01


@pytest.mark.slow
def test_borrowing_costs_the_other_categories_less_than_a_point(caltech101, tmp_path):
    for name in ("gerenuk", "llama", "okapi", "schooner", "ketch", "watch", "chair", "cup"):
        (tmp_path / "images").mkdir(exist_ok=True)
        (tmp_path / "images" / name).symlink_to(caltech101 / name)
    images = image_set_from_class_folders(tmp_path / "images")
    protocol = Protocol(images_per_class=30, per_class=(1,), test_per_class=15, repeats=2)
    found = evaluate_borrowing(images, protocol, {"phog": Phog(cache=FeatureCache(tmp_path / "cache"))})
    before, after = (found.summary(1, method, "accuracy_others").mean for method in ("independent", "borrowed"))
    assert after > before - 0.01
    alone, helped = (found.summary(1, method, "accuracy_new").mean for method in ("independent", "borrowed"))
    assert helped >= alone


@pytest.mark.slow
def test_a_small_version_of_the_figures_runs(caltech101, tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for name in (*NAMED, "llama", "ketch", "schooner", BACKGROUND):
        (folder / name).symlink_to(caltech101 / name)
    for figure in ("fig3", "fig4_criteria"):
        outputs = ["--json", tmp_path / f"{figure}.json", "--figure", tmp_path / f"{figure}.png"]
        options = [
            "--work",
            tmp_path / "work",
            "--seeds",
            "100-101",
            "--sizes",
            "1",
            "--most-images",
            "40",
            "--n-jobs",
            "1",
        ]
        command = [sys.executable, "-m", f"experiments.rodner2010.{figure}", folder, *options, *outputs]
        subprocess.run(list(map(str, command)), cwd=ROOT, check=True, timeout=300)
        content = json.loads((tmp_path / f"{figure}.json").read_text())
        assert {"independent", "transfer"} <= {row["method"] for row in content["records"]}
        assert str(tmp_path) not in content["protocol"]["command"]
        assert (tmp_path / f"{figure}.png").stat().st_size > 1000
