"""The server of the page: one address on this machine, one thread with an event loop, until it is told to stop."""

from __future__ import annotations

import contextlib
import errno
import secrets
import socket
import threading
import time
from typing import TYPE_CHECKING, final

import uvicorn

from fewsight._base.errors import FewsightError, ProjectError
from fewsight.apps.web.application import make_application
from fewsight.apps.web.running_page import RunningPage, remove_note, write_note

if TYPE_CHECKING:
    from fewsight.apps.workbench.session import LabellingSession

START_SECONDS = 10.0
END_SECONDS = 1.0  # for requests under way
_PORT = "port"  # the setting of the project: a tab of the last run finds its answers under the same address again


@final
class PageServer:
    """Serves the page of a session from a thread of its own."""

    def __init__(self, session: LabellingSession, port: int | None = None) -> None:
        self._session = session
        self._socket = _listen(session, port)
        number = self._socket.getsockname()[1]
        self.page = RunningPage(number, secrets.token_urlsafe(32), session.bench.file.id)
        guard, self._app = make_application(session, token=self.page.token, port=number)
        config = uvicorn.Config(
            guard,
            http="h11",
            loop="asyncio",
            ws="none",
            lifespan="on",
            log_config=None,
            log_level="critical",  # what fails is told by the application itself
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=60,
            timeout_graceful_shutdown=int(END_SECONDS),
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="page-server", daemon=True
        )

    def start(self) -> None:
        """Serve from now on; returns when the page answers."""
        self._thread.start()
        deadline = time.monotonic() + START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                raise FewsightError("label: the page could not be started.")
            time.sleep(0.005)
        write_note(self._session.bench.file.path, self.page)

    @property
    def runs(self) -> bool:
        """Whether it serves."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End within a second or so: open streams are closed, answers under way are finished."""
        remove_note(self._session.bench.file.path, self.page)
        self._app.state.watcher.end_soon()
        self._server.should_exit = True
        self._thread.join(2 * END_SECONDS)
        self._socket.close()


def _listen(session: LabellingSession, port: int | None) -> socket.socket:
    """A socket on the wanted port, on the project's own one, or on any."""
    if port is not None:
        try:
            return _bound(port)
        except OSError as error:
            raise FewsightError(_not_bound(port, error)) from None
    kept = session.bench.file.setting(_PORT)
    if isinstance(kept, int) and not isinstance(kept, bool) and 1024 <= kept <= 65535:
        try:
            return _bound(kept)
        except OSError:
            pass  # somebody else has it: another one will do
    found = _bound(0)
    with contextlib.suppress(ProjectError):  # a project that can only be read keeps nothing
        session.bench.file.set(_PORT, found.getsockname()[1])
    return found


def _bound(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(("127.0.0.1", port))
        made.listen(128)
    except OSError:
        made.close()
        raise
    return made


def _not_bound(port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"label: port {port} is taken by another program; choose another one, or leave --port out."
    return f"label: port {port} cannot be used: {error.strerror or error}."
