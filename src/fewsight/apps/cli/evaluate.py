"""`fewsight evaluate`: how well the methods do on a folder of labelled images."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewsight.apps.cli import options
from fewsight.apps.cli.bars import progress_bars

if TYPE_CHECKING:
    from fewsight.apps.workbench import Evaluated
    from fewsight.evaluation import Evaluation

EXAMPLES = """
[bold]fewsight evaluate photos --per-class 1,3,5,10 --report report.html[/bold]

[bold]fewsight evaluate photos --hold-out 3[/bold]

[bold]fewsight evaluate photos --channels phog,colour,texture --combine none,evidence[/bold]

[bold]fewsight evaluate caltech101 --images-per-class 30 --per-class 15 --json out.json[/bold]

With the settings of a paper: [bold]--noise 1e-10 --svm-c 10000[/bold]
"""


def evaluate(
    folder: options.LabelledFolder,
    labels: options.Labels = None,
    exclude: options.Exclude = None,
    images_per_class: Annotated[
        int | None,
        typer.Option(
            min=2, metavar="NUMBER", show_default="all", help="Images of each category that take part, drawn at random."
        ),
    ] = None,
    per_class: Annotated[
        str, typer.Option(metavar="NUMBERS", help="Training images per category; several, as 1,3,5, give a curve.")
    ] = "5",
    test_per_class: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", show_default="all that remain", help="Test images per category."),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="How often to draw anew.")] = 10,
    hold_out: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="NUMBER",
            help="Categories not to learn, drawn anew each time: are their images recognised as unknown?",
        ),
    ] = 0,
    channels: options.Channels = "spatial_pmk",
    combine: Annotated[
        str | None,
        typer.Option(
            metavar="WAYS",
            show_default="none for one channel, all three for several",
            help="Channels by themselves (none), together (average), or together with learned weights (evidence); "
            "joined by commas.",
        ),
    ] = None,
    learners: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Learners, joined by commas: gp, svm, nn (nearest neighbour), histogram_gp (gp for very many images).",
        ),
    ] = "gp,svm,nn",
    settings: options.Settings = None,
    noise: options.Noise = None,
    svm_c: Annotated[
        float | None,
        typer.Option(
            "--svm-c", metavar="C", show_default="the learner's own", help="Cost C of the support vector machine."
        ),
    ] = None,
    seed: options.Seed = 0,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", show_default=False, help="Write the results as JSON.")
    ] = None,
    report_file: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", show_default=False, help="Write an HTML report.")
    ] = None,
    jobs: options.Jobs = None,
    cache_folder: options.CacheFolder = None,
    no_cache: options.NoCache = False,
) -> None:
    """Measure accuracy: train on a few images per category, test on others, several times over."""
    sizes, workplace = options.counts(per_class), options.workplace(jobs, cache_folder, no_cache)
    from fewsight.apps.workbench import ImageSource, Protocol, evaluate_folder, make_learners, read_settings

    with progress_bars():
        evaluated = evaluate_folder(
            ImageSource(folder, labels, options.words(exclude)),
            Protocol(images_per_class, sizes, test_per_class, repeats, seed, hold_out),
            channels=options.words(channels),
            options=read_settings(settings or []),
            combine=None if combine is None else options.words(combine),
            learners=make_learners(options.words(learners), noise_variance=noise, svm_c=svm_c),
            json_file=json_file,
            report_file=report_file,
            command=shlex.join(["fewsight", *sys.argv[1:]]),
            workplace=workplace,
        )
    _answer(evaluated, json_file, report_file)


def _answer(evaluated: Evaluated, json_file: Path | None, report_file: Path | None) -> None:
    from fewsight.apps.cli.answers import list_left_out, show_accuracies, show_shares, tell, wrote

    evaluation = evaluated.evaluation
    show_accuracies(evaluation)
    if "evidence" in evaluation.combine:
        show_shares(evaluation)
    if evaluation.protocol.hold_out:
        _show_unknown(evaluation)
    seconds = evaluation.timings
    tell(f"Took {seconds['total']:.1f} s, of which local features {seconds['local_features']:.1f} s.")
    list_left_out(evaluated.images)
    wrote(json_file, report_file)


def _show_unknown(evaluation: Evaluation) -> None:
    """How well images of held-out categories are told from the others, by the learners that say."""
    from fewsight.apps.cli.answers import show_table, tell
    from fewsight.evaluation.results import percent

    headings = ("learner", "channels", "per category", "told apart", "known called unknown", "unknown found")
    metrics = ("unknown_auroc", "false_alarm_rate", "found_rate")
    rows = [
        (setting.learner, setting.channels, str(setting.per_class), *(percent(found[metric]) for metric in metrics))
        for setting, found in evaluation.summaries.items()
        if "unknown_auroc" in found
    ]
    tell(f"Categories not learned in each repeat: {evaluation.protocol.hold_out} of {len(evaluation.classes)}.")
    if not rows:
        tell("None of these learners says when an image is like nothing it has learned; gp does.")
        return
    show_table(headings, rows, numbers=range(2, len(headings)))
    tell(
        "Told apart: of an image of a category that was learned and one of another, how often it says which is which; "
        "50 % is guessing."
    )
