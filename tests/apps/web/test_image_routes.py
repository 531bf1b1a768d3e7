"""Grids over HTTP; pictures are tested with the answers and the guard."""

from __future__ import annotations

import pytest

from page_visits import Visitor


@pytest.mark.parametrize(
    "path",
    [
        "/api/lookalikes",
        "/api/lookalikes?image=x",
        f"/api/lookalikes?image={'0' * 40}&n=0",
        "/api/may_belong?category=a%2Fb",
    ],
)
def test_a_query_that_does_not_fit_is_refused(client: Visitor, path: str) -> None:
    found = client.get(path)
    assert (found.status, found.json()["error"]["code"]) == (400, "bad_request")


def test_an_image_that_is_not_there_looks_like_nothing(client: Visitor) -> None:
    assert client.get(f"/api/lookalikes?image={'0' * 40}").json() == []
