"""The checks of channels find what is wrong with one."""

from __future__ import annotations

import numpy as np
import pytest
from example_parts.unlabelled_channel import CentredColour

import fewsight
from fewsight.channels import CHANNELS
from fewsight.testing import check_channel

SEEN: list[float] = []


class Wrong(CentredColour):
    """A channel with one thing wrong with it."""

    name = "wrong"
    what = "nothing"

    def _encode(self, features):
        SEEN.append(float(features.descriptors.sum()))
        entry = super()._encode(features)
        if self.what == "company":
            return {"values": entry["values"] + len(SEEN)}
        return {"values": entry["values"] * np.nan} if self.what == "not a number" else entry

    def _set_learned(self, state):
        super()._set_learned(state)
        if self.what == "stored":
            self.mean_ = self.mean_ + len(SEEN)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHANNELS, "_others", {})
    fewsight.register(Wrong)


def test_a_channel_as_it_must_be_passes() -> None:
    check_channel(Wrong())


@pytest.mark.parametrize("what", ["company", "not a number", "stored"])
def test_what_is_wrong_is_found(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Wrong, "what", what)
    with pytest.raises((AssertionError, fewsight.InvalidInput)):
        check_channel(Wrong())


def test_a_channel_that_is_not_registered_is_told_what_to_do() -> None:
    CHANNELS._others.clear()
    with pytest.raises(AssertionError, match=r"Wrong must be registered: fewsight\.register\(Wrong\)"):
        check_channel(Wrong())
