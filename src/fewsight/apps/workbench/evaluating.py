"""How well learners and channels do on a folder of labelled images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fewsight._base.replacement import write_text
from fewsight.apps.workbench.borrowing import BorrowingOptions
from fewsight.apps.workbench.channel_options import AUTO, make_channels
from fewsight.apps.workbench.image_sources import ImageSource, Workplace, remarks_about
from fewsight.apps.workbench.learners import WantedLearners, usual_channels
from fewsight.apps.workbench.output_paths import checked_files
from fewsight.apps.workbench.result_kinds import REPORT, RESULTS
from fewsight.channels import Channel, FisherChannel, Windows
from fewsight.evaluation import (
    COMBINATIONS,
    ActiveCurves,
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
from fewsight.images import FeatureCache, ImageSet, find_duplicates
from fewsight.learners import GPClassifier, Learner, MKLClassifier


@dataclass(frozen=True)
class Evaluated:
    """What was measured, and on what."""

    evaluation: Evaluation
    images: ImageSet  # those that could be used, with what was found on the way
    remarks: tuple[str, ...] = ()  # about learners that were chosen, and of the channels about these images
    comparison: Comparison | None = None  # with baselines, where it was asked for


@checked_files(reads=("source", "options"), writes={"json_file": RESULTS, "report_file": REPORT})
def evaluate_folder(
    source: ImageSource,
    protocol: Protocol,
    *,
    channels: Sequence[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    learners: Mapping[str, Learner] | WantedLearners | None = None,
    combine: Sequence[str] | None = None,
    json_file: str | Path | None = None,
    report_file: str | Path | None = None,
    command: str | None = None,
    workplace: Workplace | None = None,
    baselines: bool = False,
) -> Evaluated:
    """Evaluate a folder and write the results as JSON and as a report, where a file is given for them.

    With `baselines`, also compare with what people fit to the same features today, label by label. Learners that are not
    named are those that suit the number of training images.
    """
    images = source.read()
    channels, alone = usual_channels(channels, _named(learners))
    unfitted = _channels(channels, options, protocol)
    chosen, why = _chosen(learners, images, protocol, unfitted)
    evaluation = evaluate_images(
        images, protocol, channels=channels, options=options, learners=chosen, combine=combine, workplace=workplace
    )
    usable = images.without(evaluation.unreadable[len(images.unreadable) :])
    comparison = None
    if baselines:
        gp = chosen.get("gp", GPClassifier())
        comparison = compare_images(
            usable, protocol, channels=channels, options=options, learner=gp, workplace=workplace
        )
    copies = _copies(usable, workplace or Workplace())
    place = workplace or Workplace()
    look = None
    if report_file is not None and any(name in chosen for name in ("mkl", "infinite")):
        look = weigh_windows(evaluation, images, channels=channels, options=options, workplace=workplace)
    with place.cache() as cache:
        made = _channels(channels, options, protocol, jobs=place.jobs, cache=cache)
        write_results(
            evaluation,
            images,
            json_file=json_file,
            report_file=report_file,
            command=command,
            comparison=comparison,
            copies=copies,
            windows=look,
            parts=None if report_file is None else _model_of_parts(evaluation, images, made),
        )
    remarks = (*alone, *why, *source.remarks(images), *_about_copies(copies), *remarks_about(images.images, unfitted))
    return Evaluated(evaluation, usable, remarks, comparison)


def _model_of_parts(evaluation: Evaluation, images: ImageSet, channels: Sequence[Channel]) -> FisherChannel | None:
    """The first channel that models parts, fitted to what was learned from in the first draw of the best setting."""
    channel = next((each for each in channels if isinstance(each, FisherChannel)), None)
    if channel is None:
        return None
    train = evaluation.groups[evaluation.best][0].train
    return channel.fit([images.images[place] for place in train], [images.labels[place] for place in train])


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
    with workplace.cache() as cache:
        made = _channels(channels, options, protocol, jobs=workplace.jobs, cache=cache)
        by_name = {channel.name: channel for channel in made}
        learners = _chosen(learners, images, protocol, made)[0]
        ways = _ways(made, learners) if combine is None else tuple(combine)
        return evaluate(images, protocol, by_name, learners, combine=ways)


def compare_images(
    images: ImageSet,
    protocol: Protocol,
    *,
    channels: Sequence[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    learner: Learner | None = None,
    workplace: Workplace | None = None,
) -> Comparison:
    """fewsight, asking and with random labels, against baselines on the same features; see `fewsight.evaluation`."""
    workplace = workplace or Workplace()
    with workplace.cache() as cache:
        made = _channels(channels, options, protocol, jobs=workplace.jobs, cache=cache)
        return compare_baselines(images, protocol, {channel.name: channel for channel in made}, learner=learner)


def weigh_windows(
    evaluation: Evaluation,
    images: ImageSet,
    *,
    channels: Sequence[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    workplace: Workplace | None = None,
) -> MKLClassifier | None:
    """Which windows of the channel `windows` decide for each category, by l1, learned from the training images of the first draw.

    None where that channel takes no part, or has one window only.
    """
    workplace = workplace or Workplace()
    with workplace.cache() as cache:
        made = _channels(channels, options, evaluation.protocol, jobs=workplace.jobs, cache=cache)
        parts = [part for channel in made if isinstance(channel, Windows) for part in channel.parts()]
        if len(parts) < 2:
            return None
        train = max((one.train for one in evaluation.outcomes if one.repeat == 0), key=len)
        chosen = images.select(train)
        return MKLClassifier(parts, norm="l1").fit(list(chosen.images), list(chosen.labels))


@checked_files(reads=("source", "options"), writes={"json_file": RESULTS})
def evaluate_borrowing_folder(
    source: ImageSource,
    protocol: Protocol,
    borrowing: BorrowingOptions,
    *,
    channels: Sequence[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    json_file: str | Path | None = None,
    command: str | None = None,
    workplace: Workplace | None = None,
) -> BorrowingResult:
    """What borrowing brings to a new category, each category of a folder in turn, and what it costs the others."""
    workplace, images = workplace or Workplace(), source.read()
    lenders, wordnet = borrowing.lenders(images.classes)
    with workplace.cache() as cache:
        made = _channels(channels, options, protocol, jobs=workplace.jobs, cache=cache)
        found = evaluate_borrowing(images, protocol, {channel.name: channel for channel in made}, lenders)
    if json_file is not None:
        settings = {"closest": borrowing.closest if wordnet else None, "senses": dict(borrowing.senses)}
        about = {"repeats": protocol.repeats, "seed": protocol.seed, "lender_images": found.lender_images, **settings}
        described = {channel.name: settings_of(channel) for channel in made}
        protocol_json = {**about, "command": command, "channels": described, "versions": versions()}
        lent = {str(n): found.lenders(n) for n in found.trials}
        write_text(Path(json_file), json_text({"protocol": protocol_json, "records": found.records(), "lenders": lent}))
    return found


def write_results(
    evaluation: Evaluation,
    images: ImageSet,
    *,
    json_file: str | Path | None = None,
    report_file: str | Path | None = None,
    command: str | None = None,
    note: str | None = None,
    asking: ActiveCurves | None = None,
    comparison: Comparison | None = None,
    copies: Sequence[dict[str, Any]] | None = None,
    windows: MKLClassifier | None = None,
    parts: FisherChannel | None = None,
) -> None:
    """Write what was found, each file whole or not at all; the note stands under the report's headline."""
    if json_file is not None:
        evaluation.write_json(
            json_file,
            command=command,
            asking=None if asking is None else asking.records(),
            comparison=None if comparison is None else comparison.records(),
            copies=copies,
        )
    if report_file is not None:
        write_report(
            evaluation,
            images,
            report_file,
            command=command,
            note=note,
            asking=asking,
            comparison=comparison,
            windows=windows,
            parts=parts,
        )


