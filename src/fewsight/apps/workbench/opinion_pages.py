"""What the model thinks, as a page shows it: a guess in words, grids of images, results by group."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from fewsight.apps.workbench.facts import Facts
from fewsight.apps.workbench.image_stock import ImageStock
from fewsight.apps.workbench.project.events import Event, Json
from fewsight.apps.workbench.session_messages import (
    Disagreement,
    GridImage,
    Guess,
    Interval,
    LabelItem,
    LabelPage,
    Progress,
    ResultItem,
    ResultPage,
)
from fewsight.apps.workbench.sort import Sortable

if TYPE_CHECKING:
    from fewsight._base.types import Array
    from fewsight.active import Status
    from fewsight.active.assessment.audit import Accuracy
    from fewsight.apps.workbench.project_model import KnownProgress, Opinion

SURE, LEANING = 0.9, 0.5  # probabilities from which these words are used
LIKELIEST = 3
EXAMPLES = 3  # images beside a category's button
UNKNOWN, UNSURE, UNREAD, DISCARDED = "unknown", "unsure", "unread", "discarded"
SURE_AT_LEAST = 0.5  # below, an image belongs to no group of its own unless somebody says otherwise
FEWEST_CHECKS = 8  # random checks, below which no accuracy is told
STILL_PREPARING = "Images are still being prepared; whether more labels would help is told when all of them are."
MAY_BELONG = 0.05  # the probability from which an image is offered for a second look


def guess_of(image: str, opinion: Opinion | None, facts: Facts) -> Guess | None:
    """What the model thinks of an image; None where it has no opinion of it."""
    place = None if opinion is None else opinion.place(image)
    if opinion is None or place is None:
        return None
    row = opinion.probability[place]
    order = row.argsort()[::-1][:LIKELIEST].tolist()
    named = [(opinion.categories[column], float(row[column])) for column in order]
    top = tuple((key, facts.categories.get(key, key), probability) for key, probability in named)
    is_unknown = bool(opinion.unknown[place])
    words = "no idea" if is_unknown or top[0][2] < LEANING else "sure" if top[0][2] >= SURE else "leaning"
    return Guess(words, top[0][0], top[0][1], top, float(opinion.unknown_score[place]))


def belief(image: str, opinion: Opinion | None, n_learned: int) -> dict[str, Json]:
    """What was believed about an image when its answer came, for the project file."""
    place = None if opinion is None else opinion.place(image)
    if opinion is None or place is None:
        return {}
    row = opinion.probability[place]
    order = row.argsort()[::-1][:LIKELIEST].tolist()
    top: list[Json] = [[opinion.categories[column], round(float(row[column]), 4)] for column in order]
    unknown = round(float(opinion.unknown_score[place]), 4)
    return {"model": n_learned, "top": top, "unknown": unknown, "called_unknown": bool(opinion.unknown[place])}


def sure_of(category: str, opinion: Opinion | None, facts: Facts, stock: ImageStock, n: int) -> list[GridImage]:
    """Images without an answer that are taken for a category, the surest first; those called unknown are not among them."""
    if opinion is None:
        return []
    images = [image for image in opinion.position_of if image not in facts.standings]
    return likeliest(taken_for(category, opinion, images), stock, n)


def taken_for(category: str, opinion: Opinion, images: Iterable[str]) -> list[tuple[float, str]]:
    """Those of these images that are taken for a category and not called unknown, and how probably they are of it."""
    if category not in opinion.categories:
        return []
    column = opinion.categories.index(category)
    found = []
    for image in images:
        place = opinion.place(image)
        if place is not None and not opinion.unknown[place]:
            row = opinion.probability[place]
            if int(row.argmax()) == column and row[column] >= SURE_AT_LEAST:
                found.append((float(row[column]), image))
    return found


def likeliest(found: Iterable[tuple[float, str]], stock: ImageStock, n: int) -> list[GridImage]:
    """The n most probable of the images that are there, the likeliest first."""
    there = sorted((pair for pair in found if pair[1] in stock.paths), key=lambda pair: (-pair[0], pair[1]))
    return [GridImage(image, stock.shown(image), probability) for probability, image in there[:n]]


def may_belong(category: str, opinion: Opinion | None, facts: Facts) -> list[tuple[float, str]]:
    """Images with another label that may belong to a category, and how probably."""
    if opinion is None or category not in opinion.categories:
        return []
    column = opinion.categories.index(category)
    found = []
    for other, images in facts.images_of.items():
        for image in images if other != category else ():
            place = opinion.place(image)
            if place is not None and opinion.probability[place][column] >= MAY_BELONG:
                found.append((float(opinion.probability[place][column]), image))
    return found


def label_page(
    found: Mapping[str, tuple[str, Event]],
    surprises: Mapping[str, tuple[float, str]],
    stock: ImageStock,
    category: str | None,
    start: int,
    n: int,
) -> LabelPage:
    """Labels of a category, or of all, the most surprising first; among equals the newest first."""
    items = [
        LabelItem(image, stock.shown(image), key, event.who, event.at, *surprises.get(image, (0.0, "")))
        for image, (key, event) in found.items()
        if category in (None, key)
    ]
    items.sort(key=lambda item: (-item.surprise, -item.at))
    return LabelPage(items[start : start + n], len(items), start + n if start + n < len(items) else None)


def disagreements(facts: Facts, stock: ImageStock) -> list[Disagreement]:
    """The images about which persons differ."""
    ties = [(image, each.votes) for image, each in sorted(facts.standings.items()) if each.choice is None]
    return [
        Disagreement(
            image,
            stock.shown(image),
            tuple((who, choice.kind, choice.category) for who, choice in sorted(votes.items())),
        )
        for image, votes in ties
    ]


def result_of(image: str, opinion: Opinion | None, facts: Facts, stock: ImageStock) -> ResultItem:
    """What an image is labelled as, or taken for."""
    standing = facts.standings.get(image)
    choice = None if standing is None else standing.choice
    if choice is not None:
        return ResultItem(image, stock.shown(image), choice.category, 1.0, choice.category is None, True)
    place = None if opinion is None else opinion.place(image)
    if opinion is None or place is None:
        return ResultItem(image, stock.shown(image), None, None, False, False)
    row = opinion.probability[place]
    best = int(row.argmax())
    return ResultItem(
        image, stock.shown(image), opinion.categories[best], float(row[best]), bool(opinion.unknown[place]), False
    )


def results_page(
    facts: Facts,
    stock: ImageStock,
    opinion: Opinion | None,
    group: str | None,
    least: float | None,
    start: int,
    n: int,
) -> ResultPage:
    """Images of a group (or of all but discarded ones), the surest first and those with a label last, and how many each group
    has."""
    there = list(stock.in_random_order())
    images, discarded = ([image for image in there if facts.is_discarded(image) is it_is] for it_is in (False, True))
    items = [(result_of(image, opinion, facts, stock)) for image in images]
    groups = [_group_of(item, SURE_AT_LEAST if least is None else least) for item in items]
    counts = Counter(groups)
    unreadable = stock.unreadable()
    counts[UNREAD], counts[DISCARDED] = len(unreadable), len(discarded)
    names: Mapping[str, str] = {**facts.categories, **{each: each for each in (UNKNOWN, UNSURE, DISCARDED, UNREAD)}}
    chosen = [item for item, each in zip(items, groups, strict=True) if group in (None, each)]
    if group == DISCARDED:
        chosen = [ResultItem(image, stock.shown(image), None, None, False, True) for image in discarded]
    chosen.sort(key=lambda item: (item.labelled, item.probability is None, -(item.probability or 0.0), item.file))
    following = start + n if start + n < len(chosen) else None
    listed = [(key, name, counts[key]) for key, name in names.items()]
    return ResultPage(chosen[start : start + n], listed, unreadable, len(chosen), following)


def _group_of(item: ResultItem, least: float) -> str:
    if item.unknown:
        return UNKNOWN
    if item.category is None or (not item.labelled and (item.probability or 0.0) < least):
        return UNSURE
    return item.category


def typical_images(opinion: Opinion | None, facts: Facts) -> dict[str, tuple[str, ...]]:
    """A few labelled images of each category, the most probable ones; the first ones while nothing is known about that."""
    found = {}
    for key, images in facts.images_of.items():
        chosen = images
        if opinion is not None and key in opinion.categories:
            column = opinion.categories.index(key)
            places = [(image, opinion.place(image)) for image in images]
            scores = {image: -1.0 if place is None else opinion.probability[place][column] for image, place in places}
            chosen = tuple(sorted(images, key=lambda image: -scores[image]))
        found[key] = chosen[:EXAMPLES]
    return found


def nearest(
    image: str, likeness: Array, position_of: Mapping[str, int], facts: Facts, stock: ImageStock, n: int
) -> list[GridImage]:
    """Images without an answer, those most like this one first; with how like they are."""
    found = [
        (float(likeness[place]), other)
        for other, place in position_of.items()
        if place < len(likeness) and other != image and other not in facts.standings and other in stock.paths
    ]
    found.sort(key=lambda pair: (-pair[0], pair[1]))
    return [GridImage(other, stock.shown(other), value) for value, other in found[:n]]


def sortable_files(opinion: Opinion | None, facts: Facts, stock: ImageStock, has_all: bool) -> list[Sortable]:
    """Every file that was read, with its label or what it is taken for; discarded ones and disagreements are left out, and
    images that the model has still to see."""
    found = []
    for image, paths in stock.paths.items():
        standing = facts.standings.get(image)
        if standing is not None and (standing.choice is None or standing.choice.kind == "discard"):
            continue
        if standing is None and not has_all and (opinion is None or opinion.place(image) is None):
            continue
        item = result_of(image, opinion, facts, stock)
        name = None if item.category is None else facts.categories.get(item.category)
        found += [Sortable(path, image, name, item.probability or 0.0, item.unknown) for path in paths]
    return found


def in_words(status: Status | None, has_all: bool) -> tuple[str, str]:
    """Accuracy with its interval, and the advice to stop, a phrase each; empty while there is nothing worth saying.

    Without all images (`has_all`) there is no advice to stop: it speaks of those that the model has seen.
    """
    if status is None:
        return "", ""
    accuracy = _telling(status.accuracy)
    if accuracy is None:
        right = ""
    else:
        interval = f"({100 * accuracy.low:.0f} to {100 * accuracy.high:.0f} %)"
        right = f"{_about(accuracy.estimate, 'about {} %', 'nearly all')} right {interval}"
    return right, _spaced(status.advice.reason) if status.advice.stop and has_all else ""


def _about(share: float, text: str, all_of_them: str) -> str:
    """A share in words: some random checks that were all right do not make certain that all is."""
    return all_of_them if share >= 0.995 else text.format(f"{100 * share:.0f}")


def _spaced(text: str) -> str:
    """Percentages as the page writes them."""
    return re.sub(r"(\d)%", "\\1\u00a0%", text)


def _telling(accuracy: Accuracy | None) -> Accuracy | None:
    """An estimate that tells something: one from a handful of checks would have an interval of nearly everything."""
    return None if accuracy is None or accuracy.n_audits < FEWEST_CHECKS else accuracy


def progress_of(
    counts: Sequence[tuple[str, str, int]],
    n_labelled: int,
    status: Status | None,
    known: KnownProgress | None,
    has_all: bool,
) -> Progress:
    """How far labelling has come."""
    labelled = f"{n_labelled:,} {'image' if n_labelled == 1 else 'images'} labelled."
    if status is None or known is None:
        return Progress(labelled, "", None, None, list(counts), [], [])
    accuracy = _telling(status.accuracy)
    n_more, goal = (None, None) if accuracy is None else _outlook(status, accuracy)
    advice = status.advice.reason if status.advice.stop or accuracy is not None else ""
    if status.advice.stop and not has_all:
        advice = STILL_PREPARING
    if goal is not None:
        advice += f" About {goal[1]:,} more answers to reach {goal[0]:.0%}."
    advice = _spaced(advice)
    checks = None if accuracy is None else Interval(accuracy.estimate, accuracy.low, accuracy.high)
    sentence = (
        labelled
        if accuracy is None
        else f"{_about(accuracy.estimate, 'About {} of 100', 'Nearly all')} are right by now ({100 * accuracy.low:.0f} to "
        f"{100 * accuracy.high:.0f} of 100 in nine of ten cases)."
    )
    return Progress(
        sentence,
        advice,
        checks,
        known.left_out,
        list(counts),
        list(known.curve),
        list(known.cues),
        0 if accuracy is None else accuracy.n_audits,
        n_more,
        goal,
    )


def _outlook(status: Status, accuracy: Accuracy) -> tuple[int | None, tuple[float, int] | None]:
    """Answers until more of them hardly help, and a goal with the answers that it takes."""
    from fewsight.active.assessment.accuracy_curve import Forecast, next_mark

    advice = status.advice
    if advice.stop:
        return None, None
    on_rest = Forecast.of(status, advice.expected_gain)
    on_all = Forecast.of(status, advice.promised_gain)
    mark = next_mark(accuracy.estimate)
    n_more = None if on_all is None else on_all.answers_to_stop()
    wanted = None if on_rest is None or mark is None else on_rest.answers_to_gain(mark - accuracy.estimate)
    return n_more, None if mark is None or wanted is None else (mark, wanted)
