"""Questions and answers: what a person does with a key."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from fewsight.apps.web import body_fields as fields
from fewsight.apps.web.site import Site, answer, body_of, plain, query_of, site_of

if TYPE_CHECKING:
    from fewsight.apps.workbench.session import LabellingSession
    from fewsight.apps.workbench.session_messages import Receipt

MOST_QUESTIONS = 12
RELEASE_SECONDS = 3.0  # a tab that is loaded again, or goes to another view, comes back before

_SENDER = {"page": fields.identifier, "request": fields.identifier}
HOLDS = {"shown": fields.image, "held": fields.held}  # what a tab shows, and what else it has


async def next_questions(request: Request) -> Response:
    """The questions of a tab, the current one first, with all that its first picture needs."""
    asked = query_of(request, {"page": fields.identifier}, {"n": fields.count(1, MOST_QUESTIONS), **HOLDS})
    site = site_of(request)
    _seen(request, asked["page"])

    def look() -> dict[str, object]:
        session = site.session
        note_held(session, asked)
        questions = session.questions(asked["page"], asked.get("n", 4))
        return {
            "questions": plain(questions),
            "state": site.state(session.state()),
            "categories": plain(session.categories()),
        }

    return JSONResponse(await site.ask(look))


async def answers(request: Request) -> Response:
    """One answer about one image or several."""
    said = await body_of(
        request,
        {
            **_SENDER,
            "kind": fields.one_of("label", "none", "skip", "discard", "clear"),
            "images": fields.images,
        },
        {
            "category": fields.or_none(fields.category),
            "how": fields.one_of("question", "grid", "own choice"),
            **HOLDS,
        },
    )
    from fewsight.apps.workbench.session_messages import Answer

    told = Answer(said["kind"], said["images"], said.get("category"), said.get("how", "question"))
    site = site_of(request)

    def keep() -> Receipt:
        note_held(site.session, said)
        return site.session.answer(said["page"], told, said["request"])

    return _receipt(site, await site.ask(keep))


async def undo(request: Request) -> Response:
    """Take the last act back."""
    return await _step(request, back=True)


async def redo(request: Request) -> Response:
    """Take the last undo back."""
    return await _step(request, back=False)


async def _step(request: Request, back: bool) -> Response:
    said, site = await body_of(request, _SENDER, HOLDS), site_of(request)

    def step() -> Receipt:
        note_held(site.session, said)
        return (site.session.undo if back else site.session.redo)(said["page"], said["request"])

    return _receipt(site, await site.ask(step))


async def release(request: Request) -> Response:
    """The tab may have been closed: its questions go to others, unless it is heard of again in a moment."""
    said, site = await body_of(request, {"page": fields.identifier}), site_of(request)
    page = said["page"]
    loop = asyncio.get_running_loop()

    def let_go() -> None:
        if request.app.state.leaving.pop(page, None) is not None:
            loop.run_in_executor(None, site.session.release, page)

    _seen(request, page)
    request.app.state.leaving[page] = loop.call_later(RELEASE_SECONDS, let_go)
    return JSONResponse({})


async def guess(request: Request) -> Response:
    """What the model takes an image for."""
    asked, site = query_of(request, {"image": fields.image}), site_of(request)
    return answer(await site.ask(site.session.guess, asked["image"]))


async def state(request: Request) -> Response:
    """All that head and foot of the page show."""
    site = site_of(request)
    return JSONResponse(site.state(await site.ask(site.session.state)))


async def relearn(request: Request) -> Response:
    """Learn again, in the background."""
    await body_of(request, {})
    site = site_of(request)
    await site.ask(site.session.relearn)
    return JSONResponse({})


async def rescan(request: Request) -> Response:
    """Look at the folder again, in the background."""
    await body_of(request, {})
    site = site_of(request)
    await site.ask(site.session.rescan)
    return JSONResponse({})


def note_held(session: LabellingSession, said: Mapping[str, Any]) -> None:
    """What a tab says that it has, where it says so."""
    if "shown" in said or "held" in said:
        session.holds(said["page"], said.get("shown"), said.get("held", ()))


def _seen(request: Request, page: str) -> None:
    waiting = request.app.state.leaving.pop(page, None)
    if waiting is not None:
        waiting.cancel()


def _receipt(site: Site, receipt: Receipt) -> JSONResponse:
    return JSONResponse({**plain(receipt), "state": site.state(receipt.state)})


routes = [
    Route("/api/next", next_questions, methods=["GET"]),
    Route("/api/answers", answers, methods=["POST"]),
    Route("/api/undo", undo, methods=["POST"]),
    Route("/api/redo", redo, methods=["POST"]),
    Route("/api/release", release, methods=["POST"]),
    Route("/api/guess", guess, methods=["GET"]),
    Route("/api/state", state, methods=["GET"]),
    Route("/api/relearn", relearn, methods=["POST"]),
    Route("/api/rescan", rescan, methods=["POST"]),
]
