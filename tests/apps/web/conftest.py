"""A session on a small folder of pictures, and visitors of its page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fewsight.apps.web.server import PageServer
from fewsight.apps.workbench.session import LabellingSession
from page_visits import Visitor, write_pictures


# Not for all tests: threads of a page that is open meet whatever the tests of other modules put in place of `os` or `time`.
@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabellingSession]:
    """A session on twelve pictures, all of them read."""
    folder = tmp_path_factory.mktemp("page") / "pictures"
    write_pictures(folder, 12)
    with LabellingSession(folder, who="Ann", cache=tmp_path_factory.mktemp("cache"), n_workers=1, seed=0) as opened:
        while opened.state().n_read < 12:
            opened.wait(opened.state().version, 1.0)
        yield opened


@pytest.fixture(scope="module")
def server(session: LabellingSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    """The page of the session, on a port of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        started = PageServer(session)
        started.start()
        yield started
        started.stop()


@pytest.fixture
def stranger(server: PageServer) -> Visitor:
    """Somebody without a cookie."""
    return Visitor(server.page.port, server.page.token)


@pytest.fixture
def client(server: PageServer) -> Visitor:
    """Somebody whom the guard lets in, and who sends as the page does."""
    headers = {"cookie": "fewsight-PORT=TOKEN", "origin": "http://127.0.0.1:PORT"}
    return Visitor(server.page.port, server.page.token, headers)
