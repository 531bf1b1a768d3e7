"""What every compiled loop must satisfy: a readable definition beside it, and nothing compiled before it is called."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest
from numba.core.registry import CPUDispatcher

import fewsight._compiled

MODULES = [
    importlib.import_module(f"fewsight._compiled.{found.name}")
    for found in pkgutil.iter_modules(fewsight._compiled.__path__)
    if not found.name.startswith("_")
]
LOOPS = [
    pytest.param(module, name, loop, id=f"{module.__name__.rpartition('.')[2]}.{name}")
    for module in MODULES
    for name, loop in vars(module).items()
    if isinstance(loop, CPUDispatcher) and loop.__module__ == module.__name__ and not name.startswith("_")
]


def test_there_are_loops_to_walk() -> None:
    assert {module.__name__.rpartition(".")[2] for module in MODULES} >= {"histogram_intersection", "chi_square"}
    assert len(LOOPS) >= 3


@pytest.mark.parametrize(("module", "name", "loop"), LOOPS)
def test_a_loop_has_a_reference_with_the_same_arguments(module: ModuleType, name: str, loop: Any) -> None:
    reference = getattr(module, f"{name}_reference", None)
    assert reference is not None, f"{module.__name__}.{name} has no {name}_reference beside it."
    assert not isinstance(reference, CPUDispatcher)
    assert list(inspect.signature(reference).parameters) == list(inspect.signature(loop.py_func).parameters)


@pytest.mark.parametrize(("module", "name", "loop"), LOOPS)
def test_a_loop_says_which_definition_it_follows(module: ModuleType, name: str, loop: Any) -> None:
    assert f"As `{name}_reference`" in (loop.__doc__ or "")


@pytest.mark.parametrize(("module", "name", "loop"), LOOPS)
def test_a_loop_keeps_its_machine_code_between_runs(module: ModuleType, name: str, loop: Any) -> None:
    assert type(loop._cache).__name__ == "FunctionCache", f"{module.__name__}.{name} lacks cache=True."


def test_importing_the_loops_compiles_nothing() -> None:
    names = [module.__name__ for module in MODULES]
    program = f"""
import importlib
from numba.core.registry import CPUDispatcher
for name in {names!r}:
    for loop in vars(importlib.import_module(name)).values():
        assert not isinstance(loop, CPUDispatcher) or not loop.signatures, loop
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("module", MODULES)
def test_a_reference_has_something_to_refer_to(module: ModuleType) -> None:
    for name in vars(module):
        if name.endswith("_reference"):
            assert callable(getattr(module, name.removesuffix("_reference"), None)), f"{name} has no loop beside it."
