"""The section on what the learner has never seen."""

import html
import re

import numpy as np
import pytest

from fewsight.evaluation import Protocol
from fewsight.evaluation.report.wording import shown_name

ONE = Protocol(per_class=(3,), test_per_class=3, repeats=1)
TWO = Protocol(per_class=(1, 3), test_per_class=3, repeats=2)
HOLDING_OUT = Protocol(per_class=(3,), test_per_class=3, repeats=2, hold_out=2)


def test_without_held_out_categories_the_strangest_test_images_are_shown(page, make_set, doubting):
    _, found = page(make_set(["ant", "bee"], spread=0.5), learners={"doubt": doubting(threshold=0.0)})
    assert "The strangest test images" in found.text
    assert "It called 6 of 6 unknown; all of them are of categories it learned." in found.text
    assert found.text.count("called unknown") == 6
    assert "never seen" not in found.text.replace("images it had never seen", "")
    assert "held out" not in found.text


def test_a_learner_that_never_says_unknown_has_no_section_on_strange_images(page, make_set):
    for protocol in (ONE, TWO):
        _, found = page(make_set(["ant", "bee", "cat", "dog"]), protocol)
        assert "strange" not in found.text.lower()


def test_held_out_categories_have_their_section(page, make_set, doubting):
    images = make_set(["ant", "bee", "cat", "dog"], spread=0.02)
    text, found = page(images, HOLDING_OUT, learners={"doubt": doubting(threshold=0.1)})
    assert "In each draw, 2 of 4 categories were never shown to it as examples." in found.text
    assert re.search(r"it tells which is which in \d+ % of cases", found.text)
    assert "two distributions of scores" in text
    assert "called unknown →" in text
    assert re.search(r"(ant|bee|cat|dog) , taken for .{3} \S+/image\d\.png held out called unknown", found.text)
    assert re.search(r"\d+ of these \d+ are of held-out categories", found.text)
    assert "The strangest test images" not in found.text


def test_held_out_images_that_looked_familiar_are_shown_with_what_they_were_taken_for(page, make_set, doubting):
    images = make_set(["ant", "bee", "cat", "dog"])
    _, found = page(images, HOLDING_OUT, learners={"doubt": doubting(threshold=2.0)})
    assert "Where it was fooled most" in found.text
    assert re.search(r"(ant|bee|cat|dog) , never learned, taken for (ant|bee|cat|dog)", found.text)


def test_without_a_threshold_the_page_says_that_nothing_is_called_unknown(page, make_set, doubting):
    for protocol in (ONE, HOLDING_OUT):
        images = make_set(["ant", "bee", "cat", "dog"])
        _, found = page(images, protocol, learners={"doubt": doubting(threshold=np.inf)})
        assert "With so few examples it cannot say how strange an unknown image must be" in found.text
        assert "called unknown" not in found.text.replace("known ones called unknown (%)", "")


def test_held_out_categories_without_a_learner_that_says_what_is_strange(page, make_set):
    _, found = page(make_set(["ant", "bee", "cat", "dog"]), HOLDING_OUT)
    assert "none of these learners says when an image is like nothing it has learned" in found.text


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "caf\udce9"])
def test_hostile_names_of_held_out_and_strange_categories_are_text(page, make_set, doubting, name):
    for protocol in (ONE, HOLDING_OUT):
        images = make_set([f"{name}{i}" for i in range(4)])
        text, found = page(images, protocol, learners={"doubt": doubting()})
        assert not found.all("script")
        assert not [a for _, a in found.elements for key in a if key.startswith("on")]
        assert shown_name(f"{name}0") in html.unescape(text)
        text.encode("utf-8")
