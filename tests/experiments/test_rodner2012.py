"""The experiments on many histograms: bounds hold and weights find what matters on tiny data, and results say how they came
about."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from experiments.rodner2012 import kernels, ranking, relevance, variance
from experiments.rodner2012.bound import BOUNDS, SETTINGS, measure
from experiments.rodner2012.results import kept, paired
from experiments.rodner2012.words import Bags

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "experiments/results/rodner2012"
NAMES = ("bound", "kernels", "ranking", "relevance", "scaling", "solvers", "variance")


def tiny_bags():
    """Three categories, 12 words, 8 examples of each to learn from and 4 to test on."""
    rng = np.random.default_rng(0)
    shapes = rng.gamma(1.0, size=(3, 12)) + 0.3
    train, test = (np.concatenate([rng.dirichlet(shape, n) for shape in shapes]) for n in (8, 4))
    labels, test_labels = (np.repeat(["ant", "bee", "cat"], n) for n in (8, 4))
    return Bags(scipy.sparse.csr_array(train), scipy.sparse.csr_array(test), labels, test_labels)


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_bound_lies_above_the_likelihood_and_the_tightest_is_below_the_others(setting):
    store = SimpleNamespace(load=lambda place: tiny_bags())
    for power in (0.5, 1.0, 1.5):
        found = measure(store, None, power, setting)
        bounds = {name: found[f"bound_{name}"] for name in BOUNDS}
        assert min(bounds.values()) >= found["true"] - 1e-6
        assert bounds["tightest"] == min(bounds["with_rest"], bounds["deflated"])
        assert bounds["with_rest"] <= bounds["paper"] + 1e-9
        assert found["accuracy"] > 0.5


def test_weights_are_learned_for_the_dimensions_that_tell_the_classes_apart():
    runs = [relevance.small_run("independent", 20, seed) for seed in (100, 101)]
    weights = np.mean([run["weights"] for run in runs], axis=0)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[:2].min() > weights[2:].max()


def test_relevance_writes_its_results_and_figure_and_goes_on_from_the_work_folder(tmp_path, monkeypatch):
    options = SimpleNamespace(
        work=tmp_path / "work", json=tmp_path / "found.json", figure=tmp_path / "found.png", command="relevance"
    )
    options.seeds, options.per_class, options.large_seeds, options.others, options.words = (0, 1), (5,), (), 1, 40
    options.kinds, options.other_runs, options.all_seeds = ("independent",), 0, ()
    options.less_seeds = ()
    relevance.work(options)
    first = json.loads(options.json.read_text())
    assert first["protocol"]["seeds"] == [0, 1]
    assert {record["kernel"]: len(record["values"]) for record in first["records"]} == {"plain": 2, "weighted": 2}
    assert options.figure.stat().st_size > 1_000
    monkeypatch.setattr(relevance, "small_run", lambda *_: pytest.fail("computed again"))
    relevance.work(options)
    assert json.loads(options.json.read_text()) == first


def tiny_split(n_others, n_words, seed, made=ranking.one_against_many):
    return made(n_others=n_others, n_positives=40, n_test=1, n_categories=60, n_words=n_words, seed=seed)


def outputs(tmp_path, **more):
    places = {"work": tmp_path / "work", "json": tmp_path / "found.json", "figure": tmp_path / "found.png"}
    return SimpleNamespace(**places, command="a command", words=60, seeds=(0, 1), **more)


def test_ranking_compares_ours_with_machines_whose_costs_are_chosen_on_training_images(tmp_path, monkeypatch):
    monkeypatch.setattr(ranking, "one_against_many", tiny_split)
    options = outputs(tmp_path, others=1, ways=("default", "balanced"))
    ranking.work(options)
    found = json.loads(options.json.read_text())
    areas = {record["way"]: record["values"] for record in found["records"] if record["metric"] == "auc"}
    assert set(areas) == {"default", "balanced", *ranking.PEERS}
    assert all(len(values) == 2 and 0.4 < np.mean(values) <= 1 for values in areas.values())
    assert found["default_minus"]["svc_c"]["mean"] == pytest.approx(np.mean(areas["default"]) - np.mean(areas["svc_c"]))
    costs = [record for record in found["records"] if record["metric"] == "cost" and record["way"] == "linear_c"]
    assert set(costs[0]["values"]) <= set(ranking.COSTS["linear"])
    assert options.figure.stat().st_size > 1_000
    monkeypatch.setattr(ranking, "of_peers", lambda *_: pytest.fail("computed again"))
    ranking.work(options)
    assert json.loads(options.json.read_text()) == found


def test_variances_are_compared_on_images_that_were_not_learned_from(tmp_path, monkeypatch):
    monkeypatch.setattr(variance, "one_against_many", tiny_split)
    options = outputs(tmp_path, made_up=("1,099",), bags=False)
    options.places = [SimpleNamespace(seed=seed, per_class=15) for seed in options.seeds]
    variance.work(options)
    found = {record["metric"]: record["values"] for record in json.loads(options.json.read_text())["records"]}
    assert min(found["spearman"]) > 0.5
    assert max(found["share_above_bound"]) == 0.0
    assert "exact" not in found  # what is drawn is not written
    assert options.figure.stat().st_size > 1_000


def test_kernels_are_measured_with_every_way_to_learn_their_parameter(tmp_path):
    store = SimpleNamespace(load=lambda place: tiny_bags())
    for way in kernels.WAYS:
        found = kernels.measure(store, SimpleNamespace(seed=0), way)
        assert found["accuracy"] > 0.4
        assert ("parameter" in found) == ("plain" not in way)


def test_a_cell_is_computed_once_for_the_same_settings(tmp_path):
    assert kept(tmp_path, "part", {"seed": 0}, lambda: {"value": 1.5}) == {"value": 1.5}
    assert kept(tmp_path, "part", {"seed": 0}, lambda: pytest.fail("computed again")) == {"value": 1.5}
    assert kept(tmp_path, "part", {"seed": 1}, lambda: {"value": 2.5}) == {"value": 2.5}


def test_a_single_run_has_a_difference_and_no_p_value():
    assert paired([0.5], [0.25]) == {"mean": 0.25, "standard_error": 0.0, "p": None, "n": 1}


@pytest.mark.parametrize("name", NAMES)
def test_results_say_how_they_came_about(name):
    found = json.loads((RESULTS / f"{name}.json").read_text())
    assert found["protocol"]["command"].startswith(f"python -m experiments.rodner2012.{name} ")
    assert found["protocol"]["command"] in (ROOT / "docs/reproduction.md").read_text()
    assert found["protocol"]["seeds"]
    for record in found["records"]:
        assert record["mean"] == pytest.approx(np.mean(record["values"]))
    assert f"images/rodner2012_{name}.png" in (ROOT / "docs/reproduction.md").read_text()
