"""Sorting as a page does it: a plan is shown, and done once if the person agrees."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from typing import final

from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.session_messages import SortPreview, SortReport
from fewsight.apps.workbench.sort import Sortable, SortOutcome, SortPlan
from fewsight.apps.workbench.verbs import Workbench
from fewsight.images.files import printable


@final
class SortDesk:
    """Keeps the last plan until it is done or another one is made."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._plans: dict[str, SortPlan] = {}  # replaced whole, so that threads need no lock

    def plan(self, items: Sequence[Sortable], target: str | os.PathLike[str], way: str, least: float) -> SortPreview:
        """What sorting these files into a folder would do."""
        plan = self._bench.plan_sort(items, target, way, least)
        key = uuid.uuid4().hex
        self._plans = {key: plan}
        return SortPreview(
            key,
            printable(plan.target),
            plan.way,
            plan.counts,
            len(plan.files),
            len(plan.folders),
            plan.n_in_place,
            len(plan.taken_back),
        )

    def sort(self, plan_id: str) -> SortReport:
        """Do what a plan says; it can be done once."""
        plan = self._plans.pop(plan_id, None)
        if plan is None:
            raise InvalidInput("sort: this plan is no longer there; make it again.")
        return _report(self._bench.sort(plan))

    def undo(self) -> SortReport:
        """Remove what the last sorting made and is unchanged."""
        return _report(self._bench.undo_sort())


def _report(outcome: SortOutcome) -> SortReport:
    return SortReport(outcome.n_done, [(each.name, each.reason) for each in outcome.left], outcome.n_earlier)
