"""Whether the declared dependencies are true: `python tests/smoke/dependency_sets.py oldest` (or `newest`).

Makes a virtual environment in a temporary folder, installs fewsight with every dependency at its declared minimum (or at its
newest release), extras included, and runs `smoke.py` there. Ends with the exit code of what failed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOT_FOR_USERS = ("test", "docs", "dev")
_LEAST = re.compile(r"([A-Za-z0-9._-]+)\s*(?:>=|==)\s*([0-9][0-9.]*)")


def main() -> int:
    """Install, run, and say what was tried; the exit code."""
    options = _options()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [name for name in project.get("optional-dependencies", {}) if name not in NOT_FOR_USERS]
    pins = least_versions(declared(project)) if options.set == "oldest" else []
    with tempfile.TemporaryDirectory(prefix="fewsight-smoke-") as folder:
        python = Path(folder) / "venv" / "bin" / "python"
        _run(options.python, "-m", "venv", python.parents[1])
        newest = ["--upgrade"] if options.set == "newest" else []
        _run(python, "-m", "pip", "install", "--quiet", *newest, f"{ROOT}[{','.join(extras)}]", *pins)
        _run(python, "-m", "pip", "list", "--format", "freeze", "--exclude", "fewsight")
        return subprocess.run([python, Path(__file__).with_name("smoke.py"), folder], check=False).returncode


def declared(project: dict[str, dict[str, list[str]]]) -> list[str]:
    """All that users may install: dependencies and those of the extras, but not what tests and developers need."""
    extras = project.get("optional-dependencies", {})
    wanted = [each for name, needs in extras.items() if name not in NOT_FOR_USERS for each in needs]
    return [*project["dependencies"], *(each for each in wanted if not each.startswith("fewsight"))]


def least_versions(requirements: Iterable[str]) -> list[str]:
    """`["numpy>=2.0"]` as `["numpy==2.0"]`; a requirement without a lower bound is an error."""
    pins = []
    for requirement in requirements:
        found = _LEAST.fullmatch(requirement.strip())
        if found is None:
            raise ValueError(f"pyproject.toml: {requirement!r} must be NAME>=VERSION or NAME==VERSION.")
        pins.append(f"{found[1]}=={found[2]}")
    return pins


def _run(*command: str | Path) -> None:
    print("$", *command, flush=True)
    done = subprocess.run([str(part) for part in command], check=False)
    if done.returncode:
        sys.exit(done.returncode)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", choices=("oldest", "newest"))
    parser.add_argument("--python", default=sys.executable, help="the Python to make the environment with")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