def _copies(images: ImageSet, workplace: Workplace) -> list[dict[str, Any]]:
    """Images of the same picture, with their categories. Splits stay as they are drawn: others must be able to repeat them."""
    with workplace.cache() as cache:
        sets = find_duplicates(images.images, cache=cache, n_jobs=workplace.jobs).sets
    return [
        {
            "images": [images.images[place].name for place in places],
            "categories": [images.labels[place] for place in places],
        }
        for places in sets
    ]


def _about_copies(copies: Sequence[dict[str, Any]]) -> list[str]:
    n = sum(len(each["images"]) - 1 for each in copies)
    if not n:
        return []
    first, other = copies[0]["images"][:2]
    which = "1 image is a copy" if n == 1 else f"{n:,} images are copies"
    return [
        f"{which} of others (such as {other} of {first}): if one is learned from and the other tested, results look too good."
    ]


def _channels(
    names: Sequence[str] | None,
    options: Mapping[str, Mapping[str, Any]] | None,
    protocol: Protocol,
    *,
    jobs: int = 1,
    cache: FeatureCache | None = None,
) -> list[Channel]:
    return make_channels(names, options or {}, seed=protocol.seed, jobs=jobs, cache=cache)


def _chosen(
    learners: Mapping[str, Learner] | WantedLearners | None,
    images: ImageSet,
    protocol: Protocol,
    channels: Sequence[Channel],
) -> tuple[Mapping[str, Learner], tuple[str, ...]]:
    """Learners as they are, or as they suit the number of training images, and what is to be said about that."""
    if isinstance(learners, Mapping):
        return learners, ()
    n_categories = max(len(images.classes) - protocol.hold_out, 0)
    return (learners or WantedLearners()).made(protocol.most * n_categories, n_categories, channels)


def _named(learners: Mapping[str, Learner] | WantedLearners | None) -> tuple[str, ...]:
    """The names of learners that are asked for."""
    if learners is None or isinstance(learners, Mapping):
        return tuple(learners or (AUTO,))
    return learners.names or (AUTO,)


def _ways(channels: Sequence[Channel], learners: Mapping[str, Learner]) -> tuple[str, ...]:
    """All ways of combining that these channels and learners allow."""
    if len(channels) == 1:
        return ("none",)
    return tuple(way for way in COMBINATIONS if way == "none" or any(way in each.ways for each in learners.values()))
