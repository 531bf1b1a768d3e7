"""What goes wrong behind the routes is told in the one shape, too."""

from __future__ import annotations

import pytest

from fewsight._base.errors import ProjectError
from fewsight.apps.web.problems import FAILED
from fewsight.apps.workbench.session import LabellingSession
from page_visits import Visitor


def test_a_full_disk_is_told_apart_from_a_no_for_ever(
    client: Visitor, session: LabellingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise ProjectError("The disk is full.")

    monkeypatch.setattr(LabellingSession, "undo", full)
    found = client.post("/api/undo", {"page": "00000000", "request": "00000000"})
    assert (found.status, found.json()) == (503, {"error": {"code": "not_saved", "message": "The disk is full."}})


def test_a_mistake_of_ours_shows_no_insides(
    client: Visitor, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("an inner name")

    monkeypatch.setattr(LabellingSession, "guess", broken)
    found = client.get(f"/api/guess?image={'0' * 40}")
    assert (found.status, found.json()) == (500, {"error": {"code": "failed", "message": FAILED}})
    assert "an inner name" in capfd.readouterr().err
