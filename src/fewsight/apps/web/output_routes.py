"""What a person takes away: a table, a model file, a sorted folder.

Requests give names, never paths: everything is written beside the folder of images, under a name of one part.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from fewsight.apps.web import body_fields as fields
from fewsight.apps.web.problems import Problem
from fewsight.apps.web.site import answer, body_of, site_of
from fewsight.images.files import printable

LONGEST_FILE_NAME = 100
_RESERVED = '<>:"/\\|?*'  # by one system or another


async def export(request: Request) -> Response:
    """Write all labels to a CSV table."""
    said, site = await body_of(request, {"name": fields.text}), site_of(request)
    path = _new(_beside(site.session.bench.folder, said["name"], ".csv"))
    await site.ask(site.session.export, path)
    return JSONResponse({"path": printable(path)})


async def save_model(request: Request) -> Response:
    """Write the learner to a model file for `fewsight predict`."""
    said, site = await body_of(request, {"name": fields.text}), site_of(request)
    path = _new(_beside(site.session.bench.folder, said["name"], ".fewsight"))
    await site.ask(site.session.save_model, path)
    command = f"fewsight predict {shlex.quote(printable(path))} OTHER_IMAGES"
    return JSONResponse({"path": printable(path), "command": command})


async def plan(request: Request) -> Response:
    """What sorting would do."""
    said = await body_of(
        request,
        {"name": fields.text},
        {"way": fields.one_of("copy", "hardlink", "symlink", "move"), "least": fields.share},
    )
    site = site_of(request)
    target = _beside(site.session.bench.folder, said["name"], "")
    return answer(
        await site.ask(site.session.plan_sort, target, said.get("way", "copy"), said.get("least", 0.5)),
    )


async def apply(request: Request) -> Response:
    """Do what a plan says."""
    said, site = await body_of(request, {"plan": fields.identifier}), site_of(request)
    return answer(await site.ask(site.session.sort, said["plan"]))


async def undo(request: Request) -> Response:
    """Take the last sorting back."""
    await body_of(request, {})
    site = site_of(request)
    return answer(await site.ask(site.session.undo_sort))


def _beside(folder: Path, name: str, suffix: str) -> Path:
    """A neighbour of the folder."""
    name = name.strip()
    if name and suffix and not name.endswith(suffix):
        name += suffix
    if (
        not name
        or not name.isprintable()
        or name.startswith(".")
        or len(name) > LONGEST_FILE_NAME
        or any(char in _RESERVED for char in name)
    ):
        raise Problem(
            400,
            f"name must be a plain name of 1 to {LONGEST_FILE_NAME} characters without "
            f"{' '.join(_RESERVED)} and no dot in front, got {ascii(name)[:60]}.",
        )
    return folder.absolute().parent / name


def _new(path: Path) -> Path:
    if os.path.lexists(path):
        raise Problem(409, f"{printable(path)} is there already; choose another name.")
    return path


routes = [
    Route("/api/export", export, methods=["POST"]),
    Route("/api/model", save_model, methods=["POST"]),
    Route("/api/sort/plan", plan, methods=["POST"]),
    Route("/api/sort/apply", apply, methods=["POST"]),
    Route("/api/sort/undo", undo, methods=["POST"]),
]
