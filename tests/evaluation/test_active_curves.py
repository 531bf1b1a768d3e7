"""Whether asking pays: the comparison with random picks, its words, and its section of the report."""

import re

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import VectorPool
from fewsight.evaluation import ActiveCurves, asking_in_words, compare_asking
from fewsight.evaluation.report import render_report
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier

LABELS = (2, 3, 4, 5)
RISING = (0.50, 0.60, 0.70, 0.80)
LATER = (0.50, 0.50, 0.54, 0.70)  # on average 9 points below
SECTION = "Which image to label next"


def made(asked, random, spread=0.0, starts=4):
    """Curves given by hand; `spread` is how much the gain differs from start to start."""
    noise = spread * np.linspace(-1, 1, starts)[:, None]
    curves = [np.tile(values, (starts, 1)) for values in (asked, random)]
    return ActiveCurves("uncertainty", LABELS, curves[0] + noise, curves[1] - noise, n_pool=30, n_tested=10)


@pytest.fixture
def clouds():
    """Three clouds of points, and every third point to test on."""
    rng = np.random.default_rng(100)
    truth = np.repeat(["ant", "bee", "cat"], 20)
    X = rng.normal(size=(60, 2)) + 3 * np.eye(3, 2)[np.unique(truth, return_inverse=True)[1]]
    return X, truth, list(range(0, 60, 3))


def compare(clouds, **options):
    X, truth, test = clouds
    given = {"n_queries": 8, "seeds": range(100, 103)} | options
    return compare_asking(GPClassifier(RBF()), VectorPool(X, RBF()), truth, test, **given)


def test_both_curves_begin_with_the_same_labels_and_count_every_label(clouds):
    found = compare(clouds)
    assert found.labels == tuple(range(3, 12))
    assert found.asked.shape == found.random.shape == (3, 9)
    np.testing.assert_array_equal(found.asked[:, 0], found.random[:, 0])
    assert (found.n_pool, found.n_tested) == (40, 20)
    assert list(found.curves) == ["uncertainty", "random"]


def test_the_same_seeds_give_the_same_curves(clouds):
    np.testing.assert_array_equal(compare(clouds).asked, compare(clouds).asked)


@pytest.mark.parametrize(("options", "got"), [({"rule": "random"}, "random picks"), ({"seeds": ()}, "no seed")])
def test_without_anything_to_compare_it_is_refused(clouds, options, got):
    with pytest.raises(InvalidInput, match=f"^compare_asking: a rule other than random, .* got {got}.$"):
        compare(clouds, **options)


def test_records_carry_rule_and_labels_and_every_start(clouds):
    records = compare(clouds).records()
    assert len(records) == 18
    assert {(record["rule"], record["labels"]) for record in records} >= {("uncertainty", 3), ("random", 11)}
    assert all(record["mean"] == pytest.approx(np.mean(record["values"])) for record in records)


@pytest.mark.parametrize(
    ("asking", "words"),
    [
        (made(RISING, LATER), "Asking for labels: 70 % right after 4 labels; with random labels it takes 5."),
        (
            made(LATER, RISING),
            "Asking for labels did not help here: 70 % right after 5 labels; with random labels it takes 4.",
        ),
        (
            made(RISING, RISING),
            "Asking for labels made no clear difference here: 80 % right after 5 labels; with random labels it takes 5.",
        ),
        (
            made(RISING, LATER, spread=0.3),  # a gain that may be chance
            "Asking for labels made no clear difference here: 70 % right after 4 labels; with random labels it takes 5.",
        ),
    ],
)
def test_the_words_say_whether_asking_helped(asking, words):
    assert asking_in_words(asking) == words


def test_an_accuracy_counts_as_reached_only_where_it_is_kept():
    assert made((0.7, 0.5, 0.7, 0.7), (0.5, 0.5, 0.5, 0.7)).needed == (4, 5)


def test_an_accuracy_that_is_there_from_the_start_needs_no_more_labels():
    assert made((0.7, 0.7, 0.7, 0.7), (0.7, 0.8, 0.8, 0.8)).needed == (2, 2)


def section(run, make_set, asking):
    images = make_set(["ant", "bee"])
    text = render_report(run(images), images, asking=asking)
    return text[text.index('<section id="asking"') :].split("</section>")[0]


def test_the_report_has_the_section_only_where_asking_was_simulated(run, make_set):
    images = make_set(["ant", "bee"])
    assert SECTION not in render_report(run(images), images)
    assert SECTION in render_report(run(images), images, asking=made(RISING, LATER))


def test_the_section_says_the_words_and_draws_both_curves_in_the_colours_of_the_page(run, make_set):
    asking = made(RISING, LATER, spread=0.01)
    text = section(run, make_set, asking)
    words = " ".join(re.sub(r"<[^>]*>", " ", text).split())
    assert asking_in_words(asking) in words
    assert "began with 2 labels, the same number for each category" in words
    assert "Mean of 4 runs" in words
    assert "9.0 ± 0.9 points more often with labels it asked for (± is the standard error)" in words
    assert "It chose from 30 images and was tested on 10 others" in words
    assert 'aria-label="Labels that are asked for against labels picked at random' in text
    assert all(f"var(--series-{position})" in text for position in (0, 1))
    assert "#fe" not in text


def test_a_loss_is_called_a_loss(run, make_set):
    text = section(run, make_set, made(LATER, RISING))
    assert "did not help here" in text
    assert "9.0 ± 0.0 points less often" in text


def test_one_start_shows_no_standard_error(run, make_set):
    text = section(run, make_set, made(RISING, LATER, starts=1))
    assert "±" not in text
    assert "standard error" not in text
