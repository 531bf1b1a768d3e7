"""What is written from the page lies beside the folder, under a plain name, and replaces nothing."""

from __future__ import annotations

import pytest

from fewsight.apps.workbench.session import LabellingSession
from page_visits import Visitor

NAMES = ["../out", "a/b", "a\\b", ".hidden", "..", "new\nline", "a:b", "x" * 101, " ", "\u202eexe", "con|pipe"]


@pytest.mark.parametrize("route", ["/api/export", "/api/model", "/api/sort/plan"])
@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_a_name_and_no_path(client: Visitor, session: LabellingSession, route: str, name: str) -> None:
    beside = sorted(session.bench.folder.parent.iterdir())
    found = client.post(route, {"name": name})
    assert found.status == 400
    assert found.json()["error"]["message"].startswith("name must be a plain name")
    assert sorted(session.bench.folder.parent.iterdir()) == beside


def test_a_table_is_written_once(client: Visitor, session: LabellingSession) -> None:
    path = session.bench.folder.parent / "labels.csv"
    assert client.post("/api/export", {"name": "labels"}).json() == {"path": str(path)}
    content = path.read_bytes()
    again = client.post("/api/export", {"name": "labels.csv"})
    assert (again.status, again.json()["error"]["message"]) == (409, f"{path} is there already; choose another name.")
    assert path.read_bytes() == content


def test_a_plan_that_is_unknown_does_nothing(client: Visitor) -> None:
    found = client.post("/api/sort/apply", {"plan": "0" * 32})
    assert (found.status, found.json()["error"]["code"]) == (409, "refused")
