"""The command line, `fewsight VERB ...`. Thin: each command reads its options, asks the workbench once, and answers.

Nothing heavy is imported until a command runs, so that `fewsight --help` answers at once; and nothing at all before Ctrl-C
is taken care of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewsight.apps.cli.entry_point import main

if TYPE_CHECKING:
    from fewsight.apps.cli.program import app

__all__ = ["app", "main"]


def __getattr__(name: str) -> Any:
    if name == "app":
        from fewsight.apps.cli.program import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
