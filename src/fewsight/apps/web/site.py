"""What every route needs: the session, the words, the templates, and the one way to ask the session."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, final

import anyio.to_thread
import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse

from fewsight.apps.web.body_fields import Check, check_fields, read_fields

if TYPE_CHECKING:
    from fewsight.apps.workbench.session import LabellingSession
    from fewsight.apps.workbench.session_messages import SessionState

VIEWS = ("label", "grid", "mine", "progress", "results", "history", "settings")

P = ParamSpec("P")
T = TypeVar("T")


@final
class Site:
    """A session as the routes see it."""

    def __init__(self, session: LabellingSession, language: str = "en") -> None:
        self.session = session
        self.words = load_words(language)
        self.language = language
        loader = jinja2.PackageLoader("fewsight.apps.web")
        self._templates = _Templates(
            loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self._templates.filters["number"] = lambda value: f"{value:,}"
        self._templates.filters["percent"] = percent

    async def ask(self, verb: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Ask the session beside the event loop."""
        return await anyio.to_thread.run_sync(lambda: verb(*arguments, **named))

    def view(self, view: str, data: Mapping[str, Any], **values: Any) -> HTMLResponse:
        """A view as a page; `data` is what its script starts from."""
        state = self.session.state()
        shown = self.state(state)
        page = self._templates.get_template(f"{view}.html.j2").render(
            view=view,
            name=self.session.bench.folder.absolute().name,
            views=VIEWS,
            words=self.words,
            language=self.language,
            state=state,
            shown=shown["shown"],
            data={"project": self.session.bench.file.id, "view": view, "words": self.words, "state": shown, **data},
            **values,
        )
        return HTMLResponse(page)

    def plain(self, template: str, status: int, **values: Any) -> HTMLResponse:
        """A page without a session, such as the one that says how to be let in."""
        page = self._templates.get_template(template).render(words=self.words, language=self.language, **values)
        return HTMLResponse(page, status)

    def state(self, state: SessionState) -> dict[str, Any]:
        """The state, and the phrases that head and foot of the page show."""
        words = self.words["state"]
        shown = {
            "labelled": words["labelled"].format(n=state.n_labelled),
            "accuracy": state.accuracy,
            "features": "",
            "learned": "",
            "advice": state.advice,
        }
        if state.n_read + state.n_unreadable < state.n_files:
            shown["features"] = words["read"].format(n=state.n_read, of=state.n_files)
        elif state.n_known < state.n_images:  # features are of no use before the model has them
            n = state.n_known or min(state.n_features, state.n_images)
            shown["features"] = words["features"].format(n=n, of=state.n_images)
        else:
            shown["features"] = words["images"].format(n=state.n_files - state.n_unreadable)
        n_answers = state.n_learned + state.n_behind
        if state.model in words["models"]:
            shown["learned"] = words["models"][state.model].format(n=state.n_learned, of=n_answers)
        return {**plain(state), "shown": shown}


class _Templates(jinja2.Environment):
    """Where `words.clear` is the word of that name, not a method that every dictionary has."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, Mapping) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


def load_words(language: str) -> dict[str, Any]:
    """All words of the page in a language."""
    text = resources.files("fewsight.apps.web").joinpath("words", f"{language}.json").read_text("utf-8")
    words: dict[str, Any] = json.loads(text)
    return words


def percent(share: float) -> str:
    """`91 %`; the ends are never reached by rounding."""
    if 0 < share < 0.005:
        return "under 1 %"
    if 0.995 <= share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"


def site_of(request: Request) -> Site:
    """The site that a request came to."""
    site: Site = request.app.state.site
    return site


async def body_of(request: Request, needed: Mapping[str, Check], optional: Mapping[str, Check] = {}) -> dict[str, Any]:
    """The fields of a request's body."""
    return read_fields(await request.body(), needed, optional)


def query_of(request: Request, needed: Mapping[str, Check], optional: Mapping[str, Check] = {}) -> dict[str, Any]:
    """The fields of a request's query; an empty one is as good as none."""
    found = {name: value for name, value in request.query_params.items() if value != ""}
    return check_fields(found, needed, optional)


def plain(value: Any) -> Any:
    """Dataclasses as dictionaries, all the way down."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(each) for each in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def answer(value: Any) -> JSONResponse:
    """Whatever a session answers, as JSON."""
    return JSONResponse(plain(value))
