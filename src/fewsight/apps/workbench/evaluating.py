"""How well learners and channels do on a folder of labelled images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fewsight._base.archive import write_text
from fewsight._base.checks import check_choice, check_positive
from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.borrowing import Borrowing
from fewsight.apps.workbench.channel_options import make_channels
from fewsight.apps.workbench.image_sources import ImageSource, Workplace, remarks_about
from fewsight.apps.workbench.places import check_output_file
from fewsight.channels import Channel
from fewsight.evaluation import (
    Asking,
    BorrowingResult,
    Comparison,
    Evaluation,
    Protocol,
    compare_baselines,
    evaluate,
    evaluate_borrowing,
    write_report,
)
from fewsight.evaluation.provenance import settings_of, versions
from fewsight.evaluation.results import json_text
from fewsight.images import ImageSet
from fewsight.learners import HISTOGRAM_LEARNERS, LEARNERS, GPClassifier, HistogramGPClassifier, KernelLearner

DEFAULT_LEARNERS = ("gp", "svm", "nn")
Learner = KernelLearner | HistogramGPClassifier


@dataclass(frozen=True)
class Evaluated:
    """What was measured, and on what."""

    evaluation: Evaluation
    images: ImageSet  # those that could be used, with what was found on the way
    remarks: tuple[str, ...] = ()  # of the channels, about these images
    comparison: Comparison | None = None  # with baselines, where it was asked for


def evaluate_folder(
    source: ImageSource,
    protocol: Protocol,
    *,
    channels: Sequence[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    learners: Mapping[str, Learner] | None = None,
    combine: Sequence[str] | None = None,
    json_file: str | Path | None = None,
    report_file: str | Path | None = None,
    command: str | None = None,
    workplace: Workplace | None = None,
    baselines: bool = False,
) -> Evaluated:
    """Evaluate a folder and write the results as JSON and as a report, where a file is given for them.

    With `baselines`, also compare with what people fit to the same features today, label by label.
    """
    for place in (json_file, report_file):
        if place is not None:
            check_output_file(place)
    images = source.read()
    evaluation = evaluate_images(
        images, protocol, channels=channels, options=options, learners=learners, combine=combine, workplace=workplace
    )
    usable = images.without(evaluation.unreadable[len(images.unreadable) :])
    comparison = None
    if baselines:
        gp = (learners or {}).get("gp", GPClassifier())
        comparison = compare_images(
            usable, protocol, channels=channels, options=options, learner=gp, workplace=workplace
        )
    write_results(
        evaluation, images, json_file=json_file, report_file=report_file, command=command, comparison=comparison
    )
    remarks = remarks_about(images.images, _channels(channels, options, protocol))
    return Evaluated(evaluation, usable, remarks, comparison)


def evaluate_images(
    images: ImageSet,
    protocol: Protocol,
    *,
    channels: Sequence[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    learners: Mapping[str, Learner] | None = None,
    combine: Sequence[str] | None = None,
    workplace: Workplace | None = None,
) -> Evaluation:
    """Evaluate an image set: each channel alone and, if there are several, all of them together in every way there is.

    `combine` names the ways to take instead; see `fewsight.evaluation.evaluate`.
    """
    workplace = workplace or Workplace()
    learners = make_learners(DEFAULT_LEARNERS) if learners is None else learners
    with workplace.cache() as cache:
        made = _channels(channels, options, protocol, jobs=workplace.jobs, cache=cache)
        by_name = {channel.name: channel for channel in made}
        ways = _ways(made, learners) if combine is None else tuple(combine)
        return evaluate(images, protocol, by_name, learners, combine=ways)


def compare_images(
    images: ImageSet,
    protocol: Protocol,
    *,
    channels: Sequence[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    learner: KernelLearner | None = None,
    workplace: Workplace | None = None,
) -> Comparison:
    """fewsight, asking and with random labels, against baselines on the same features; see `fewsight.evaluation`."""
    workplace = workplace or Workplace()
    with workplace.cache() as cache:
        made = _channels(channels, options, protocol, jobs=workplace.jobs, cache=cache)
        return compare_baselines(images, protocol, {channel.name: channel for channel in made}, learner=learner)


def evaluate_borrowing_folder(
    source: ImageSource,
    protocol: Protocol,
    borrowing: Borrowing,
    *,
    channels: Sequence[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    json_file: str | Path | None = None,
    command: str | None = None,
    workplace: Workplace | None = None,
) -> BorrowingResult:
    """What borrowing brings to a new category, each category of a folder in turn, and what it costs the others."""
    output = None if json_file is None else check_output_file(json_file)
    workplace, images = workplace or Workplace(), source.read()
    lenders, wordnet = borrowing.lenders(images.classes)
    with workplace.cache() as cache:
        made = _channels(channels, options, protocol, jobs=workplace.jobs, cache=cache)
        found = evaluate_borrowing(images, protocol, {channel.name: channel for channel in made}, lenders)
    if output is not None:
        settings = {"closest": borrowing.closest if wordnet else None, "senses": dict(borrowing.senses)}
        about = {"repeats": protocol.repeats, "seed": protocol.seed, "lender_images": found.lender_images, **settings}
        described = {channel.name: settings_of(channel) for channel in made}
        protocol_json = {**about, "command": command, "channels": described, "versions": versions()}
        lent = {str(n): found.lenders(n) for n in found.trials}
        write_text(output, json_text({"protocol": protocol_json, "records": found.records(), "lenders": lent}))
    return found


def make_learners(
    names: Sequence[str], *, noise_variance: float | None = None, svm_c: float | None = None
) -> dict[str, Learner]:
    """Learners by name, for Gram matrices; the noise is the Gaussian process's, C the support vector machine's."""
    given: dict[str, tuple[str, float | None]] = {"gp": ("noise_variance", noise_variance), "svm": ("C", svm_c)}
    if "gp" not in names and "histogram_gp" in names:
        given["histogram_gp"] = given.pop("gp")
    options: dict[str, dict[str, Any]] = {
        learner: {option: check_positive("learners", option, value)}
        for learner, (option, value) in given.items()
        if value is not None
    }
    for learner, settings in options.items():
        if learner not in names:
            raise InvalidInput(f"learners: {next(iter(settings))} is a setting of {learner}, which is not asked for.")
    if not names:
        raise InvalidInput("learners: at least one is needed, got none.")
    return {name: _learner(name, options.get(name, {})) for name in names}


def write_results(
    evaluation: Evaluation,
    images: ImageSet,
    *,
    json_file: str | Path | None = None,
    report_file: str | Path | None = None,
    command: str | None = None,
    note: str | None = None,
    asking: Asking | None = None,
    comparison: Comparison | None = None,
) -> None:
    """Write what was found, each file whole or not at all; the note stands under the report's headline."""
    if json_file is not None:
        evaluation.write_json(
            json_file,
            command=command,
            asking=None if asking is None else asking.records(),
            comparison=None if comparison is None else comparison.records(),
        )
    if report_file is not None:
        write_report(evaluation, images, report_file, command=command, note=note, asking=asking, comparison=comparison)


def _channels(
    names: Sequence[str] | None, options: Mapping[str, Mapping[str, Any]] | None, protocol: Protocol, **workplace: Any
) -> list[Channel]:
    return make_channels(names, options or {}, seed=protocol.seed, **{"jobs": 1, "cache": None, **workplace})


def _ways(channels: Sequence[Channel], learners: Mapping[str, Learner]) -> tuple[str, ...]:
    """All ways of combining that these channels and learners allow."""
    if len(channels) == 1:
        return ("none",)
    learns = any("weights" in learner.get_params(deep=False) for learner in learners.values())
    return ("none", "average", "evidence") if learns else ("none", "average")


def _learner(name: str, options: Mapping[str, Any]) -> Learner:
    check_choice("learners", "a name", name, [*LEARNERS, *HISTOGRAM_LEARNERS])
    if name in HISTOGRAM_LEARNERS:
        return HISTOGRAM_LEARNERS[name](**options)
    return LEARNERS[name](kernel="precomputed", **options)
