"""`fewsight learn`: from a folder of labelled images to a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewsight.apps.cli import options
from fewsight.apps.cli.console import (
    NO_SHARES_FROM_ONE,
    list_left_out,
    listed_shares,
    plural,
    progress_bars,
    show_table,
    tell,
    what_was_used,
)

if TYPE_CHECKING:
    from fewsight.apps.workbench import Learned

FIRST_SETS = 5  # of images of the same picture that are listed
EXAMPLES = """
[bold]fewsight learn photos -o birds.fewsight[/bold]  (photos/owl/*.jpg, photos/robin/*.jpg, ...)

[bold]fewsight learn photos --labels labels.csv -o birds.fewsight[/bold]  (photos/*.jpg)

[bold]fewsight learn photos --channels auto -o birds.fewsight[/bold]  (structure, outlines, colour and texture)

[bold]fewsight learn photos --channels spatial_pmk --learner histogram_gp -o birds.fewsight[/bold]  (for thousands of images)

[bold]fewsight learn photos --borrow --sense bass=fish -o birds.fewsight[/bold]  (categories with one image or two)
"""


def learn(
    folder: options.LabelledFolder,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            show_default=False,
            rich_help_panel=options.KEEP,
            help="The model file to write.",
        ),
    ],
    labels: options.Labels = None,
    exclude: options.Exclude = None,
    channels: options.Channels = None,
    combine: Annotated[
        str | None,
        typer.Option(
            metavar="WAY",
            show_default="evidence",
            rich_help_panel=options.LOOK,
            help="How much each of several channels counts: evidence (learned), average (all the same), "
            "or with --learner mkl l1 (learned, few count), l1_even (those few count the same) or l2.",
        ),
    ] = None,
    settings: options.Settings = None,
    noise: options.Noise = None,
    learner: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            rich_help_panel=options.MANY,
            help="gp, sparse_gp (for thousands of images), histogram_gp (the same, for channels that compare histograms), svm, "
            "nn, mean, logistic, combination, mkl, infinite, span_bound, generative (with the fisher channels), or auto, which "
            "picks one of the first three by how many images there are.",
        ),
    ] = "auto",
    many: options.Many = None,
    cluster: options.Cluster = None,
    borrow: Annotated[
        bool,
        typer.Option(
            "--borrow",
            rich_help_panel=options.FEW,
            help="Let categories with fewer than five images borrow from related ones.",
        ),
    ] = False,
    refuse: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CATEGORY[=LENDER]",
            show_default=False,
            rich_help_panel=options.FEW,
            help="With --borrow: a category that must not borrow, or not from this lender; may be repeated.",
        ),
    ] = None,
    closest: options.Closest = 10,
    sense: options.Sense = None,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="Also print the numbers that were found while learning, such as the noise."),
    ] = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    cache_folder: options.CacheFolder = None,
    no_cache: options.NoCache = False,
) -> None:
    """Learn categories from labelled images and write a model file.

    An existing model file is replaced, once the new one is whole. The file opens on another machine without the images.
    """
    workplace = options.workplace(jobs, cache_folder, no_cache)
    from fewsight.apps.workbench import ImageSource, learn_folder, read_settings

    with progress_bars():
        learned = learn_folder(
            ImageSource(folder, labels, options.words(exclude)),
            output,
            channels=options.channel_words(channels),
            options=read_settings(settings or []),
            combine=combine,
            noise_variance=noise,
            seed=seed,
            borrowing=options.borrowing(borrow, closest, sense, refuse),
            learner=learner,
            many=many,
            workplace=workplace,
            cluster=cluster,
        )
    _answer(learned, output, verbose)
    tell(*_about_pretrained(channels))


def _answer(learned: Learned, output: Path, verbose: bool) -> None:
    show_table(["category", "images"], [[name, str(count)] for name, count in learned.counts.items()], numbers=[1])
    n_images, n_categories = sum(learned.counts.values()), len(learned.counts)
    unlabelled = len(learned.images) - n_images
    labelled = f", {n_images} of them labelled" if unlabelled else ""
    beside = f", and from {learned.n_outsiders:,} of none of these" if learned.n_outsiders else ""
    found = plural(n_categories, "category", "categories")
    tell(f"Learned {found} from {plural(n_images + unlabelled, 'image')}{labelled}{beside}.")
    tell(*_about_borrowing(learned))
    tell(*_about_channels(learned), *_about_accuracy(learned))
    if verbose:
        tell(*_about_settings(learned))
    tell(*_about_copies(learned))
    tell(*_about_doubts(learned))
    tell(*learned.remarks)
    list_left_out(learned.images)
    tell(f"{'Replaced' if learned.replaced else 'Wrote'} {output}.")


def _about_channels(learned: Learned) -> list[str]:
    """How much each of several channels counts, and why where nothing was learned about it."""
    if len(learned.shares) < 2:
        return [f"Channel: {', '.join(learned.shares)}."]
    lines = [f"What decides: {listed_shares(learned.shares)}."]
    if learned.combine == "evidence" and max(learned.counts.values()) == 1:
        lines.append(f"{what_was_used(learned.shares.values())} used: {NO_SHARES_FROM_ONE}.")
    elif learned.combine == "evidence" and len(set(learned.shares.values())) == 1:
        lines.append("The average of the channels was used: left-out images showed no other shares to be better.")
    return lines


def _about_settings(learned: Learned) -> list[str]:
    """Numbers that were found while learning."""
    return [f"{name[0].upper()}{name[1:]} {value:.3g}." for name, value in learned.model.found().items()]


def _about_borrowing(learned: Learned) -> list[str]:
    """Who borrows from whom, who does not and why, one line each, and how to refuse it."""
    if learned.borrowed is None:
        return []
    found, declined = (
        [f"{str(each)[0].upper()}{str(each)[1:]}." for each in some]
        for some in (learned.borrowed.suggestions, learned.borrowed.declined)
    )
    if not found:
        return ["Nothing was borrowed: no category with few images has another one that helps.", *declined]
    found += declined
    if not learned.borrowed.wordnet:
        found.append("All categories were considered: there is no WordNet here to say which are close in meaning.")
    return [*found, "To refuse one: --refuse CATEGORY, or --refuse CATEGORY=LENDER."]


def _about_copies(learned: Learned) -> list[str]:
    """How many images show a picture that another shows already, the first of them, and all that have two categories."""
    copies, lines = learned.copies, []
    if copies.n_set_aside:
        which = "1 image is a copy" if copies.n_set_aside == 1 else f"{copies.n_set_aside:,} images are copies"
        lines.append(f"{which} of others: each picture was learned from once.")
    lines += [f"  The same picture: {', '.join(names)}" for names in copies.sets[:FIRST_SETS]]
    if len(copies.sets) > FIRST_SETS:
        lines.append(f"  ... and {plural(len(copies.sets) - FIRST_SETS, 'more picture')} with copies.")
    for images in copies.contradictions:
        named = ", ".join(f"{name} ({category})" for name, category in images)
        lines.append(f"The same picture in two categories, of which one must be wrong: {named}")
    return lines


def _about_doubts(learned: Learned) -> list[str]:
    """Labels that look wrong, the first of them by name."""
    doubts = learned.doubts
    lines = [
        f"Looks wrong: {each.image} ({each.category}); the other images say {each.guess}."
        for each in doubts[:FIRST_SETS]
    ]
    if len(doubts) > FIRST_SETS:
        lines.append(f"  ... and {plural(len(doubts) - FIRST_SETS, 'more label')} that look wrong.")
    return lines


def _about_pretrained(channels: str | None) -> list[str]:
    """What the pretrained network would bring where no channels were named and it is missing."""
    from fewsight.apps.workbench import missing_pretrained

    how = missing_pretrained() if channels is None else None
    return [] if how is None else [f"With pretrained features photographs are told apart far better: {how}"]


def _about_accuracy(learned: Learned) -> list[str]:
    """Leave-one-out accuracy, and for which categories there is none."""
    single = [name for name, count in learned.counts.items() if count == 1]
    lines = []
    if learned.left_out is not None:
        lines.append(f"Right on {learned.left_out.accuracy:.1%} of {learned.left_out.which} (mean of categories).")
    if single:
        lines.append(f"Only one image each, so nothing to check with: {', '.join(single)}.")
    return lines
