"""What the commands share: options, the channels, and the file of results."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from experiments.common.cells import Cells, Way, records
from experiments.common.grams import GramStore, Place
from fewsight._base.errors import FewsightError, InvalidInput
from fewsight._base.replacement import replacing, write_text
from fewsight.apps.cli.console import progress_bars
from fewsight.apps.cli.signals import STOPPED, listen, stop_listening
from fewsight.channels import make_channel
from fewsight.evaluation.provenance import package_version, versions
from fewsight.evaluation.results import json_text
from fewsight.images import FeatureCache, ImageSet, image_set_from_class_folders

ROOT = Path(__file__).parents[2]
CHANNELS = ("spatial_pmk", "dense_pmk", "phog", "opponent_sift", "colour", "texture")
BACKGROUND = "BACKGROUND_Google"  # not a category
RESULTS = ROOT / "experiments/results"
CODE = ("src", "experiments", "benchmarks", "pyproject.toml", ":(exclude)experiments/results")  # what decides a result


def base_arguments(
    name: str, description: str | None, *, folder: str, seeds: str | None, of: str, paper: str = "kapoor2010"
) -> argparse.ArgumentParser:
    """What every command is told: where the images are, where to work, and the seeds (None: it draws nothing)."""
    parser = argparse.ArgumentParser(
        prog=f"python -m experiments.{paper}.{name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    data = os.environ.get("FEWSIGHT_DATA")
    default = Path(data) if data else None
    parser.add_argument("data", type=Path, nargs="?", default=default, help=f"{folder}; $FEWSIGHT_DATA unless given")
    parser.add_argument("--work", type=Path, required=True, help="a folder for what is computed; going on begins there")
    if seeds is not None:
        of_what = f"of the {of}, as 0-9 or 1,4,7 ({seeds})"
        parser.add_argument("--seeds", type=numbers, default=numbers(seeds), help=of_what)
    return parser


def draw_arguments(
    name: str, description: str | None, *, seeds: str, sizes: str, paper: str = "kapoor2010"
) -> argparse.ArgumentParser:
    """The options of commands that draw training and test images of Caltech-101."""
    folder = "the folder of Caltech-101's category folders, or the one that holds it as caltech101"
    parser = base_arguments(name, description, folder=folder, seeds=seeds, of="draws", paper=paper)
    parser.add_argument("--sizes", type=numbers, default=numbers(sizes), help=f"examples per category ({sizes})")
    parser.add_argument("--images-per-class", type=int, default=30, help="that take part in a draw (30)")
    parser.add_argument("--test-per-class", type=int, default=15, help="of these, to test on (15)")
    parser.add_argument(
        "--n-jobs", type=int, default=-1, help="images worked on at the same time; -1: as many as processors"
    )
    return parser


def arguments(
    name: str,
    description: str | None,
    *,
    seeds: str = "0-9",
    sizes: str = "1,2,3,5,10,15",
    channels: Sequence[str] = CHANNELS,
    paper: str = "kapoor2010",
) -> argparse.ArgumentParser:
    """As `draw_arguments`, for commands that compare the draws by channels."""
    parser = draw_arguments(name, description, seeds=seeds, sizes=sizes, paper=paper)
    parser.add_argument("--channels", type=words, default=channels, help=f"joined by commas ({','.join(channels)})")
    parser.add_argument(
        "--pool",
        type=int,
        help="fit channels on this many training images per category for every size, instead of on those learned from",
    )
    return parser


def add_outputs(parser: argparse.ArgumentParser, name: str) -> None:
    """Where results and figure go."""
    results, figure = Path(f"experiments/results/kapoor2010/{name}.json"), Path(f"docs/images/kapoor2010_{name}.png")
    parser.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    parser.add_argument("--figure", type=Path, default=figure, help=f"where the figure goes ({figure})")


def read(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """The options, with the places that they ask for and the command in words that name no folder of a machine."""
    options = parser.parse_args(words)
    if options.data is None:
        parser.error("the folder DATA must be given, or FEWSIGHT_DATA set")
    seeds, sizes = (getattr(options, what, ()) for what in ("seeds", "sizes"))
    options.places = [Place(seed, size) for seed in seeds for size in sizes]
    folders = {str(options.data): "DATA", str(options.work): "WORK"}
    plain = [folders.get(word, Path(word).name if os.path.isabs(word) else word) for word in words]
    options.command = f"{parser.prog} {shlex.join(plain)}"
    return options


def run(parser: argparse.ArgumentParser, work: Callable[[argparse.Namespace], None]) -> None:
    """Do the work that the command line asks for; what a person can cause is answered by one line."""
    options = read(parser, sys.argv[1:])
    listen()
    try:
        check_repeatable(options)
        with progress_bars():
            work(options)
    except KeyboardInterrupt:
        stop_listening()
        print("stopped; nothing half-written. The same command goes on from here.", file=sys.stderr)
        sys.exit(STOPPED)
    except (FewsightError, OSError) as error:
        sys.exit(str(error))
    finally:
        stop_listening()


def store_of(options: argparse.Namespace) -> GramStore:
    """The images and channels that the options name."""
    cache = FeatureCache()
    channels = {name: make_channel(name, cache=cache, n_jobs=options.n_jobs) for name in options.channels}
    return GramStore(
        images_of(options.data), channels, options.work, options.images_per_class, options.test_per_class, options.pool
    )


def write_results(options: argparse.Namespace, store: GramStore, cells: Cells, **more: Any) -> None:
    """The file of results: what is needed to repeat it, the records, and what more a figure has to say."""
    ways = list(dict.fromkeys(way for way, _ in cells))
    content = {"protocol": _protocol(options, store, ways), "records": records(cells), **more}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    write_text(options.json, json_text(content))


def write_figure(figure: Figure, path: Path) -> None:
    """As the ending of the name says, whole or not at all."""
    FigureCanvasAgg(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as stream:
        figure.savefig(stream, format=path.suffix[1:] or "png", dpi=120)


def numbers(text: str) -> tuple[int, ...]:
    """`0-9` or `1,4,7`, or both."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    if not found or min(found) < 0:
        raise ValueError(text)
    return tuple(dict.fromkeys(found))


