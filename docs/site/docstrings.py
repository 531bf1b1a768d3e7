"""Our docstrings as numpydoc reads them, and what every exported name must say.

We write a parameter and what it is in one sentence, `noise_variance : variance of the noise on the targets, > 0.`; numpydoc takes
what stands behind the colon for a type. So the sentence is moved to a line of its own before numpydoc sees it.
"""

from __future__ import annotations

import inspect
import re

SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "Yields")
_ENTRY = re.compile(r"^(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*) : (?P<said>.+)$")
_WRAPPED = 80  # characters: a shorter line with lines below it is a type, as numpydoc has it


def as_numpydoc(lines: list[str]) -> list[str]:
    """The lines of a docstring with `name : sentence` as `name`, and the sentence below it."""
    made: list[str] = []
    section = ""
    for place, line in enumerate(lines):
        if place + 1 < len(lines) and line in SECTIONS and set(lines[place + 1]) == {"-"}:
            section = line
        elif set(line) == {"-"}:
            pass
        elif section in ("Parameters", "Attributes") and (entry := _ENTRY.match(line)):
            below = place + 1 < len(lines) and lines[place + 1].startswith(" ")
            if not below or len(line) >= _WRAPPED:
                made += [entry["names"], f"    {entry['said']}"]
                continue
        made.append(line)
    return made


def described(docstring: str, section: str) -> dict[str, str]:
    """The entries of a section, and what is said about each."""
    found: dict[str, str] = {}
    inside, names = False, []
    lines = docstring.splitlines()
    for place, line in enumerate(lines):
        following = lines[place + 1] if place + 1 < len(lines) else ""
        if line in SECTIONS and following and set(following) == {"-"}:
            inside, names = line == section, []
        elif inside and (entry := re.match(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : (.*))?$", line)):
            names = [name.lstrip("*") for name in entry[1].split(", ")]
            found |= dict.fromkeys(names, entry[2] or "")
        elif inside and names and line.startswith(" "):
            found |= {name: f"{found[name]} {line.strip()}".strip() for name in names}
    return found


def whole(kind: type | None, name: str, docstring: str) -> str:
    """The docstring of a method, with the sections that it leaves to the method of a base class which it overrides."""
    missing = [
        section for section in ("Parameters", "Returns") if f"{section}\n{'-' * len(section)}\n" not in docstring
    ]
    for base in kind.__mro__[1:] if kind is not None else ():
        inherited = inspect.cleandoc(getattr(base.__dict__.get(name), "__doc__", None) or "")
        for section in list(missing):
            if (text := _section(inherited, section)) is not None:
                docstring = f"{docstring}\n\n{text}"
                missing.remove(section)
    return docstring


def _section(docstring: str, section: str) -> str | None:
    heading = f"{section}\n{'-' * len(section)}\n"
    if heading not in docstring:
        return None
    text = docstring[docstring.index(heading) :]
    following = re.search(r"\n\n\w+\n-{3,}\n", text)
    return text[: following.start()] if following else text
