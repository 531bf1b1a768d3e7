"""Kernel matrices of two persons under models of different unlabelled images, and how well they suit. [Holub2008, Fig. 11 and 12]

Ten photographs of each of two persons; the matrix is the mean over all pairs of persons, with zeros on its diagonal. The second
figure has the photographs of the first pair in the plane, by their distances.

    python -m experiments.holub2008.fig11 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.common.command import base_arguments, run, words
from experiments.holub2008.class_images import category_images
from experiments.holub2008.fig10 import MODEL, PERSONS, SETS, person_of, unlabelled_images
from experiments.holub2008.results import add_results, each_draw, write_cells
from experiments.holub2008.table1 import channel_of
from fewsight._base.types import Array
from fewsight.evaluation import scores_figure
from fewsight.evaluation.provenance import settings_of
from fewsight.images import FeatureCache
from fewsight.metrics import kernel_alignment

OF_PERSON = 10


def cell(options: argparse.Namespace, cache: FeatureCache, name: str, seed: int) -> dict[str, Any]:
    """The linear kernel of one pair of persons, of mean diagonal one, and its alignment."""
    rng = np.random.default_rng(seed)
    pair = rng.choice(len(PERSONS), 2, replace=False)
    faces = category_images(options.data, "Faces_easy")
    own = [rng.permutation([i for i in range(len(faces)) if person_of(i) == number])[:OF_PERSON] for number in pair]
    channel = channel_of(options.detector, cache, random_state=seed, **MODEL)
    channel.fit(unlabelled_images(options.data, name, options.unlabelled, pair, rng))
    K = channel.gram(channel.encode([faces[i] for each in own for i in each]))
    K = K / np.diag(K).mean()
    return {"alignment": kernel_alignment(K, np.arange(len(K)) < OF_PERSON), "matrix": K.tolist()}


def work(options: argparse.Namespace) -> None:
    """All pairs, the file of results and two figures."""
    cache = FeatureCache(options.work / "features")
    named = {"unlabelled": options.unlabelled, "channel": settings_of(channel_of(options.detector, cache, **MODEL))}
    cells = each_draw(options, "fig11", options.sets, named, lambda name, seed: cell(options, cache, name, seed))
    plain = {name: [{"alignment": each["alignment"]} for each in found] for name, found in cells.items()}
    write_cells(options, plain, method="hybrid", detector=options.detector, protocol=named, metric="alignment")
    matrices = {name: np.mean([each["matrix"] for each in found], axis=0) for name, found in cells.items()}
    options.figure.parent.mkdir(parents=True, exist_ok=True)
    mean_matrices(matrices).savefig(options.figure, dpi=90)
    for name, found in cells.items():
        place = options.figure.with_name(f"{options.figure.stem}_{name}{options.figure.suffix}")
        scores_figure(np.array(found[0]["matrix"]), ["one"] * OF_PERSON + ["other"] * OF_PERSON).savefig(place, dpi=70)


def mean_matrices(matrices: dict[str, Array]) -> Figure:
    """Side by side, with zeros on the diagonal."""
    figure = Figure(figsize=(2.8 * len(matrices), 2.9), layout="constrained")
    for axes, (name, matrix) in zip(np.ravel(figure.subplots(1, len(matrices))), matrices.items(), strict=True):
        axes.imshow(matrix * (1 - np.eye(len(matrix))), cmap="viridis", interpolation="nearest")
        axes.set(title=name, xticks=[], yticks=[])
    return figure


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    folder = "the folder that holds caltech101 and caltech_background"
    made = base_arguments("fig11", __doc__, folder=folder, seeds="0-19", of="pairs", paper="holub2008")
    add_results(made, "fig11")
    figure = Path("docs/images/holub2008_kernels.png")
    made.add_argument("--figure", type=Path, default=figure, help=f"where the matrices go ({figure})")
    made.add_argument("--detector", default="hessian", help="whose points are taken (hessian)")
    made.add_argument("--sets", type=words, default=SETS, help="of unlabelled images, joined by commas")
    made.add_argument("--unlabelled", type=int, default=200, help="images (200)")
    return made


if __name__ == "__main__":
    run(parser(), work)
