"""A release by one command: `python tests/smoke/release.py`, or with `--draft` everything but the demands and the tag.

Builds wheel and sdist into dist/, checks them, installs each in a clean environment outside the checkout with every Python that
is named, and runs `smoke.py` there, which also opens the model and project files that are kept. Uploading is left to whoever may
do it.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dependency_sets import ROOT, _run

DIST = ROOT / "dist"


def main() -> int:
    """Demand, build, check, install, try, tag; the exit code."""
    options = _options()
    pythons = at_hand(options.python)
    version = version_of(ROOT)
    if not options.draft:
        refusal = reason_against(ROOT, version)
        if refusal is not None:
            sys.exit(f"release: {refusal}")
    with tempfile.TemporaryDirectory(prefix="fewsight-release-") as folder:
        tools = environment(Path(folder) / "tools", pythons[0])
        _run(tools, "-m", "pip", "install", "--quiet", "build", "twine")
        shutil.rmtree(DIST, ignore_errors=True)
        _run(tools, "-m", "build", "--outdir", DIST, ROOT)
        built = built_files(DIST, version)
        _run(tools, "-m", "twine", "check", "--strict", *built)
        for number, python in enumerate(pythons):
            for path in built:
                try_out(path, Path(folder) / f"{number}{path.suffix}", python)
    if not options.draft:
        _run("git", "-C", ROOT, "tag", "--annotate", f"v{version}", "--message", f"fewsight {version}")
    print(f"release: {', '.join(path.name for path in built)} are in {DIST.name}/.")
    return 0


def version_of(root: Path) -> str:
    """As the package says it, which is the only place."""
    text = (root / "src" / "fewsight" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    return str(version)


def reason_against(root: Path, version: str) -> str | None:
    """Why this tree cannot be released, as a sentence; None if it can."""
    changed = _git(root, "status", "--porcelain")
    if changed:
        return f"the tree must be as committed, got changes in {changed.split(maxsplit=1)[1].splitlines()[0]}."
    if _git(root, "tag", "--list", f"v{version}"):
        return f"v{version} must be a new tag, got one that is there; raise __version__."
    heading = rf"^## {re.escape(version)} \(\d{{4}}-\d{{2}}-\d{{2}}\)$"
    if not re.search(heading, (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE):
        return f"CHANGELOG.md must have the heading '## {version} (YYYY-MM-DD)', got none."
    return None


def built_files(folder: Path, version: str) -> list[Path]:
    """The wheel and the sdist of this version, and nothing else."""
    expected = [folder / f"fewsight-{version}-py3-none-any.whl", folder / f"fewsight-{version}.tar.gz"]
    found = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    if found != sorted(expected):
        sys.exit(f"release: dist must hold {[path.name for path in expected]}, got {[path.name for path in found]}.")
    return expected


def at_hand(pythons: Sequence[str]) -> list[str]:
    """The Pythons that are named, each once; one that cannot be started ends the run before anything is built."""
    for python in pythons:
        try:
            subprocess.run([python, "--version"], capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            sys.exit(
                f"release: {python} must start a Python to try the release with, and does not. Name one that does: "
                "make dist OLDEST_PYTHON=python3.11 NEWEST_PYTHON=python3.12"
            )
    return list(dict.fromkeys(pythons))


def environment(folder: Path, python: str) -> Path:
    """The Python of a new virtual environment."""
    _run(python, "-m", "venv", folder)
    return folder / "bin" / "python"


def try_out(built: Path, folder: Path, python: str) -> None:
    """Install what was built where nothing else is, and go the whole way there."""
    fresh = environment(folder / "venv", python)
    _run(fresh, "-m", "pip", "install", "--quiet", built)
    (folder / "work").mkdir()
    done = subprocess.run(
        [fresh, Path(__file__).with_name("smoke.py"), folder / "work", "--base"], cwd=folder, check=False
    )
    if done.returncode:
        sys.exit(done.returncode)
    print(f"release: {built.name} works with {python}.", flush=True)


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--draft", action="store_true", help="whatever the tree and the changelog are, and without a tag"
    )
    parser.add_argument(
        "--python", nargs="+", default=[sys.executable], help="the Pythons to try it with, the oldest first"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
