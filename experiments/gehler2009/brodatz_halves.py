"""What l1's choice of codebooks and its weights are worth, on many halves of Brodatz' tiles. [Gehler2009, section 4]

One set of codebooks, drawn from the training half of one seed, compares all tiles once; each seed then draws halves of its own,
so that a split costs seconds and there can be many. This explains the table of `brodatz` and is no part of it: the codebooks
hold descriptors of tiles that are tested on, without their labels, and splits share them.

    python -m experiments.gehler2009.brodatz_halves DATA --work FOLDER --words 300 --seeds 300-329
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from experiments.common.command import base_arguments, numbers, run
from experiments.gehler2009.brodatz import (
    N_CODEBOOKS,
    Counts,
    Drawn,
    Measured,
    Single,
    Tiles,
    beside,
    halves,
    histograms,
    keep,
    tiles_of,
)
from experiments.rodner2012.results import kept, paired, record, write_results
from fewsight._base.progress import track
from fewsight._base.types import Array, Indices
from fewsight._compiled import chi_square

BOOKS_SEED = 150  # of the half that codebooks are drawn from
C = 100.0  # from 10 on machines are the same: no training tile reaches it
COMPARED = (
    ("l1", "as_many"),
    ("l1", "as_many_own"),
    ("l1_even", "as_many"),
    ("l1_even", "as_many_own"),
    ("l1_even", "l1"),
    ("as_many_weighted", "as_many_own"),
    ("l1", "as_many_weighted"),
    ("as_many_own", "as_many"),
    ("l1", "average"),
)


def prepare(tiles: Tiles, codebooks: int, K: int, place: Path) -> None:
    """The kernel of each codebook between all tiles into one file."""
    drawn = Drawn.of(tiles, codebooks, BOOKS_SEED, K)
    rows = histograms(drawn.points, drawn.books, [K])[K]
    keep(place, (_kernel(counts) for counts in track(rows, "kernels", len(rows))), len(rows))


def _kernel(counts: Counts) -> Array:
    """exp(-chi-square / its median)."""
    apart = chi_square.distances(scipy.sparse.csr_array(counts / counts.sum(axis=1, keepdims=True)))
    return np.asarray(np.exp(-apart / np.median(apart[np.triu_indices(len(apart), 1)])))


def half(found: Single, labels: Indices, seed: int) -> Measured:
    """Kernels of one split, each scaled by the median of its training distances."""
    train, test = halves(labels, seed)
    order, pairs = np.concatenate([train, test]), np.triu_indices(len(train), 1)
    here = np.empty((len(found), len(order), len(train)), np.float32)
    for K, whole in zip(here, found, strict=True):
        part = np.log(whole[order][:, train])
        K[:] = np.exp(part / -np.median(part[: len(train)][pairs]))
    return Measured.of(here, labels[train], labels[test])


def measured(here: Measured, seed: int) -> dict[str, Any]:
    """Errors of one split."""
    n = len(here.grams)
    cell, weights = here.learned("l1", C)
    return {
        "average": {"error": here.fixed(np.full(n, 1.0 / n), C), "n_kernels": n},
        "l1": cell,
        "l1_even": here.learned("l1_even", C)[0],
        **beside(here, weights, C, C, np.random.default_rng([seed, 3])),
        "single": {"agreement": here.agreement()},
    }


def work(options: argparse.Namespace) -> None:
    """All splits and the file of results."""
    folder = options.data / "brodatz" if (options.data / "brodatz").is_dir() else options.data
    tiles, records, compared = tiles_of(folder), [], []
    for K in options.words:
        place = options.work / "kernels" / f"all_{BOOKS_SEED}_{K}_{options.codebooks}.npy"
        if not place.exists():
            prepare(tiles, options.codebooks, K, place)
        found = np.load(place, mmap_mode="r")
        cells = []
        for seed in track(options.seeds, "splits", len(options.seeds)):
            settings = {"seed": seed, "words": K, "codebooks": options.codebooks, "version": 1}
            make = lambda seed=seed, found=found: measured(half(found, tiles.labels, seed), seed)  # noqa: E731
            cells.append(kept(options.work, "brodatz_halves", settings, make))
        head = {"dataset": "Brodatz", "channels": "codebooks", "learner": "svm", "words": K, "per_class": 4.5}
        for way, first in cells[0].items():
            records += [record({**head, "combine": way}, name, [cell[way][name] for cell in cells]) for name in first]
        for ours, theirs in COMPARED:
            errors = ([cell[way]["error"] for cell in cells] for way in (ours, theirs))
            compared.append({"words": K, "way": ours, "against": theirs, **paired(*errors)})
    protocol = {"codebooks": options.codebooks, "C": C, "books_seed": BOOKS_SEED}
    write_results(options, records, protocol=protocol, paired=compared)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    folder = "the folder of the textures D1.jpg ..."
    made = base_arguments("brodatz_halves", __doc__, folder=folder, seeds="300-329", of="splits", paper="gehler2009")
    made.add_argument("--words", type=numbers, default=(300,), help="of a codebook (300)")
    made.add_argument("--codebooks", type=int, default=N_CODEBOOKS, help=f"that are drawn ({N_CODEBOOKS})")
    made.add_argument("--json", type=Path, default=Path("experiments/results/gehler2009/brodatz_halves.json"))
    return made


if __name__ == "__main__":
    run(parser(), work)
