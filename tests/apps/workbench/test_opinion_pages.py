"""What the model thinks, as a page shows it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fewsight.active import Status
from fewsight.active.assessment.audit import Accuracy
from fewsight.active.assessment.stopping import Advice
from fewsight.apps.workbench.facts import Facts
from fewsight.apps.workbench.image_stock import ImageStock
from fewsight.apps.workbench.opinion_pages import (
    STILL_PREPARING,
    belief,
    guess_of,
    in_words,
    likeliest,
    may_belong,
    nearest,
    progress_of,
    results_page,
    sortable_files,
    sure_of,
    taken_for,
    typical_images,
)
from fewsight.apps.workbench.project.catalogue import KnownFile, Stamp
from fewsight.apps.workbench.project.present import Choice, Standing
from fewsight.apps.workbench.project_model import KnownProgress, Opinion

IMAGES = [f"{number:040x}" for number in range(6)]
OWL, TIT = "owl-id", "tit-id"
PROBABILITY = np.array([[0.95, 0.05], [0.6, 0.4], [0.45, 0.55], [0.1, 0.9], [0.7, 0.3], [0.99, 0.01]])


def standing(kind: str, category: str | None = None) -> Standing:
    return Standing(Choice(kind, category), {"ann": Choice(kind, category)})


@pytest.fixture
def stock() -> ImageStock:
    made = ImageStock()
    for number, image in enumerate(IMAGES):
        path = b"%d.png" % number
        made.files[path], made.paths[image] = KnownFile(path, image, Stamp(1, 1, number + 1)), [path]
        made._order.append((image, image))
    return made


@pytest.fixture
def facts() -> Facts:
    """0 is an owl, 3 a tit, 4 was thrown away; nothing is said about the others."""
    standings = {IMAGES[0]: standing("label", OWL), IMAGES[3]: standing("label", TIT), IMAGES[4]: standing("discard")}
    return Facts(standings, {OWL: "owl", TIT: "tit"}, {OWL: (IMAGES[0],), TIT: (IMAGES[3],)})


@pytest.fixture
def opinion() -> Opinion:
    unknown = np.array([False, False, False, False, False, True])
    return Opinion({image: n for n, image in enumerate(IMAGES)}, (OWL, TIT), PROBABILITY, np.arange(6.0), unknown, 2)


def test_a_guess_is_words_first(opinion: Opinion, facts: Facts) -> None:
    words = [guess_of(image, opinion, facts).words for image in IMAGES]
    assert words == ["sure", "leaning", "leaning", "sure", "leaning", "no idea"]  # the last is like nothing known
    assert guess_of(IMAGES[2], opinion, facts).top == ((TIT, "tit", 0.55), (OWL, "owl", 0.45))
    assert guess_of("f" * 40, opinion, facts) is None
    assert guess_of(IMAGES[0], None, facts) is None
    assert belief(IMAGES[5], opinion, 7)["called_unknown"] is True
    assert belief(IMAGES[5], None, 7) == {}


def test_grids_hold_what_has_no_answer_the_surest_first(opinion: Opinion, facts: Facts, stock: ImageStock) -> None:
    assert [each.image for each in sure_of(OWL, opinion, facts, stock, 9)] == [IMAGES[1]]  # 5 is unknown, 4 discarded
    assert may_belong(OWL, opinion, facts) == [(0.1, IMAGES[3])]
    assert (
        sure_of("gone", opinion, facts, stock, 9)
        == may_belong(OWL, None, facts)
        == may_belong("x", opinion, facts)
        == []
    )
    assert taken_for(OWL, opinion, [*IMAGES, "f" * 40]) == [(0.95, IMAGES[0]), (0.6, IMAGES[1]), (0.7, IMAGES[4])]
    assert taken_for("gone", opinion, IMAGES) == []
    pairs = [(0.6, IMAGES[1]), (0.9, "f" * 40), (0.95, IMAGES[0])]
    assert [each.image for each in likeliest(pairs, stock, 9)] == [IMAGES[0], IMAGES[1]]  # the other is not there
    found = nearest(IMAGES[0], np.array([1.0, 0.2, 0.9, 0.8, 0.7, 0.5]), opinion.position_of, facts, stock, 2)
    assert [each.file for each in found] == ["2.png", "5.png"]
    assert typical_images(opinion, facts) == {OWL: (IMAGES[0],), TIT: (IMAGES[3],)}


def test_results_by_group_and_what_is_sorted_where(opinion: Opinion, facts: Facts, stock: ImageStock) -> None:
    page = results_page(facts, stock, opinion, None, 0.58, 0, 3)
    assert {key: n for key, _, n in page.groups} == {
        OWL: 2,
        TIT: 1,
        "unknown": 1,
        "unsure": 1,
        "discarded": 1,
        "unread": 0,
    }
    assert (page.total, page.next, [item.labelled for item in page.items]) == (5, 3, [False, False, False])
    assert [item.labelled for item in results_page(facts, stock, opinion, None, 0.58, 3, 3).items] == [True, True]
    assert [item.image for item in results_page(facts, stock, opinion, "unsure", 0.58, 0, 9).items] == [IMAGES[2]]
    assert {item.category for item in results_page(facts, stock, None, "unsure", None, 0, 9).items} == {None}
    (thrown,) = results_page(facts, stock, opinion, "discarded", None, 0, 9).items
    assert (thrown.image, thrown.category, thrown.labelled) == (IMAGES[4], None, True)
    items = {item.path: item for item in sortable_files(opinion, facts, stock, True)}
    assert items.keys() == {b"0.png", b"1.png", b"2.png", b"3.png", b"5.png"}
    assert (items[b"1.png"].category, items[b"1.png"].confidence, items[b"5.png"].unknown) == ("owl", 0.6, True)


def test_images_that_the_model_has_still_to_see_are_not_sorted(
    opinion: Opinion, facts: Facts, stock: ImageStock
) -> None:
    early = replace(opinion, probability=PROBABILITY[:2])
    assert [item.path for item in sortable_files(early, facts, stock, False)] == [b"0.png", b"1.png", b"3.png"]
    assert [item.path for item in sortable_files(None, facts, stock, False)] == [b"0.png", b"3.png"]
    assert len(sortable_files(early, facts, stock, True)) == 5  # those that cannot be prepared are unsure


def test_progress_tells_what_more_answers_would_bring() -> None:
    advice = Advice(False, "The last 40 answers changed 9 of 700 decisions.", 9.0, 0.05, 0.04, 0.05)
    accuracy = Accuracy(0.87, 0.75, 0.94, 20)
    status = Status({"owl": 50, "tit": 50}, 100, 700, 0, accuracy, 0.9, advice)
    curve = ((40, 0.6, 0.4, 0.8), (100, 0.87, 0.75, 0.94))
    found = progress_of([(OWL, "owl", 50)], 100, status, KnownProgress(0.9, (("colour", 1.0, "colour"),), curve), True)
    assert found.goal == (0.9, 52)  # 100 answers gain 5 points, so a logarithm gains 3 by half as many
    assert found.advice == f"{advice.reason} About 52 more answers to reach 90\u00a0%."
    assert found.curve == list(curve)
    assert found.n_more is None  # too far ahead
    little = replace(
        status, advice=replace(advice, expected_gain=0.005, expected_gain_on_new=0.0, promised_gain=0.0075)
    )
    found = progress_of([(OWL, "owl", 50)], 100, little, KnownProgress(), True)
    assert (found.goal, found.n_more) == (None, 35)
    enough = replace(status, advice=replace(advice, stop=True))
    assert progress_of([], 100, enough, KnownProgress(), True).n_more is None
    assert in_words(enough, True)[1] == enough.advice.reason
    assert in_words(enough, False)[1] == ""
    assert progress_of([], 100, enough, KnownProgress(), False).advice == STILL_PREPARING
    few = replace(status, accuracy=Accuracy(0.87, 0.2, 1.0, 3))
    assert (
        progress_of([], 100, few, KnownProgress(), True).goal,
        progress_of([], 100, few, KnownProgress(), True).advice,
    ) == (
        None,
        "",
    )


def test_without_a_model_there_is_little_to_say() -> None:
    assert in_words(None, True) == ("", "")
    assert progress_of([(OWL, "owl", 1)], 1, None, None, True).sentence == "1 image labelled."
