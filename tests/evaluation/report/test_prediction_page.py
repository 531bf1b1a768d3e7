"""The page of predictions: every image in its place, safe with any name, complete in itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from fewsight._base.errors import UnreadableImage
from fewsight.evaluation.report import prediction_page, render_prediction_page, write_prediction_page

CATEGORIES = ("ant", "bee", "cow")


@dataclass(frozen=True)
class Said:
    file: str
    category: str
    probabilities: tuple[float, ...]
    unknown: str = "no"
    uncertainty: float = 0.5

    @property
    def probability(self) -> float:
        return max(self.probabilities)


@pytest.fixture
def picture(tmp_path: Path) -> str:
    path = tmp_path / "a picture.png"
    Image.new("RGB", (40, 30), (200, 30, 30)).save(path)
    return str(path)


def section(text: str, heading: str) -> str:
    (found,) = [part for part in text.split("<section")[1:] if re.search(rf"<h2[^>]*>{heading}", part)]
    return found


def shares(text: str) -> list[str]:
    return re.findall(r"<p><strong>(\d+)\u00a0%</strong>", text)


def test_images_stand_by_category_and_the_surest_first_with_unknown_ones_apart(picture: str) -> None:
    answers = [
        Said(picture, "ant", (0.45, 0.35, 0.2)),
        Said(picture, "ant", (0.95, 0.03, 0.02)),
        Said(picture, "bee", (0.2, 0.7, 0.1)),
        Said(picture, "ant", (0.99, 0.01, 0.0)),
        Said(picture, "bee", (0.01, 0.98, 0.01), unknown="yes"),
    ]
    text = render_prediction_page(answers, CATEGORIES, model="pets.fewsight")
    ant = section(text, "ant: 3")
    assert shares(ant) == ["99", "95", "45"]
    assert [title for title in prediction_page.GROUPS if title in ant] == ["Sure, 90 % or more", "Not sure, below 50 %"]
    assert 'or <span class="name">bee</span> 35' in ant  # what else it could be, where it is not sure
    assert shares(section(text, "bee: 1")) == ["70"]
    strange = section(text, "Like nothing learned: 1")
    assert shares(strange) == ["98"]
    assert '<span class="name">bee</span>' in strange  # what it would be taken for
    assert 'No image was taken for: <span class="name">cow</span>' in text
    assert "5 images in 2 categories, 1 like nothing learned" in text
    assert text.count('src="data:image/jpeg;base64,') == 5


def test_a_model_that_does_not_say_what_is_unknown_shows_no_such_number(picture: str) -> None:
    text = render_prediction_page([Said(picture, "ant", (0.6, 0.3, 0.1), unknown="")], CATEGORIES, model="m")
    assert "Like nothing learned" not in text
    assert "1 image in 1 category<" in text


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}"])
def test_hostile_names_are_text_and_nothing_is_fetched(tmp_path: Path, name: str) -> None:
    answers = [Said(f"gone/{name.replace('/', '')}.png", name, (0.9, 0.1))]
    unreadable = [UnreadableImage(name, "damaged")]
    text = render_prediction_page(answers, (name, "other"), model=name, unreadable=unreadable)
    assert "<script" not in text
    assert "<img" not in text  # the one image is not there, so there is no picture
    assert "(cannot be read)" in text
    assert not re.search(r"https?:|//[a-z]|@import", text)


def test_of_very_many_images_the_first_and_the_last_are_shown_and_the_rest_counted(
    picture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prediction_page, "MOST_PICTURES", 6)
    answers = [Said(picture, "ant", (0.90 + 0.001 * n, 0.0, 0.0)) for n in range(50)]
    text = render_prediction_page(answers, CATEGORIES, model="m")
    assert "ant: 50" in text
    assert text.count('src="data:image/jpeg;base64,') == 6
    assert "44 more are in the table only." in text


def test_unreadable_files_are_listed_with_the_reason(picture: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    failures = [UnreadableImage("holiday/broken.jpg", "no image")]
    write_prediction_page(path, [Said(picture, "ant", (1.0, 0.0, 0.0))], CATEGORIES, model="m", unreadable=failures)
    found = section(path.read_text(encoding="utf-8"), "Unreadable files")
    assert "holiday/broken.jpg" in found
    assert "no image" in found
