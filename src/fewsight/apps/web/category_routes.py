"""Categories: new ones, their names and keys, what may belong to them, and from whom they borrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from fewsight.apps.web import body_fields as fields
from fewsight.apps.web.answer_routes import HOLDS, note_held
from fewsight.apps.web.problems import Problem
from fewsight.apps.web.site import answer, body_of, plain, query_of, site_of

if TYPE_CHECKING:
    from fewsight.apps.workbench.session_messages import Receipt

_NEEDED = {
    "new": {"page", "name"},
    "rename": {"category", "name"},
    "merge": {"category", "into"},
    "key": {"category"},
}


async def listed(request: Request) -> Response:
    """All categories, in the order of their buttons."""
    query_of(request, {})
    site = site_of(request)
    return answer(await site.ask(site.session.categories))


async def change(request: Request) -> Response:
    """Make, rename or merge a category, or give it a key."""
    said = await body_of(
        request,
        {"act": fields.one_of(*_NEEDED), "request": fields.identifier},
        {
            "page": fields.identifier,
            "category": fields.category,
            "into": fields.category,
            "name": fields.text,
            "key": fields.or_none(fields.text),
            **HOLDS,
        },
    )
    missing = sorted(_NEEDED[said["act"]] - set(said))
    if missing:
        raise Problem(400, f"{missing[0]} is missing.")
    site = site_of(request)
    session = site.session
    if said["act"] == "new":

        def make() -> Receipt:
            note_held(session, said)
            return session.new_category(said["page"], said["name"], said["request"])

        receipt = await site.ask(make)
        return JSONResponse({**plain(receipt), "state": site.state(receipt.state)})
    if said["act"] == "rename":
        await site.ask(session.rename, said["category"], said["name"], said["request"])
    elif said["act"] == "merge":
        await site.ask(session.merge, said["category"], said["into"], said["request"])
    else:
        await site.ask(session.set_key, said["category"], said.get("key"))
    return answer({"categories": await site.ask(session.categories)})


async def loan_offer(request: Request) -> Response:
    """From whom a category with few images might borrow; null if from nobody."""
    asked, site = query_of(request, {"category": fields.category}), site_of(request)
    return answer(await site.ask(site.session.loan_offer, asked["category"]))


async def loan(request: Request) -> Response:
    """Accept or refuse a loan."""
    said = await body_of(
        request,
        {
            "category": fields.category,
            "lender": fields.category,
            "act": fields.one_of("borrow", "refuse"),
            "request": fields.identifier,
        },
        {"page": fields.identifier},
    )
    site = site_of(request)
    verb = site.session.borrow if said["act"] == "borrow" else site.session.refuse_loan
    await site.ask(verb, said["category"], said["lender"], said["request"])
    return JSONResponse({})


routes = [
    Route("/api/categories", listed, methods=["GET"]),
    Route("/api/categories", change, methods=["POST"]),
    Route("/api/loans", loan_offer, methods=["GET"]),
    Route("/api/loans", loan, methods=["POST"]),
]
