"""`fewsight parts`: what can be named on the command line and in Python, and which package brings it."""

from __future__ import annotations

from typing import Annotated

import typer

from fewsight.apps.cli.console import tell
from fewsight.apps.cli.project_verbs import AsJson, tell_json

EXAMPLES = """
[bold]fewsight parts[/bold]

[bold]fewsight parts learners[/bold]  (also: channels, rules, kernels, families)
"""

Kind = Annotated[
    str | None,
    typer.Argument(
        metavar="KIND",
        show_default="all",
        help="Only these: channels, learners, rules (which image to ask about), kernels or families (of kernels).",
    ),
]


def parts(kind: Kind = None, as_json: AsJson = False) -> None:
    """List channels, learners, query rules, kernels and kernel families, including those of other packages."""
    from fewsight.apps.workbench.parts import describe_parts

    found = describe_parts(kind)
    if as_json:
        tell_json([dict(vars(part)) for part in found])
        return
    for number, part in enumerate(found):
        if number == 0 or found[number - 1].kind != part.kind:
            tell(part.kind)
        tell(f"  {part.name}: {part.summary}" + (f" (from {part.package})" if part.package else ""))
