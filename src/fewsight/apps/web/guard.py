"""Who is let in: nobody but this machine's browser with the token of this run.

The checks come in a fixed order, cheapest and most telling first: Host (a name that another site made point here), method,
cookie or token, Origin and where the request comes from, content type, size. What passes has a body of at most 64 KB in memory.
Every answer, refusals included, carries the same strict headers.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable
from typing import final
from urllib.parse import parse_qs

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fewsight.apps.web.problems import Problem
from fewsight.apps.web.site import Site

LARGEST_BODY = 64 * 1024
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; img-src 'self'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
OPEN_PATHS = ("/static/page.css",)  # for the page that says how to be let in; it holds no data
_FRAMES = ("iframe", "frame", "embed", "object")


@final
class Guard:
    """Wraps the application; `methods_of` says which methods a path knows, empty for a path that does not exist."""

    def __init__(
        self, app: ASGIApp, *, token: str, port: int, methods_of: Callable[[str], frozenset[str]], site: Site
    ) -> None:
        self._app, self._token, self._methods_of, self._site = app, token, methods_of, site
        self.cookie = cookie_name(port)
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        with_headers = _adding_headers(send)
        try:
            self._check(scope)
            taken = await _whole_body(scope, receive) if scope["method"] == "POST" else receive
        except Problem as problem:
            await self._refusal(problem, scope)(scope, receive, with_headers)
            return
        await self._app(scope, taken, with_headers)

    def _refusal(self, problem: Problem, scope: Scope) -> Response:
        """In the one shape; for a person who opened a view in a tab, as a page with the same sentence."""
        if problem.status == 401 and scope["method"] == "GET" and values(scope, "sec-fetch-mode") == ["navigate"]:
            return self._site.plain("not_let_in.html.j2", 401, message=problem.message, code=problem.code)
        return problem.response()

    def _check(self, scope: Scope) -> None:
        self._check_host(scope)
        self._check_method(scope)
        self._check_token(scope)
        self._check_sender(scope)
        if scope["method"] == "POST":
            _check_type(scope)

    def _check_host(self, scope: Scope) -> None:
        hosts = values(scope, "host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise Problem(421, "This address does not belong to fewsight's page.")

    def _check_method(self, scope: Scope) -> None:
        known = self._methods_of(scope["path"])
        if scope["method"] not in (known or {"GET", "HEAD", "POST"}):
            raise Problem(405, f"{scope['path'][:100]}: the method must be {' or '.join(sorted(known)) or 'GET'}.")

    def _check_token(self, scope: Scope) -> None:
        if scope["path"] in OPEN_PATHS:
            return
        given = _cookies(scope, self.cookie)
        if scope["path"] == "/":
            given += parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if not any(hmac.compare_digest(each.encode(), self._token.encode()) for each in given):
            raise Problem(401, self._site.words["errors"]["not_let_in"])

    def _check_sender(self, scope: Scope) -> None:
        if values(scope, "sec-fetch-dest")[:1] in ([each] for each in _FRAMES):
            raise Problem(403, "The page is not shown inside another page.")
        if scope["method"] == "POST":
            ours = {f"http://{host}" for host in values(scope, "host")}
            if set(values(scope, "origin")) != ours:
                raise Problem(403, "Only fewsight's own page may send this.")
        allowed = ("same-origin",) if scope["method"] == "POST" else ("same-origin", "none")
        entering = scope["path"] == "/" and scope["method"] == "GET"  # a link to the address, wherever it stands
        if not entering and any(each not in allowed for each in values(scope, "sec-fetch-site")):
            raise Problem(403, "Only fewsight's own page may ask for this.")


def cookie_name(port: int) -> str:
    """Cookies belong to a host, whatever the port, so the port is part of the name."""
    return f"fewsight-{port}"


def values(scope: Scope, name: str) -> list[str]:
    """All values of a header."""
    wanted = name.encode()
    return [value.decode("latin-1") for key, value in scope["headers"] if key == wanted]


def _cookies(scope: Scope, name: str) -> list[str]:
    pairs = (pair.strip().partition("=") for line in values(scope, "cookie") for pair in line.split(";"))
    return [value for key, _, value in pairs if key == name]


def _check_type(scope: Scope) -> None:
    types = values(scope, "content-type")
    if len(types) != 1 or types[0].partition(";")[0].strip().lower() != "application/json":
        raise Problem(415, "The content type must be application/json.")


async def _whole_body(scope: Scope, receive: Receive) -> Receive:
    """The body, read up to the limit, as a `receive` that gives it once."""
    lengths = values(scope, "content-length")
    if any(not each.isdigit() or int(each) > LARGEST_BODY for each in lengths):
        raise Problem(413, f"A request must have at most {LARGEST_BODY:,} bytes.")
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem(400, "The request ended early.")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST_BODY:
            raise Problem(413, f"A request must have at most {LARGEST_BODY:,} bytes.")
        more = message.get("more_body", False)
    first: list[Message] = [{"type": "http.request", "body": b"".join(parts), "more_body": False}]

    async def again() -> Message:
        return first.pop() if first else await receive()

    return again


def _adding_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {key.lower() for key, _ in message.get("headers", ())}
            missing: Iterable[tuple[str, str]] = {"cache-control": "no-store", **HEADERS}.items()
            extra = [(key.encode(), value.encode()) for key, value in missing if key.encode() not in there]
            message = {**message, "headers": [*message.get("headers", ()), *extra]}
        await send(message)

    return sending
