"""What the program says: lines and progress bars on stderr, results and tables on stdout.

`rich` is imported where it is used: this module is loaded before Ctrl-C is taken care of, and must load at once.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from fewsight._base.errors import UnreadableImage

if TYPE_CHECKING:
    from pathlib import Path

    from fewsight.evaluation import Evaluation, Summary
    from fewsight.images import ImageSet

WIDTH_WITHOUT_TERMINAL = 200  # a table in a log file is not cut at 80 columns
NO_SHARES_FROM_ONE = "nothing can be learned about their shares from one image per category"

Item = TypeVar("Item")


def say(text: str) -> None:
    """One line on stderr, in the program's name; where that cannot be written, nobody can be told."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"fewsight: {printable(text)}\n")


def printable(text: str) -> str:
    """Text that may hold a file name, as a terminal may show it: one line, no control characters, no broken bytes."""
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    if "\udc80" <= char <= "\udcff":  # how Python carries a byte that is not UTF-8
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")


@contextlib.contextmanager
def progress_bars() -> Iterator[None]:
    """Show a bar for each piece of long work inside the block; silent when stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from fewsight._base.progress import reporting

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:

        def report(items: Iterable[Item], what: str, total: int) -> Iterable[Item]:
            task = progress.add_task(what or "working", total=total)
            try:
                for item in items:
                    yield item
                    progress.advance(task)
            finally:
                progress.remove_task(task)

        with reporting(report):
            yield


def tell(*lines: str) -> None:
    """Lines on stdout, as they are: no markup, no wrapping, nothing a file name could do to the terminal."""
    for line in lines:
        sys.stdout.write(printable(line) + "\n")


def show_table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Collection[int] = ()) -> None:
    """A table on stdout; the columns in `numbers` stand to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for position, heading in enumerate(headings):
        table.add_column(Text(printable(heading)), justify="right" if position in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    Console(width=None if sys.stdout.isatty() else WIDTH_WITHOUT_TERMINAL).print(table)


def show_accuracies(evaluation: Evaluation) -> None:
    """A row for each way of learning, a column for each number of examples."""
    sizes = evaluation.protocol.per_class
    ways: dict[tuple[str, ...], dict[int, str]] = {}
    for setting, summaries in evaluation.summaries.items():
        way = (setting.channels, setting.combine, setting.learner)
        ways.setdefault(way, {})[setting.per_class] = _percent(summaries["accuracy"])
    several = len({way[:2] for way in ways}) > 1  # otherwise every row would say the same
    names = [*(["channels", "combined by"] if several else []), "learner"]
    rows = [[*way[-len(names) :], *(cells[size] for size in sizes)] for way, cells in ways.items()]
    headings = [*names, *(f"{size} per category" for size in sizes)]
    show_table(headings, rows, numbers=range(len(names), len(headings)))
    repeats = plural(evaluation.protocol.repeats, "repeat")
    tell(
        f"Accuracy in % on images not learned from: mean over {plural(evaluation.n_learned, 'category', 'categories')} "
        f"± standard deviation over {repeats}."
    )


def show_shares(evaluation: Evaluation) -> None:
    """How much each channel counts in the combination that was learned, for each number of examples."""
    from fewsight.evaluation import LEARNED, learned_shares
    from fewsight.learners import LEARNERS

    if 1 in evaluation.protocol.per_class and "evidence" in evaluation.combine:
        alone = [
            o.weights
            for o in evaluation.outcomes
            if o.weights and o.setting.per_class == 1 and o.setting.combine == "evidence"
        ]
        used = what_was_used(alone[0].values() if alone else ())
        tell(f"At 1 per category {used[0].lower()}{used[1:]} used: {NO_SHARES_FROM_ONE}.")
    found = learned_shares(evaluation)
    several = len({(setting.learner, setting.combine) for setting in found}) > 1
    for setting, shares in found.items():
        means = {channel: share.mean for channel, share in shares.items()}
        by = f" by {setting.learner} ({setting.combine})" if several else ""
        tell(f"Shares learned{by} at {setting.per_class} per category: {listed_shares(means)}.")
    silent = [name for name in evaluation.learners if all(s.learner != name for s in evaluation.groups)]
    if silent:
        wanted = set(LEARNED) & set(evaluation.combine)
        able = [name for name, learner in LEARNERS.items() if wanted & set(learner.ways)]
        only = f"{', '.join(able[:-1])} and {able[-1]} learn" if len(able) > 1 else f"{able[0]} learns"
        tell(
            f"No row for {', '.join(silent)}: only {only} shares by {' or '.join(sorted(wanted))}; "
            "--combine average takes the others."
        )


def what_was_used(shares: Collection[float]) -> str:
    """What stands in for shares that could not be learned, in words."""
    return "The average of the channels was" if len(set(shares)) <= 1 else "The usual shares of such channels were"


def listed_shares(shares: Mapping[str, float]) -> str:
    """`spatial_pmk 62 %, phog 38 %`, in the order given."""
    return ", ".join(f"{channel} {_whole_percent(share)}" for channel, share in shares.items())


def _whole_percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 else "under 1 %"


def _percent(summary: Summary) -> str:
    return f"{100 * summary.mean:.1f}" + ("" if summary.std is None else f" ± {100 * summary.std:.1f}")


def list_unreadable(failures: Sequence[UnreadableImage]) -> None:
    """Which files could not be used and why, on stderr, and how many they are."""
    for failure in failures:
        say(str(failure))
    if failures:
        say(f"{plural(len(failures), 'file')} could not be used.")


def list_left_out(images: ImageSet) -> None:
    """All that lay in a folder of labelled images and was not used, on stderr."""
    list_unreadable(images.unreadable)
    if images.empty_classes:
        category, was = ("category", "was") if len(images.empty_classes) == 1 else ("categories", "were")
        say(f"no usable image in the {category} {', '.join(images.empty_classes)}, which {was} left out.")
    if images.loose:
        say(f"{plural(len(images.loose), 'image')} in no category's folder left out, such as {images.loose[0].name}.")


def plural(count: int, one: str, many: str | None = None) -> str:
    """`1 image`, `2 images`, `2 categories`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def wrote(*paths: Path | None) -> None:
    """Where the files went."""
    for path in paths:
        if path is not None:
            tell(f"Wrote {path}")
