"""What `--help` shows: options by group, flags without a value, and the names of arguments without Python types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typer.core import TyperArgument, TyperCommand

from fewsight.apps.cli.options import GROUPS


class PlainCommand(TyperCommand):
    """A command whose help is written for people who do not know Python."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.help = _joined(self.help or "")

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments and options, those of a group one after the other, in the order of the groups."""
        return sorted(plain(super().get_params(ctx)), key=_group)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """`[OPTIONS] FOLDER [TARGET]`; newer versions of typer put what is required into braces."""
        return [_without_braces(piece) for piece in super().collect_usage_pieces(ctx)]


def plain(parameters: Iterable[Any]) -> list[Any]:
    """The same parameters; help names no type where a flag takes no value, or where an argument has a name already."""
    found = list(parameters)
    for parameter in found:
        if isinstance(parameter, TyperArgument):
            vars(parameter)["display_type_rich"] = (
                _no_type  # of newer versions of typer; older ones show the name alone
            )
        elif getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return found


def _joined(text: str) -> str:
    """Lines of a paragraph as one, so that a terminal breaks them; those of a table, which has columns, stay."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(each if "  " in each.strip() else " ".join(each.split("\n")) for each in paragraphs)


def _no_type(ctx: Any) -> None:
    return None


def _group(parameter: Any) -> int:
    name = getattr(parameter, "rich_help_panel", None)
    return GROUPS.index(name) if name in GROUPS else -1


def _without_braces(piece: str) -> str:
    return piece.replace("{", "").replace("}", "")
