"""The command line, `fewsight VERB ...`. Thin: each command reads its options, asks the workbench once, and answers.

Nothing heavy is imported until a command runs, so that `fewsight --help` answers at once.
"""

from fewsight.apps.cli.app import app, main

__all__ = ["app", "main"]