def words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in text.split(",")))


def words_of(known: Collection[str]) -> Callable[[str], tuple[str, ...]]:
    """As `words`, for names that a command knows: a slip is answered before any work is done."""

    def read(text: str) -> tuple[str, ...]:
        found = words(text)
        for word in found:
            if word not in known:
                raise argparse.ArgumentTypeError(f"each must be one of {', '.join(known)}, got {word}")
        return found

    return read


def images_of(data: Path) -> ImageSet:
    """Caltech-101 without its background."""
    folder = data / "caltech101" if (data / "caltech101").is_dir() else data
    return image_set_from_class_folders(folder, exclude=[BACKGROUND] if (folder / BACKGROUND).is_dir() else [])


def _protocol(options: argparse.Namespace, store: GramStore, ways: Sequence[Way]) -> dict[str, Any]:
    return {
        "images_per_class": store.images_per_class,
        "per_class": list(options.sizes),
        "test_per_class": store.test_per_class,
        "pool": store.pool,
        "repeats": len(options.seeds),
        "seeds": list(options.seeds),
        "command": options.command,
        "commit": commit_of_tree(),
        "classes": store.images.classes,
        "n_images": len(store.images.images),
        "channels": store.settings,
        "learners": {" ".join(way.describe.values()): way.settings()["estimator"] for way in ways},
        "fewsight": package_version(),
        "versions": versions(),
    }


def check_repeatable(options: argparse.Namespace) -> None:
    """What goes to the results of this repository comes from a commit, before any work is done."""
    out = getattr(options, "json", None)
    if out is not None and RESULTS in Path(out).resolve().parents and (commit_of_tree() or "").endswith("+"):
        raise InvalidInput(
            f"{out}: results must come from a commit, but code was changed since the last one; commit it, or name "
            "another file with --json."
        )


def commit_of_tree() -> str | None:
    """Of this folder, if it is known; with a plus where code was changed since, so that nobody could repeat the result.

    Result files and figures are not code: a command leaves some behind, and the next one starts from the same code.
    """
    try:
        commit = _git("describe", "--always")
        return commit + "+" * bool(_git("status", "--porcelain", "--", *CODE))
    except (OSError, subprocess.SubprocessError):
        return None


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30)
    return done.stdout.strip()
