"""The checks of learners find what is wrong with one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import fewsight
from fewsight.learners import LEARNERS, NearestMeanClassifier
from fewsight.testing import check_learner, learner_checks


class Wrong(NearestMeanClassifier):
    """A learner with one thing wrong with it."""

    name, title, note = "wrong", "Wrong", "a learner for tests."
    what = "nothing"

    def predict_proba(self, X):
        probability = super().predict_proba(X)
        return 2.0 * probability if self.what == "probabilities" else probability

    def _restore(self, state):
        super()._restore(state)
        if self.what == "stored":
            self.members_ = self.members_[::-1].copy()

    def predict(self, X):
        return np.roll(super().predict(X), 1) if self.what == "decisions" else super().predict(X)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    quick = [check for check in learner_checks.ROW_LEARNER_CHECKS if "scikit" not in check.__name__]
    monkeypatch.setattr(learner_checks, "ROW_LEARNER_CHECKS", tuple(quick))
    fewsight.register(Wrong)
    yield
    LEARNERS._others.pop("wrong", None)


def test_a_learner_as_it_must_be_passes() -> None:
    check_learner(Wrong())


@pytest.mark.parametrize("what", ["probabilities", "stored", "decisions"])
def test_what_is_wrong_is_found(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Wrong, "what", what)
    with pytest.raises(AssertionError):
        check_learner(Wrong())


def test_a_learner_that_is_not_registered_is_told_what_to_do() -> None:
    LEARNERS._others.pop("wrong")
    with pytest.raises(AssertionError, match=r"Wrong must be registered: fewsight\.register\(Wrong\)"):
        check_learner(Wrong())
