"""Pictures: by content hash alone, always made anew from the pixels, so that no path comes in and no metadata goes out."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fewsight.apps.web import body_fields as fields
from fewsight.apps.web.problems import Problem
from fewsight.apps.web.site import answer, query_of, site_of

SIDES = ("320", "1600")
WHOLE = "whole"  # at actual size, for those who zoom
_FOREVER = {"cache-control": "private, max-age=31536000, immutable"}


async def picture(request: Request) -> Response:
    """A screen copy of an image that was read."""
    wanted, side = request.path_params["image"], request.path_params["side"]
    try:
        image = fields.image(wanted)
    except ValueError:
        raise Problem(404, "There is no such image.") from None
    if side not in (*SIDES, WHOLE):
        raise Problem(404, f"Images are shown with sides of {' or '.join(SIDES)} pixels, or {WHOLE}.")
    site = site_of(request)
    session = site.session
    found = await (
        site.ask(session.whole_picture, image) if side == WHOLE else site.ask(session.picture, image, int(side))
    )
    if found is None:
        raise Problem(404, "There is no such image, or it is not ready yet.")
    return Response(found, media_type="image/jpeg", headers=_FOREVER)


async def lookalikes(request: Request) -> Response:
    """Images without an answer that look like this one."""
    asked = query_of(request, {"image": fields.image}, {"n": fields.count(1, 500)})
    site = site_of(request)
    return answer(await site.ask(site.session.lookalikes, asked["image"], asked.get("n", 60)))


async def may_belong(request: Request) -> Response:
    """Earlier images that a new category may claim."""
    asked = query_of(request, {"category": fields.category}, {"n": fields.count(1, 100)})
    site = site_of(request)
    return answer(await site.ask(site.session.may_belong, asked["category"], asked.get("n", 24)))


routes = [
    Route("/image/{image}/{side}", picture, methods=["GET"]),
    Route("/api/lookalikes", lookalikes, methods=["GET"]),
    Route("/api/may_belong", may_belong, methods=["GET"]),
]
