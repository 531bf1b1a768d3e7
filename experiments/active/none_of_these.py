"""Are images that belong to no category noticed more often once somebody said so of others like them?

    python -m experiments.active.none_of_these DATA --work FOLDER --seeds 0-9

25 categories of Caltech-101, vectors of `pretrained`, 15 training images of each. 20 are learned; the images of the other five, a
fifth of the pool, belong to none of these. They are learned as `NONE_OF_THESE`, or left without a label. Asked are 15 further
images of each of the 25, and of five categories that nobody has ever seen. An image is unsure if no category is more probable
than one half.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.active import runs
from experiments.active.pools import VECTORS, VectorSource
from experiments.active.runs import Experiment, Run, record
from experiments.common.command import run
from fewsight import NONE_OF_THESE
from fewsight._base.types import Array, Indices
from fewsight.channels.vector_channel import scale_by_evidence
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier

N_INSIDE, N_OUTSIDE, N_NEVER = 20, 5, 5
SIZES, TEST, SURE = (5, 15), 15, 0.5
SETTINGS = {"inside": N_INSIDE, "outside": N_OUTSIDE, "never": N_NEVER, "per_class": SIZES, "test": TEST, "sure": SURE}
WAYS = ("said", "unsaid")


def one(where: VectorSource, seed: int) -> Run:
    """For each number of training images, with and without the answers: what is said about the test images."""
    rng = np.random.default_rng(seed)
    labels = where.vectors.labels
    enough = [name for name in np.unique(labels) if (labels == name).sum() >= max(SIZES) + TEST]
    drawn = rng.permutation(enough)[: N_INSIDE + N_OUTSIDE + N_NEVER]
    places = np.stack([rng.permutation(np.flatnonzero(labels == name))[: max(SIZES) + TEST] for name in drawn])
    return {str(size): {way: _found(where, places, size, said=way == "said") for way in WAYS} for size in SIZES}


def _found(where: VectorSource, places: Indices, size: int, *, said: bool) -> dict[str, float]:
    n_learned = N_INSIDE + N_OUTSIDE if said else N_INSIDE
    groups = np.repeat(np.arange(n_learned), size)
    train, test = (where.vectors.rows(part.ravel()) for part in (places[:n_learned, :size], places[:, max(SIZES) :]))
    kernel = RBF(scale_by_evidence(train, np.where(groups < N_INSIDE, groups, -1), np.random.default_rng(0)))
    names = [int(group) if group < N_INSIDE else NONE_OF_THESE for group in groups]
    model = GPClassifier("precomputed", prototypes=False).fit(kernel.gram(train), names)
    return _summary(model, kernel.gram(test, train), np.repeat(np.arange(len(places)), TEST))


def _summary(model: GPClassifier, K_test: Array, truth: Indices) -> dict[str, float]:
    """Accuracy on the categories; of each kind of image, the shares that are called unknown, unsure, or either."""
    said = model.assess(K_test)
    assert said.unknown is not None
    unsure = said.probabilities.max(axis=1) < SURE
    inside = truth < N_INSIDE
    decided = model.classes_[said.latent.mean.argmax(axis=1)]
    found = {"accuracy": float(np.mean(decided[inside] == truth[inside]))}
    kinds = {
        "inside": inside,
        "outside": ~inside & (truth < N_INSIDE + N_OUTSIDE),
        "never": truth >= N_INSIDE + N_OUTSIDE,
    }
    for kind, rows in kinds.items():
        shares = {"unknown": said.unknown, "unsure": unsure, "either": said.unknown | unsure}
        found |= {f"{name}_{kind}": float(flags[rows].mean()) for name, flags in shares.items()}
    return found


def describe(where: VectorSource, found: list[Run]) -> list[dict[str, Any]]:
    """Both ways, and said less unsaid, draw by draw."""
    rows = []
    for size in map(str, SIZES):
        for metric in found[0][size]["said"]:
            values = {way: np.array([one_run[size][way][metric] for one_run in found]) for way in WAYS}
            rows += [record(where, metric, values[way], way=way, per_class=int(size)) for way in WAYS]
            rows.append(record(where, f"{metric}_gained", values["said"] - values["unsaid"], per_class=int(size)))
    return rows


EXPERIMENT = Experiment("none_of_these", one, SETTINGS)
work = runs.work_of(EXPERIMENT, describe)


def parser() -> Any:
    """The options of this command."""
    found = runs.parser("none_of_these", __doc__)
    found.set_defaults(pools=(VECTORS,), seeds=list(range(10)))
    return found


if __name__ == "__main__":
    run(parser(), work)
