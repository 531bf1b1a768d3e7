"""Categories over HTTP."""

from __future__ import annotations

import secrets

import pytest

from page_visits import Visitor


def change(client: Visitor, **said: object) -> object:
    return client.post("/api/categories", {"request": secrets.token_hex(16), **said})


def names(client: Visitor) -> dict[str, str]:
    return {each["id"]: each["name"] for each in client.get("/api/categories").json()}


def test_a_category_is_renamed_gets_a_key_and_goes_into_another(client: Visitor) -> None:
    first, second = secrets.token_hex(16), secrets.token_hex(16)
    for request, name in ((first, "newt"), (second, "toad")):
        change(client, act="new", page="00000000", name=name, request=request)
    change(client, act="rename", category=first, name="great crested newt")
    assert names(client)[first] == "great crested newt"
    change(client, act="key", category=second, key="q")
    assert {each["id"]: each["key"] for each in client.get("/api/categories").json()}[second] == "q"
    change(client, act="merge", category=first, into=second)
    assert first not in names(client)
    assert second in names(client)


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"act": "new", "name": "x"}, 400),  # of no tab
        ({"act": "rename", "category": "ab"}, 400),
        ({"act": "delete", "category": "ab"}, 400),
        ({"act": "rename", "category": "nobody", "name": "x"}, 409),
        ({"act": "new", "page": "00000000", "name": "two\nlines"}, 409),
        ({"act": "new", "page": "00000000", "name": "x" * 101}, 409),
        ({"act": "key", "category": "nobody", "key": "q"}, 409),
    ],
)
def test_what_cannot_be_is_refused(client: Visitor, said: dict[str, object], status: int) -> None:
    before = names(client)
    found = client.post("/api/categories", {"request": secrets.token_hex(16), **said})
    assert found.status == status
    assert set(found.json()["error"]) == {"code", "message"}
    assert names(client) == before


def test_nobody_lends_before_anything_is_learned(client: Visitor) -> None:
    category = secrets.token_hex(16)
    change(client, act="new", page="00000000", name="heron", request=category)
    found = client.get(f"/api/loans?category={category}")
    assert (found.status, found.json()) == (200, None)
