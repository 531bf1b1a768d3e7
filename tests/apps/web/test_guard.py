"""Who is let in, and that every refusal has one shape."""

from __future__ import annotations

import pytest

from fewsight.apps.web.guard import HEADERS, LARGEST_BODY
from page_visits import Answered, Visitor

HOME = "http://127.0.0.1:PORT"
COOKIE = {"cookie": "fewsight-PORT=TOKEN"}
POST = {**COOKIE, "origin": HOME, "content-type": "application/json"}
PAGES = (
    "/label",
    "/grid",
    "/mine",
    "/progress",
    "/results",
    "/history",
    "/settings",
    "/api/next",
    "/api/state",
    "/static/page.js",
)


def refusal(response: Answered, status: int, code: str) -> str:
    assert response.status == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert set(response.json()) == {"error"}
    assert set(response.json()["error"]) == {"code", "message"}
    assert response.json()["error"]["code"] == code
    for name, value in HEADERS.items():
        assert response.headers[name] == value
    assert response.headers["cache-control"] == "no-store"
    return str(response.json()["error"]["message"])


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1PORT", "127.0.0.1.evil.example:PORT", ""]
)
def test_a_foreign_host_is_refused_whatever_it_brings(stranger: Visitor, host: str) -> None:
    refusal(stranger.get("/label?token=TOKEN", headers={**COOKIE, "host": host}), 421, "wrong_host")


@pytest.mark.parametrize("host", ["127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT"])
def test_both_names_of_this_machine_are_known(stranger: Visitor, host: str) -> None:
    assert stranger.get("/label", headers={**COOKIE, "host": host}).status == 200


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(
    "cookie", ["", "fewsight-PORT=", "fewsight-PORT=wrong", "fewsight-PORT=TOKENx", "fewsight-1PORT=TOKEN"]
)
def test_nothing_is_shown_without_the_token_of_this_run(stranger: Visitor, path: str, cookie: str) -> None:
    refusal(stranger.get(path, headers={"cookie": cookie}), 401, "not_let_in")


def test_a_token_in_the_address_opens_the_first_page_only(stranger: Visitor) -> None:
    refusal(stranger.get("/label?token=TOKEN"), 401, "not_let_in")
    refusal(stranger.get("/?token=wrong"), 401, "not_let_in")
    response = stranger.get("/?token=TOKEN")
    assert (response.status, response.headers["location"]) == (303, "/label")
    cookie = response.headers["set-cookie"]
    assert cookie.startswith(f"fewsight-{stranger.port}={stranger.token};")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


def test_a_person_without_the_token_reads_a_page_with_the_same_sentence(stranger: Visitor) -> None:
    response = stranger.get("/label", headers={"sec-fetch-mode": "navigate"})
    message = refusal(stranger.get("/label"), 401, "not_let_in")
    assert response.status == 401
    assert response.headers["content-type"].startswith("text/html")
    assert message.split("`")[0] in response.text
    assert response.headers["content-security-policy"] == HEADERS["content-security-policy"]


@pytest.mark.parametrize("path", ["/api/answers", "/api/undo", "/api/categories", "/api/sort/plan", "/api/export"])
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:1PORT"},
        {"origin": "null"},
        {"origin": "http://localhost:PORT"},  # ours, but not the host of this request
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
    ],
)
def test_a_post_from_another_site_is_refused(stranger: Visitor, path: str, headers: dict[str, str]) -> None:
    refusal(stranger.post(path, {}, {**POST, **headers}), 403, "foreign")


def test_a_post_that_does_not_say_where_it_comes_from_is_refused(stranger: Visitor) -> None:
    headers = {key: value for key, value in POST.items() if key != "origin"}
    refusal(stranger.post("/api/undo", {}, headers), 403, "foreign")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_nothing_is_read_by_a_page_of_another_site(stranger: Visitor, site: str) -> None:
    for path in ("/label", "/api/state", f"/image/{'0' * 40}/320"):
        refusal(stranger.get(path, headers={**COOKIE, "sec-fetch-site": site}), 403, "foreign")


@pytest.mark.parametrize("where", ["iframe", "frame", "embed", "object"])
def test_a_page_in_a_frame_is_refused(stranger: Visitor, where: str) -> None:
    headers = {**COOKIE, "sec-fetch-dest": where, "sec-fetch-site": "same-origin"}
    refusal(stranger.get("/label", headers=headers), 403, "foreign")
    refusal(stranger.get("/?token=TOKEN", headers=headers), 403, "foreign")


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data", ""])
def test_what_a_form_could_send_is_refused(stranger: Visitor, kind: str) -> None:
    refusal(stranger.post("/api/undo", {}, {**POST, "content-type": kind}), 415, "wrong_type")


def test_a_body_that_is_too_large_is_refused_with_and_without_its_length(stranger: Visitor) -> None:
    body = b'{"page": "' + b"a" * LARGEST_BODY + b'"}'
    refusal(stranger.send("POST", "/api/undo", POST, body), 413, "too_large")
    pieces = (body[start : start + 1000] for start in range(0, len(body), 1000))
    refusal(stranger.send("POST", "/api/undo", POST, pieces), 413, "too_large")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/answers"),
        ("POST", "/label"),
        ("DELETE", "/label"),
        ("PUT", "/api/settings"),
        ("POST", "/static/page.js"),
        ("TRACE", "/"),
    ],
)
def test_a_wrong_method_is_refused_before_anything_is_asked(stranger: Visitor, method: str, path: str) -> None:
    refusal(stranger.send(method, path), 405, "wrong_method")
    refusal(stranger.send(method, path, POST), 405, "wrong_method")


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/static/nothing.js",
        "/static/%2e%2e/guard.py",
        "/static/..%2fguard.py",
        "/static/%2e%2e%2f%2e%2e%2fcli%2flabel.py",
        "/image/%2e%2e%2f%2e%2e%2fetc%2fpasswd/320",
        "/image/..%2f..%2fetc%2fpasswd/320",
        f"/image/{'0' * 40}/320",
        f"/image/{'0' * 40}/321",
        f"/image/{'A' * 40}/320",
        f"/image/{'0' * 39}/320",
        f"/image/{'0' * 40}/320/more",
    ],
)
def test_what_was_not_scanned_is_not_there(stranger: Visitor, path: str) -> None:
    refusal(stranger.get(path, headers=COOKIE), 404, "not_found")


def test_every_answer_carries_the_strict_headers(client: Visitor) -> None:
    for path in PAGES:
        found = client.get(path if path != "/api/next" else "/api/next?page=00000000")
        assert found.status == 200
        assert {name: found.headers[name] for name in HEADERS} == HEADERS
        assert found.headers["cache-control"] == ("no-cache" if "static" in path else "no-store")
