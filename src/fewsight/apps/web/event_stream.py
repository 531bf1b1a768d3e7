"""News for open pages, as server-sent events: one thread watches the session, whatever the number of pages."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from fewsight.apps.web.site import Site, site_of

WAIT_SECONDS = 0.5  # of one look by the watching thread; also how long it takes to end
HEARTBEAT_SECONDS = 10.0  # a line that says the server is still there
PAUSE_SECONDS = 0.2  # between two messages to a page, so that preparing images is not a flood


@final
class Watcher:
    """Waits for the session to change and wakes every open stream."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()
        self.version = -1

    def start(self) -> None:
        """Begin; called on the event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._watch, name="page-watcher", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Every stream ends, and the thread soon after; called on the event loop."""
        self._ending.set()
        self._wake()

    def end_soon(self) -> None:
        """As `end`, from any thread."""
        self._ending.set()
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    @property
    def ended(self) -> bool:
        """Whether `end` was called."""
        return self._ending.is_set()

    async def news(self, version: int, seconds: float) -> bool:
        """Whether there is something newer than `version`, now or within some seconds."""
        if self.version != version or self.ended:
            return True
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def _watch(self) -> None:
        session = self._site.session
        while not self._ending.is_set():
            found = session.wait(self.version, WAIT_SECONDS)
            if found != self.version and self._loop is not None and not self._loop.is_closed():
                self.version = found
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


async def events(request: Request) -> Response:
    """The state, again and again, whenever it changes."""
    return StreamingResponse(
        _stream(site_of(request), request.app.state.watcher), media_type="text/event-stream; charset=utf-8"
    )


async def _stream(site: Site, watcher: Watcher) -> AsyncIterator[str]:
    yield "retry: 1000\n\n"
    while not watcher.ended:
        version = watcher.version
        state = await site.ask(site.session.state)
        yield f"data: {json.dumps(site.state(state))}\n\n"
        await asyncio.sleep(PAUSE_SECONDS)
        while not await watcher.news(version, HEARTBEAT_SECONDS):
            yield ": still here\n\n"


routes = [Route("/api/events", events, methods=["GET"])]
