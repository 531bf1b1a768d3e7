"""Pages of the reference that are made when the site is built: from what `fewsight` exports, and from the program itself."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

import fewsight
import fewsight.testing
from fewsight._base.registry import Registry

# The sections of the reference: their titles, what stands above the names, and the packages the names live in.
SECTIONS = {
    "Learners": ("Estimators with scikit-learn's contract.", ("learners", "transfer", "transfer.wordnet")),
    "Channels": ("Ways of looking at an image.", ("channels",)),
    "Kernels": ("What compares two rows of numbers.", ("kernels", "kernels.families")),
    "Images": ("Sets of images, and the cache of what was computed from them.", ("images",)),
    "Asking": (
        "Which example to label next, how good the decisions are, when to stop.",
        ("active", "_base.none_of_these"),
    ),
    "Measuring": ("Protocols, results and the report.", ("evaluation",)),
    "Gaussian processes": ("The mathematics below the learners.", ("gp",)),
    "Model files and parts of your own": ("", ("persistence", "_base.registry", "_base.types")),
    "Errors and warnings": ("", ("_base.errors",)),
    "More": ("", ()),  # names of packages that no section lists
}
# In which order tutorials are read.
TUTORIALS = (
    *(
        "label_a_folder",
        "learn_in_python",
        "your_own_embeddings",
        "which_image_next",
        "is_it_good_enough",
        "which_cue_decides",
    ),
    *("thousands_of_images", "a_category_from_one_image", "write_your_own_parts", "reproduce_a_table"),
)

_PROPERTIES = (property, functools.cached_property)


class TutorialOrder:
    """Sorts tutorials as `TUTORIALS` lists them; sphinx-gallery makes one for each folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file_name: str) -> int:
        return TUTORIALS.index(Path(file_name).stem)


