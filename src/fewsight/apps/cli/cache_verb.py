"""`fewsight cache`: what is kept between runs, how much room it takes, and how to limit or clear it."""

from __future__ import annotations

from typing import Annotated

import typer

from fewsight.apps.cli import options
from fewsight.apps.cli.console import tell

EXAMPLES = """
[bold]fewsight cache[/bold]  (where it is, how large it is, how large it may become)

[bold]fewsight cache --limit 20[/bold]

[bold]fewsight cache --clear[/bold]
"""


def cache(
    limit: Annotated[
        float | None,
        typer.Option(
            metavar="GIGABYTES",
            show_default=False,
            help="Keep it below this size from now on; entries used longest ago go first. FEWSIGHT_CACHE_GB overrides it.",
        ),
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove all entries; the limit stays.")] = False,
    cache_folder: options.CacheFolder = None,
) -> None:
    """Show the cache of features computed from images, set its limit, or clear it.

    Whatever is in it can be computed again, so nothing is lost when it is cleared.
    """
    from fewsight.apps.workbench import room_of_cache

    tell(str(room_of_cache(cache_folder, limit=limit, clear=clear)))
