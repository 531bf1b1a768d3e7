"""A category with few images borrows from another: offered, shown, refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fewsight._base.errors import InvalidInput
from fewsight.learners import LoanMixin
from fewsight.transfer import CLOSEST, FEW, NoLoan, Suggestion, closest_lenders, loans_for_few, suggest_loan
from fewsight.transfer.lending import SharesPhotographs


@dataclass(frozen=True)
class BorrowingOptions:
    """How categories borrow: from the `closest` in meaning, of these `senses`, and never what was `refused`.

    `refused` maps a category to lenders it does not take, or to nobody at all: then it does not borrow.
    """

    closest: int = CLOSEST
    senses: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def lenders(self, names: Sequence[str]) -> tuple[dict[str, list[str]], bool]:
        """Whom each category may borrow from, and whether WordNet limited them."""
        for name in self.refused:
            if name not in names:
                raise InvalidInput(f"borrow: a refused category must be one of those learned, got {name!r}.")
        found = closest_lenders(names, self.closest, self.senses)
        everyone = {name: [other for other in names if other != name] for name in names}
        return {name: self._left(name, among) for name, among in (found or everyone).items()}, found is not None

    def _left(self, name: str, lenders: Sequence[str]) -> list[str]:
        refused = self.refused.get(name)
        if refused is None:
            return list(lenders)
        return [lender for lender in lenders if refused and lender not in refused]


@dataclass(frozen=True)
class Borrowed:
    """The loans made, whether WordNet limited the lenders, and which categories with few images borrow nothing, and why."""

    suggestions: tuple[Suggestion, ...]
    wordnet: bool
    declined: tuple[NoLoan, ...] = ()


def borrow(model: LoanMixin, how: BorrowingOptions | None = None, shares: SharesPhotographs | None = None) -> Borrowed:
    """Let the categories of a model that have few images borrow, but not from categories that show the same photographs."""
    how = how or BorrowingOptions()
    lenders, wordnet = how.lenders(model.classes_.tolist())
    answers = loans_for_few(model, lenders=lenders, shares=shares)
    made = tuple(each for each in answers if isinstance(each, Suggestion))
    unwanted = {name for name, refused in how.refused.items() if not refused}
    declined = tuple(each for each in answers if isinstance(each, NoLoan) and each.category not in unwanted)
    return Borrowed(made, wordnet, declined)


def offers(model: LoanMixin, how: BorrowingOptions | None = None) -> list[Suggestion]:
    """What to offer for each category with fewer than five images and no loan, most needy first; nothing is changed."""
    lenders, _ = (how or BorrowingOptions()).lenders(model.classes_.tolist())
    counts = {name: int((model.labels_ == name).sum()) for name in model.classes_.tolist()}
    needy = sorted((n, name) for name, n in counts.items() if n < FEW and name not in model.loans_)
    found = [
        suggest_loan(model, name, lenders=[other for other in lenders[name] if counts[other] >= FEW])
        for _, name in needy
    ]
    return [suggestion for suggestion in found if suggestion is not None]


def read_senses(texts: Sequence[str]) -> dict[str, str]:
    """`["bass=fish"]` as `{"bass": "fish"}`."""
    senses = {}
    for text in texts:
        name, equals, meaning = (part.strip() for part in text.partition("="))
        if not (name and equals and meaning):
            raise InvalidInput(f"a sense must have the form CATEGORY=MEANING, got {text!r}.")
        senses[name] = meaning
    return senses


def read_refusals(texts: Sequence[str]) -> dict[str, list[str]]:
    """`["okapi", "gerenuk=chair"]` as `{"okapi": [], "gerenuk": ["chair"]}`."""
    refused: dict[str, list[str]] = {}
    for text in texts:
        name, equals, lender = (part.strip() for part in text.partition("="))
        if not name or (equals and not lender):
            raise InvalidInput(f"a refusal must have the form CATEGORY or CATEGORY=LENDER, got {text!r}.")
        refused.setdefault(name, [])
        if lender:
            refused[name].append(lender)
    return refused
