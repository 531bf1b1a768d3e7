"""The program `fewsight` and its commands."""

from __future__ import annotations

from typing import Annotated

import typer

from fewsight.apps.cli import (
    cache_verb,
    channels,
    demo,
    evaluate,
    label,
    learn,
    parts,
    predict,
    project_verbs,
    sort_verb,
)
from fewsight.apps.cli.errors import PlainErrors
from fewsight.apps.cli.help_page import PlainCommand

app = typer.Typer(
    name="fewsight",
    cls=PlainErrors,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog="To see what it does, on images that come with it: [bold]fewsight label --demo[/bold]",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(epilog=demo.EXAMPLES, cls=PlainCommand)(demo.demo)
app.command(epilog=label.EXAMPLES, cls=PlainCommand)(label.label)
app.command(epilog=learn.EXAMPLES, cls=PlainCommand)(learn.learn)
app.command(epilog=predict.EXAMPLES, cls=PlainCommand)(predict.predict)
app.command(epilog=evaluate.EXAMPLES, cls=PlainCommand)(evaluate.evaluate)
app.command(epilog=channels.EXAMPLES, cls=PlainCommand)(channels.channels)
app.command(epilog=parts.EXAMPLES, cls=PlainCommand)(parts.parts)
app.command(epilog=cache_verb.EXAMPLES, cls=PlainCommand)(cache_verb.cache)
app.command(epilog=project_verbs.STATUS_EXAMPLES, cls=PlainCommand)(project_verbs.status)
app.command(epilog=sort_verb.EXAMPLES, cls=PlainCommand)(sort_verb.sort)
app.command(epilog=project_verbs.IMPORT_EXAMPLES, cls=PlainCommand, name="import")(project_verbs.import_)
app.command(epilog=project_verbs.EXPORT_EXAMPLES, cls=PlainCommand)(project_verbs.export)
app.command(epilog=project_verbs.HISTORY_EXAMPLES, cls=PlainCommand)(project_verbs.history)
app.command(epilog=project_verbs.UNDO_EXAMPLES, cls=PlainCommand)(project_verbs.undo)


def _show_version(wanted: bool) -> None:
    if wanted:
        from fewsight import __version__

        typer.echo(f"fewsight {__version__}")
        raise typer.Exit


@app.callback()
def fewsight(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Learn visual categories from a handful of labelled images, and say how sure it is."""
