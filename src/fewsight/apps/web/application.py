"""The application: all routes over one session, behind the guard."""

from __future__ import annotations

import contextlib
import re
import traceback
from collections.abc import AsyncIterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Scope

from fewsight._base.errors import FewsightError, ProjectError
from fewsight.apps.web import answer_routes, category_routes, event_stream, image_routes, output_routes, view_routes
from fewsight.apps.web.event_stream import Watcher
from fewsight.apps.web.guard import Guard
from fewsight.apps.web.problems import FAILED, Problem
from fewsight.apps.web.site import Site

if TYPE_CHECKING:
    from fewsight.apps.workbench.session import LabellingSession

STATIC = Path(__file__).parent / "static"
# Who refuses, as messages of the workbench begin: of use on the command line and in Python, an internal name on a page.
_WHO = re.compile("(borrow|category|channels|keys|merge|name|project|redo|session|settings|sort|undo): ")


def make_application(session: LabellingSession, *, token: str, port: int) -> tuple[Guard, Starlette]:
    """The guarded application, and the one inside, whose `state` holds the watcher."""
    site = Site(session)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.watcher.start()
        yield
        app.state.watcher.end()

    routes = [
        *view_routes.routes,
        *answer_routes.routes,
        *category_routes.routes,
        *image_routes.routes,
        *output_routes.routes,
        *event_stream.routes,
        Route("/api/alive", _alive, methods=["GET"]),
        Mount("/static", _Static(directory=STATIC)),
    ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={
            Problem: _refused,
            HTTPException: _not_routed,
            FewsightError: _not_possible,
            Exception: _failed,
        },
    )
    app.state.site, app.state.watcher, app.state.port, app.state.leaving = site, Watcher(site), port, {}

    @lru_cache(maxsize=512)
    def methods_of(path: str) -> frozenset[str]:
        return _methods_of(app, path)

    inside: ASGIApp = app
    return Guard(inside, token=token, port=port, methods_of=methods_of, site=site), app


class _Static(StaticFiles):
    """Looked up again each time, by its tag: a newer fewsight on the same port brings its own scripts."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "no-cache"
        return response


async def _alive(request: Request) -> Response:
    bench = request.app.state.site.session.bench
    return JSONResponse({"project": bench.file.id, "who": bench.who})


def _methods_of(app: Starlette, path: str) -> frozenset[str]:
    scope: Scope = {"type": "http", "path": path, "method": "GET", "root_path": "", "headers": []}
    found: set[str] = set()
    for route in app.routes:
        match, _ = route.matches(scope)
        if match != Match.NONE:
            found |= getattr(route, "methods", None) or {"GET", "HEAD"}
    return frozenset(found)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return error.response()


async def _not_routed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    what = {404: "There is nothing at this address.", 405: "The method does not fit this address."}
    return Problem(error.status_code, what.get(error.status_code, str(error.detail))).response()


async def _not_possible(request: Request, error: Exception) -> Response:
    """What the workbench refuses; 503 if the very same request may succeed later."""
    said = str(error)
    if who := _WHO.match(said):
        said = said[who.end() :]
        said = said[:1].upper() + said[1:]
    return Problem(503 if isinstance(error, ProjectError) else 409, said).response()


async def _failed(request: Request, error: Exception) -> Response:
    traceback.print_exception(error)
    return Problem(500, FAILED).response()
