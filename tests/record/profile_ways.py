"""Counts the source files and the functions of fewsight that three ways pass through.

    python tests/record/profile_ways.py [--list]

learn : the command `learn` on a folder of fifteen images with `spatial_pmk` and an empty cache. The command line itself (all in
    `apps/cli`) does not count: the way begins at the workbench.
ask : twenty questions and answers of `ActiveLearner` on vectors, with the default learner and thirty labels from before, so that
    noise and calibration are learned again on the way. "ask once" is one question and one answer between two re-learnings.
histograms : `HistogramGPClassifier.fit` on 200 rows of 20 bins of four classes.

A function is a code object that is entered, by its file and its qualified name: methods, properties and nested functions count;
lambdas, comprehensions, generator expressions, module and class bodies do not, nor does what numba compiled. Everything is
imported, and each way was gone before, when the counting begins. Other threads count as well.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections.abc import Callable
from inspect import CO_NEWLOCALS
from pathlib import Path
from types import FrameType

import numpy as np
from sklearn.datasets import load_digits
from typer.testing import CliRunner

import fewsight
from fewsight.apps.cli import app
from fewsight.images import write_sample_set

HOME = Path(fewsight.__file__).parent
NO_FUNCTIONS = ("<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>")
CATEGORIES, PER_CATEGORY = ("brick", "cat", "grass"), 5
Function = tuple[str, str]  # its file, relative to the package, and its qualified name


def entered(work: Callable[[], object]) -> set[Function]:
    """The functions of fewsight that are entered while `work` runs, in any thread."""
    found: set[Function] = set()

    def notice(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        path = Path(code.co_filename)
        is_function = (
            code.co_flags & CO_NEWLOCALS and code.co_name not in NO_FUNCTIONS
        )  # class bodies have no new locals
        if event == "call" and is_function and path.is_relative_to(HOME):
            found.add((path.relative_to(HOME).as_posix(), code.co_qualname))

    threading.setprofile(notice)
    sys.setprofile(notice)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def learning(folder: Path) -> set[Function]:
    """The way of `fewsight learn`."""
    write_sample_set(folder / "samples")
    for path in (folder / "samples").glob("*/*.png"):
        if path.parent.name in CATEGORIES and int(path.stem) < PER_CATEGORY:
            chosen = folder / "chosen" / path.parent.name
            chosen.mkdir(parents=True, exist_ok=True)
            path.rename(chosen / path.name)

    def learn(number: int) -> None:
        words = ["learn", str(folder / "chosen"), "--output", str(folder / f"model{number}.fewsight")]
        words += ["--channels", "spatial_pmk", "--cache-dir", str(folder / f"cache{number}")]
        done = CliRunner().invoke(app, words)
        if done.exit_code:
            raise RuntimeError(done.output)

    learn(0)
    return {each for each in entered(lambda: learn(1)) if not each[0].startswith("apps/cli/")}


def asking(turns: int) -> set[Function]:
    """The way of some questions and answers."""
    X, digits = load_digits(return_X_y=True)
    X, labels = X[:300], digits[:300].astype(str)
    known = [label if i < 30 else None for i, label in enumerate(labels)]
    active = fewsight.ActiveLearner().fit(X, known)

    def ask(n: int) -> None:
        for _ in range(n):
            query = active.query()
            active.teach(query.indices, labels[query.indices])

    ask(3)
    return entered(lambda: ask(turns))


def fitting() -> set[Function]:
    """The way of learning from histograms."""
    rng = np.random.default_rng(0)
    classes = np.arange(200) % 4
    rows = rng.random((200, 20))
    rows[np.arange(200), classes] += 1
    fewsight.HistogramGPClassifier().fit(rows, classes)
    return entered(lambda: fewsight.HistogramGPClassifier().fit(rows, classes))


def main() -> None:
    """Print a line for each way and, with --list, what it passes through."""
    parser = argparse.ArgumentParser(description="Count the files and functions that three ways pass through.")
    parser.add_argument("--list", action="store_true", help="name the functions of each way")
    listed = parser.parse_args().list
    with tempfile.TemporaryDirectory() as folder:
        ways = {"learn": learning(Path(folder)), "ask": asking(20), "ask once": asking(1), "histograms": fitting()}
    for name, found in ways.items():
        print(f"{name}: {len({path for path, _ in found})} files, {len(found)} functions")
        if listed:
            print("\n".join(f"  {path} {function}" for path, function in sorted(found)))


if __name__ == "__main__":
    main()
