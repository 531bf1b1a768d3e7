"""Everything public is documented: each name, each parameter, and the shape of each array that comes back."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import fewsight
import fewsight.testing

_SPEC = importlib.util.spec_from_file_location("site_docstrings", Path(__file__).parents[2] / "docs/site/docstrings.py")
assert _SPEC is not None
assert _SPEC.loader is not None
docstrings = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(docstrings)

ARRAYS = re.compile(r"\b(Array|Indices|Labels|NDArray)\b")
SHAPE = re.compile(r"\((?:[a-z_]+(?: \+ \d+)?|\d+)(?:, (?:[a-z_]+|\d+))*,?\)|shape")
PUBLIC = [(module, name) for module in (fewsight, fewsight.testing) for name in module.__all__ if name != "__version__"]
CLASSES = [getattr(module, name) for module, name in PUBLIC if inspect.isclass(getattr(module, name))]


def functions() -> Iterator[tuple[str, type | None, Callable[..., Any]]]:
    """Every public function and method of ours, each once, with its name and its class."""
    seen = set()
    for module, name in PUBLIC:
        found = getattr(module, name)
        if inspect.isfunction(found):
            yield name, None, found
    for kind in CLASSES:
        for name in dir(kind):
            method = inspect.getattr_static(kind, name)
            method = getattr(method, "__func__", method)
            if name.startswith("_") or not inspect.isfunction(method) or method in seen:
                continue
            if method.__module__.startswith("fewsight"):
                seen.add(method)
                yield method.__qualname__, owner(kind, name), method


def owner(kind: type, name: str) -> type:
    """The class in which a method is written."""
    return next(each for each in kind.__mro__ if name in each.__dict__)


def documentation(kind: type | None, function: Callable[..., Any]) -> str:
    """What the reference shows: a method that overrides another may leave words or parameters to it."""
    own = inspect.getdoc(function) or (inspect.getdoc(getattr(kind, function.__name__)) if kind else "") or ""
    return str(docstrings.whole(kind, function.__name__, own))


FUNCTIONS = {name: (kind, function) for name, kind, function in functions()}


def test_there_is_something_to_check() -> None:
    assert len(FUNCTIONS) > 150
    assert {"GPClassifier.add", "save", "Posterior.mean", "check_kernel"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_public_function_documents_its_parameters_and_shapes(name: str) -> None:
    kind, function = FUNCTIONS[name]
    text = documentation(kind, function)
    assert text.strip(), "no docstring"
    signature = inspect.signature(function)
    wanted = [parameter for parameter in signature.parameters if parameter not in ("self", "cls")]
    said = docstrings.described(text, "Parameters")
    assert [parameter for parameter in wanted if not said.get(parameter)] == []
    for parameter, given in signature.parameters.items():
        if ARRAYS.search(str(given.annotation)):
            assert SHAPE.search(said[parameter]), f"the shape of {parameter} is not said"
    if ARRAYS.search(str(signature.return_annotation)):
        assert SHAPE.search(text), f"the shape of {signature.return_annotation} is not said"


@pytest.mark.parametrize(
    "kind", [kind for kind in CLASSES if not issubclass(kind, Exception)], ids=lambda kind: kind.__name__
)
def test_a_public_class_documents_how_it_is_made(kind: type) -> None:
    text = inspect.getdoc(kind) or ""
    assert text.strip(), "no docstring"
    said = docstrings.described(text, "Parameters") | docstrings.described(text, "Attributes")
    wanted = [name for name in inspect.signature(kind).parameters if not name.startswith("_")]
    if not inspect.isabstract(kind):
        assert [name for name in wanted if not said.get(name)] == []


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_the_public_properties_of_a_class_are_documented(kind: type) -> None:
    attributes = docstrings.described(inspect.getdoc(kind) or "", "Attributes")
    for name, value in inspect.getmembers(kind, lambda member: isinstance(member, property)):
        if not name.startswith("_") and (value.fget.__module__ or "").startswith("fewsight"):
            described = any(inspect.getdoc(base.__dict__[name]) for base in kind.__mro__ if name in base.__dict__)
            assert described or name in attributes, f"{kind.__name__}.{name} has no docstring"


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_the_public_arrays_of_a_class_say_their_shape(kind: type) -> None:
    """Of whatever is an array after `fit`, or in a result: attributes and properties, those of bases included."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("fewsight")]
    said = docstrings.described(inspect.getdoc(kind) or "", "Parameters")
    said |= docstrings.described(inspect.getdoc(kind) or "", "Attributes")
    arrays = {name for base in ours for name, hint in inspect.get_annotations(base).items() if ARRAYS.search(str(hint))}
    for name, found in inspect.getmembers(kind, lambda member: isinstance(member, property)):
        if found.fget.__module__.startswith("fewsight") and ARRAYS.search(
            str(found.fget.__annotations__.get("return"))
        ):
            said[name] = " ".join(
                [said.get(name, ""), *(inspect.getdoc(vars(b)[name]) or "" for b in ours if name in vars(b))]
            )
            arrays.add(name)
    assert {name for name in arrays if name[0] != "_" and not SHAPE.search(said.get(name, ""))} == set()


def test_an_override_shows_the_parameters_of_what_it_overrides() -> None:
    class Base:
        def ask(self, x):  # type: ignore[no-untyped-def]
            """Ask.

            Parameters
            ----------
            x : what.

            Returns
            -------
            array (n,)
                Answers.
            """

    class Derived(Base):
        def ask(self, x):  # type: ignore[no-untyped-def]
            """Ask otherwise."""

    text = docstrings.whole(Derived, "ask", "Ask otherwise.")
    assert text.startswith("Ask otherwise.\n\nParameters\n----------\nx : what.\n\nReturns\n-------\narray (n,)")
    assert docstrings.described(text, "Parameters") == {"x": "what."}