def write_pages(folder: Path) -> None:
    """Write all pages into a folder; files whose content stays the same are not touched, so that builds are quick."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"api.rst": api_page(), "testing.rst": testing_page(), "command_line.md": command_page()}
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def api_page() -> str:
    """Everything that `fewsight` exports, by section."""
    lines = [*_title("Python", "="), "All of these are imported from ``fewsight`` itself.", ""]
    for section, names in names_by_section().items():
        lines += [*_title(section, "-"), *_paragraph(SECTIONS[section][0]), *_summary("fewsight", names)]
    return "\n".join(lines)


def testing_page() -> str:
    """Everything that `fewsight.testing` exports."""
    above = inspect.getdoc(fewsight.testing) or ""
    checks = [name for name in fewsight.testing.__all__ if callable(getattr(fewsight.testing, name))]
    groups = [name for name in fewsight.testing.__all__ if name not in checks]
    lines = [*_title("Checks for parts of your own", "="), above.replace("    from", "::\n\n    from", 1), ""]
    lines += _summary("fewsight.testing", checks)
    lines += ["The same checks one by one, for a test runner:", ""]
    for name in groups:
        each = ", ".join(f"``{check.__name__}``" for check in getattr(fewsight.testing, name))
        lines += [f".. py:data:: fewsight.testing.{name}", "", f"   {each}", ""]
    return "\n".join(lines)


def names_by_section() -> dict[str, list[str]]:
    """The exported names of each section that has any."""
    homes = {home: section for section, (_, packages) in SECTIONS.items() for home in packages}
    found: dict[str, list[str]] = {section: [] for section in SECTIONS}
    for name in fewsight.__all__:
        if name != "__version__":
            found[homes.get(fewsight._HOMES[name], "More")].append(name)
    return {section: names for section, names in found.items() if names}


def properties() -> dict[str, list[str]]:
    """The public properties of each exported class that it or a base class documents, for the template of a class."""
    found = {}
    for name in fewsight.__all__:
        kind = getattr(fewsight, name)
        if inspect.isclass(kind):
            own = [
                key
                for key, value in inspect.getmembers(kind)
                if isinstance(value, _PROPERTIES) and not key.startswith("_")
            ]
            found[f"fewsight.{name}"] = [key for key in own if inspect.getdoc(inspect.getattr_static(kind, key))]
    return found


def command_page() -> str:
    """What `fewsight --help` and the help of each command say, with all options."""
    from fewsight.apps.cli.program import app

    program: Any = typer.main.get_command(app)
    lines = ["# Command line", "", _sentence(program.help), ""]
    lines += ["Every command says what it takes: `fewsight COMMAND --help`. This page is made from the program.", ""]
    for name, command in program.commands.items():
        lines += [
            f"## fewsight {name}",
            "",
            *_help(command),
            *_arguments(command),
            *_options(command),
            *_examples(command),
        ]
    return "\n".join(lines) + "\n"


def _help(command: Any) -> Iterator[str]:
    """Paragraphs of the help; one that is laid out in columns stays as it is."""
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        laid_out = any("  " in line.strip() or line.startswith(" ") for line in paragraph.splitlines())
        yield from ("```text", paragraph, "```", "") if laid_out else (_sentence(paragraph), "")


def _arguments(command: Any) -> Iterator[str]:
    given = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    usage = " ".join(_placeholder(parameter) for parameter in given)
    yield from ("```text", f"fewsight {command.name} [OPTIONS] {usage}".rstrip(), "```", "")
    if given:
        yield from ("| argument | what it is |", "| --- | --- |")
        for parameter in given:
            yield f"| `{_placeholder(parameter)}` | {_cell(parameter.help)} |"
        yield ""


def _placeholder(argument: Any) -> str:
    """An argument as a line of usage shows it."""
    word = (argument.metavar or argument.name.upper()) + ("..." if argument.nargs == -1 else "")
    return word if argument.required else f"[{word}]"


def _options(command: Any) -> Iterator[str]:
    """A table for each panel, in the order in which panels first appear."""
    panels: dict[str, list[Any]] = {}
    for parameter in command.params:
        if parameter.param_type_name == "option" and not parameter.hidden:
            panels.setdefault(getattr(parameter, "rich_help_panel", None) or "Options", []).append(parameter)
    for panel, parameters in panels.items():
        yield from (f"**{panel}**", "", "| option | what it does | otherwise |", "| --- | --- | --- |")
        for parameter in parameters:
            names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
            metavar = "" if parameter.is_flag or not parameter.metavar else f" {_cell(parameter.metavar)}"
            yield f"| {names}{metavar} | {_cell(parameter.help)} | {_cell(_default(parameter))} |"
        yield ""


def _default(parameter: Any) -> str:
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    if parameter.required:
        return "must be given"
    if parameter.is_flag or parameter.default is None or parameter.default in ((), []):
        return ""
    return str(parameter.default)


def _examples(command: Any) -> Iterator[str]:
    if command.epilog:
        text = inspect.cleandoc(command.epilog).replace("[bold]", "").replace("[/bold]", "")
        yield from ("Examples:", "", "```text", *(line for line in text.splitlines() if line), "```", "")


def _sentence(text: str | None) -> str:
    return " ".join((text or "").split())


def _cell(text: str | None) -> str:
    return _sentence(text).replace("|", "\\|").replace("[", "\\[").replace("<", "&lt;").replace("*", "\\*")


def _title(text: str, line: str) -> list[str]:
    return [text, line * len(text), ""]


def _paragraph(text: str) -> list[str]:
    return [text, ""] if text else []


def _summary(module: str, names: list[str]) -> list[str]:
    """A table of names, each with a page of its own; registries, which are objects, are described in place."""
    package = importlib.import_module(module)
    plain = [
        name for name in names if inspect.isclass(getattr(package, name)) or inspect.isroutine(getattr(package, name))
    ]
    lines = [
        f".. currentmodule:: {module}",
        "",
        ".. autosummary::",
        "   :toctree: .",
        "   :nosignatures:",
        "",
        *(f"   {n}" for n in plain),
        "",
    ]
    for name in names:
        if name not in plain:
            lines += [f".. py:data:: {name}", "", f"   {_object(getattr(package, name))}", ""]
    return lines


def _object(what: Any) -> str:
    """What an exported object is: a registry lists its parts, another says what its class says."""
    if isinstance(what, Registry):
        return f"Every {what.what} by its name: {', '.join(f'``{key}``' for key in what)}; and those of other packages."
    return _sentence(inspect.cleandoc(type(what).__doc__ or "").split("\n\n")[0])
