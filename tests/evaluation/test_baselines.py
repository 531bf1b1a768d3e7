"""fewsight against what people fit to the same features: fair to all, in figures, in words and on the page."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import ActiveLearner, simulate
from fewsight.channels import Colour, SpatialPmk
from fewsight.evaluation import Arm, Comparison, Protocol, compare_baselines, comparison_figure, comparison_in_words
from fewsight.evaluation.baselines import _Field
from fewsight.evaluation.report import render_report
from fewsight.images import FeatureCache, sample_set
from fewsight.kernels import RBF, Linear
from fewsight.learners import GPClassifier, LogisticClassifier

LABELS = (4, 8, 12, 16)
ASKED, RANDOM, LOGISTIC, NEAREST = (
    Arm("gp", "influence"),
    Arm("gp", "random"),
    Arm("logistic", "random"),
    Arm("nn", "random"),
)
SECTION = "Compared with other methods on the same features"
PROTOCOL = Protocol(images_per_class=12, per_class=(1, 3), test_per_class=4, repeats=2, seed=100, hold_out=1)


def made(asked, logistic=(0.5, 0.6, 0.7, 0.8), repeats=3, metrics=("accuracy", "log_loss", "calibration_error")):
    """Curves given by hand."""
    values = {ASKED: asked, RANDOM: (0.5, 0.55, 0.6, 0.7), LOGISTIC: logistic, NEAREST: (0.4, 0.5, 0.6, 0.65)}
    curves = {arm: {metric: np.tile(each, (repeats, 1)) for metric in metrics} for arm, each in values.items()}
    return Comparison(LABELS, curves, "colour", "none", n_pool=40, n_tested=20, n_held_out=0)


@pytest.fixture(scope="module")
def tiles():
    """Four categories of the sample set, twelve tiles of each."""
    images = sample_set()
    chosen = [np.flatnonzero(images.labels == name)[:12] for name in images.classes[:4]]
    return images.select(np.concatenate(chosen).tolist())


@pytest.fixture(scope="module")
def found(tiles):
    return compare_baselines(tiles, PROTOCOL, {"colour": Colour()})


def test_all_arms_are_measured_at_the_same_labels_by_every_metric(found):
    assert list(found.curves) == [ASKED, RANDOM, *(Arm(name, "random") for name in ("logistic", "nn", "mean", "svm"))]
    assert found.labels == (3, 6, 9)
    assert found.metrics == ["accuracy", "log_loss", "calibration_error", "unknown_auroc"]
    assert all(values.shape == (2, 3) for by in found.curves.values() for values in by.values())
    assert (found.n_pool, found.n_tested, found.n_held_out) == (24, 12, 1)


def test_with_the_first_labels_alone_asking_makes_no_difference(found):
    for metric in found.metrics:
        np.testing.assert_array_equal(found.curves[ASKED][metric][:, 0], found.curves[RANDOM][metric][:, 0])


def test_records_name_the_learner_the_rule_and_the_labels(found):
    records = found.records()
    assert len(records) == 6 * 4 * 3
    assert {(record["learner"], record["rule"], record["combine"]) for record in records} >= {
        ("gp", "influence", "none"),
        ("logistic", "random", "none"),
    }
    assert json.dumps(records)


def test_no_test_image_is_ever_labelled_and_all_random_arms_get_the_same_ones(tiles, monkeypatch):
    seen = []
    measure = _Field._measure

    def watched(self, learner, way, labelled):
        assert labelled.max() < self.n_pool
        assert len(set(labelled)) == len(labelled)
        seen.append((type(learner).__name__, labelled.tolist()))
        return measure(self, learner, way, labelled)

    monkeypatch.setattr(_Field, "_measure", watched)
    compare_baselines(tiles, PROTOCOL, {"colour": Colour()}, baselines=["nn", "mean"], labels=[3, 8])
    first = seen[: len(seen) // 2]
    by_learner = {name: [labels for who, labels in first if who == name] for name, _ in first}
    assert (
        by_learner["NearestNeighbourClassifier"]
        == by_learner["NearestMeanClassifier"]
        == by_learner["GPClassifier"][2:]
    )


def test_baselines_see_vectors_as_they_are_and_histograms_through_their_kernel(tiles):
    vectors, histograms = RBF(scale=2.0), Colour().fit(tiles.images[:6]).kernel
    assert LogisticClassifier().usual_kernel(vectors) == Linear()
    assert GPClassifier().usual_kernel(vectors) == vectors
    assert LogisticClassifier().usual_kernel(histograms) == histograms


def test_a_learner_of_histograms_can_be_a_baseline(tiles):
    channels = {"spatial_pmk": SpatialPmk(n_words=16, n_levels=1, n_descriptors=500, longest_side=48)}
    found = compare_baselines(tiles, PROTOCOL, channels, baselines=["histogram_gp"], labels=[9])
    assert found.curves[Arm("histogram_gp", "random")]["accuracy"].shape == (PROTOCOL.repeats, 1)


def test_several_channels_are_weighed_by_fewsight_and_averaged_by_others(tiles):
    channels = {"colour": Colour(), "coarse": Colour(longest_side=32)}
    several = compare_baselines(tiles, PROTOCOL, channels, baselines=["nn"], labels=[9])
    ways = {(record["learner"], record["combine"]) for record in several.records()}
    assert ways == {("gp", "evidence"), ("nn", "average")}
    assert several.channels == "colour+coarse"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ((0.5, 0.8, 0.85, 0.9), "fewsight got there with 8 labels it asked for."),
        ((0.5, 0.6, 0.7, 0.8), "fewsight needed as many, though it chose them itself."),
        ((0.5, 0.9, 0.7, 0.7), "fewsight did not reach that with 16 labels it asked for."),
    ],
)
def test_the_words_say_who_needs_how_many_labels(asked, words):
    expected = (
        "The best of the others, logistic regression, is right in 80.0\u00a0% of test images after 16 random labels; "
    )
    assert comparison_in_words(made(asked)) == expected + words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "random"}, "a rule that asks and at least one baseline are needed, got random"),
        ({"baselines": ()}, "a rule that asks and at least one baseline are needed, got no baseline"),
        ({"baselines": ["forest"]}, "a baseline must be one of"),
        ({"labels": [2]}, "labels must be a whole number >= 3"),
        ({"labels": [99]}, "labels must be at most the images that may be labelled, 24, got 99"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_sentence(tiles, options, message):
    with pytest.raises(InvalidInput, match=f"^compare_baselines: {message}"):
        compare_baselines(tiles, PROTOCOL, {"colour": Colour()}, **options)


def test_the_report_has_the_section_only_where_it_was_compared(run, make_set):
    images = make_set(["ant", "bee"])
    assert SECTION not in render_report(run(images), images)
    text = render_report(run(images), images, comparison=made((0.5, 0.8, 0.85, 0.9)))
    section = text[text.index('<section id="comparison"') :].split("</section>")[0]
    words = " ".join(re.sub(r"<[^>]*>", " ", section).split())
    assert "fewsight got there with 8 labels it asked for." in words
    assert "one of each category, and saw the images through the same channel, colour" in words
    assert "fewsight, labels it asks for 90.0 ± 0.0" in words
    assert "#fe" not in section


def test_the_picture_can_be_written_with_its_legend(tmp_path):
    comparison_figure(made((0.5, 0.8, 0.85, 0.9))).savefig(tmp_path / "picture.svg")
    text = (tmp_path / "picture.svg").read_text()
    assert text.count("<path") > 20


def test_fewsight_asks_as_an_active_learner_does_by_default(tiles, monkeypatch):
    """Random checks and exploring cost questions; a figure without them would be of something that nobody uses."""
    import fewsight.evaluation.baselines as module

    seen = []

    def watched(*args, **options):
        seen.append(options)
        return simulate(*args, **options)

    monkeypatch.setattr(module, "simulate", watched)
    compare_baselines(tiles, replace(PROTOCOL, repeats=1), {"colour": Colour()}, baselines=["nn"])
    usual = ActiveLearner()
    assert seen[0]["explore"] is usual.explore is True
    assert seen[0]["audit_share"] == usual.audit_share > 0
    assert (seen[0]["batch_size"], seen[0]["relearn_every"]) == (usual.batch_size, usual.relearn_every)


def test_a_comparison_that_was_cut_off_goes_on_from_there(tiles, monkeypatch, tmp_path):
    cache = FeatureCache(tmp_path)

    def compare(**options):
        return compare_baselines(tiles, PROTOCOL, {"colour": Colour(cache=cache)}, **{"baselines": ["nn"], **options})

    curves, calls = _Field.curves, []

    def second_is_cut_off(self, arms, counts):
        calls.append(self.seed)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return curves(self, arms, counts)

    monkeypatch.setattr(_Field, "curves", second_is_cut_off)
    with pytest.raises(KeyboardInterrupt):
        compare()
    whole = compare()
    assert calls == [calls[0], calls[1], calls[1]]  # the first repeat was kept
    again = compare()
    assert len(calls) == 3
    other = compare(labels=(3, 6))  # another question is another answer
    assert len(calls) == 5
    fresh = compare_baselines(tiles, PROTOCOL, {"colour": Colour()}, baselines=["nn"])
    for arm, by in fresh.curves.items():
        for metric, values in by.items():
            np.testing.assert_array_equal(whole.curves[arm][metric], values)
            np.testing.assert_array_equal(again.curves[arm][metric], values)
            np.testing.assert_array_equal(other.curves[arm][metric][:, 0], values[:, 0])
