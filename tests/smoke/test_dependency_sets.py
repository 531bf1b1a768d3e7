"""The lower bounds can be pinned, and the smoke test itself works with what is installed here."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from dependency_sets import ROOT, declared, least_versions


def test_every_declared_dependency_has_a_version_to_install() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = dict(pin.split("==") for pin in least_versions(declared(project)))
    assert {"numpy", "scipy", "scikit-learn", "typer", "onnxruntime", "pyarrow"} <= pins.keys()
    assert "pytest" not in pins


def test_a_dependency_without_a_lower_bound_is_refused() -> None:
    with pytest.raises(ValueError, match="must be NAME>=VERSION"):
        least_versions(["numpy"])


@pytest.mark.slow
def test_the_smoke_test_passes_with_what_is_installed(tmp_path: Path) -> None:
    script = Path(__file__).with_name("smoke.py")
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
