"""A category with few images in a categoriser borrows from the one that suits it best. [Rodner2010, section 3.1]

The lender and the correlation are chosen together, by how far the borrower's images stand out from those of all categories but
the lender when each is left out; where they stand out most with a correlation of zero, nothing is borrowed. A loan must not cost
the others: where too many of their left-out images would probably go to the borrower, a smaller correlation is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self, TypeVar, final

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_choice, check_integer, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.gp import path_inside
from fewsight.learners import Learner, Loan, LoanMixin
from fewsight.learners.labels import Label
from fewsight.transfer.criteria import CRITERIA
from fewsight.transfer.support_search import rank

Name = TypeVar("Name", bound=Label)
FEW = 5  # a category with fewer images is offered a loan
ONE_MAY_LOSE = 0.1  # of the images of any other category, in expectation
ALL_MAY_LOSE = 0.005  # of the images of a category, in the mean over all others
SCATTER = 0.3  # of the values of new images around those of left-out ones; targets are about 1 and -1
HALVINGS = 7  # to find the largest correlation that the others can bear
NO_LENDER = "no category that may lend has enough images"
SAME_PHOTOGRAPHS = "every category that may lend shows the same photographs"
NO_HELP = "with nothing borrowed its images stand out most when they are left out"
TOO_DEAR = "what {lender} would lend costs the other categories too many of their left-out images"

SharesPhotographs = Callable[[Label, Label], bool]  # of a borrower and a lender


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
        return f"learned {self.category} from {_images(self.n_images)}, borrowing from {self.lender}"


@final
@dataclass(frozen=True)
class NoLoan:
    """A category of n_images that borrows nothing, and why."""

    category: Label
    n_images: int
    reason: str

    def __str__(self) -> str:
        return f"learned {self.category} from {_images(self.n_images)} alone: {self.reason}"


def suggest_loan(
    model: LoanMixin,
    category: Label,
    *,
    lenders: Sequence[Label] | None = None,
    criterion: str = "separation",
    shares: SharesPhotographs | None = None,
) -> Suggestion | None:
    """The loan that suits a category of a fitted classifier best; None where none does. Nothing is changed.

    See `consider_loan`, which also says why.

    Parameters
    ----------
    model : a fitted learner whose categories can borrow, such as `GPClassifier`.
    category : the label of the category that is to borrow.
    lenders : the labels to choose from; None for all.
    criterion : what the choice goes by: "separation", "average_precision", "roc_area", "predictive_probability",
        "squashed_probability" or "conditional_likelihood".
    shares : says of two labels whether their images show the same photographs; None if none do.
    """
    found = consider_loan(model, category, lenders=lenders, criterion=criterion, shares=shares)
    return found if isinstance(found, Suggestion) else None


def consider_loan(
    model: LoanMixin,
    category: Label,
    *,
    lenders: Sequence[Label] | None = None,
    criterion: str = "separation",
    shares: SharesPhotographs | None = None,
) -> Suggestion | NoLoan:
    """The loan that suits a category of a fitted classifier best, or why there is none. Nothing is changed.

    Categories with no more images than the category itself do not lend, nor do those that borrow, nor those that show the same
    photographs: what is left out of one would be seen in the other.

    Parameters
    ----------
    model : the classifier.
    category : which one shall borrow.
    lenders : the categories to choose from; None for all.
    criterion : what the choice goes by, as for `suggest_loan`.
    shares : a function of two categories that says whether they show the same photographs; None where none do.
    """
    check_choice("borrow", "criterion", criterion, CRITERIA)
    _check_model(model)
    column = _column(model, category)
    chosen = model.classes_.tolist() if lenders is None else _checked_lenders(model, lenders)
    counts = {name: int((model.labels_ == name).sum()) for name in model.classes_.tolist()}
    willing = [name for name in chosen if counts[name] > counts[category] and name not in model.loans_]
    whole = model.plain_posterior().inverted(column)
    found: list[tuple[tuple[float, float, float], Label]] = []
    for name in willing:
        path = path_inside(whole, np.flatnonzero(model.labels_ == name))
        if path is not None:
            ranking = rank(path, criterion)
            found.append(((float(ranking.value[0]), float(ranking.tie[0]), -float(ranking.rho[0])), name))
    found.sort(key=lambda each: each[0], reverse=True)
    best = next((each for each in found if shares is None or not shares(category, each[1])), None)
    if best is None:
        return NoLoan(category, counts[category], SAME_PHOTOGRAPHS if found else NO_LENDER)
    (value, _, minus_rho), lender = best
    if minus_rho == 0:
        return NoLoan(category, counts[category], NO_HELP)
    rho = _bearable(model, category, Loan(lender, -minus_rho))
    if rho == 0:
        return NoLoan(category, counts[category], TOO_DEAR.format(lender=lender))
    return Suggestion(category, lender, rho, counts[category], value, -minus_rho)


def borrow_for_few(
    model: LoanMixin,
    *,
    few: int = FEW,
    lenders: Mapping[Name, Sequence[Name]] | None = None,
    criterion: str = "separation",
    shares: SharesPhotographs | None = None,
) -> list[Suggestion]:
    """Let every category with fewer images than `few` borrow what suits it, and say so. Any of them can be given back.

    `lenders` limits whom a category may borrow from, by its name; see `fewsight.transfer.closest_lenders`. `shares` says
    whether two categories show the same photographs. `loans_for_few` also says why a category borrows nothing.

    Parameters
    ----------
    model : a fitted learner whose categories can borrow; it is changed.
    few : categories with fewer examples than this borrow, those with at least as many lend.
    lenders : by the name of a category, the labels that it may borrow from; None for all.
    criterion : as for `suggest_loan`.
    shares : says of two labels whether their images show the same photographs; None if none do.
    """
    made = loans_for_few(model, few=few, lenders=lenders, criterion=criterion, shares=shares)
    return [each for each in made if isinstance(each, Suggestion)]


def loans_for_few(
    model: LoanMixin,
    *,
    few: int = FEW,
    lenders: Mapping[Name, Sequence[Name]] | None = None,
    criterion: str = "separation",
    shares: SharesPhotographs | None = None,
) -> list[Suggestion | NoLoan]:
    """As `borrow_for_few`, with an answer for every category that has few images."""
    few = check_integer("borrow", "few", few, least=2)
    _check_model(model)
    answers: list[Suggestion | NoLoan] = []
    for category in [name for name in model.classes_.tolist() if int((model.labels_ == name).sum()) < few]:
        allowed = [
            name
            for name in (model.classes_.tolist() if lenders is None else lenders.get(category, ()))
            if int((model.labels_ == name).sum()) >= few
        ]
        found = consider_loan(model, category, lenders=allowed, criterion=criterion, shares=shares)
        if isinstance(found, Suggestion):
            model.borrow(category, found.lender, found.rho)
        answers.append(found)
    return answers


@final
@dataclass(frozen=True, eq=False)
class Rivalry:
    """A category against the left-out images of all others: what they would lose to it if its values there were larger."""

    members: npt.NDArray[np.bool_]  # (n, c), which class each image is of
    column: int  # of the category
    alone: Array  # (n,), its values at the images, each left out
    rivals: Array  # (n,), those of the class that the image goes to otherwise; infinite where that is not its own

    @classmethod
    def of(cls, model: LoanMixin, category: Label) -> Self:
        """From the left-out examples of a fitted model."""
        column, means = _column(model, category), model.leave_one_out().mean
        members = np.equal.outer(model.labels_, model.classes_)
        others = np.where(np.arange(members.shape[1]) == column, -np.inf, means)
        right = members[np.arange(len(members)), others.argmax(axis=1)]
        return cls(members, column, means[:, column], np.where(right, others.max(axis=1), np.inf))

    def lost(self, values: Array) -> Array:
        """The share of its images that each other class (c - 1,) would lose, were these (n,) the values of the category.

        An image is lost by the chance that a new one like it is: values of new images scatter around those of left-out ones.
        """
        chances = ndtr((values - self.rivals) / SCATTER) - ndtr((self.alone - self.rivals) / SCATTER)
        sizes = self.members.sum(axis=0)
        return np.delete(self.members.T @ chances / np.maximum(sizes, 1), self.column)

    def bear(self, values: Array) -> bool:
        """Whether the others can do with that."""
        present = np.delete(self.members.any(axis=0), self.column)
        lost = self.lost(values)[present]
        return bool(lost.max(initial=0.0) <= ONE_MAY_LOSE and lost.sum() <= ALL_MAY_LOSE * max(1, len(lost)))


def largest_bearable(most: float, bearable: Callable[[float], bool]) -> float:
    """The largest number from 0 to this one that can be borne, by halving; 0 if none was found."""
    if bearable(most):
        return most
    low, high, found = 0.0, 1.0, 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if bearable(middle * most):
            low, found = middle, middle * most
        else:
            high = middle
    return found


def _bearable(model: LoanMixin, category: Label, loan: Loan) -> float:
    """The largest correlation, up to that of the loan, that the other categories can bear; 0 if there is none."""
    rivalry = Rivalry.of(model, category)
    return largest_bearable(
        loan.rho, lambda rho: rivalry.bear(model.borrowed(category, Loan(loan.lender, rho)).left_out)
    )


def _images(n: int) -> str:
    return f"{n} image" + ("" if n == 1 else "s")


def _check_model(model: object) -> None:
    """A fitted learner whose categories can borrow."""
    if not isinstance(model, LoanMixin):
        reason = f", got {shown(model)}"
        if isinstance(model, Learner):
            reason = f", got {type(model).__name__}: {model.why_no_loans()}"
        raise InvalidInput(f"borrow: model must be a learner whose categories can borrow{reason}.")
    check_is_fitted(model, "classes_")


def _checked_lenders(model: LoanMixin, lenders: Sequence[Label]) -> list[Label]:
    """Labels of categories that were learned."""
    known = model.classes_.tolist()
    unknown = [lenders] if isinstance(lenders, str) else [name for name in lenders if name not in known]
    if unknown:
        raise InvalidInput(f"borrow: lenders must be a list of categories that were learned, got {shown(unknown[0])}.")
    return list(lenders)


def _column(model: LoanMixin, category: Label) -> int:
    found = np.flatnonzero(model.classes_ == category)
    if not len(found):
        raise InvalidInput(f"borrow: category must be one of those learned, got {category!r}.")
    return int(found[0])
