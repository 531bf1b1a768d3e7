"""Real channels and learners on a few sample images: the parts fit together, and the figures repeat."""

import json
from dataclasses import replace

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.channels import make_channel
from fewsight.evaluation import METRICS, Protocol, evaluate, write_report
from fewsight.images import FeatureCache, sample_set
from fewsight.learners import LEARNERS

PLAIN = {name: kind for name, kind in LEARNERS.items() if kind.needs.takes_rows}  # those that take any channel
SAYING = {"gp", "histogram_gp", "sparse_gp"}  # the learners that say what is strange
PROTOCOL = Protocol(images_per_class=8, per_class=(2, 4), test_per_class=4, repeats=2, seed=3)


@pytest.fixture(scope="module")
def images():
    whole = sample_set()
    return whole.select(np.flatnonzero(np.isin(whole.labels, ["brick", "galaxies", "grass", "retina"])))


def measured(images, cache=None, n_jobs=None):
    channels = {
        "coarse": make_channel("spatial_pmk", n_words=16, n_levels=1, cache=cache),
        "fine": make_channel("spatial_pmk", n_words=24, n_levels=2, cache=cache),
    }
    return evaluate(images, PROTOCOL, channels, PLAIN, combine=("none", "average"), n_jobs=n_jobs)


@pytest.fixture(scope="module")
def evaluation(images, tmp_path_factory):
    return measured(images, FeatureCache(tmp_path_factory.mktemp("cache")))


def absent(learner):
    """Nothing was held out, and only some Gaussian processes say what is strange."""
    return {"unknown_auroc", "found_rate"} | (set() if learner in SAYING else {"false_alarm_rate"})


def test_every_learner_has_every_metric_with_every_channel(evaluation):
    together = [name for name, learner in PLAIN.items() if "average" in learner.ways]
    assert len(evaluation.groups) == 2 * (2 * len(PLAIN) + len(together))
    for setting, summaries in evaluation.summaries.items():
        assert tuple(summaries) == tuple(metric for metric in METRICS if metric not in absent(setting.learner))


def test_textures_are_told_apart_well_above_chance(evaluation):
    assert evaluation.summaries[evaluation.best]["accuracy"].mean > 0.6


@pytest.mark.slow
def test_neither_the_cache_nor_the_number_of_jobs_changes_an_answer(images, evaluation):
    again = measured(images, cache=None, n_jobs=2)
    for one, other in zip(evaluation.outcomes, again.outcomes, strict=True):
        np.testing.assert_array_equal(one.test, other.test)
        np.testing.assert_array_equal(one.predicted, other.predicted)
        np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-6)


def test_results_and_report_can_be_written(images, evaluation, tmp_path):
    evaluation.write_json(tmp_path / "results.json", command="fewsight evaluate sample")
    write_report(evaluation, images, tmp_path / "report.html", command="fewsight evaluate sample")
    expected = sum(len(METRICS) - len(absent(setting.learner)) for setting in evaluation.groups)
    assert len(json.loads((tmp_path / "results.json").read_text())["records"]) == expected
    page = (tmp_path / "report.html").read_text()
    assert "</html>" in page
    assert "The strangest test images" in page


def test_held_out_textures_are_recorded_for_the_gaussian_process_and_shown(images, tmp_path):
    channel = make_channel("spatial_pmk", n_words=16, n_levels=1)
    protocol = replace(PROTOCOL, hold_out=2)
    evaluation = evaluate(images, protocol, {"coarse": channel}, PLAIN)
    saying = {setting.learner for setting, found in evaluation.summaries.items() if "unknown_auroc" in found}
    assert saying == SAYING
    write_report(evaluation, images, tmp_path / "report.html")
    assert "What it has never seen" in (tmp_path / "report.html").read_text()


def test_the_histogram_learner_stands_beside_the_dense_one_on_the_same_splits(images):
    small = {"n_levels": 1, "longest_side": 80, "scales": (1.0,)}
    channels = {
        "coarse": make_channel("spatial_pmk", n_words=16, **small),
        "fine": make_channel("spatial_pmk", n_words=24, **small),
    }
    protocol = Protocol(images_per_class=8, per_class=(4,), test_per_class=4, repeats=1, seed=3)
    learners = {name: LEARNERS[name]() for name in ("gp", "histogram_gp")}
    found = evaluate(images, protocol, channels, learners, combine=("none", "average"))
    by_setting = {(o.setting.channels, o.setting.learner): o for o in found.outcomes}
    assert {learner for _, learner in by_setting} == {"gp", "histogram_gp"}
    assert len(by_setting) == 6
    for (names, learner), outcome in by_setting.items():
        dense = by_setting[names, "gp"]
        np.testing.assert_array_equal(outcome.test, dense.test)
        assert set(METRICS) - set(outcome.metrics) == {"unknown_auroc", "found_rate"}
        np.testing.assert_allclose(outcome.probabilities.sum(axis=1), 1, atol=1e-5)
        assert outcome.metrics["accuracy"] > 0.5, learner  # four categories: guessing is right in 0.25


def test_the_histogram_learner_refuses_channels_that_compare_otherwise(images):
    with pytest.raises(
        InvalidInput, match=r"histogram_gp needs channels that compare by histogram intersection, got phog\."
    ):
        evaluate(images, PROTOCOL, {"phog": make_channel("phog")}, {"histogram_gp": LEARNERS["histogram_gp"]()})
