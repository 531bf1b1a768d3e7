"""Requests say only what they may, in sizes that are bounded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fewsight.apps.web import body_fields as fields
from fewsight.apps.web.problems import Problem

HASH = "0123456789abcdef" * 2 + "01234567"


def refused(body: bytes | dict[str, Any], **checks: Any) -> str:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises(Problem) as caught:
        fields.read_fields(raw, checks, {})
    assert caught.value.status == 400
    return caught.value.message


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[1]", b"1", b"null", b"[" * 60_000])
def test_a_body_must_be_an_object(body: bytes) -> None:
    assert refused(body, page=fields.identifier).startswith("The body must be")


def test_fields_are_known_and_complete() -> None:
    assert (
        refused({"page": "00000000", "path": "/etc"}, page=fields.identifier)
        == "'path' is not a field of this request."
    )
    assert refused({}, page=fields.identifier) == "page is missing."


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (fields.image, HASH, ["", HASH[:-1], HASH.upper(), HASH + "\n", "../" + HASH[3:], 1, None, [HASH]]),
        (fields.images, [HASH], [[], HASH, [HASH] * 1001, [1], {"0": HASH}]),
        (fields.identifier, "0123abcd", ["0123abc", "x" * 8, "a" * 65, "0123abcd\n", None, 12345678]),
        (fields.category, "ab12:3", ["", "a" * 101, "a/b", "a b", None]),
        (fields.text, "owl", ["", "a" * 201, 3, None]),
        (fields.share, 0.5, [-0.1, 1.1, "nan", "x", True, None, [0.5]]),
        (fields.count(1, 9), 3, [0, 10, 2.5, "-1", "٣", "1" * 50, True, None]),
        (fields.one_of("copy", "move"), "copy", ["", "delete", 1, None]),
        (fields.or_none(fields.category), None, ["", 5]),
        (fields.table, {"name": "Ann"}, [[], "x", {str(n): n for n in range(21)}]),
    ],
)
def test_values_fit_or_are_refused_by_name(check: Any, good: Any, bad: list[Any]) -> None:
    assert fields.read_fields(json.dumps({"it": good}).encode(), {"it": check}, {})["it"] in (good, (HASH,))
    for value in bad:
        assert refused({"it": value}, it=check).startswith("it must be ")
