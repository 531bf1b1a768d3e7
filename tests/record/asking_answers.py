"""Answers of `ActiveLearner` and `simulate`: which questions come, why, and where things stand after answers of all kinds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from answer_record import DEFECT, Array, Record, answers_of, learned_by
from learner_answers import gram_lists, histograms_and_labels, rows_and_labels, sample_images, small_channel

from fewsight import (
    QUERY_RULES,
    ActiveLearner,
    GPClassifier,
    HistogramGPClassifier,
    HistogramIntersection,
    InvalidInput,
    Query,
    SVMClassifier,
    simulate,
)

Pool = tuple[Any, Array]  # the examples, and the label of each
TURNS = 32


def standing(active: ActiveLearner) -> dict[str, Any]:
    """All that can be read off without a change. Probabilities come first, as the accuracy may depend on their calibration."""
    probabilities = active.predict_proba()
    status, accuracy = active.status(), active.accuracy()
    found = {
        "decisions": active.predict(),
        "probabilities": probabilities,
        "labels": active.labels_,
        "status in words": str(status),
        "counts": [f"{label}: {count}" for label, count in status.counts.items()],
        "numbers": [status.n_labelled, status.n_rest, status.n_skipped],
        "expected accuracy": np.nan if status.expected_accuracy is None else status.expected_accuracy,
        "stop": status.advice.stop,
        "expected changes": _number(status.advice.expected_changes),
        "expected gain": _number(status.advice.expected_gain),
    }
    if accuracy is not None:
        found["accuracy"] = [accuracy.estimate, accuracy.low, accuracy.high, accuracy.n_audits]
    try:
        suspicious = active.suspicious()
    except InvalidInput:  # a learner that cannot leave examples out
        return found
    return found | {"suspicious": suspicious.indices, "suspicion": suspicious.scores}


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def put_questions(record: Record, name: str, queries: list[Query]) -> None:
    """A sequence of questions; one batch has several indices."""
    record.put(f"{name}/sizes", [len(query) for query in queries])
    record.put(f"{name}/indices", np.concatenate([query.indices for query in queries]))
    record.put(f"{name}/scores", np.concatenate([query.scores for query in queries]))
    record.put(f"{name}/reasons", [reason for query in queries for reason in query.reasons])
    record.put(f"{name}/states", [query.state for query in queries])


def answer(active: ActiveLearner, truth: Array, turns: int, *, skips: bool = True) -> list[Query]:
    """Answer questions, every tenth of them a batch, and skip every sixth.

    Probabilities are asked for after every answer: how sure to be is learned when that is first asked for.
    """
    queries = []
    for turn in range(turns):
        query = active.query(3 if turn % 10 == 9 else None)
        queries.append(query)
        if skips and turn % 6 == 5:
            active.skip(query.indices[:1])
        else:
            active.teach(query.indices, truth[query.indices])
        active.predict_proba()
    return queries


def converse(record: Record, name: str, active: ActiveLearner, pool: Pool, new: Any) -> None:
    """Questions, answers, skips and batches; then undo, correction and re-learning."""
    examples, truth = pool
    active.fit(examples)
    put_questions(record, f"{name}/questions", answer(active, truth, TURNS))
    record.put_all(f"{name}/after answers", standing(active))
    record.put_all(f"{name}/learner", _of_learner(active, new))
    active.relearn()
    record.put_all(f"{name}/after relearn", standing(active))
    put_questions(record, f"{name}/questions that are undone", answer(active, truth, 3))
    active.skip(active.query().indices)
    record.put_all(f"{name}/after three answers and a skip", standing(active))
    for _ in range(4):
        active.undo()
    record.put_all(f"{name}/after undo", standing(active))
    _correct_first(active)
    record.put_all(f"{name}/after correct", standing(active))
    active.undo()
    record.put_all(f"{name}/after undoing correct", standing(active))
    put_questions(record, f"{name}/last questions", answer(active, truth, 8))
    record.put_all(f"{name}/end", standing(active))
    record.put_all(f"{name}/learner at the end", _of_learner(active, new))


def _of_learner(active: ActiveLearner, new: Any) -> dict[str, Any]:
    return learned_by(active.learner_) if new is None else answers_of(active.learner_, new)


def _correct_first(active: ActiveLearner) -> None:
    """Give the first label of the most frequent category the name of another one."""
    given = [label for label in active.labels_ if label is not None]
    names = sorted(set(given), key=lambda name: (given.count(name), name))
    active.correct(active.labels_.index(names[-1]), names[-2])


def asking_learners(folder: Path) -> Iterator[tuple[str, Any, Pool, Any]]:
    """Names, learners, pools and examples that are new; None where the pool is Gram matrices."""
    X, labels = rows_and_labels()
    rows = X[:70], labels[:70]
    yield "vectors/gp", None, rows, X[70:]
    yield "vectors/gp, noise given", GPClassifier(noise_variance=0.1, calibrated=False), rows, X[70:]
    yield "vectors/svm", SVMClassifier(), rows, X[70:]
    H, kinds = histograms_and_labels(110)
    histograms = H[:100], kinds[:100]
    yield "vectors/histogram gp", HistogramGPClassifier(), histograms, H[100:]
    power = HistogramGPClassifier(feature_transform="power", transform_parameter=0.5, relevance="evidence")
    yield "vectors/histogram gp, power", power, histograms, H[100:]
    grams, labels = gram_lists()
    one, several = grams[0], grams
    yield "grams/gp", GPClassifier("precomputed"), (one, labels), None
    yield "grams/gp, evidence", GPClassifier("precomputed", weights="evidence"), (several, labels), None
    yield "grams/svm", SVMClassifier("precomputed"), (several, labels), None
    images = sample_images(12)
    tiles = images.images[::2] + images.images[1::4], np.concatenate([images.labels[::2], images.labels[1::4]])
    channels = [small_channel(name, images.images, folder) for name in ("spatial_pmk", "colour")]
    new = images.images[3::4]
    yield "images/gp", GPClassifier(channels[0]), tiles, new
    yield "images/gp, evidence", GPClassifier(channels, weights="evidence"), tiles, new
    yield "images/histogram gp", HistogramGPClassifier(channels[0]), tiles, new
    yield "images/svm", SVMClassifier(channels[0]), tiles, new


def record_asking(record: Record, folder: Path) -> None:
    """Every kind of learner over every kind of pool; every rule."""
    for name, learner, pool, new in asking_learners(folder):
        converse(record, f"asking/{name}", ActiveLearner(learner, random_state=2), pool, new)
    X, labels = rows_and_labels()
    for rule in QUERY_RULES:
        for size in (1, 4, None):
            active = ActiveLearner(rule=rule, batch_size=size, explore=size != 1, audit_share=0.1, random_state=1)
            active.fit(X, [label if i < 3 else None for i, label in enumerate(labels)], exclude=[5, 6, 7])
            name = f"asking/rules/{rule}, {'one by one' if size == 1 else f'batches of {size}'}"
            put_questions(record, name, answer(active, labels, 9, skips=False))
            record.put_all(name, standing(active))


def record_simulations(record: Record, folder: Path) -> None:
    """Learning curves by several rules, of several learners."""
    X, labels = rows_and_labels()
    grams, _ = gram_lists()
    tested = {"n_queries": 14, "test": list(range(60, 80)), "seeds": (0, 1)}
    for rule in QUERY_RULES:
        _put_curve(record, f"simulate/vectors/{rule}", simulate(GPClassifier(), X, labels, rule, **tested))
    options = {"n_queries": 12, "batch_size": 3, "explore": True, "audit_share": 0.2, "wrong_share": 0.1, "start": 0}
    _put_curve(record, "simulate/vectors, wrong answers", simulate(GPClassifier(), X, labels, **options))
    _put_curve(record, "simulate/grams", simulate(GPClassifier("precomputed"), grams, labels, **tested))
    _put_curve(record, "simulate/svm", simulate(SVMClassifier(), X, labels, **tested))
    images = sample_images()
    channel = small_channel("spatial_pmk", images.images, folder)
    for learner in (GPClassifier(channel), HistogramGPClassifier(channel)):
        curve = simulate(learner, images.images, images.labels, n_queries=14)
        _put_curve(record, f"simulate/images/{type(learner).__name__}", curve)


def _put_curve(record: Record, name: str, curve: list[dict[str, Any]]) -> None:
    for key in ("seed", "labels", "accuracy", "overall", "classes"):
        record.put(f"{name}/{key}", [row[key] for row in curve])
    record.put(f"{name}/asked", [str(row["asked"]) for row in curve])


def record_defects(record: Record, folder: Path) -> None:
    """What is known to be wrong at the time of writing, so that a change of it is no surprise."""
    X, labels = rows_and_labels()
    _record_undo(record, X, labels)
    _record_restart(record, X, labels)
    _record_balanced(record, X, labels)
    _record_calibration(record)


def _record_undo(record: Record, X: Array, labels: Array) -> None:
    """Across a re-learning it does not bring probabilities back."""
    active = ActiveLearner(random_state=2).fit(X)
    answer(active, labels, 9, skips=False)
    before = standing(active)
    for _ in range(12):
        answer(active, labels, 1)
    for _ in range(12):
        active.undo()
    record.put_all(f"{DEFECT}undo across a re-learning/before", before)
    record.put_all(f"{DEFECT}undo across a re-learning/after", standing(active))


def _record_calibration(record: Record) -> None:
    """How sure to be depends on when that was first asked for, and the accuracy on whether it was."""
    X, labels = histograms_and_labels(100)
    for learner in (GPClassifier(HistogramIntersection()), HistogramGPClassifier()):
        active = ActiveLearner(learner).fit(X)
        for _ in range(19):
            query = active.query()
            active.teach(query.indices, labels[query.indices])
        name = f"{DEFECT}calibration/{type(learner).__name__}"
        record.put(f"{name}/accuracy before probabilities", str(active.accuracy()))
        record.put(f"{name}/probabilities asked for late", active.predict_proba())
        record.put(f"{name}/accuracy after probabilities", str(active.accuracy()))


def _record_restart(record: Record, X: Array, labels: Array) -> None:
    """It loses random checks, skips, and what can be undone."""
    active = ActiveLearner(random_state=2).fit(X)
    answer(active, labels, 25)
    for name, one in (("never stopped", active), ("restarted", ActiveLearner(random_state=2).fit(X, active.labels_))):
        record.put_all(f"{DEFECT}restart/{name}", standing(one))
        put_questions(record, f"{DEFECT}restart/{name}/questions", answer(one, labels, 5))


def _record_balanced(record: Record, X: Array, labels: Array) -> None:
    """The order of labels matters, and the result is not that of a fresh fit."""
    some = np.flatnonzero(np.arange(len(X)) % 3 == 0)
    orders = {"in order": some, "backwards": some[::-1], "by name": some[np.argsort(labels[some], kind="stable")]}
    for name, order in orders.items():
        active = ActiveLearner(GPClassifier(balanced=True), relearn_every=None).fit(X)
        for position in order:
            active.teach([position], [labels[position]])
        record.put_all(f"{DEFECT}balanced/{name}", standing(active))
    fresh = GPClassifier(balanced=True).fit(X[some], labels[some])
    record.put_all(f"{DEFECT}balanced/fresh fit, which is right", answers_of(fresh, X))
