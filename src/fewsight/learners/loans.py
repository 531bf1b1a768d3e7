"""What a category that has few examples borrows from another one: said, shown, and taken back at will."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_number, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.gp import BorrowedColumn, LeaveOneOut, Posterior, borrowed_column
from fewsight.learners.balance import TargetLevels, counts_without, is_balanced, leave_out, plain_targets
from fewsight.learners.labels import Label, Labels, class_numbers, labels_of


class Loan(NamedTuple):
    """Which category lends, and how much its function has to do with the borrower's: 0 nothing, 1 all.

    A loan of an early model file is not blended with what the borrower is alone, see `lent_column`.
    """

    lender: Label
    rho: float
    blended: bool = True


def lent_column(
    K: Array,
    noise: Array,
    numbers: Indices,
    column: int,
    lender: int,
    loan: Loan,
    groups: Indices | None = None,
    *,
    balanced: bool,
) -> BorrowedColumn:
    """The column of a class that borrows from another, of examples whose classes have these numbers (n,).

    It is the average of what the class would be alone and what it would be with the lender as a related task, with 1 - rho and
    rho as weights: with rho = 0 the lender's examples speak against it, as those of all others, and nothing is borrowed.

    A loan adds to a balanced column what it adds to a plain one: with the large targets of a rare class, examples of the lender
    that no longer speak against it would be claimed at once.
    """
    rows, targets = np.flatnonzero(numbers == lender), np.where(numbers == column, 1.0, -1.0)
    lent, share = borrowed_column(K, noise, targets, rows, loan.rho, groups), loan.rho if loan.blended else 1.0
    alone = borrowed_column(K, noise, targets, rows[:0], 1.0, groups)
    joint = (share * with_it + (1.0 - share) * without for with_it, without in zip(lent, alone, strict=True))
    if not balanced:
        return BorrowedColumn(*joint)
    ones = borrowed_column(K, noise, np.ones(len(K)), rows[:0], 1.0, groups)
    counts = counts_without(numbers, int(numbers.max(initial=0)) + 1, groups)
    levels = (TargetLevels.of(each) for each in counts)
    return BorrowedColumn(
        *(
            of_joint + (level.scale[..., column] - 1.0) * of_alone + level.shift[..., column] * of_ones
            for level, of_joint, of_alone, of_ones in zip(levels, joint, alone, ones, strict=True)
        )
    )


class LoanMixin(ABC):
    """A Gaussian-process classifier some of whose categories borrow. The columns of all others stay as they are.

    `loans_` maps a category to its Loan. Choosing whom to borrow from is `fewsight.transfer.suggest_loan`'s.
    """

    posterior_: Posterior
    classes_: Labels
    balanced: bool
    loans_: dict[Label, Loan]
    _borrowed_weights: dict[int, Array]  # by column

    @property
    def labels_(self) -> Labels:
        """The labels of the training examples (n,)."""
        check_is_fitted(self)
        return labels_of(class_numbers(self.posterior_.targets), self.classes_)

    def borrower(self) -> LoanMixin:
        """This learner, whose categories can borrow from each other."""
        return self

    @classmethod
    def why_no_loans(cls) -> str:
        """Nothing: its categories can borrow."""
        return ""

    def borrow(self, category: Label, lender: Label, rho: float) -> Self:
        """Let a category borrow from another with correlation rho, in place of what it borrowed before.

        Parameters
        ----------
        category : the label of the category that borrows.
        lender : the label of another category.
        rho : the correlation of the two, from 0 (nothing is borrowed) to 1 (the lender's examples count as its own).
        """
        check_is_fitted(self)
        column, lending = self._column(category), self._column(lender)
        rho = check_number(self, "rho", rho, least=0.0, most=1.0)
        if column == lending:
            raise InvalidInput(f"GPClassifier: a category must borrow from another one, got {shown(category)} itself.")
        if not len(self._rows_of(lending)):
            raise InvalidInput(f"GPClassifier: the lender must have examples, {shown(lender)} has none.")
        self.loans_ = {**self.loans_, self._label(column): Loan(self._label(lending), rho)}
        self._settle([column])
        return self

    def give_back(self, category: Label) -> Self:
        """End a loan: the category is learned from its own examples alone.

        Parameters
        ----------
        category : the label of a category that borrows.
        """
        check_is_fitted(self)
        self._column(category)
        self.loans_ = {name: loan for name, loan in self.loans_.items() if name != category}
        self._settle([])
        return self

    def leave_one_out(self) -> LeaveOneOut:
        """Latent values of each training example as if it had not been there, in closed form."""
        check_is_fitted(self)
        return self._with_loans(leave_out(self.posterior_, balanced=bool(self.balanced)))

    def leave_group_out(self, groups: Indices) -> LeaveOneOut:
        """As `leave_one_out`, with all examples of a group (n,) left out together.

        Parameters
        ----------
        groups : a whole number for each training example (n,); those that share one are left out together.

        Returns
        -------
        LeaveOneOut
            `mean` (n, c) and `variance` (n,).
        """
        check_is_fitted(self)
        return self._with_loans(leave_out(self.posterior_, groups, balanced=bool(self.balanced)), groups)

    def _with_loans(self, plain: LeaveOneOut, groups: Indices | None = None) -> LeaveOneOut:
        if not self.loans_:
            return plain
        mean = plain.mean.copy()
        for name, loan in self.loans_.items():
            mean[:, self._column(name)] = self.borrowed(name, loan, groups).left_out
        return LeaveOneOut(mean, plain.variance)

    def borrowed(self, category: Label, loan: Loan, groups: Indices | None = None) -> BorrowedColumn:
        """What a category would be with a loan, and without each of the groups (n,) of examples; nothing is changed.

        Parameters
        ----------
        category : the label of the category that would borrow.
        loan : from whom, and with which correlation.
        groups : a number for each training example (n,): those with the same number are left out together; None for one by
            one.
        """
        posterior, columns = self.posterior_, (self._column(category), self._column(loan.lender))
        K, noise = posterior.covariance(), posterior.noise_variance + posterior.jitters
        balanced = bool(self.balanced) and is_balanced(posterior)
        return lent_column(K, noise, class_numbers(posterior.targets), *columns, loan, groups, balanced=balanced)

    def plain_posterior(self) -> Posterior:
        """The same with targets of +1 and -1, however large the categories are."""
        return self.posterior_.relabel(np.arange(self.posterior_.n), plain_targets(self.posterior_.targets))

    def forget_loans(self) -> None:
        """End all loans."""
        self.loans_, self._borrowed_weights = {}, {}

    def _settle(self, changed: Sequence[int] | None = None) -> None:
        """Learn the columns of the loans again: of these categories or, where examples came or went, of all."""
        with_examples = {
            name: loan for name, loan in self.loans_.items() if len(self._rows_of(self._column(loan.lender)))
        }
        kept = {} if changed is None else {c: w for c, w in self._borrowed_weights.items() if c not in changed}
        self.loans_, self._borrowed_weights = with_examples, {}
        for name, loan in self.loans_.items():
            column = self._column(name)
            weights = kept[column] if column in kept else self.borrowed(name, loan).weights
            self._borrowed_weights[column] = weights

    def _means(self, K_test: Array) -> Array:
        """Posterior means (m, c), those of categories that borrow with what they borrow."""
        mean = self.posterior_.mean(K_test)
        for column, weights in self._borrowed_weights.items():
            mean[:, column] = K_test @ weights
        return mean

    def _loans_state(self) -> tuple[list[tuple[int, int, float]], Array]:
        """For the model file: borrower, lender (columns) and rho of each loan, and a column of weights for each (n, loans)."""
        rows = [(self._column(name), self._column(loan.lender), loan.rho) for name, loan in self.loans_.items()]
        weights = [self._borrowed_weights[row[0]] for row in rows]
        return rows, np.array(weights).reshape(len(rows), self.posterior_.n).T

    def _restore_loans(self, rows: Sequence[Sequence[float]], weights: Array, blended: Sequence[bool]) -> None:
        """What came from a file, and may have been edited, fits together."""
        self.forget_loans()
        columns = set(range(len(self.classes_)))
        for (first, second, rho), column, is_blended in zip(rows, weights.T, blended, strict=True):
            borrower, lender = int(first), int(second)
            known = {first, second} <= columns and borrower not in self._borrowed_weights
            if borrower == lender or not known:
                raise InvalidInput("the loans must be between two categories, one for each borrower.")
            check_number("model", "rho", rho, least=0.0, most=1.0)
            self.loans_[self._label(borrower)] = Loan(self._label(lender), float(rho), is_blended)
            self._borrowed_weights[borrower] = np.ascontiguousarray(column)

    def _column(self, category: Label) -> int:
        found = np.flatnonzero(self.classes_ == category)
        if not len(found):
            raise InvalidInput(f"GPClassifier: a category must be one of those learned, got {shown(category)}.")
        return int(found[0])

    def _label(self, column: int) -> Label:
        label: Label = self.classes_[column].item()
        return label

    def _rows_of(self, column: int) -> Indices:
        return np.flatnonzero(self.posterior_.targets[:, column] > 0)
