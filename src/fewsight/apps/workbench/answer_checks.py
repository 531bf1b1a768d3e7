"""What may be said: kinds of answers, the requests that come with them, and the reply in words."""

from __future__ import annotations

from fewsight._base.checks import check_choice, shown
from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.facts import Facts
from fewsight.apps.workbench.session_messages import Answer

ANSWERS = ("label", "none", "skip", "discard", "clear")
WAYS_TO_ANSWER = ("question", "grid", "own choice")


def check_answer(answer: Answer) -> None:
    """An answer of a known kind, that came about in a known way; labels alone have a category."""
    check_choice("session", "an answer", answer.kind, ANSWERS)
    check_choice("session", "how an answer came about", answer.how, WAYS_TO_ANSWER)
    if (answer.category is None) == (answer.kind == "label"):
        raise InvalidInput(
            f"session: a label needs a category, and other answers have none, got {shown(answer.category)} with "
            f"{answer.kind!r}."
        )


def check_request(request: str) -> str:
    """The id that a sender made for a request."""
    plain = isinstance(request, str) and request.isascii() and request.isprintable()
    if not plain or not 1 <= len(request) <= 100 or ":" in request:
        raise InvalidInput(
            f"session: a request must have 1 to 100 plain characters without colons, got {shown(request)}."
        )
    return request


def said(answer: Answer, facts: Facts) -> str:
    """An answer that was taken, in a few words."""
    n = len(answer.images)
    if answer.kind == "label":
        return f"{facts.categories.get(str(answer.category), 'labelled')}, {facts.n_labelled:,} labelled"
    words = {"none": "none of these", "skip": "asked again later", "discard": "never asked again"}
    return words.get(answer.kind, "label taken back") + (f", {n:,} images" if n > 1 else "")
