"""`fewsight evaluate`: how well the methods do on a folder of labelled images."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewsight.apps.cli import options
from fewsight.apps.cli.console import (
    list_left_out,
    progress_bars,
    show_accuracies,
    show_shares,
    show_table,
    tell,
    wrote,
)

if TYPE_CHECKING:
    from fewsight.apps.workbench import BorrowingResult, Evaluated
    from fewsight.evaluation import Comparison, Evaluation

EXAMPLES = """
[bold]fewsight evaluate photos --per-class 1,3,5,10 --report report.html[/bold]

[bold]fewsight evaluate photos --hold-out 3[/bold]

[bold]fewsight evaluate photos --per-class 1,5,10 --test-per-class 10 --baselines --report report.html[/bold]

[bold]fewsight evaluate photos --channels phog,colour,texture --combine none,evidence[/bold]

[bold]fewsight evaluate photos --borrow --per-class 1[/bold]  (each category in turn is new)

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
            min=2,
            metavar="NUMBER",
            show_default="all",
            rich_help_panel=options.MEASURE,
            help="Images of each category that take part, drawn at random.",
        ),
    ] = None,
    per_class: Annotated[
        str,
        typer.Option(
            metavar="NUMBERS",
            rich_help_panel=options.MEASURE,
            help="Training images per category; several, as 1,3,5, give a curve.",
        ),
    ] = "5",
    test_per_class: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="NUMBER",
            show_default="all that remain",
            rich_help_panel=options.MEASURE,
            help="Test images per category.",
        ),
    ] = None,
    repeats: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="NUMBER",
            rich_help_panel=options.MEASURE,
            help="How many times to draw training and test images anew.",
        ),
    ] = 10,
    hold_out: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="NUMBER",
            rich_help_panel=options.MEASURE,
            help="Categories not to learn, drawn anew each time: are their images recognised as unknown?",
        ),
    ] = 0,
    unlabelled: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="NUMBER",
            rich_help_panel=options.MEASURE,
            help="Further images to learn from without their labels, for channels that do so; they are never test images.",
        ),
    ] = 0,
    borrow: Annotated[
        bool,
        typer.Option(
            "--borrow",
            rich_help_panel=options.FEW,
            help="Measure borrowing instead: each category in turn is learned from --per-class images, without and with a loan.",
        ),
    ] = False,
    closest: options.Closest = 10,
    sense: options.Sense = None,
    channels: options.Channels = None,
    combine: Annotated[
        str | None,
        typer.Option(
            metavar="WAYS",
            show_default="none for one channel, all that the learners know for several",
            rich_help_panel=options.COMPARE,
            help="How to use several channels: each by itself (none), with equal weights (average), or with learned ones "
            "(evidence; l1, l1_even and l2 for mkl, l1 for infinite); joined by commas.",
        ),
    ] = None,
    learners: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            show_default="gp,svm,nn; with many images histogram_gp or sparse_gp for gp",
            rich_help_panel=options.COMPARE,
            help="Learners, joined by commas: gp, svm, nn (nearest neighbour), mean (nearest class mean), logistic, "
            "histogram_gp and sparse_gp (gp for very many images), combination (gp that always learns weights for channels), "
            "span_bound (support vector machines with one weighted Gaussian over all channels), "
            "mkl (support vector machines that learn weights for channels), infinite (the same, with kernels generated "
            "on the way), generative (one model of parts for each category, with the fisher channels).",
        ),
    ] = None,
    many: options.Many = None,
    baselines: Annotated[
        bool,
        typer.Option(
            "--baselines",
            rich_help_panel=options.COMPARE,
            help="Also compare, label by label: gp with labels it asks for and with random ones, against logistic regression, "
            "nearest neighbour, nearest class mean and SVM on the same features.",
        ),
    ] = False,
    settings: options.Settings = None,
    noise: options.Noise = None,
    svm_c: Annotated[
        float | None,
        typer.Option(
            "--svm-c",
            metavar="C",
            show_default="the learner's own",
            rich_help_panel=options.COMPARE,
            help="Cost C of the support vector machine.",
        ),
    ] = None,
    seed: options.Seed = 0,
    json_file: Annotated[
        Path | None,
        typer.Option(
            "--json",
            metavar="FILE",
            show_default=False,
            rich_help_panel=options.KEEP,
            help="Write the results as JSON.",
        ),
    ] = None,
    report_file: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE", show_default=False, rich_help_panel=options.KEEP, help="Write an HTML report."
        ),
    ] = None,
    jobs: options.Jobs = None,
    cache_folder: options.CacheFolder = None,
    no_cache: options.NoCache = False,
) -> None:
    """Measure accuracy: train on a few images per category, test on others, several times over."""
    sizes, workplace = options.counts(per_class), options.workplace(jobs, cache_folder, no_cache)
    borrowing = options.borrowing(borrow, closest, sense)
    if borrowing is not None:
        _refuse_with_borrow(hold_out, unlabelled, combine, learners, many, noise, svm_c, report_file)
        from fewsight.apps.workbench import ImageSource, Protocol, evaluate_borrowing_folder, read_settings

        with progress_bars():
            found = evaluate_borrowing_folder(
                ImageSource(folder, labels, options.words(exclude)),
                Protocol(images_per_class, sizes, test_per_class, repeats, seed),
                borrowing,
                channels=options.channel_words(channels),
                options=read_settings(settings or []),
                json_file=json_file,
                command=shlex.join(["fewsight", *sys.argv[1:]]),
                workplace=workplace,
            )
        _answer_borrowing(found, json_file)
        return
    from fewsight.apps.workbench import ImageSource, Protocol, WantedLearners, evaluate_folder, read_settings

    with progress_bars():
        evaluated = evaluate_folder(
            ImageSource(folder, labels, options.words(exclude)),
            Protocol(images_per_class, sizes, test_per_class, repeats, seed, hold_out, unlabelled),
            channels=options.channel_words(channels),
            options=read_settings(settings or []),
            combine=None if combine is None else options.words(combine),
            learners=WantedLearners(None if learners is None else options.words(learners), noise, svm_c, many),
            json_file=json_file,
            report_file=report_file,
            command=shlex.join(["fewsight", *sys.argv[1:]]),
            workplace=workplace,
            baselines=baselines,
        )
    _answer(evaluated, json_file, report_file)


