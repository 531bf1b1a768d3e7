"""The views as pages."""

from __future__ import annotations

import pytest

from fewsight.apps.web.site import VIEWS
from page_visits import Visitor


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_a_page_with_its_script_and_its_place_in_the_menu(client: Visitor, view: str) -> None:
    found = client.get(f"/{view}")
    assert found.headers["content-type"].startswith("text/html")
    assert f'<script type="module" src="/static/{view}.js">' in found.text
    assert f'<a href="/{view}" aria-current="page">' in found.text
    assert found.text.count("aria-current") == 1


@pytest.mark.parametrize(
    "path",
    [
        "/mine?start=-1",
        "/results?least=2",
        "/grid?image=x",
        "/history?start=x",
        "/progress?a=1",
        "/results?start=99999999999",
    ],
)
def test_a_query_that_does_not_fit_is_refused(client: Visitor, path: str) -> None:
    found = client.get(path)
    assert (found.status, found.json()["error"]["code"]) == (400, "bad_request")


@pytest.mark.parametrize("what", ["labels", "progress", "results", "history"])
def test_lists_are_there_as_data(client: Visitor, what: str) -> None:
    assert client.get(f"/api/{what}").status == 200


def test_settings_that_are_unknown_are_refused(client: Visitor) -> None:
    found = client.post("/api/settings", {"changes": {"colour": "red"}})
    assert (found.status, found.json()["error"]["code"]) == (409, "refused")
    kept = client.post("/api/settings", {"changes": {"name": "Berta"}})
    assert kept.json()["name"] == "Berta"
    client.post("/api/settings", {"changes": {"name": "Ann"}})
