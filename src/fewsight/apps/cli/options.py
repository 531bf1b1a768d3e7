"""Options that several commands share, and the small languages they are written in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewsight.apps.cli.console import say
from fewsight.apps.cli.signals import undisturbed

if TYPE_CHECKING:
    from fewsight.apps.workbench import BorrowingOptions, ImageSource, Workplace

# The groups in which `--help` shows options, in this order; those of no group come first.
GROUPS = LEARN_FROM, MEASURE, COMPARE, LOOK, FEW, MANY, KEEP = (
    "What to learn from",
    "How to measure",
    "What to compare",
    "How to look at images",
    "Few images",
    "Many images",
    "Where to keep things",
)
LabelledFolder = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER",
        show_default=False,
        help="A folder with one folder of images per category, or one labelled by `fewsight label`; with --labels, any folder.",
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        metavar="CSV",
        show_default=False,
        rich_help_panel=LEARN_FROM,
        help="A table with the columns file and category, for images in one folder.",
    ),
]
LabelsOfProject = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="PROJECT",
        show_default="the project of FOLDER, where there is one",
        rich_help_panel=LEARN_FROM,
        help="The project file with the labels, as named to `fewsight label`.",
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CATEGORY",
        show_default=False,
        rich_help_panel=LEARN_FROM,
        help="Leave a category out; may be repeated, or several joined by commas.",
    ),
]
Channels = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        show_default="FEWSIGHT_CHANNELS, or pretrained (without it spatial_pmk), colour, texture and phog",
        rich_help_panel=LOOK,
        help="Channels, joined by commas, or auto for all that suit photographs; `fewsight channels` lists them.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="CHANNEL.OPTION=VALUE",
        show_default=False,
        rich_help_panel=LOOK,
        help="Set an option of a channel, as in --set spatial_pmk.n_words=200; may be repeated.",
    ),
]
Noise = Annotated[
    float | None,
    typer.Option(
        metavar="VARIANCE",
        show_default="learned from left-out examples",
        help="Noise variance of the Gaussian process, instead of learning it.",
    ),
]
Many = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="NUMBER",
        show_default="2,300 for two categories, 5,200 for a hundred",
        rich_help_panel=MANY,
        help="Switch from gp to histogram_gp or sparse_gp at this many labelled images, unless a learner is named.",
    ),
]
Sense = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CATEGORY=MEANING",
        show_default=False,
        rich_help_panel=FEW,
        help="With --borrow: what a category's name means, as in --sense bass=fish; may be repeated.",
    ),
]
Closest = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="NUMBER",
        rich_help_panel=FEW,
        help="Borrow only from the NUMBER categories closest in meaning (WordNet).",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        show_default=False,
        rich_help_panel=MANY,
        help="The scheduler of a Dask cluster, as in tcp://HOST:8786, whose workers look at the images; they must see them under "
        "the same path.",
    ),
]
LARGEST_SEED = 2**31 - 1  # scikit-learn takes seeds below 2^32, and each repeat adds one to the first
Seed = Annotated[
    int, typer.Option(min=0, max=LARGEST_SEED, metavar="NUMBER", help="Seed of everything that is drawn at random.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="NUMBER", show_default="all processors", help="How many images to process at the same time."
    ),
]
CacheFolder = Annotated[
    Path | None,
    typer.Option(
        "--cache-dir",
        metavar="FOLDER",
        show_default="the user's cache, or FEWSIGHT_CACHE",
        rich_help_panel=KEEP,
        help="Where computed features are kept for the next run; `fewsight cache` shows and limits it.",
    ),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", rich_help_panel=KEEP, help="Forget computed features when the command ends.")
]


def borrowing(
    borrow: bool, closest: int, sense: Sequence[str] | None, refuse: Sequence[str] | None = None
) -> BorrowingOptions | None:
    """How to borrow, from the options about it; None without --borrow."""
    if not borrow:
        if sense or refuse:
            raise typer.BadParameter(f"{'--sense' if sense else '--refuse'} needs --borrow.")
        return None
    from fewsight.apps.workbench import BorrowingOptions, read_refusals, read_senses

    return BorrowingOptions(closest, read_senses(sense or []), read_refusals(refuse or []))


def image_source(folder: Path, labels: Path | None, exclude: Sequence[str] | None, project: Path | None) -> ImageSource:
    """Which images are labelled, and how, from the options about it."""
    from fewsight.apps.workbench import ImageSource

    if labels is not None and project is not None:
        raise typer.BadParameter("--labels and --project contradict each other.")
    return ImageSource(folder, labels, words(exclude), project)


def words(texts: str | Sequence[str] | None) -> tuple[str, ...]:
    """`"a,b"`, or `["a,b", "c"]`, as a tuple of words without blanks around them."""
    texts = [texts] if isinstance(texts, str) else texts or []
    return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())


def counts(text: str) -> tuple[int, ...]:
    """`"1,3,5"` as numbers; anything that is not a list of whole numbers above zero is a usage error."""
    parts = words(text)
    if not parts or not all(part.isascii() and part.isdigit() and int(part) > 0 for part in parts):
        raise typer.BadParameter(f"must be whole numbers above zero joined by commas, got {text!r}.")
    return tuple(sorted({int(part) for part in parts}))


def channel_words(channels: str | None) -> tuple[str, ...] | None:
    """The channels that are named; None for the default ones."""
    return None if channels is None else words(channels)


def workplace(jobs: int | None, cache_folder: Path | None, no_cache: bool) -> Workplace:
    """How the work is done, from the three options about it."""
    with undisturbed():
        from fewsight.apps.workbench import Workplace

    if no_cache and cache_folder is not None:
        raise typer.BadParameter("--no-cache and --cache-dir contradict each other.")
    return Workplace(jobs=jobs or -1, cache_folder=cache_folder, keep_features=not no_cache, tell=say)
