"""The server: this machine only, the same port again, and requests that no browser would send."""

from __future__ import annotations

import json
import socket

import pytest

from fewsight._base.errors import FewsightError
from fewsight.apps.web.server import PageServer
from fewsight.apps.workbench.session import LabellingSession


def raw(server: PageServer, path: str) -> tuple[int, bytes]:
    """Send a path byte by byte as it is; status and body."""
    with socket.create_connection(("127.0.0.1", server.page.port), timeout=10) as line:
        cookie = f"Cookie: fewsight-{server.page.port}={server.page.token}"
        line.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.page.port}\r\n{cookie}\r\nConnection: close\r\n\r\n".encode()
        )
        found = b""
        while part := line.recv(65536):
            found += part
    head, _, body = found.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


@pytest.mark.parametrize(
    "path",
    [
        "/static/../guard.py",
        "/static/../../cli/label.py",
        "/static/..%5cguard.py",
        "/static//etc/passwd",
        "/image/../../../../etc/passwd/320",
        "/image/%2e%2e/%2e%2e/320",
        "/image/%00/320",
        "//etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
    ],
)
def test_no_path_leads_out(server: PageServer, path: str) -> None:
    status, body = raw(server, path)
    assert status == 404
    assert json.loads(body)["error"]["code"] == "not_found"


def test_only_this_machine_is_listened_to(server: PageServer) -> None:
    assert server._socket.getsockname()[0] == "127.0.0.1"


def test_the_port_of_the_project_is_taken_again(session: LabellingSession, server: PageServer) -> None:
    assert session.bench.file.setting("port") == server.page.port


def test_a_port_that_is_taken_is_one_sentence(session: LabellingSession, server: PageServer) -> None:
    port = server.page.port
    with pytest.raises(FewsightError) as caught:
        PageServer(session, port)
    assert str(caught.value) == (
        f"label: port {port} is taken by another program; choose another one, or leave --port out."
    )


def test_every_run_has_a_token_of_its_own(session: LabellingSession, server: PageServer) -> None:
    other = PageServer(session)
    assert other.page.token != server.page.token
    assert other.page.port != server.page.port
    other._socket.close()
