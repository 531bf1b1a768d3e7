"""Which cue decides: the section of the report, the shares behind it, and the picture for weights per class."""

import html
import re
from dataclasses import replace

import pytest

from fewsight.evaluation import Protocol, evaluate, learned_shares
from fewsight.evaluation.report import render_report
from fewsight.evaluation.report.figures import shares
from fewsight.learners import GPClassifier

SEVERAL = Protocol(per_class=(1, 2, 4), test_per_class=3, repeats=3, seed=5)
SECTION = "Which cue decides"


@pytest.fixture
def learned(run, make_set):
    """An evaluation in which each repeat of each size learned the same shares, and its images."""
    images = make_set(["ant", "bee", "cat"])
    plain = run(images, SEVERAL)

    def with_shares(**shares):
        setting = {"channels": "+".join(shares), "combine": "evidence"}
        outcomes = [replace(each, setting=each.setting._replace(**setting), weights=shares) for each in plain.outcomes]
        return replace(plain, outcomes=tuple(outcomes)), images

    return with_shares


def test_shares_are_given_for_every_size_they_can_be_learned_from_the_largest_first(learned):
    evaluation, _ = learned(sharp=0.25, blunt=0.75)
    found = learned_shares(evaluation)
    assert [setting.per_class for setting in found] == [2, 4]
    assert [list(each) for each in found.values()] == [["blunt", "sharp"]] * 2
    assert all(each["blunt"].values == (0.75,) * 3 for each in found.values())


def test_the_section_appears_only_where_shares_were_learned(make_set, mean_colour):
    images = make_set(["ant", "bee"])
    channels = {"sharp": mean_colour(), "blunt": mean_colour(weight=0.01)}
    for size, combine, appears in ((1, "evidence", False), (3, "average", False), (3, "evidence", True)):
        protocol = Protocol(per_class=(size,), test_per_class=3, repeats=1)
        found = evaluate(images, protocol, channels, {"gp": GPClassifier()}, combine=("none", combine))
        assert (SECTION in render_report(found, images)) == appears


def test_the_section_names_the_strongest_cue_and_lists_mean_shares(learned):
    text = render_report(*learned(colour=0.25, phog=0.75))
    words = " ".join(re.sub(r"<[^>]*>", " ", text[text.index('id="cues"') :]).split())
    assert "in 2 ways at once" in words
    assert "with 4 examples per category, most on outlines ( phog , 75 % of the whole)" in words
    assert "75.0 ± 0.0" in words
    assert "With 1 per category nothing can be learned" in words
    assert 'aria-label="Which cue decides' in text


def test_equal_shares_have_no_strongest_cue(learned):
    assert "with 4 examples per category, on all equally." in render_report(*learned(colour=0.5, phog=0.5))


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "$x^2$", "\u732b"])
def test_hostile_names_of_channels_are_text(learned, name):
    text = render_report(*learned(**{name: 0.7, "blunt": 0.3}))
    assert "<script>" not in text
    assert name in html.unescape(text)


def test_shares_at_their_lower_bound_do_not_stretch_the_axis(learned):
    text = render_report(*learned(sharp=1e-6, blunt=1 - 1e-6))
    assert "≤ 0.1" in text
    assert "Shares below 0.1\u00a0% are drawn at the bottom." in text
    text = render_report(*learned(sharp=0.4, blunt=0.6))
    assert "≤" not in text
    assert "are drawn at the bottom" not in text


def test_one_repeat_is_drawn_as_dots_and_several_as_boxes_in_the_colours_of_the_page():
    dots, boxes = shares([{3: [0.4]}, {3: [0.6]}]), shares([{3: [0.4, 0.2, 0.3]}, {3: [0.6, 0.8, 0.7]}])
    assert "patch" in boxes
    for drawn in (dots, boxes):
        assert "var(--series-0)" in drawn
        assert "var(--series-1)" in drawn
        assert "#fe" not in drawn
    assert dots != boxes


@pytest.mark.parametrize("values", [[1.0, 1.0], [1e-6, 1e-6], [1e-3, 1e-3], [0.5]])
def test_any_shares_can_be_drawn(values):
    assert "<svg" in shares([{2: values, 40: values}] * 9)
