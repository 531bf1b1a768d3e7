"""The page of predictions: pictures by category and by how sure the model is, and apart those like nothing learned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from fewsight._base.errors import UnreadableImage
from fewsight._base.replacement import write_text
from fewsight.evaluation.report.galleries import LARGE
from fewsight.evaluation.report.pictures import Thumbnails
from fewsight.evaluation.report.tables import MOST_UNREADABLE
from fewsight.evaluation.report.wording import counted, percent, short_path, shown_name
from fewsight.evaluation.report.writing import page_template
from fewsight.images import ImageFile, ImageSet

Section = dict[str, Any]
TITLE = "What the images show"
SURE, LEANING = 0.9, 0.5  # at least this probable
LEAST_SECOND = 0.05  # the second category is named if it is at least this probable
MOST_PICTURES = 1_500  # on a page, so that it opens at once: about ten megabytes
LEAST_PICTURES = 6  # in a group, however many groups there are
GROUPS = {"Sure, 90 % or more": SURE, "Leaning, 50 to 90 %": LEANING, "Not sure, below 50 %": 0.0}


class Answer(Protocol):
    """What a model says about one image file."""

    @property
    def file(self) -> str: ...
    @property
    def category(self) -> str: ...
    @property
    def probability(self) -> float: ...
    @property
    def uncertainty(self) -> float: ...
    @property
    def unknown(self) -> str:
        """Yes, no, or nothing where the model does not say."""

    @property
    def probabilities(self) -> tuple[float, ...]: ...


def write_prediction_page(
    path: str | Path,
    answers: Sequence[Answer],
    categories: Sequence[str],
    *,
    model: str,
    unreadable: Sequence[UnreadableImage] = (),
) -> None:
    """Write the page as one HTML file, whole or not at all. It needs nothing but itself: no network, no script, no other file.

    Parameters
    ----------
    path : the file to write.
    answers : what the model says about each image.
    categories : those of the model, in the order of the probabilities of an answer.
    model : what the page calls the model, such as the name of its file.
    unreadable : images about which nothing can be said, and why.
    """
    write_text(Path(path), render_prediction_page(answers, categories, model=model, unreadable=unreadable))


def render_prediction_page(
    answers: Sequence[Answer],
    categories: Sequence[str],
    *,
    model: str,
    unreadable: Sequence[UnreadableImage] = (),
) -> str:
    """The page as text; see `write_prediction_page`."""
    return _Page(answers, categories).render(model, unreadable)


class _Page:
    def __init__(self, answers: Sequence[Answer], categories: Sequence[str]) -> None:
        self._answers, self._categories = answers, categories
        self._thumbnails = Thumbnails(ImageSet([ImageFile(answer.file) for answer in answers]))
        self._strange = [place for place, answer in enumerate(answers) if answer.unknown == "yes"]
        self._groups = {
            category: {title: self._members(category, title) for title in GROUPS} for category in categories
        }
        n_groups = sum(bool(members) for groups in self._groups.values() for members in groups.values())
        self._most = max(LEAST_PICTURES, MOST_PICTURES // max(1, n_groups + bool(self._strange)))

    def render(self, model: str, unreadable: Sequence[UnreadableImage]) -> str:
        shown = [category for category in self._categories if any(self._groups[category].values())]
        return page_template("predictions.html.j2").render(
            title=TITLE,
            summary=self._summary(model),
            unknown=self._unknown(),
            categories=[self._category(category) for category in shown],
            empty=[shown_name(category) for category in self._categories if category not in shown],
            unreadable=_unreadable(unreadable),
        )

    def _members(self, category: str, title: str) -> list[int]:
        """The places of the answers of one group, the surest first."""
        at_least = GROUPS[title]
        below = min((bound for bound in GROUPS.values() if bound > at_least), default=2.0)
        found = [
            place
            for place, answer in enumerate(self._answers)
            if answer.category == category and answer.unknown != "yes" and at_least <= answer.probability < below
        ]
        return sorted(found, key=lambda place: -self._answers[place].probability)

    def _summary(self, model: str) -> Section:
        counts = {title: sum(len(groups[title]) for groups in self._groups.values()) for title in GROUPS}
        sure, leaning, unsure = (f"{count:,}" for count in counts.values())
        says = any(answer.unknown for answer in self._answers)
        named = sum(bool(any(groups.values())) for groups in self._groups.values())
        return {
            "headline": f"{counted(len(self._answers), 'image')} in {counted(named, 'category', 'categories')}"
            + (f", {len(self._strange):,} like nothing learned" if self._strange else ""),
            "model": shown_name(model),
            "images": f"{len(self._answers):,}",
            "sure": sure,
            "leaning": leaning,
            "unsure": unsure,
            "unknown": f"{len(self._strange):,}" if says else None,
        }

    def _unknown(self) -> Section | None:
        if not self._strange:
            return None
        return self._gallery(
            sorted(self._strange, key=lambda place: -self._answers[place].uncertainty), say_category=True
        )

    def _category(self, category: str) -> Section:
        groups = {title: members for title, members in self._groups[category].items() if members}
        return {
            "name": shown_name(category),
            "count": f"{sum(map(len, groups.values())):,}",
            "groups": [{"title": title, **self._gallery(members)} for title, members in groups.items()],
        }

    def _gallery(self, places: list[int], *, say_category: bool = False) -> Section:
        """The first and the last of them where there are too many: the surest, and those worth a look."""
        half = self._most // 2
        kept = places if len(places) <= self._most else places[:half] + places[half - self._most :]
        cards = [{**self._card(place), "say_category": say_category} for place in kept]
        return {"count": f"{len(places):,}", "cards": cards, "left_out": len(places) - len(kept)}

    def _card(self, place: int) -> Section:
        answer = self._answers[place]
        others = [
            (share, name)
            for share, name in zip(answer.probabilities, self._categories, strict=True)
            if name != answer.category
        ]
        share, name = max(others, default=(0.0, ""))
        second = answer.probability < SURE and share >= LEAST_SECOND
        return {
            "picture": self._thumbnails(place, LARGE),
            "file": short_path(answer.file),
            "path": shown_name(answer.file),
            "category": shown_name(answer.category),
            "share": percent(answer.probability, 0),
            "second": shown_name(name) if second else None,
            "second_share": percent(share, 0),
        }


def _unreadable(errors: Sequence[UnreadableImage]) -> Section | None:
    rows = [(shown_name(error.name), shown_name(error.reason)) for error in errors[:MOST_UNREADABLE]]
    return {"rows": rows, "left_out": len(errors) - len(rows)} if rows else None
