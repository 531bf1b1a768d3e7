"""Answers of every exported learner: on rows, Gram matrices, histograms and images, as examples come and go."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from answer_record import DEFECT, Array, Examples, Record, Split, answers_of
from sklearn.base import clone
from sklearn.datasets import make_blobs

from fewsight import (
    CHANNELS,
    RBF,
    ExponentialChiSquare,
    FeatureCache,
    GPClassifier,
    HistogramGPClassifier,
    HistogramIntersection,
    ImageSet,
    InvalidInput,
    KernelCombination,
    Linear,
    NearestNeighbourClassifier,
    Polynomial,
    SVMClassifier,
    TransferGPClassifier,
    borrow_for_few,
    image_set_from_class_folders,
    load,
    make_channel,
    sample_set,
    save,
    suggest_loan,
)
from fewsight.evaluation import Protocol, evaluate, evaluate_borrowing
from fewsight.learners import LogisticClassifier, NearestMeanClassifier

sys.path.insert(0, str(Path(__file__).parents[1]))  # for small_networks
from small_networks import write_network, write_vectors

BASELINES = (SVMClassifier, NearestNeighbourClassifier, NearestMeanClassifier, LogisticClassifier)
UNKNOWN_RULES = (
    *("variance", "probability", "latent", "contrast", "distance", "latent+variance", "latent+distance"),
    *("probability+distance", "contrast+distance", "contrast+variance"),
)
GP_OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "noise by evidence": {"noise_variance": "evidence"},
    "noise given": {"noise_variance": 0.3},
    "balanced": {"balanced": True},
    "not calibrated": {"calibrated": False},
    "balanced, not calibrated": {"balanced": True, "calibrated": False},
    "more false alarms": {"false_alarm_rate": 0.3},
    **{f"unknown by {rule}": {"unknown_rule": rule} for rule in UNKNOWN_RULES},
}
COMBINATIONS: dict[str, dict[str, Any]] = {
    **{
        f"{penalty}, {scope}": {"penalty": penalty, "scope": scope}
        for penalty in ("even", "l1", "l2", "none")
        for scope in ("global", "classwise")
    },
    "strength given": {"strength": 1.0, "free_mean": True},
    "noise given": {"noise_variance": 0.1, "free_mean": False},
    "noise by evidence": {"noise_variance": "evidence", "n_starts": 2},
}
HISTOGRAM_OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "noise given": {"noise_variance": 0.2, "quantization_bins": None, "variance": "exact"},
    "balanced": {"balanced": True},
    "noise per class": {"noise_per_class": True},
    "power by left-out": {"feature_transform": "power"},
    "exponential by evidence": {"feature_transform": "exponential", "transform_parameter": "evidence"},
    "power given": {"feature_transform": "power", "transform_parameter": 0.5},
    "relevance by evidence": {"relevance": "evidence"},
    "relevance of groups": {"relevance": "channels", "groups": np.arange(12) // 4},
    "relevance given": {"relevance": np.linspace(0.5, 1.5, 12)},
    "criterion bound": {"criterion": "bound"},
    "not calibrated": {"calibrated": False, "unknown_rule": "contrast+variance"},
    "preconditioned": {"preconditioner": 8},
}
CALTECH = ("accordion", "anchor", "butterfly", "cup", "panda", "pizza")
SAMPLES = ("brick", "cat", "coffee", "grass", "handwriting", "tissue")


def rows_and_labels() -> tuple[Array, Array]:
    """Vectors of four overlapping clouds."""
    X, y = make_blobs(80, 4, centers=4, cluster_std=2.5, random_state=3)
    return X, np.array(["ant", "bee", "cat", "dog"])[y]


def histograms_and_labels(n: int = 90) -> tuple[Array, Array]:
    """Histograms of twelve bins, about a third of them empty, of four classes."""
    rng = np.random.default_rng(5)
    centres, y = rng.gamma(0.7, size=(4, 12)), rng.integers(0, 4, size=n)
    counts = rng.poisson(8 * centres[y] * rng.gamma(2.0, 0.5, size=(n, 12)))
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1), np.array(["ant", "bee", "cat", "dog"])[y]


def split_of(labels: Array) -> Split:
    """The last class has one example at first, so that it may borrow; the class before it comes later."""
    names = sorted(set(labels))
    few, later = (np.flatnonzero(labels == name).tolist() for name in (names[-1], names[-2]))
    others = np.flatnonzero(np.isin(labels, names[:-2])).tolist()
    first, more, test = others[::2], [*others[1::8], *later[::2]], [*others[3::4], *later[1::2], *few[1::2]]
    return Split([*first, few[0]], more, test)


def learn_step_by_step(record: Record, name: str, learner: Any, examples: Examples, split: Split, folder: Path) -> None:
    """A Gaussian process: fit, add, remove, borrow, give back, save and load.

    After `add`, one with balanced=True was not that of a fresh fit when the record was made: a known defect.
    """
    labels, known = examples.labels, list(split.first)

    def put(step: str, model: Any = learner) -> None:
        prefix = DEFECT if learner.balanced and len(known) > len(split.first) else ""
        record.put_all(f"{prefix}{name}/{step}", answers_of(model, examples.taken(split.test, known)))

    learner.fit(examples.taken(known, known), labels[known])
    put("fit")
    suggested = suggest_loan(learner, labels[known[-1]])
    record.put(f"{name}/suggested loan", str(suggested))
    if suggested is not None:
        record.put(f"{name}/suggested rho", [suggested.rho, suggested.wished, suggested.value])
    learner.borrow(labels[known[-1]], labels[known[0]], 0.6)
    put("borrow")
    learner.add(examples.taken(split.more, [*known, *split.more]), labels[split.more])
    known += split.more
    put("add")
    learner.recalibrate()
    put("recalibrate")
    learner.remove([0, 3])  # Gram matrices keep the columns of what was removed
    put("remove")
    save(learner, folder / "model.fewsight")
    put("load", load(folder / "model.fewsight"))
    learner.give_back(labels[split.first[-1]])
    put("give back")
    record.put(f"{name}/borrowed for few", [str(each) for each in borrow_for_few(learner)])
    put("borrow for few")


def fit_and_ask(record: Record, name: str, learner: Any, examples: Examples, split: Split) -> None:
    """A learner that takes all examples at once."""
    known = [*split.first, *split.more]
    learner.fit(examples.taken(known, known), examples.labels[known])
    record.put_all(name, answers_of(learner, examples.taken(split.test, known)))


def fit_histograms(record: Record, name: str, learner: Any, examples: Examples, split: Split, folder: Path) -> None:
    """A Gaussian process of histograms: fit, add, save and load, and in batches."""
    first, more, labels = split.first, split.more, examples.labels

    def put(step: str, model: Any) -> None:
        record.put_all(f"{name}/{step}", answers_of(model, examples.taken(split.test, first)))

    put("fit", learner.fit(examples.taken(first, first), labels[first]))
    put("add", learner.add(examples.taken(more, more), labels[more]))
    save(learner, folder / "model.fewsight")
    put("load", load(folder / "model.fewsight"))
    put("recalibrate", learner.recalibrate())
    batches = clone(learner).partial_fit(examples.taken(first, first), labels[first], classes=sorted(set(labels)))
    put("partial fit", batches.partial_fit(examples.taken(more, more), labels[more]))


def every_learner(kernel: Any) -> Iterator[tuple[str, Any]]:
    """Every learner that takes all examples at once."""
    yield "KernelCombination", KernelCombination(kernel)
    for kind in BASELINES:
        yield kind.__name__, kind(kernel)


def transfer_learners(kernel: Any, labels: Array, split: Split) -> Iterator[tuple[str, Any]]:
    """Transfer to the class that has few examples, against the first class."""
    names = sorted(set(labels[split.first]))
    parts = {"target": names[-1], "background": names[0]}
    best: dict[str, Any] = {"n_supports": 1, "offset": 0.0}
    criteria = ("average_precision", "roc_area", "predictive_probability")
    for criterion in (*criteria, "squashed_probability", "conditional_likelihood"):
        yield f"by {criterion}", TransferGPClassifier(kernel, **parts, **best, criterion=criterion)
    yield "two supports", TransferGPClassifier(kernel, **parts, **{**best, "n_supports": 2}, noise_variance=0.05)
    yield "given", TransferGPClassifier(kernel, **parts, **best, candidates=names[1:2], rho=0.7)
    yield "without support", TransferGPClassifier(kernel, **parts, **best, candidates=[])


def record_vectors(record: Record, folder: Path) -> None:
    """Rows of numbers, with every kernel."""
    X, labels = rows_and_labels()
    examples, split = Examples.of_rows(X, labels), split_of(labels)
    for name, options in GP_OPTIONS.items():
        learn_step_by_step(record, f"vectors/gp/{name}", GPClassifier(**options), examples, split, folder)
    for kernel in (RBF(scale=3.0), Linear(), Polynomial(), 0.5 * RBF(scale=3.0) + Linear()):
        name = f"vectors/gp/{kernel!r}"
        learn_step_by_step(record, name, GPClassifier(kernel), examples, split, folder)
    for name, learner in every_learner(None):
        fit_and_ask(record, f"vectors/{name}", learner, examples, split)
    for name, learner in transfer_learners(None, labels, split):
        fit_and_ask(record, f"vectors/transfer/{name}", learner, examples, split)
    some = labels.astype(object)
    some[::5] = None
    learner = GPClassifier().fit(X[:60], some[:60])
    record.put_all("vectors/gp/some without label", answers_of(learner, X[60:]))
    single = GPClassifier().fit(X[:4], np.array(["one", "two", "three", "four"]))
    record.put_all("vectors/gp/one example per class", answers_of(single, X[60:]))


def gram_lists() -> tuple[list[Array], Array]:
    """Three kernels on the same rows."""
    X, labels = rows_and_labels()
    rng = np.random.default_rng(1)
    return [RBF(scale=3.0).gram(X), Linear().gram(X), RBF(scale=1.0).gram(rng.normal(size=X.shape))], labels


def record_grams(record: Record, folder: Path) -> None:
    """One Gram matrix, and several."""
    grams, labels = gram_lists()
    one, several, split = Examples.of_grams(grams[:1], labels), Examples.of_grams(grams, labels), split_of(labels)
    for name, options in (("average", {}), ("evidence", {"weights": "evidence"}), ("given", {"weights": [3, 1, 0.5]})):
        learner = GPClassifier("precomputed", **options)
        learn_step_by_step(record, f"grams/gp/{name}", learner, several, split, folder)
    both = GPClassifier("precomputed", weights="evidence", noise_variance="evidence", balanced=True)
    learn_step_by_step(record, "grams/gp/evidence, balanced", both, several, split, folder)
    learn_step_by_step(record, "grams/gp/one matrix", GPClassifier("precomputed"), one, split, folder)
    prior = GPClassifier("precomputed", weights="evidence", prior_weights=[3, 1, 1])
    singles = Split([list(labels).index(name) for name in sorted(set(labels))], [], split.test)
    fit_and_ask(record, "grams/gp/prior weights", prior, several, singles)
    for name, options in COMBINATIONS.items():
        fit_and_ask(record, f"grams/combination/{name}", KernelCombination("precomputed", **options), several, split)
    for number, examples in (("one", one), ("several", several)):
        for name, learner in every_learner("precomputed"):
            fit_and_ask(record, f"grams/{number}/{name}", learner, examples, split)
        for learner in (SVMClassifier("precomputed", C=1.0), LogisticClassifier("precomputed", C=1.0)):
            fit_and_ask(record, f"grams/{number}/{type(learner).__name__}, C = 1", learner, examples, split)
        for name, learner in transfer_learners("precomputed", labels, split):
            fit_and_ask(record, f"grams/{number}/transfer/{name}", learner, examples, split)


def record_histograms(record: Record, folder: Path) -> None:
    """Rows of histograms, for the learner that forms no matrix and for one that does."""
    X, labels = histograms_and_labels()
    examples, split = Examples.of_rows(X, labels), split_of(labels)
    for name, options in HISTOGRAM_OPTIONS.items():
        fit_histograms(record, f"histograms/{name}", HistogramGPClassifier(**options), examples, split, folder)
    for kernel in (HistogramIntersection(), ExponentialChiSquare()):
        learn_step_by_step(record, f"histograms/gp/{kernel!r}", GPClassifier(kernel), examples, split, folder)


def small_channel(name: str, images: Sequence[Any], folder: Path) -> Any:
    """A channel that is quick, with the file it needs; None where it is not installed."""
    if CHANNELS[name].missing() is not None:
        return None
    options: dict[str, Any] = {"n_words": 40, "n_descriptors": 4_000, "longest_side": 160}
    options["cache"] = FeatureCache(folder / "cache")
    if name == "embedding":
        options["model"] = write_network(folder / "small.onnx")
    if name == "vectors":
        options["table"] = write_vectors(folder / "vectors.npz", list(images))
    known = CHANNELS[name]().get_params()
    return make_channel(name, **{key: value for key, value in options.items() if key in known})


def sample_images(per_class: int = 8) -> ImageSet:
    """Tiles of some categories, spread over each photograph."""
    samples = sample_set()
    chosen: list[int] = []
    for name in SAMPLES:
        members = np.flatnonzero(samples.labels == name)
        chosen += members[np.linspace(0, len(members) - 1, per_class).astype(int)].tolist()
    return samples.select(chosen)


def caltech_images(data: Path, per_class: int = 8) -> ImageSet:
    """The first images of some categories of Caltech-101."""
    images = image_set_from_class_folders(data / "caltech101")
    chosen = [i for name in CALTECH for i in np.flatnonzero(images.labels == name)[:per_class]]
    return images.select(chosen)


def record_channels(record: Record, images: ImageSet, prefix: str, folder: Path) -> None:
    """Every channel: itself, and every learner with it."""
    examples, split = Examples.of_images(images.images, images.labels), split_of(images.labels)
    for name in CHANNELS:
        channel = small_channel(name, images.images, folder)
        if channel is None:
            continue
        _record_channel(record, f"{prefix}/{name}", clone(channel), examples, split, folder)
        learner = GPClassifier(clone(channel))
        learn_step_by_step(record, f"{prefix}/{name}/gp", learner, examples, split, folder)
        for kind, learner in every_learner(clone(channel)):
            fit_and_ask(record, f"{prefix}/{name}/{kind}", learner, examples, split)
        for kind, learner in list(transfer_learners(clone(channel), images.labels, split))[:1]:
            fit_and_ask(record, f"{prefix}/{name}/transfer {kind}", learner, examples, split)
        try:
            learner = HistogramGPClassifier(clone(channel))
            fit_histograms(record, f"{prefix}/{name}/histogram gp", learner, examples, split, folder)
        except InvalidInput:  # a channel that does not compare by histogram intersection
            continue


def _record_channel(record: Record, name: str, channel: Any, examples: Examples, split: Split, folder: Path) -> None:
    first, test = (examples.taken(rows, rows) for rows in (split.first, split.test))
    channel.fit(first, examples.labels[split.first])
    save(channel, folder / "channel.fewsight")
    for step, made in (("fit", channel), ("load", load(folder / "channel.fewsight"))):
        A, B = made.encode(first), made.encode(test)
        record.put_all(f"{name}/{step}", {"gram": made.gram(A), "gram of test": made.gram(B, A), "diag": made.diag(B)})
        record.put(f"{name}/{step}/distances", made.distances(B, A))


def record_channels_together(record: Record, images: ImageSet, prefix: str, folder: Path) -> None:
    """Several channels with one learner."""
    examples, split = Examples.of_images(images.images, images.labels), split_of(images.labels)
    together = [small_channel(name, images.images, folder) for name in ("spatial_pmk", "colour", "phog", "pretrained")]
    several = [channel for channel in together if channel is not None]
    for name, options in (
        ("average", {}),
        ("evidence", {"weights": "evidence"}),
        ("given", {"weights": np.arange(1.0, 1 + len(several))}),
        ("evidence, balanced", {"weights": "evidence", "balanced": True}),
    ):
        learner = GPClassifier(several, **options)
        learn_step_by_step(record, f"{prefix}/together/gp/{name}", learner, examples, split, folder)
    dense = small_channel("dense_pmk", images.images, folder)
    singles = Split([list(images.labels).index(name) for name in sorted(set(images.labels))], [], split.test)
    fit_and_ask(record, f"{prefix}/together/gp/one each", GPClassifier(several, weights="evidence"), examples, singles)
    for name, learner in every_learner(several):
        fit_and_ask(record, f"{prefix}/together/{name}", learner, examples, split)
    for scope in ("global", "classwise"):
        learner = KernelCombination(several, scope=scope, penalty="l1")
        fit_and_ask(record, f"{prefix}/together/combination/l1, {scope}", learner, examples, split)
    for relevance in ("none", "channels"):
        learner = HistogramGPClassifier([several[0], dense], relevance=relevance)
        name = f"{prefix}/together/histogram gp/relevance {relevance}"
        fit_histograms(record, name, learner, examples, split, folder)


def record_evaluation(record: Record, folder: Path) -> None:
    """What `evaluate` finds, seconds apart, and how borrowing fares."""
    images = sample_images()
    channels = {name: small_channel(name, images.images, folder) for name in ("spatial_pmk", "dense_pmk")}
    learners = {kind.__name__: kind("precomputed") for kind in (GPClassifier, *BASELINES)}
    protocol = Protocol(per_class=(2, 4), test_per_class=3, repeats=2, hold_out=1)
    combine = ("none", "average", "evidence")
    for name, given in (("grams", learners), ("histograms", {"histogram gp": HistogramGPClassifier()})):
        found = evaluate(images, protocol, channels, given, combine=combine)
        _record_values(record, f"evaluate/{name}", found.records())
        for number, outcome in enumerate(found.outcomes):
            record.put(f"evaluate/{name}/outcome {number}/predicted", outcome.predicted)
            record.put(f"evaluate/{name}/outcome {number}/probabilities", outcome.probabilities)
    borrowing = evaluate_borrowing(images, Protocol(per_class=(1,), test_per_class=3, repeats=1), channels)
    _record_values(record, "evaluate/borrowing", borrowing.records())


def _record_values(record: Record, name: str, records: list[dict[str, Any]]) -> None:
    keys = ("channels", "learner", "combine", "method", "per_class", "metric")
    for row in records:
        if not row["metric"].startswith("seconds"):
            label = ", ".join(str(row[key]) for key in keys if key in row)
            record.put(f"{name}/{label}", row["values"])


def record_model_files(record: Record, folder: Path) -> None:
    """The committed model files: of images, and of rows that are kept beside the file."""
    images = sample_images()
    for path in sorted((Path(__file__).parents[1] / "persistence" / "fixtures").glob("*.fewsight")):
        rows = json.loads(path.with_suffix(".json").read_text()).get("rows")
        record.put_all(f"model files/{path.stem}", answers_of(load(path), images.images if rows is None else rows))
