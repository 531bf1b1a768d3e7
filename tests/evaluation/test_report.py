"""The report: complete in itself, safe with any name, and right at its edges."""

import html
import re
import warnings
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight.evaluation import Protocol, Strangeness, write_report
from fewsight.evaluation.report import render_report
from fewsight.evaluation.report.confusion import Confusion
from fewsight.evaluation.report.figures import strangeness
from fewsight.evaluation.report.mistakes import confident_mistakes
from fewsight.evaluation.report.strangers import Scores, strangest, unnoticed
from fewsight.evaluation.report.wording import seconds, short_path, shown_name

ONE = Protocol(per_class=(3,), test_per_class=3, repeats=1)
TWO = Protocol(per_class=(1, 3), test_per_class=3, repeats=2)
HOLDING_OUT = Protocol(per_class=(3,), test_per_class=3, repeats=2, hold_out=2)
VOID = {"meta", "link", "img", "br", "path", "use", "line"}


class Page(HTMLParser):
    """The elements of a page, and whether every one of them is closed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture
def page(run, make_set):
    """Evaluates a set and reads the report back."""

    def make(image_set, protocol=ONE, learners=None, **options):
        given = {} if learners is None else {"learners": learners}
        text = render_report(run(image_set, protocol, **given), image_set, **options)
        found = Page(text)
        assert not found.open
        return text, found

    return make


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


def test_outcomes_without_probabilities_have_a_report(run, make_set, nearest):
    class Stubborn(nearest):
        def predict(self, X):
            return self.classes_[np.zeros(len(X), dtype=int)]

    images = make_set(["ant", "bee"])
    evaluation = run(images, ONE, learners={"stubborn": Stubborn()})
    silent = tuple(replace(outcome, probabilities=None) for outcome in evaluation.outcomes)
    found = Page(render_report(replace(evaluation, outcomes=silent), images))
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
        assert "With so few examples it cannot say from where on an image is unknown" in found.text
        assert "called unknown" not in found.text.replace("known ones called unknown (%)", "")


def test_held_out_categories_without_a_learner_that_says_what_is_strange(page, make_set):
    _, found = page(make_set(["ant", "bee", "cat", "dog"]), HOLDING_OUT)
    assert "none of these learners says when an image is like nothing it has learned" in found.text


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


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "caf\udce9"])
def test_hostile_names_of_held_out_and_strange_categories_are_text(page, make_set, doubting, name):
    for protocol in (ONE, HOLDING_OUT):
        images = make_set([f"{name}{i}" for i in range(4)])
        text, found = page(images, protocol, learners={"doubt": doubting()})
        assert not found.all("script")
        assert not [a for _, a in found.elements for key in a if key.startswith("on")]
        assert shown_name(f"{name}0") in html.unescape(text)
        text.encode("utf-8")


def stranger_outcomes(small_evaluation):
    """The same images in two repeats: 4 and 5 held out in the first, known in the second, where the threshold is higher."""
    first = replace(
        small_evaluation.outcomes[0],
        train=np.array([0, 2]),
        test=np.array([1, 3]),
        truth=np.array(["a", "b"], dtype=object),
        predicted=np.array(["a", "b"], dtype=object),
        held_out=np.array([4, 5]),
        taken_for=np.array(["a", "b"], dtype=object),
        strangeness=Strangeness(np.array([0.1, 0.9, 0.7, 0.2]), np.array([False, True, True, False]), 0.5),
    )
    second = replace(
        first,
        held_out=np.array([], dtype=int),
        taken_for=np.array([], dtype=object),
        test=np.array([1, 5]),
        strangeness=Strangeness(np.array([1.1, 1.2]), np.array([False, False]), 2.0),
    )
    return [first, second], np.array(["a", "a", "b", "b", "c", "c"], dtype=object)


def test_images_are_ranked_by_what_is_above_the_threshold_of_their_repeat_and_shown_once(small_evaluation):
    outcomes, labels = stranger_outcomes(small_evaluation)
    found = strangest(outcomes, labels, 9)
    assert [(s.image, s.held_out, s.called_unknown) for s in found] == [
        (3, False, True),
        (4, True, True),
        (5, True, False),
        (1, False, False),
    ]
    assert [s.score for s in found] == pytest.approx([0.4, 0.2, -0.3, -0.4])
    assert (found[0].truth, found[0].taken_for, found[0].example) == ("b", "b", 2)


def test_only_held_out_images_that_were_not_called_unknown_went_unnoticed(small_evaluation):
    outcomes, labels = stranger_outcomes(small_evaluation)
    (missed,) = unnoticed(outcomes, labels, 9)
    assert (missed.image, missed.truth, missed.taken_for) == (5, "c", "b")


def test_where_one_repeat_has_no_threshold_scores_are_compared_as_they_are(small_evaluation):
    outcomes, _ = stranger_outcomes(small_evaluation)
    endless = replace(outcomes[1], strangeness=replace(outcomes[1].strangeness, threshold=np.inf))
    scores = Scores.of([outcomes[0], endless])
    assert not scores.has_threshold
    np.testing.assert_array_equal(scores.known, [0.1, 0.9, 1.1, 1.2])
    np.testing.assert_array_equal(scores.held_out, [0.7, 0.2])


@pytest.mark.parametrize("value", [0.0, -3.0])
def test_scores_that_are_all_alike_can_be_drawn(value):
    alike = np.full(3, value)
    assert "<svg" in strangeness(alike, alike[:1], has_threshold=True)
    assert "<svg" in strangeness(alike, alike[:1], has_threshold=False)


def test_confusions_are_ordered_by_their_share_of_the_true_category():
    confusion = Confusion(np.array([[8, 2, 0], [0, 1, 3], [5, 0, 15]]))
    assert [(pair.truth, pair.predicted, pair.count, pair.total) for pair in confusion.pairs(3)] == [
        (1, 2, 3, 4),
        (2, 0, 5, 20),
        (0, 1, 2, 10),
    ]
    np.testing.assert_array_equal(confusion.recalls, [0.8, 0.25, 0.75])


def test_the_surest_mistake_comes_first_and_shows_a_training_image_of_the_wrong_answer(small_evaluation):
    labels = np.array(["a", "a", "a", "b", "b", "b"], dtype=object)
    outcomes = [outcome for outcome in small_evaluation.outcomes if outcome.setting.learner == "near"]
    (mistake,) = confident_mistakes(outcomes, labels, 5)
    assert (mistake.image, mistake.truth, mistake.predicted, mistake.example) == (2, "a", "b", 3)
    assert mistake.confidence == pytest.approx(0.6)


def test_one_confusion_does_not_fill_the_list_of_mistakes(small_evaluation):
    outcome = small_evaluation.outcomes[0]
    labels = np.array(["a", "a", "a", "b", "b", "b"], dtype=object)
    turned = replace(outcome, predicted=np.array(["b", "b", "a", "a"], dtype=object))
    found = confident_mistakes([turned], labels, 5, alike=1)
    assert [(mistake.truth, mistake.predicted) for mistake in found] == [("a", "b"), ("b", "a")]


def test_wording():
    assert shown_name("a\x00b\u202ec") == "a\ufffdb\ufffdc"
    assert shown_name(" ") == "(blank)"
    assert short_path("/somewhere/birds/owl/1.jpg") == "owl/1.jpg"
    assert short_path("C:\\birds\\owl\\1.jpg") == "owl/1.jpg"
    assert [seconds(value) for value in (0.0123, 2.34, 61, 3700)] == ["0.012 s", "2.3 s", "1 min 1 s", "1 h 1 min"]
