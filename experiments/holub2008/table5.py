"""Two persons told apart by the models of one detector, of all, and of all with a weight for each. [Holub2008, Table 5]

Ten photographs of each person teach; seeds number the 171 pairs of persons. Models have two parts, and 20 numbers for a patch.

    python -m experiments.holub2008.table5 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from typing import Any

from experiments.common.command import base_arguments, run, words
from experiments.holub2008.model_suite import LETTERS, PERSON_PAIRS, Form, suite_of, task_split
from experiments.holub2008.results import add_results, each_draw, write_cells
from experiments.holub2008.table1 import DETECTORS
from fewsight.images import FeatureCache

FORM = Form(2, 100)
MODEL = {"n_components": 20}


def cell(options: argparse.Namespace, cache: FeatureCache, task: str, seed: int) -> dict[str, Any]:
    """Accuracies of one pair of persons."""
    suite = suite_of(task_split(options.data, task, seed, 0), cache, seed, options.detectors, (FORM,), **MODEL)
    names = list(suite.members)
    alone = {
        detector: suite.unweighted([name for name in names if name.startswith(LETTERS[detector])])
        for detector in options.detectors
    }
    learner, way = suite.weighted(names), suite.descent(names)
    return {
        **alone,
        "unweighted": suite.unweighted(names),
        "weighted": float(learner.score(suite.test, suite.wanted)),
        "descent": float(way.score(suite.test, suite.wanted)),
        "shares": dict(zip(names, way.shares(len(names)).tolist(), strict=True)),
    }


def work(options: argparse.Namespace) -> None:
    """All pairs and the file of results."""
    cache = FeatureCache(options.work / "features")
    named = {"detectors": options.detectors, "form": FORM._asdict(), **MODEL}
    cells = each_draw(options, "table5", ("persons",), named, lambda task, seed: cell(options, cache, task, seed))
    write_cells(options, cells, method="combined", detector="+".join(options.detectors), protocol=named)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    last = len(PERSON_PAIRS) - 1
    made = base_arguments(
        "table5", __doc__, folder="the folder that holds caltech101", seeds=f"0-{last}", of="pairs", paper="holub2008"
    )
    add_results(made, "table5")
    made.add_argument("--detectors", type=words, default=DETECTORS, help="joined by commas")
    return made


if __name__ == "__main__":
    run(parser(), work)
