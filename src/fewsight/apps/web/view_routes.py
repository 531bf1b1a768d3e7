"""The views as pages: each reads its query, asks the session once, and is rendered."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from fewsight.apps.web import body_fields as fields
from fewsight.apps.web.curve import Curve
from fewsight.apps.web.guard import cookie_name
from fewsight.apps.web.site import Site, body_of, plain, query_of, site_of

if TYPE_CHECKING:
    from fewsight.apps.workbench.session_messages import CategoryInfo, Disagreement

AT_ONCE = 100  # images of a list
LAST_START = 10_000_000

_PAGED = {"start": fields.count(0, LAST_START)}


async def enter(request: Request) -> Response:
    """The address that the command prints: moves the token into a cookie that no script can read."""
    response = RedirectResponse("/label", 303)
    token, port = request.query_params.get("token"), request.app.state.port
    if token is not None:
        response.set_cookie(cookie_name(port), token, httponly=True, samesite="strict", path="/")
    return response


async def label(request: Request) -> Response:
    """One image, big, and the categories."""
    site = site_of(request)

    def look() -> Response:
        categories = site.session.categories()
        settings = site.session.settings()
        return site.view("label", {"categories": plain(categories), "settings": plain(settings)})

    return await site.ask(look)


async def grid(request: Request) -> Response:
    """Look-alikes of an image, what the model is sure of in a category, or what a new category may claim."""
    asked = query_of(
        request,
        {},
        {"image": fields.image, "category": fields.category, "of": fields.one_of("sure", "may_belong")},
    )
    site = site_of(request)

    def look() -> Response:
        session = site.session
        categories = session.categories()
        image, category = asked.get("image"), asked.get("category")
        kind = "lookalikes" if image else asked.get("of", "sure")
        if image is None and category is None and kind == "sure" and categories:
            category = next((each.id for each in categories if session.sure_of(each.id, 1)), categories[0].id)
        if image is not None:
            found = session.lookalikes(image)
        elif category is not None:
            found = session.may_belong(category) if kind == "may_belong" else session.sure_of(category)
        else:
            found = []
        chosen = next((each for each in categories if each.id == category), None)
        return site.view(
            "grid",
            {
                "kind": kind,
                "category": category,
                "image": image,
                "categories": plain(categories),
                "settings": plain(session.settings()),
            },
            kind=kind,
            image=image,
            chosen=chosen,
            images=found,
            categories=categories,
        )

    return await site.ask(look)


async def mine(request: Request) -> Response:
    """What was labelled, most surprising first."""
    asked = query_of(request, {}, {"category": fields.category, **_PAGED})
    site = site_of(request)

    def look() -> Response:
        session = site.session
        category, start = asked.get("category"), asked.get("start", 0)
        page = session.labels(category, start, AT_ONCE)
        categories = session.categories()
        return site.view(
            "mine",
            {"category": category, "categories": plain(categories), "settings": plain(session.settings())},
            page=page,
            categories=categories,
            names={each.id: each.name for each in categories},
            chosen=category,
            start=start,
            disagreements=[_disagreement(site, each, categories) for each in session.disagreements()],
        )

    return await site.ask(look)


async def progress(request: Request) -> Response:
    """How good it is by now, and whether to go on."""
    query_of(request, {})
    site = site_of(request)

    def look() -> Response:
        found = site.session.progress()
        return site.view(
            "progress",
            {"settings": plain(site.session.settings())},
            progress=found,
            curve=Curve.of(found.curve) if len(found.curve) > 1 else None,
            most=max((site.session.state().n_none, *(n for _, _, n in found.counts))),
        )

    return await site.ask(look)


async def results(request: Request) -> Response:
    """The whole folder by category and confidence."""
    asked = query_of(request, {}, {"group": fields.text, "least": fields.share, **_PAGED})
    site = site_of(request)

    def look() -> Response:
        session = site.session
        group, least, start = asked.get("group"), asked.get("least"), asked.get("start", 0)
        page = session.results(group, least, start, AT_ONCE)
        categories = session.categories()
        return site.view(
            "results",
            {
                "group": group,
                "categories": plain(categories),
                "settings": plain(session.settings()),
                "folder": session.bench.folder.absolute().name,
            },
            page=page,
            group=group,
            least=least,
            start=start,
            names={each.id: each.name for each in categories},
        )

    return await site.ask(look)


async def history(request: Request) -> Response:
    """What was done, the last first."""
    asked = query_of(request, {}, _PAGED)
    site = site_of(request)

    def look() -> Response:
        start = asked.get("start", 0)
        acts = site.session.history(start, AT_ONCE)
        return site.view(
            "history",
            {"settings": plain(site.session.settings())},
            acts=[{**plain(act), "when": _when(act.at)} for act in acts],
            start=start,
            more=len(acts) == AT_ONCE,
        )

    return await site.ask(look)


async def settings(request: Request) -> Response:
    """Keys, name, categories, channels."""
    query_of(request, {})
    site = site_of(request)

    def look() -> Response:
        found = plain(site.session.settings())
        categories = site.session.categories()
        return site.view(
            "settings", {"settings": found, "categories": plain(categories)}, settings=found, categories=categories
        )

    return await site.ask(look)


async def change_settings(request: Request) -> Response:
    """Change some settings."""
    said, site = await body_of(request, {"changes": fields.table}), site_of(request)
    await site.ask(site.session.change_settings, said["changes"])
    return JSONResponse(plain(await site.ask(site.session.settings)))


async def as_data(request: Request) -> Response:
    """The lists of the views as data, by cursor, for other programs on this machine."""
    name = request.url.path.rpartition("/")[2]
    site = site_of(request)
    asked = query_of(request, {}, {"category": fields.category, "group": fields.text, "least": fields.share, **_PAGED})
    return JSONResponse(plain(await site.ask(lambda: _read(site, name, asked))))


def _read(site: Site, name: str, asked: dict[str, Any]) -> Any:
    session, start = site.session, asked.get("start", 0)
    if name == "labels":
        return session.labels(asked.get("category"), start, AT_ONCE)
    if name == "progress":
        return session.progress()
    if name == "results":
        return session.results(asked.get("group"), asked.get("least"), start, AT_ONCE)
    return session.history(start, AT_ONCE)


def _disagreement(site: Site, found: Disagreement, categories: Sequence[CategoryInfo]) -> dict[str, str]:
    """An image, and who says what about it in one line."""
    names = {each.id: each.name for each in categories}
    words = {"none": site.words["actions"]["none"], "discard": site.words["actions"]["discard"]}
    said = [
        site.words["mine"]["says"].format(who=who, what=words.get(kind) or names.get(category or "", ""))
        for who, kind, category in found.votes
    ]
    return {"image": found.image, "file": found.file, "said": "; ".join(said)}


def _when(at: int) -> str:
    moment = datetime.datetime.fromtimestamp(at / 1e6, datetime.UTC).astimezone()
    return f"{moment:%Y-%m-%d %H:%M}"


routes = [
    Route("/", enter, methods=["GET"]),
    Route("/label", label, methods=["GET"]),
    Route("/grid", grid, methods=["GET"]),
    Route("/mine", mine, methods=["GET"]),
    Route("/progress", progress, methods=["GET"]),
    Route("/results", results, methods=["GET"]),
    Route("/history", history, methods=["GET"]),
    Route("/settings", settings, methods=["GET"]),
    Route("/api/settings", change_settings, methods=["POST"]),
    *(
        Route(f"/api/{what}", as_data, methods=["GET"], name=what)
        for what in ("labels", "progress", "results", "history")
    ),
]
