"""A category with few images in a categoriser borrows from the one that suits it best. [Rodner2010, section 3.1]

The lender and the correlation are chosen together, as by `TransferGPClassifier`: the images of all categories but the lender play
the background. A loan must not cost the others: where it would make images of theirs that are left out look like the
borrower's, a smaller correlation is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, final

import numpy as np

from fewsight._base.checks import check_choice, check_integer
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.gp import path_inside
from fewsight.learners import Loan, LoanMixin
from fewsight.learners.labels import Label
from fewsight.metrics import recalls
from fewsight.transfer.criteria import CRITERIA
from fewsight.transfer.support_search import rank

Name = TypeVar("Name", bound=Label)
FEW = 5  # a category with fewer images is offered a loan
LENDER_MAY_LOSE = 0.1  # of its left-out images, to the borrower
OTHERS_MAY_LOSE = 0.005  # of their left-out accuracy, in the mean
SMALLER = (0.99, 0.98, 0.97, 0.95, 0.9, 0.8, 0.6, 0.4, 0.2)  # correlations to try where the best one costs the others


@final
@dataclass(frozen=True)
class Suggestion:
    """A loan that suits a category of n_images. `wished` is the best correlation by the criterion, whose `value` there is this;
    `rho` the one that the other categories can bear."""

    category: Label
    lender: Label
    rho: float
    n_images: int
    value: float
    wished: float

    def __str__(self) -> str:
        images = f"{self.n_images} image" + ("" if self.n_images == 1 else "s")
        return f"learned {self.category} from {images}, borrowing from {self.lender}"


def suggest_loan(
    model: LoanMixin,
    category: Label,
    *,
    lenders: Sequence[Label] | None = None,
    criterion: str = "average_precision",
) -> Suggestion | None:
    """The loan that suits a category of a fitted classifier best; None where none does. Nothing is changed.

    `lenders` are the categories to choose from (None: all); those with no more images than the category itself do not lend,
    nor do those that borrow.
    """
    check_choice("borrow", "criterion", criterion, CRITERIA)
    column = _column(model, category)
    counts = {name: int((model.labels_ == name).sum()) for name in model.classes_.tolist()}
    willing = [
        name
        for name in (model.classes_.tolist() if lenders is None else lenders)
        if counts.get(name, 0) > counts[category] and name not in model.loans_
    ]
    whole = model.posterior_.inverted(column)
    best: tuple[tuple[float, float, float], Label] | None = None
    for name in willing:
        path = path_inside(whole, np.flatnonzero(model.labels_ == name))
        if path is None:
            continue
        found = rank(path, criterion)
        key = float(found.value[0]), float(found.tie[0]), -float(found.rho[0])
        if best is None or key > best[0]:
            best = key, name
    if best is None or best[0][2] == 0:
        return None
    (value, _, minus_rho), lender = best
    rho = _bearable(model, category, Loan(lender, -minus_rho))
    return Suggestion(category, lender, rho, counts[category], value, -minus_rho) if rho > 0 else None


def borrow_for_few(
    model: LoanMixin,
    *,
    few: int = FEW,
    lenders: Mapping[Name, Sequence[Name]] | None = None,
    criterion: str = "average_precision",
) -> list[Suggestion]:
    """Let every category with fewer images than `few` borrow what suits it, and say so. Any of them can be given back.

    `lenders` limits whom a category may borrow from, by its name; see `fewsight.transfer.closest_lenders`.
    """
    few = check_integer("borrow", "few", few, least=2)
    taken = []
    for category in [name for name in model.classes_.tolist() if int((model.labels_ == name).sum()) < few]:
        allowed = [
            name
            for name in (model.classes_.tolist() if lenders is None else lenders.get(category, ()))
            if int((model.labels_ == name).sum()) >= few
        ]
        found = suggest_loan(model, category, lenders=allowed, criterion=criterion)
        if found is not None:
            model.borrow(category, found.lender, found.rho)
            taken.append(found)
    return taken


def _bearable(model: LoanMixin, category: Label, loan: Loan) -> float:
    """The largest correlation, from that of the loan down, that the other categories can bear; 0 if there is none."""
    plain, column, lender = model.leave_one_out().mean, _column(model, category), _column(model, loan.lender)
    before, changed = _recalls(model, plain), plain.copy()
    others = np.flatnonzero(np.isfinite(before) & (np.arange(len(before)) != column))
    for rho in (loan.rho, *(smaller for smaller in SMALLER if smaller < loan.rho)):
        changed[:, column] = model.borrowed(category, Loan(loan.lender, rho)).left_out
        lost = before - _recalls(model, changed)
        if lost[lender] <= LENDER_MAY_LOSE and lost[others].mean() <= OTHERS_MAY_LOSE:
            return rho
    return 0.0


def _recalls(model: LoanMixin, means: Array) -> Array:
    """The share of each category's images that these latent means call by its name."""
    names = model.classes_
    return recalls(model.labels_, names[means.argmax(axis=1)], names)


def _column(model: LoanMixin, category: Label) -> int:
    found = np.flatnonzero(model.classes_ == category)
    if not len(found):
        raise InvalidInput(f"borrow: category must be one of those learned, got {category!r}.")
    return int(found[0])
