"""A category against the background: Fisher scores against the likelihood ratio of the same models. [Holub2008, Table 1]

Of each class one model is learned from its 100 training images. `generative` decides by the ratio of likelihoods, the others by
a classifier on their scores: of shape, of appearance, of both (`hybrid`), of all detectors (`combined`). The bare model of the
paper stands beside one with a clutter term. Controls: what the aspect of the image alone tells, and the same with frames trimmed
and backgrounds cropped to the aspect of the category.

    python -m experiments.holub2008.table1 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from experiments.common.command import base_arguments, run, words
from experiments.holub2008.class_images import BACKGROUND, CATEGORIES, Split, against_background, aspect_of
from experiments.rodner2012.results import kept, record, write_results
from fewsight._base.progress import silent, track
from fewsight._base.types import Array
from fewsight.channels import CHANNELS, FisherChannel
from fewsight.channels.vector_channel import scale_by_evidence
from fewsight.evaluation.provenance import settings_of
from fewsight.images import FeatureCache
from fewsight.kernels import RBF
from fewsight.kernels.rows import as_dense, matrix_of
from fewsight.learners import GPClassifier, SVMClassifier

DETECTORS = ("kb", "dog", "harris", "hessian")
CONTROLS = ("none", "trimmed")
FORMS = ("clutter", "bare")
MODEL = {"models": "each"}  # the rest are defaults, chosen on seed 100; the paper has 3 parts of 30 points
N_TRAIN = N_TEST = 100
NEIGHBOURS = 9  # that the aspect is judged by


def channel_of(detector: str, cache: FeatureCache, **settings: Any) -> FisherChannel:
    """One that learns a model for each class."""
    kind = CHANNELS[f"fisher_{detector}"]
    made = kind(cache=cache, **{**MODEL, **settings})
    assert isinstance(made, FisherChannel)
    return made


class Seen(NamedTuple):
    """What a fitted channel says of the images of a split."""

    likelihoods: Array  # (test images, classes)
    gram: Array  # training x training
    asked: Array  # test x training


def seen(split: Split, channel: FisherChannel, of: tuple[str, ...] = ("both",)) -> dict[str, Seen]:
    """Fitted on the training images, by all scores, those of the shape or those of the appearance."""
    channel.fit(split.train, split.train_labels)
    A, B = (as_dense(matrix_of("seen", "images", channel.encode(side))) for side in (split.train, split.test))
    likelihoods = channel.log_likelihood(split.test)
    n_shape, n_scores = channel.models_[0].n_shape_scores, channel.models_[0].n_scores
    shape = np.arange(A.shape[1]) % n_scores >= n_scores - n_shape
    classes = np.unique(split.train_labels, return_inverse=True)[1]
    found = {}
    for uses in of:
        columns = {"both": np.ones(len(shape), bool), "shape": shape, "appearance": ~shape}[uses]
        kernel = RBF(scale_by_evidence(A[:, columns], classes, np.random.default_rng(channel.random_state)))
        found[uses] = Seen(likelihoods, kernel.gram(A[:, columns]), kernel.gram(B[:, columns], A[:, columns]))
    return found


def accuracies(split: Split, sights: list[Seen], learners: tuple[str, ...] = ("gp", "svm")) -> dict[str, float]:
    """Of likelihoods and of scores; those of several channels are added up or combined."""
    labels, wanted = np.array(split.train_labels), np.array(split.test_labels)
    order = np.array(list(dict.fromkeys(split.train_labels)))
    likelihoods = np.sum([each.likelihoods for each in sights], axis=0)
    found = {"generative": float(np.mean(order[likelihoods.argmax(axis=1)] == wanted))}
    for name in learners:
        learner = (
            GPClassifier("precomputed", prototypes=False)
            if name == "gp"
            else SVMClassifier("precomputed", C="cross_validated", multiclass="one_vs_one")
        )
        learner.fit(_given([each.gram for each in sights]), labels)
        found[name] = float(np.mean(learner.predict(_given([each.asked for each in sights])) == wanted))
    return found


def aspect_accuracy(split: Split) -> float:
    """What the aspect alone tells: the most frequent class among the nearest aspects."""
    train, test = (np.log([[aspect_of(image)] for image in side]) for side in (split.train, split.test))
    judge = KNeighborsClassifier(NEIGHBOURS).fit(train, split.train_labels)
    return float(judge.score(test, split.test_labels))


def cell(
    options: argparse.Namespace, cache: FeatureCache, category: str, seed: int, control: str, form: str
) -> dict[str, float]:
    """All ways of one form of model on one draw, by the name that records are made of."""
    n, clutter = options.images, form == "clutter"
    split = against_background(options.data, category, seed, n_train=n, n_test=n, trimmed=control == "trimmed")
    found, sights = {"aspect": aspect_accuracy(split)}, {}
    for detector in options.detectors:
        parts = ("both", "shape", "appearance") if clutter and control == "none" else ("both",)
        by_part = seen(split, channel_of(detector, cache, clutter=clutter, random_state=seed), parts)
        sights[detector] = by_part["both"]
        for way, value in accuracies(split, [sights[detector]]).items():
            found[f"{detector} {form} both {way}"] = value
        for uses in parts[1:]:
            found[f"{detector} {form} {uses} gp"] = accuracies(split, [by_part[uses]], ("gp",))["gp"]
    for way, value in accuracies(split, list(sights.values())).items():
        found[f"all {form} both {way}"] = value
    return found


def draw(options: argparse.Namespace, cache: FeatureCache, category: str, seed: int, control: str) -> dict[str, float]:
    """All forms on one draw; trimmed images are looked at with a clutter term only."""
    settings = {d: settings_of(channel_of(d, cache)) for d in options.detectors}
    found: dict[str, float] = {}
    for form in options.forms if control == "none" else options.forms[:1]:
        named = {"category": category, "control": control, "seed": seed, "images": options.images, "form": form}
        with silent():
            found |= kept(
                options.work,
                "table1",
                {**named, "channels": settings},
                lambda f=form: cell(options, cache, category, seed, control, f),
            )
    return found


def head_of(name: str, category: str, control: str) -> dict[str, Any]:
    """What a record says of a way."""
    if name == "aspect":
        return {
            "method": "aspect",
            "category": category,
            "detector": None,
            "clutter": None,
            "control": "aspect" if control == "none" else f"aspect of {control}",
            "learner": "nearest aspects",
        }
    detector, form, uses, way = name.split()
    method = (
        "generative"
        if way == "generative"
        else "combined"
        if detector == "all"
        else "hybrid"
        if uses == "both"
        else uses
    )
    return {
        "method": method,
        "category": category,
        "detector": detector,
        "clutter": form == "clutter",
        "control": control,
        "learner": way,
    }


def work(options: argparse.Namespace) -> None:
    """All draws and the file of results."""
    cache, records = FeatureCache(options.work / "features"), []
    places = [(category, control) for category in options.categories for control in options.controls]
    settings = {d: settings_of(channel_of(d, cache)) for d in options.detectors}
    for category, control in track(places, "categories", len(places)):
        cells = [draw(options, cache, category, seed, control) for seed in options.seeds]
        records += [record(head_of(name, category, control), "accuracy", [c[name] for c in cells]) for name in cells[0]]
        show(category, control, cells)
    protocol = {"background": BACKGROUND, "n_train": options.images, "n_test": options.images, "channels": settings}
    write_results(options, records, protocol=protocol)


def show(category: str, control: str, cells: list[dict[str, float]]) -> None:
    """The means, a line for each way."""
    for name in cells[0]:
        values: Array = 100 * np.array([each[name] for each in cells])
        print(
            f"{category:12} {control:8} {name:34} {values.mean():5.1f} +- {values.std() / max(1, len(values) - 1) ** 0.5:.1f}",
            flush=True,
        )


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    folder = "the folder that holds caltech101 and caltech_background"
    made = base_arguments("table1", __doc__, folder=folder, seeds="0-4", of="draws", paper="holub2008")
    results = Path("experiments/results/holub2008/table1.json")
    made.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    made.add_argument(
        "--images", type=int, default=N_TRAIN, help=f"of each class to learn from, and to test on ({N_TRAIN})"
    )
    made.add_argument("--categories", type=words, default=CATEGORIES, help="joined by commas")
    made.add_argument("--controls", type=words, default=CONTROLS, help="none, trimmed or both, joined by a comma")
    made.add_argument("--detectors", type=words, default=DETECTORS, help="joined by commas")
    made.add_argument("--forms", type=words, default=FORMS, help="of models: clutter, bare or both, joined by a comma")
    return made


def _given(grams: list[Array]) -> Any:
    return grams[0] if len(grams) == 1 else grams


if __name__ == "__main__":
    run(parser(), work)
