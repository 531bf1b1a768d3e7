"""`fewsight label`: a page in the browser that asks about images."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewsight.apps.cli import options
from fewsight.apps.cli.console import plural, printable, say, tell
from fewsight.apps.cli.project_verbs import Name, Project
from fewsight.apps.cli.signals import stop_event, undisturbed

if TYPE_CHECKING:
    from fewsight.apps.web.running_page import RunningPage
    from fewsight.apps.web.server import PageServer
    from fewsight.apps.workbench.session import LabellingSession

EXAMPLES = """
[bold]fewsight label photos[/bold]

[bold]fewsight label --demo[/bold]  (on images that come with the program)

[bold]fewsight label photos --no-browser --port 8700[/bold]  (over ssh, with a tunnel to that port)
"""
DEMO_FOLDER = Path("fewsight-demo") / "photos"
LOOK_SECONDS = 0.5  # between two looks at how far the features are


def label(
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", show_default=False, help="The folder of images.")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help=f"Try it on the sample images, which are copied to {DEMO_FOLDER}.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, metavar="NUMBER", show_default="the one of last time", help="The port of the page."
        ),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address; do not open a browser.")] = False,
    name: Name = None,
    channels: options.Channels = None,
    project: Project = None,
    cache_folder: options.CacheFolder = None,
) -> None:
    """Label images in the browser: fewsight asks, you answer with a key, and it learns as you go.

    The page is reachable from this computer only. Every answer is saved at once; Ctrl-C ends, and the same command goes on.
    """
    if demo == (folder is not None):
        raise typer.BadParameter("needs a FOLDER of images, or --demo for the sample images, and not both.")
    with undisturbed():
        from fewsight.apps.web.running_page import running_page
        from fewsight.apps.web.server import PageServer
        from fewsight.apps.workbench.session import LabellingSession

    wanted = options.channel_words(channels)
    if demo:
        folder, wanted = _sample_photos(), wanted or _demo_channels()
    assert folder is not None
    _look_at(folder)
    running = running_page(_project_file(folder, project))
    if running is not None:
        _check_person(running, name)
        late = [option for option, given in (("--channels", channels), ("--port", port)) if given is not None]
        beginning = f" {' and '.join(late)} will count when it is started again." if late else ""
        say(f"the page of this project is open already.{beginning}")
        _show(running.address, no_browser)
        return
    with stop_event() as stopped:
        session = LabellingSession(folder, project=project, who=name, channels=wanted or (), cache=cache_folder)
        try:
            if session.bench.remark:
                say(session.bench.remark)
            server = PageServer(session, port)
            server.start()
        except BaseException:
            session.close()
            raise
        _show(server.page.address, no_browser)
        say("the page is open; Ctrl-C ends it.")
        _wait(session, server, stopped)
        again = ["--demo"] if demo else [_quoted(folder)]
        for option, given in (("--name", name), ("--channels", channels), ("--cache-dir", cache_folder)):
            again += [] if given is None else [option, shlex.quote(str(given))]
        _end(session, server, folder, project, again)


def _sample_photos() -> Path:
    from fewsight.apps.workbench.sample_photos import write_sample_photos

    return write_sample_photos(DEMO_FOLDER)


def _demo_channels() -> tuple[str, ...]:
    from fewsight.apps.workbench.sample_photos import CHANNELS

    return CHANNELS


def _look_at(folder: Path) -> None:
    from fewsight._base.errors import InvalidInput
    from fewsight.apps.workbench.folder_glance import glance

    found = glance(folder)
    if found.empty:
        raise InvalidInput(f"{printable(str(folder))}: must be a folder with images, got none in it.")
    if found.class_folders:
        shown = ", ".join(found.class_folders[:3]) + (", ..." if len(found.class_folders) > 3 else "")
        say(
            f"{folder} holds {plural(len(found.class_folders), 'folder')} of images ({shown}); "
            f"to take their names as labels: fewsight import {_quoted(folder)} {_quoted(folder)}"
        )


def _project_file(folder: Path, project: Path | None) -> Path:
    from fewsight.apps.workbench.project.location import locate

    return locate(folder, project).path


def _check_person(running: RunningPage, name: str | None) -> None:
    """Answers must not be kept under the name of somebody else."""
    from fewsight._base.errors import InvalidInput

    person = running.person()
    if name is not None and person is not None and name.strip() != person:
        raise InvalidInput(
            f"label: the page of this project is open already, and answers there are kept as {person}'s; end it first (Ctrl-C "
            "where it was started), or change the name in its settings."
        )


def _show(address: str, no_browser: bool) -> None:
    """The address on stdout, in one line, and in the browser if there is one."""
    tell(address)
    sys.stdout.flush()
    if no_browser:
        return
    if not _has_display():
        say("there is no display here; open the address in a browser on this computer.")
        return
    import webbrowser

    try:
        opened = webbrowser.open(address)
    except (webbrowser.Error, OSError):
        opened = False
    if not opened:
        say("no browser could be started; open the address in one on this computer.")


def _has_display() -> bool:
    """Without one, a browser for terminals might be started in this very terminal."""
    return sys.platform in ("win32", "darwin") or any(os.environ.get(each) for each in ("DISPLAY", "WAYLAND_DISPLAY"))


def _wait(session: LabellingSession, server: PageServer, stopped: threading.Event) -> None:
    """Until somebody asks to stop; meanwhile a terminal shows how far the features are."""
    with _bar(session) as update:
        while server.runs and not stopped.wait(LOOK_SECONDS):
            update()


@contextlib.contextmanager
def _bar(session: LabellingSession) -> Iterator[Callable[[], None]]:
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        reading = progress.add_task("images read", total=None)
        features = progress.add_task("features", total=None)

        def update() -> None:
            state = session.state()
            n_unread = state.n_files - state.n_read - state.n_unreadable
            for task, done, total in (
                (reading, state.n_files - n_unread, state.n_files),
                (features, state.n_features, state.n_images + n_unread),
            ):
                progress.update(task, completed=done, total=total or None, visible=not total or done < total)

        yield update


def _end(
    session: LabellingSession, server: PageServer, folder: Path, project: Path | None, again: Sequence[str]
) -> None:
    """Stop both within two seconds; then a line of what was done, and what to type next. `again`: to go on as now."""
    ending = threading.Thread(target=server.stop, name="page-ending")
    ending.start()
    closing = session.close()
    ending.join(2.0)
    place = folder if folder.name not in ("", "..") else Path(os.path.abspath(folder))
    target, model = (_quoted(place.with_name(f"{place.name}{suffix}")) for suffix in ("-sorted", ".fewsight"))
    tell(
        f"{plural(closing.n_answers, 'image')} answered in this session; {closing.n_labelled:,} labelled in all, "
        f"{closing.n_left:,} left."
    )
    where = f" --project {_quoted(project)}" if project else ""
    tell(f"To go on: fewsight label {' '.join(again)}{where}")
    sort = f"fewsight sort {_quoted(folder)} {target}{where}"
    if closing.n_left and closing.n_categories > 1:  # what nobody labelled is sorted by what was learned
        tell(f"To sort: fewsight learn {_quoted(folder)} -o {model}{where}", f"         {sort} --model {model}")
    elif closing.n_labelled:
        tell(f"To sort: {sort}")


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
