"""The report: complete in itself, safe with any name, and right at its edges."""

import html
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight.evaluation import Protocol, write_report
from fewsight.evaluation.report import render_report

ONE = Protocol(per_class=(3,), test_per_class=3, repeats=1)
TWO = Protocol(per_class=(1, 3), test_per_class=3, repeats=2)
HOLDING_OUT = Protocol(per_class=(3,), test_per_class=3, repeats=2, hold_out=2)


def test_the_page_loads_nothing_from_elsewhere(page, make_set):
    text, found = page(make_set(["ant", "bee"]), TWO, command="fewsight evaluate folder")
    assert not re.search(r"https?:|//[a-z]|@import", text)
    assert not found.all("script")
    addresses = [a[key] for _, a in found.elements for key in ("src", "href", "xlink:href", "data") if a.get(key)]
    assert addresses
    assert all(address.startswith(("data:", "#")) for address in addresses)
    assert set(re.findall(r"url\((.)", text)) <= {"#"}


def test_every_picture_has_an_alternative_text_and_every_heading_cell_a_scope(page, make_set):
    _, found = page(make_set(["ant", "bee"]), TWO)
    assert found.all("img")
    assert all(picture["alt"] for picture in found.all("img"))
    assert all(cell["scope"] in ("row", "col", "colgroup") for cell in found.all("th"))
    assert all(figure.get("aria-label") or figure.get("aria-hidden") for figure in found.all("svg"))


@pytest.mark.parametrize(
    "name",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "{{ 7 * 7 }}",
        "$x^2$ \\frac",
        "_hidden",
        "\u732b \U0001f408 \u0e41\u0e21\u0e27",
        "&amp; 'quoted'",
    ],
)
def test_a_hostile_name_is_shown_as_text(page, make_set, name):
    images = make_set([name, "bee"])
    images.unreadable.append(UnreadableImage(name, name))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text, found = page(images, TWO, title=name, note=name, command=name)
    assert not found.all("script")
    assert not [a for _, a in found.elements for key in a if key.startswith("on")]
    assert name in html.unescape(text)
    assert name in found.text


def test_a_name_that_is_not_utf8_is_shown_with_a_replacement(page, make_set, run, tmp_path):
    images = make_set(["caf\udce9", "bee"])
    write_report(run(images, ONE), images, tmp_path / "report.html")
    assert "caf\ufffd" in (tmp_path / "report.html").read_bytes().decode("utf-8")


def test_a_very_long_name_does_not_break_the_page(page, make_set):
    _, found = page(make_set(["x" * 200, "bee"]), TWO)
    assert "x" * 200 in found.text


def test_the_headline_says_what_was_reached(page, make_set):
    _, found = page(make_set(["ant", "bee"], spread=0.001))
    assert "near with colour: 100.0\u00a0% of test images right, from 3 examples per category, 2 categories" in "".join(
        found.words
    )


def test_learning_curves_appear_where_there_are_several_sizes(page, make_set):
    text, _ = page(make_set(["ant", "bee"]), TWO)
    assert "Learning curves" in text
    text, _ = page(make_set(["ant", "bee"]), ONE)
    assert "Learning curves" not in text


def test_one_repeat_shows_no_deviation(page, make_set):
    text, _ = page(make_set(["ant", "bee"]), ONE)
    assert "±" not in text


def test_without_a_mistake_the_page_says_so(page, make_set):
    _, found = page(make_set(["ant", "bee"], spread=0.001))
    assert "named every test image correctly" in found.text
    assert "No test image was taken for another category." in found.text


def test_a_mistake_names_the_image_what_it_was_taken_for_and_how_sure(page, make_set):
    _, found = page(make_set(["ant", "bee", "cat"], spread=0.6), TWO)
    assert re.search(r"(ant|bee|cat) taken for (ant|bee|cat) , \d+ % sure", found.text)
    assert re.search(r"(ant|bee|cat)/image\d\.png", found.text)


def test_unreadable_images_are_listed_with_reasons(page, make_set):
    _, found = page(make_set(["ant", "bee"], broken={(0, 2)}), Protocol(per_class=(3,), repeats=1))
    assert "ant/broken2.png it is broken" in found.text


def test_many_categories_get_a_heat_map_and_a_table_of_confusions(page, make_set):
    text, found = page(make_set([f"class {i:03d}" for i in range(40)], spread=0.3))
    assert "data:image/png" in text
    assert "Confused most often" in found.text
    assert not [a for a in found.all("table") if a.get("class") == "matrix"]


def test_an_image_that_vanished_since_leaves_a_gap(run, make_set, monkeypatch):
    images = make_set(["ant", "bee"])
    evaluation = run(images, ONE)

    def gone(self, longest_side=None):
        raise UnreadableImage(self.name, "gone")

    monkeypatch.setattr(type(images.images[0]), "pixels", gone)
    assert "image/jpeg" not in render_report(evaluation, images)


def test_outcomes_without_probabilities_have_a_report(run, make_set, nearest, parsed):
    class Stubborn(nearest):
        def predict(self, X):
            return self.classes_[np.zeros(len(X), dtype=int)]

    images = make_set(["ant", "bee"])
    evaluation = run(images, ONE, learners={"stubborn": Stubborn()})
    silent = tuple(replace(outcome, probabilities=None) for outcome in evaluation.outcomes)
    found = parsed(render_report(replace(evaluation, outcomes=silent), images))
    assert "bee taken for ant" in found.text
    assert "% sure" not in found.text


def test_the_same_evaluation_gives_the_same_page(run, make_set):
    images = make_set(["ant", "bee"])
    evaluation = run(images, TWO)
    assert render_report(evaluation, images) == render_report(evaluation, images)


def test_the_report_of_another_set_is_refused(run, make_set, tmp_path):
    evaluation = run(make_set(["ant", "bee"]), ONE)
    with pytest.raises(InvalidInput, match="image_set must be the set that was evaluated, of 16 images, got one of 24"):
        write_report(evaluation, make_set(["ant", "bee", "cat"]), tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


def test_settings_and_command_are_shown(page, make_set):
    _, found = page(make_set(["ant", "bee"]), command="fewsight evaluate 'my folder'", commit="abc123")
    for words in ("fewsight evaluate 'my folder'", "abc123", "channel colour", "weight 1.0", "numpy"):
        assert words in found.text


def test_headline_and_chance_count_the_categories_that_were_learned(page, make_set, doubting):
    images = make_set(["ant", "bee", "cat", "dog"])
    _, found = page(images, HOLDING_OUT, learners={"doubt": doubting()})
    assert "3 examples per category, 2 categories" in found.text
    assert "Guessing would be right 50.0 % of the time" in found.text
    assert "held out in draw 2" in found.text


def test_a_category_that_was_never_learned_has_no_row_of_confusions(page, make_set, doubting):
    protocol = Protocol(per_class=(3,), test_per_class=3, repeats=1, hold_out=1)
    images = make_set(["ant", "bee", "cat"])
    _, found = page(images, protocol, learners={"doubt": doubting()})
    titles = [cell["title"] for cell in found.all("th") if cell.get("title")]
    assert len(set(titles)) == 2
