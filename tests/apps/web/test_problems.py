"""Every refusal has one shape."""

from __future__ import annotations

import json

import pytest

from fewsight.apps.web.problems import Problem


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "bad_request"), (401, "not_let_in"), (404, "not_found"), (503, "not_saved"), (418, "refused")],
)
def test_the_shape(status: int, code: str) -> None:
    response = Problem(status, "No.").response()
    assert response.status_code == status
    assert json.loads(bytes(response.body)) == {"error": {"code": code, "message": "No."}}
