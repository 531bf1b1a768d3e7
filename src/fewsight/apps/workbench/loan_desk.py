"""Loans as a page offers them: a category with few images may borrow from another one, or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.model_thread import ModelThread
from fewsight.apps.workbench.session_messages import LoanOffer
from fewsight.apps.workbench.verbs import Workbench


@final
class LoanDesk:
    """What the model proposes and people decide. Categories are given with their names, by id."""

    def __init__(self, bench: Workbench, model: ModelThread) -> None:
        self._bench, self._model = bench, model

    def offer(self, category: str, names: Mapping[str, str]) -> LoanOffer | None:
        """Whom a category with few images could borrow from; None if from nobody."""
        name = names.get(category)
        if name is None:
            raise InvalidInput(f"session: a category must be one of those that exist, got {shown(category)}.")
        with self._bench.reading() as present:
            refused = present.refused_loans() | set(present.loans().items())
        found = self._model.call(lambda model: model.loan_offer(category, refused))
        if found is None:
            return None
        lender, sentence = found
        return LoanOffer(category, lender, name, names.get(lender, lender), sentence)

    def borrow(self, category: str, lender: str, names: Mapping[str, str], request: str) -> None:
        """Let a category borrow from another one, if that helps."""
        share = self._model.call(lambda model: model.loan_share(category, lender))
        if not share:
            one, other = (shown(names.get(key, key)) for key in (category, lender))
            raise InvalidInput(f"borrow: {one} would not be recognised better with images of {other}.")
        self._bench.borrow(category, lender, request, share)
