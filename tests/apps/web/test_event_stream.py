"""News reach an open page."""

from __future__ import annotations

import http.client
import json
import secrets

from fewsight.apps.web.server import PageServer
from page_visits import Visitor


def test_what_changes_is_told_without_asking(server: PageServer, client: Visitor) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.page.port, timeout=20)
    connection.request("GET", "/api/events", headers={"Cookie": f"fewsight-{server.page.port}={server.page.token}"})
    stream = connection.getresponse()
    assert stream.getheader("content-type") == "text/event-stream; charset=utf-8"

    def news() -> dict[str, object]:
        while not (line := stream.readline()).startswith(b"data: "):
            assert line
        found: dict[str, object] = json.loads(line.removeprefix(b"data: "))
        return found

    first = news()
    client.post(
        "/api/categories", {"act": "new", "page": "00000000", "name": "swift", "request": secrets.token_hex(16)}
    )
    later = news()
    while later["last_event"] == first["last_event"]:
        later = news()
    assert later["version"] != first["version"]
    stream.close()
    connection.close()
