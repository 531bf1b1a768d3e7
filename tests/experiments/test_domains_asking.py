"""The bench of asking on made-up vectors: who needs how many labels, and whether intervals and advice are counted right."""

import argparse
import json

import numpy as np
import pytest
from experiments.domains import asking
from experiments.domains.vectors import LabelledVectors


@pytest.fixture
def known(monkeypatch):
    """Four categories of 60 vectors; three labels of each are the target."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(asking, "PER_CATEGORY", 5)
    labels = np.repeat(list("abcd"), 60)
    vectors = np.repeat(rng.random((4, 20)), 60, axis=0) + 0.6 * rng.random((240, 20))
    return LabelledVectors(vectors.astype(np.float32), labels)


def test_pool_and_test_images_are_apart_and_each_category_starts_with_one_label(known):
    pool = asking.draw("neu_steel", known, 3)
    assert pool.codes[pool.start].tolist() == [0, 1, 2, 3]
    assert pool.budget == 20
    assert ((pool.rows[:, None] - pool.test[None]) ** 2).sum(axis=2).min() > 1e-9


@pytest.mark.parametrize("way", asking.WAYS)
def test_every_way_of_asking_spends_all_labels_and_learns(known, way):
    pool = asking.draw("neu_steel", known, 3)
    curve, said = asking.WAYS[way](pool, 3)
    assert list(curve) == [5, 10, 15, 20]
    assert curve[20] > 0.6
    assert [row["n"] for row in said] == ([20] if way == "fewsight" else [])


def test_labels_needed_are_those_of_the_mean_curve():
    curves = [{5: 0.2, 10: 0.8, 15: 0.9}, {5: 0.4, 10: 0.6, 15: 0.9}]
    assert asking.needed(curves, 0.7) == 10
    assert asking.needed(curves, 0.95) is None


def test_coverage_and_the_gain_after_advice_are_counted_run_by_run():
    said = [
        {"n": 20, "low": 0.5, "high": 0.7, "truth": 0.6, "stop": 0.0},
        {"n": 40, "low": 0.5, "high": 0.7, "truth": 0.8, "stop": 1.0},
    ]
    found = asking._trust([({20: 0.5, 40: 0.6, 60: 0.65}, said)])
    assert found["covered"] == 0.5
    assert found["covered_by_look"] == {"20": 1.0, "40": 0.0}
    assert found["width"] == pytest.approx(0.2)
    assert found["gains_after_advice"] == [pytest.approx(0.05)]


@pytest.mark.parametrize(
    ("results", "beside"),
    [("asking.json", "stopping.json"), ("asking_few.json", "stopping_few.json"), ("few.json", "stopping_few.json")],
)
def test_intervals_and_advice_are_written_beside_the_curves(results, beside):
    assert asking.stopping_name(results) == beside


def test_runs_are_kept_and_summed_up(known, tmp_path):
    options = argparse.Namespace(sets=["neu_steel"], seeds=[1, 2], data=tmp_path, work=tmp_path)
    (tmp_path / "vectors").mkdir()
    np.savez(tmp_path / "vectors" / "neu_steel.npz", vectors=known.vectors, labels=known.labels)
    found = asking.fill(options)
    rows, wanted, trusted = asking.summary(found, ["neu_steel"], [1, 2])
    assert {row["learner"] for row in wanted} == set(asking.WAYS)
    assert {"set", "learner", "per_class"} <= set(rows[0]) & set(trusted[0])
    kept = json.loads((tmp_path / "asking" / "fewsight" / "neu_steel-1.json").read_text())
    assert {int(n): value for n, value in kept[0].items()} == found["neu_steel", "fewsight", 1][0]
