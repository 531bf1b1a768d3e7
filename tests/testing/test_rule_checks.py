"""The checks of query rules find what is wrong with one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import fewsight
from fewsight.active import QUERY_RULES, QueryRule
from fewsight.testing import check_rule


class Wrong(QueryRule):
    """A rule with one thing wrong with it."""

    name = "wrong"
    what = "nothing"

    def _scores(self, view, candidates, rng):
        if self.what == "not a number":
            return np.full(len(candidates), np.nan)
        if self.what == "never the same":
            return np.random.default_rng().random(len(candidates))
        if self.what == "changes the view":
            view.mean[:] = 0.0
        return view.variance[candidates]


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    fewsight.register(Wrong)
    yield
    QUERY_RULES._others.pop("wrong", None)


def test_a_rule_as_it_must_be_passes() -> None:
    check_rule(Wrong())


@pytest.mark.parametrize("what", ["not a number", "never the same", "changes the view"])
def test_what_is_wrong_is_found(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Wrong, "what", what)
    with pytest.raises((AssertionError, ValueError)):
        check_rule(Wrong())


def test_a_rule_that_is_not_registered_is_told_what_to_do() -> None:
    QUERY_RULES._others.pop("wrong")
    with pytest.raises(AssertionError, match=r"Wrong must be registered: fewsight\.register\(Wrong\)"):
        check_rule(Wrong())