def _refuse_with_borrow(
    hold_out: int,
    unlabelled: int,
    combine: str | None,
    learners: str | None,
    many: int | None,
    noise: float | None,
    svm_c: float | None,
    report: Path | None,
) -> None:
    """What says nothing about borrowing is not accepted in silence."""
    given = {
        "--hold-out": hold_out > 0,
        "--unlabelled": unlabelled > 0,
        "--combine": combine is not None,
        "--learners": learners is not None,
        "--many": many is not None,
        "--noise": noise is not None,
        "--svm-c": svm_c is not None,
        "--report": report is not None,
    }
    for option in [option for option, was_given in given.items() if was_given]:
        raise typer.BadParameter(f"{option} does not go with --borrow.")


def _answer_borrowing(found: BorrowingResult, json_file: Path | None) -> None:
    """With and without what is borrowed, and who lent."""
    from fewsight.evaluation.results import percent

    headings = ("new category from", "method", "new recognised", "others recognised", "average precision")
    metrics = ("accuracy_new", "accuracy_others", "average_precision")
    rows = [
        (str(n), method, *(percent(found.summary(n, method, metric)) for metric in metrics))
        for n in found.trials
        for method in ("independent", "borrowed")
    ]
    show_table(headings, rows, numbers=range(2, len(headings)))
    lent = found.lenders(min(found.trials))
    show_table(("new category", "borrows from, most often"), [(name, who or "nobody") for name, who in lent.items()])
    tell(f"Each category in turn was new; the others were learned from {found.lender_images} images each.")
    wrote(json_file, None)


def _answer(evaluated: Evaluated, json_file: Path | None, report_file: Path | None) -> None:
    from fewsight.evaluation import LEARNED

    evaluation = evaluated.evaluation
    show_accuracies(evaluation)
    if set(LEARNED) & set(evaluation.combine):
        show_shares(evaluation)
    if evaluation.protocol.hold_out:
        _show_unknown(evaluation)
    if evaluated.comparison is not None:
        _show_comparison(evaluated.comparison)
    seconds = evaluation.timings
    tell(f"Took {seconds['total']:.1f} s, of which {seconds['local_features']:.1f} s for local features.")
    tell(*evaluated.remarks)
    list_left_out(evaluated.images)
    wrote(json_file, report_file)


def _show_unknown(evaluation: Evaluation) -> None:
    """How well images of held-out categories are told from the others, by the learners that say."""
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
        "Told apart (AUROC): given one known and one unknown image, how often the unknown one scores stranger; "
        "50 % is guessing."
    )


def _show_comparison(comparison: Comparison) -> None:
    """What each arm is worth with all labels, and whether asking saves any."""
    from fewsight.evaluation import comparison_in_words
    from fewsight.evaluation.results import percent

    names = {"accuracy": "right", "calibration_error": "percentages off by", "unknown_auroc": "unknown told apart"}
    headings = ["learner", "labels", *(names.get(metric, "log loss") for metric in comparison.metrics)]
    rows = []
    for arm in comparison.curves:
        ends = {metric: comparison.curve(arm, metric)[-1][1] for metric in comparison.metrics}
        cells = [f"{end.mean:.3f}" if metric == "log_loss" else percent(end) for metric, end in ends.items()]
        rows.append((arm.learner, "random" if arm.rule == "random" else "asked for", *cells))
    tell(f"With {comparison.labels[-1]} labels of {comparison.n_pool} images, the same features for all:")
    show_table(headings, rows, numbers=range(2, len(headings)))
    tell(comparison_in_words(comparison).replace("\u00a0", " "))
