"""Questions and answers over HTTP."""

from __future__ import annotations

import secrets

from fewsight.apps.workbench.session import LabellingSession
from page_visits import Visitor


def new_id() -> str:
    return secrets.token_hex(16)


def questions(client: Visitor, page: str) -> list[str]:
    return [each["image"] for each in client.get(f"/api/next?page={page}&n=2").json()["questions"]]


def test_an_answer_sent_twice_counts_once(client: Visitor, session: LabellingSession) -> None:
    page, request = new_id(), new_id()
    first = questions(client, page)[0]
    made = client.post("/api/categories", {"act": "new", "page": page, "name": "owl", "request": new_id()})
    category = made.json()["category"]
    said = {"page": page, "request": request, "kind": "label", "images": [first], "category": category}
    one, two = client.post("/api/answers", said), client.post("/api/answers", said)
    assert (one.status, two.status) == (200, 200)
    assert (one.json()["repeated"], two.json()["repeated"]) == (False, True)
    assert one.json()["event"] == two.json()["event"]
    assert session.state().n_labelled == 1
    assert first not in [each["image"] for each in two.json()["questions"]]
    undone = client.post("/api/undo", {"page": page, "request": new_id()}).json()
    assert undone["questions"][0]["image"] == first
    assert undone["state"]["n_labelled"] == 0


def test_the_id_of_a_new_category_is_that_of_its_request(client: Visitor) -> None:
    request = new_id()
    made = client.post("/api/categories", {"act": "new", "page": new_id(), "name": "hawk", "request": request})
    assert made.json()["category"] == request
    again = client.post("/api/categories", {"act": "new", "page": new_id(), "name": "Hawk", "request": new_id()})
    assert (again.status, again.json()["error"]["code"]) == (409, "refused")


def test_what_cannot_be_is_one_sentence_and_changes_nothing(client: Visitor, session: LabellingSession) -> None:
    page = new_id()
    image = questions(client, page)[0]
    before = session.state().last_event
    for said, status in [
        ({"kind": "label", "images": [image]}, 409),  # without a category
        ({"kind": "label", "images": [image], "category": "nobody"}, 409),
        ({"kind": "none", "images": ["0" * 40]}, 409),
        ({"kind": "delete", "images": [image]}, 400),
        ({"kind": "none", "images": []}, 400),
        ({"kind": "none", "images": ["../../etc/passwd"]}, 400),
        ({"kind": "none", "images": [image], "path": "/etc/passwd"}, 400),
        ({"kind": "none"}, 400),
    ]:
        found = client.post("/api/answers", {"page": page, "request": new_id(), **said})
        assert found.status == status, said
        assert set(found.json()["error"]) == {"code", "message"}
    assert session.state().last_event == before


def test_a_refusal_on_the_page_names_nothing_internal(client: Visitor) -> None:
    page = new_id()
    said = {
        "kind": "label",
        "images": questions(client, page)[:1],
        "category": "nobody",
        "page": page,
        "request": new_id(),
    }
    message = client.post("/api/answers", said).json()["error"]["message"]
    assert message == "A category must be one of those that exist, got 'nobody'."


def test_pictures_are_made_anew_and_kept_by_the_browser(client: Visitor) -> None:
    image = questions(client, new_id())[0]
    for side in (320, 1600):
        found = client.get(f"/image/{image}/{side}")
        assert found.status == 200
        assert found.headers["content-type"] == "image/jpeg"
        assert found.body[:3] == b"\xff\xd8\xff"
        assert b"Exif" not in found.body
        assert "immutable" in found.headers["cache-control"]
