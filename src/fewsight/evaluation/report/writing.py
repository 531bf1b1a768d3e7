"""Lays out the report and writes it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from fewsight._base.replacement import write_text
from fewsight.channels import FisherChannel
from fewsight.evaluation.active_curves import ActiveCurves
from fewsight.evaluation.baselines import Comparison
from fewsight.evaluation.report import galleries, section_novelty, tables
from fewsight.evaluation.report.confusion import Confusion
from fewsight.evaluation.report.context import Material
from fewsight.evaluation.report.section_asking import asking_section
from fewsight.evaluation.report.section_baselines import comparison_section
from fewsight.evaluation.report.section_cues import cues
from fewsight.evaluation.report.section_parts import parts_section
from fewsight.evaluation.report.section_windows import windows_section
from fewsight.evaluation.report.wording import shown_name
from fewsight.evaluation.results import Evaluation
from fewsight.images import ImageSet
from fewsight.learners.weighted_machines import WeightedMachines

TITLE = "What was learned, and how well"


def write_report(
    evaluation: Evaluation,
    image_set: ImageSet,
    path: str | Path,
    *,
    title: str = TITLE,
    note: str | None = None,
    command: str | None = None,
    commit: str | None = None,
    asking: ActiveCurves | None = None,
    comparison: Comparison | None = None,
    windows: WeightedMachines | None = None,
    parts: FisherChannel | None = None,
) -> None:
    """Write the report of an evaluation of `image_set` as one HTML file, whole or not at all.

    The page needs nothing but itself: no network, no script, no other file. `note` is a sentence on
    the images that a reader should know; `command` is shown as the way to repeat it; `asking` adds a section on
    which image to label next, `comparison` one on what others make of the same features.

    Parameters
    ----------
    evaluation : what `evaluate` returned.
    image_set : the set that was evaluated.
    path : the HTML file to write.
    title : the title of the page.
    note : a sentence on the images that a reader should know.
    command : shown as the way to repeat it.
    commit : the commit of the code, if known.
    asking : adds a section on which image to label next.
    comparison : adds a section on what others make of the same features.
    windows : a fitted learner of `windows` channels; adds a section on where it looks for each category.
    parts : a fitted channel that models parts; adds a section on where it finds them.
    """
    text = render_report(
        evaluation,
        image_set,
        title=title,
        note=note,
        command=command,
        commit=commit,
        asking=asking,
        comparison=comparison,
        windows=windows,
        parts=parts,
    )
    write_text(Path(path), text)


def render_report(
    evaluation: Evaluation,
    image_set: ImageSet,
    *,
    title: str = TITLE,
    note: str | None = None,
    command: str | None = None,
    commit: str | None = None,
    asking: ActiveCurves | None = None,
    comparison: Comparison | None = None,
    windows: WeightedMachines | None = None,
    parts: FisherChannel | None = None,
) -> str:
    """The report as text."""
    material = Material(evaluation, image_set)
    counts = Confusion.of(material.outcomes(material.best), material.learned)
    return page_template("template.html.j2").render(
        title=shown_name(title),
        note=None if note is None else shown_name(note),
        summary=tables.summary(material),
        examples=galleries.examples(material),
        accuracy=tables.accuracy(material),
        curves=tables.curves(material),
        asking=None if asking is None else asking_section(asking),
        comparison=None if comparison is None else comparison_section(comparison),
        cues=cues(material),
        windows=None if windows is None else windows_section(windows, image_set),
        parts=None if parts is None else parts_section(parts, image_set),
        confusion=galleries.confusion(material, counts),
        categories=galleries.categories(material, counts),
        mistakes=galleries.mistakes(material),
        sureness=tables.sureness(material),
        never_seen=section_novelty.never_seen(material),
        strange=section_novelty.strange(material),
        unreadable=tables.unreadable(material),
        timings=tables.timings(material),
        settings=tables.settings(material, command, commit),
    )


@cache
def page_template(name: str) -> Template:
    """A template of this package. Names of files and categories are anybody's text: autoescape is what keeps them text."""
    environment = Environment(
        loader=PackageLoader("fewsight.evaluation.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
