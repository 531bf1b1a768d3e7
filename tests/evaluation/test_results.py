"""The records: their shape, which others rely on, and their values worked out by hand."""

import json
import math

import pytest

from fewsight._base.errors import UnreadableImage
from fewsight.evaluation import METRICS, Protocol
from fewsight.evaluation.outcomes import NOVELTIES


def record(evaluation, learner, metric):
    (found,) = [r for r in evaluation.records() if (r["learner"], r["metric"]) == (learner, metric)]
    return found


def test_a_record_has_exactly_the_documented_keys(small_evaluation):
    for found in small_evaluation.records():
        assert list(found) == ["channels", "learner", "combine", "per_class", "metric", "mean", "std", "values"]
        assert len(found["values"]) == 2


def test_every_metric_is_recorded_and_none_that_needs_missing_probabilities(small_evaluation):
    by_learner = {
        name: [r["metric"] for r in small_evaluation.records() if r["learner"] == name] for name in ("near", "far")
    }
    assert by_learner["near"] == [m for m in METRICS if m not in NOVELTIES]
    assert by_learner["far"] == [m for m in METRICS if m == "accuracy" or m.startswith("seconds_")]


def test_accuracy_is_the_mean_over_repeats_with_the_sample_deviation(small_evaluation):
    found = record(small_evaluation, "near", "accuracy")
    assert found["values"] == [0.75, 1.0]
    assert found["mean"] == 0.875
    assert found["std"] == pytest.approx(0.125 * math.sqrt(2))


def test_held_out_classes_are_recorded_repeat_by_repeat(run, make_set, doubting):
    names = ["ant", "bee", "cat", "dog"]
    protocol = Protocol(per_class=(2,), test_per_class=2, repeats=3, hold_out=2)
    evaluation = run(make_set(names), protocol, learners={"doubt": doubting(), "doubt more": doubting(threshold=0.1)})
    written = evaluation.as_json()["protocol"]
    assert written["hold_out"] == 2
    assert written["classes"] == names
    assert [set(names) - set(held_out) for held_out in written["held_out"]] == doubting.taught[::2]
    assert all(len(record(evaluation, "doubt", metric)["values"]) == 3 for metric in NOVELTIES)


def test_seconds_are_recorded(small_evaluation):
    assert record(small_evaluation, "far", "seconds_features")["mean"] == 4.0


def test_one_repeat_has_no_deviation(run, make_set):
    evaluation = run(make_set(["ant", "bee"]), Protocol(per_class=(2,), repeats=1))
    assert {found["std"] for found in evaluation.records()} == {None}
    assert "±" not in evaluation.table()[1][4]


def test_the_file_holds_protocol_and_records_and_reads_back(small_evaluation, tmp_path):
    path = tmp_path / "results.json"
    small_evaluation.write_json(path, command="fewsight evaluate folder", commit="abc")
    content = json.loads(path.read_text(encoding="utf-8"))
    assert list(content) == ["protocol", "records"]
    assert content["records"] == small_evaluation.records()
    protocol = content["protocol"]
    assert protocol["command"] == "fewsight evaluate folder"
    assert protocol["commit"] == "abc"
    assert (protocol["seed"], protocol["repeats"], protocol["per_class"]) == (0, 2, [1])
    assert (protocol["images_per_class"], protocol["test_per_class"]) == (3, 2)
    assert (protocol["classes"], protocol["n_images"]) == (["a", "b"], 6)
    assert protocol["unreadable"] == [{"name": "a9", "reason": "it is broken"}]
    assert {"python", "numpy", "scipy", "scikit-learn"} <= set(protocol["versions"])
    assert protocol["fewsight"]
    assert list(tmp_path.iterdir()) == [path]


def test_names_that_are_not_utf8_make_a_valid_file_that_gives_them_back(run, make_set, tmp_path):
    hostile = 'caf\udce9 "\u2603'
    images = make_set([hostile, "bee"])
    images.unreadable.append(UnreadableImage("\udcff", "gone"))
    path = tmp_path / "results.json"
    run(images).write_json(path)
    protocol = json.loads(path.read_bytes().decode("utf-8"))["protocol"]
    assert set(protocol["classes"]) == {hostile, "bee"}
    assert protocol["unreadable"][0]["name"] == "\udcff"


def test_the_best_setting_has_the_most_examples_and_the_highest_accuracy(small_evaluation):
    assert small_evaluation.best.learner == "near"


def test_the_table_has_a_row_per_setting(small_evaluation):
    assert small_evaluation.table() == [
        ("channels", "learner", "combine", "per class", "accuracy", "log loss", "calibration error", "seconds"),
        ("colour", "near", "none", "1", "87.5 ± 17.7 %", "0.200", "0.150", "4.88"),
        ("colour", "far", "none", "1", "75.0 ± 0.0 %", "", "", "4.88"),
    ]
