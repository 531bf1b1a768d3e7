"""Every verb of the workbench says which files it reads and writes, so that no output is ever an input."""

from __future__ import annotations

import inspect

import pytest

from fewsight.apps import workbench

VERBS = {name: value for name in workbench.__all__ if inspect.isfunction(value := getattr(workbench, name))}


def file_parameters(name: str) -> list[str]:
    parameters = inspect.signature(VERBS[name]).parameters.values()
    return [p.name for p in parameters if "Path" in str(p.annotation) or "ImageSource" in str(p.annotation)]


@pytest.mark.parametrize("name", [name for name in VERBS if file_parameters(name)])
def test_a_verb_that_takes_files_declares_them(name: str) -> None:
    declared = getattr(VERBS[name], "files", ())
    assert set(file_parameters(name)) <= set(declared), "declare them with checked_files"
    assert set(declared) <= set(inspect.signature(VERBS[name]).parameters)


def test_there_are_verbs_to_look_at() -> None:
    assert {"learn_folder", "predict_images", "evaluate_folder", "demo"} <= {n for n in VERBS if file_parameters(n)}
