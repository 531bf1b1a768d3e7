"""Which words: many random codebooks of Brodatz' textures, combined. [Gehler2009, section 4, Table 1, Fig. 3]

Each of 112 textures is cut into 3 x 3 tiles, which are a class; half of them to train. PCA-SIFT at 21 x 21 points and radii 4, 8,
12 and 16, 36 principal components of the training half's patches; 250 codebooks of K descriptors drawn from the training half, of
which a larger one begins with the words of a smaller one; chi-square, each kernel's scale the median of the training distances. C
is chosen for each way by the error on a third of the training half that is left out.

    python -m experiments.gehler2009.brodatz DATA --work FOLDER --words 10,300,1000 --seeds 0-9 --splits 10,5,3
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import scipy.sparse
from matplotlib.figure import Figure

from experiments.common.command import base_arguments, numbers, run, words_of, write_figure
from experiments.gehler2009.measuring import error_of, learned_error, machine_error, own_error, sums
from experiments.gehler2009.pca_sift import Grid, PcaSift
from experiments.rodner2012.results import kept, record, write_results
from fewsight._base.errors import InvalidInput
from fewsight._base.progress import track
from fewsight._base.replacement import replacing
from fewsight._base.types import Array, Indices, Pixels
from fewsight._compiled import chi_square
from fewsight.encodings import kmeans_codebook
from fewsight.evaluation.report.kernel_figures import draw_kernel_counts
from fewsight.gp import BlockStack, GramStack
from fewsight.images import as_image

TILES = 3
N_COMPONENTS = 36
N_CODEBOOKS = 250
PENALTIES = (1.0, 10.0, 100.0, 1_000.0)
N_SINGLE = 10  # codebooks whose errors alone are averaged
COUNTS = (1, 2, 5, 10, 20, 50, 100, 250)
DRAWS = 5  # of as many random codebooks as l1 keeps
RIDGE = 0.01  # of least squares, where the machines would take too long
SAMPLE = 50_000  # descriptors that k-means learns from
WORDS_AT_A_TIME, POINTS_AT_A_TIME = 1_000, 256  # that are compared: how near they are stays in the cache
LEARNED = ("l1", "l1_even", "l2")
WAYS = ("single", "average", "l1", "l2", "n_kernels")
REPORTED = {  # Table 1: error in percent of the WAYS, and the kernels that l1 kept; all but Brodatz are not at hand
    "Brodatz": {10: (46.3, 11.4, 13.4, 11.1, 11.9), 300: (14.4, 9.2, 9.8, 9.0, 6.6), 1000: (11.1, 9.1, 9.7, 8.9, 5.1)},
    "KTH-TIPS": {10: (33.4, 8.0, 10.4, 8.3, 28.2), 300: (13.0, 8.5, 8.8, 8.5, 13.0), 1000: (11.3, 9.6, 9.8, 9.7, 9.3)},
    "UIUCTex": {10: (36.4, 6.1, 7.3, 6.2, 20.9), 300: (10.1, 5.8, 5.9, 5.9, 9.7), 1000: (8.7, 6.3, 6.6, 6.3, 7.7)},
    "Graz-02": {
        10: (39.8, 24.2, 25.0, 24.0, 47.3),
        300: (24.7, 19.8, 20.2, 19.5, 23.2),
        1000: (22.7, 19.2, 19.3, 18.9, 15.4),
    },
}

Single = npt.NDArray[np.float32]
Counts = npt.NDArray[np.uint16]


@dataclass(frozen=True)
class Tiles:
    """Grey values of all tiles, and the texture of each."""

    planes: list[Single]
    labels: Indices


def tiles_of(folder: Path) -> Tiles:
    """All textures of the folder, cut into tiles of one size."""
    files = sorted(folder.glob("D*.jpg"), key=lambda file: int(file.stem[1:]))
    planes = [tile for file in track(files, "tiles", len(files)) for tile in _tiles(as_image(file).pixels())]
    return Tiles(planes, np.repeat(np.arange(len(files)), TILES**2))


def _tiles(pixels: Pixels) -> list[Single]:
    grey = cv2.cvtColor(np.ascontiguousarray(pixels, dtype=np.float32), cv2.COLOR_RGB2GRAY)
    height, width = (side // TILES for side in grey.shape)
    return [
        grey[i * height : (i + 1) * height, j * width : (j + 1) * width] for i in range(TILES) for j in range(TILES)
    ]


def halves(labels: Indices, seed: int) -> tuple[Indices, Indices]:
    """Half of the tiles to train, the others to test: of each texture four or five, by turns."""
    rng = np.random.default_rng(seed)
    train = np.zeros(len(labels), bool)
    for position, label in enumerate(np.unique(labels)):
        members = np.flatnonzero(labels == label)
        train[rng.permutation(members)[: len(members) // 2 + position % 2]] = True
    return np.flatnonzero(train), np.flatnonzero(~train)


def histograms(points: Single, books: Sequence[Single], sizes: Sequence[int]) -> dict[int, list[Counts]]:
    """How often the first words of each codebook stand in each tile, for points (tiles, p, d) and all sizes: (tiles, K) for each.

    A point is compared with all words once, whatever the sizes.
    """
    found = {K: np.zeros((len(books), len(points), K), np.uint16) for K in sizes}
    with_one = np.concatenate([points, np.ones((*points.shape[:2], 1), np.float32)], axis=2)
    at_a_time = max(1, WORDS_AT_A_TIME // len(books[0]))
    for first in track(range(0, len(books), at_a_time), "words", -(-len(books) // at_a_time)):
        some = books[first : first + at_a_time]
        words = np.concatenate(some)
        less_norm = np.column_stack(
            [words, -0.5 * np.einsum("ij,ij->i", words, words)]
        ).T  # of these with a point and one
        for number, tile in enumerate(with_one):
            for start in range(0, len(tile), POINTS_AT_A_TIME):
                nearness = (tile[start : start + POINTS_AT_A_TIME] @ less_norm).reshape(-1, len(some), len(books[0]))
                for K, counts in found.items():
                    nearest = nearness[:, :, :K].argmax(axis=2) + K * np.arange(len(some))
                    more = np.bincount(nearest.ravel(), minlength=len(some) * K).reshape(len(some), K)
                    counts[first : first + len(some), number] += more.astype(np.uint16)
    return {K: list(counts) for K, counts in found.items()}


def kernel(counts: Counts, train: Indices, test: Indices) -> Array:
    """exp(-chi-square / the median of the training distances) between all tiles, the training half first, and that half."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    ours, theirs = (scipy.sparse.csr_array(shares[part]) for part in (train, test))
    apart = chi_square.distances(ours)
    scale = float(np.median(apart[np.triu_indices(len(train), 1)]))
    return np.exp(-np.concatenate([apart, chi_square.distances(theirs, ours)]) / scale)


@dataclass(frozen=True)
class Measured:
    """Kernels of a split, and what the ways of combining them are measured on."""

    grams: GramStack
    blocks: BlockStack
    labels: Indices
    test_labels: Indices

    @classmethod
    def of(cls, found: Single, labels: Indices, test_labels: Indices) -> Measured:
        """From kernels between all tiles and the training half, (k, tiles, training tiles)."""
        n = found.shape[2]
        return cls(GramStack.of(K[:n] for K in found), BlockStack.of(K[n:] for K in found), labels, test_labels)

    def inner(self) -> Measured:
        """The training half alone: a third of it is left out, texture by texture."""
        out = np.zeros(len(self.labels), bool)
        for label in np.unique(self.labels):
            out[np.flatnonzero(self.labels == label)[::3]] = True
        kept, left = np.flatnonzero(~out), np.flatnonzero(out)
        blocks = BlockStack((len(left), len(kept)))
        for K in self.grams:
            blocks.append(K[np.ix_(left, kept)])
        return Measured(self.grams.of_examples(kept), blocks, self.labels[kept], self.labels[left])

    def fixed(self, weights: Array, C: float) -> float:
        """The error with given weights."""
        return machine_error(*sums(self.grams, self.blocks, weights), self.labels, self.test_labels, C)

    def own(self, weights: Array, C: float) -> float:
        """The error where each class has weights of its own (c, k)."""
        return own_error(self.grams, self.blocks, weights, self.labels, self.test_labels, C)

    def learned(self, way: str, C: float) -> tuple[dict[str, Any], Array]:
        """The error with learned weights, how many kernels they leave, and the weights of each class (c, k)."""
        return learned_error(way, self.grams, self.blocks, self.labels, self.test_labels, C)

    def agreement(self) -> float:
        """Correlation, over the kernels, of the error of each alone on one half of the test tiles with that on the other.

        Whatever chooses kernels for all classes can make no more of them than this. Least squares stand in for the machines. Zero
        if all errors are alike.
        """
        targets = np.where(self.labels[:, None] == np.unique(self.labels), 1.0, -1.0)
        ridge = RIDGE * np.eye(len(self.labels))
        first = np.zeros(len(self.test_labels), bool)
        for label in np.unique(self.test_labels):
            first[np.flatnonzero(self.test_labels == label)[::2]] = True
        errors = []
        for K, K_test in zip(self.grams, self.blocks, strict=True):
            found = np.unique(self.labels)[(K_test @ np.linalg.solve(K + ridge, targets)).argmax(axis=1)]
            errors.append([error_of(found[half], self.test_labels[half]) for half in (first, ~first)])
        spreads = np.std(errors, axis=0)
        return float(np.corrcoef(np.array(errors).T)[0, 1]) if spreads.all() else 0.0


def best_penalty(error_at: Callable[[float], float]) -> float:
    """The smallest C with the least error."""
    return min(PENALTIES, key=lambda C: (error_at(C), C))


@dataclass(frozen=True)
class Drawn:
    """Descriptors of all tiles (tiles, p, d), the codebooks, and the descriptors that k-means learns from."""

    points: Single
    books: list[Single]
    sample: Single

    @classmethod
    def of(cls, tiles: Tiles, codebooks: int, seed: int, size: int) -> Drawn:
        """Components and codebooks of this size from the training half."""
        train, _ = halves(tiles.labels, seed)
        rng = np.random.default_rng([seed, 1])
        features = PcaSift.learned_from([tiles.planes[i] for i in train], N_COMPONENTS, Grid(), rng)
        points = features.describe_all(tiles.planes)
        pool = points[train].reshape(-1, N_COMPONENTS)
        books = [pool[rng.permutation(len(pool))[:size]] for _ in range(codebooks)]
        return cls(points, books, pool[np.sort(rng.permutation(len(pool))[:SAMPLE])])


def prepare(tiles: Tiles, codebooks: int, seed: int, places: Mapping[int, Path]) -> None:
    """The kernel of each codebook of a split, and last that of one by k-means, into one file for each size of codebook:
    (codebooks + 1, tiles, training tiles) in single precision."""
    train, test = halves(tiles.labels, seed)
    drawn = Drawn.of(tiles, codebooks, seed, max(places))
    rows = histograms(drawn.points, drawn.books, list(places))
    for K, place in places.items():
        centres = kmeans_codebook(drawn.sample, K, random_state=seed).words
        counted = [*rows.pop(K), *histograms(drawn.points, [centres], [len(centres)])[len(centres)]]
        keep(place, (kernel(counts, train, test) for counts in track(counted, "kernels", len(counted))), len(counted))


def keep(place: Path, matrices: Iterable[Array], count: int) -> None:
    """So many matrices of one shape into one file, in single precision."""
    found = None
    for at, K in enumerate(matrices):
        found = np.empty((count, *K.shape), np.float32) if found is None else found
        found[at] = K
    place.parent.mkdir(parents=True, exist_ok=True)
    with replacing(place, durable=False) as file:
        np.save(file, found)


def cells(
    tiles: Tiles, codebooks: int, seed: int, sizes: Sequence[int], work: Path, learned: Sequence[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """One split: the words of each codebook, and what was measured with them.

    The kernels stay in the work folder, half a gigabyte of 250 codebooks: learning from them takes less time than making them.
    """
    places = {K: work / "kernels" / f"{seed}_{K}_{codebooks}.npy" for K in sizes}
    missing = {K: place for K, place in places.items() if not place.exists()}
    if missing:
        prepare(tiles, codebooks, seed, missing)
    labels = [tiles.labels[half] for half in halves(tiles.labels, seed)]
    for K, place in places.items():
        found = np.load(place, mmap_mode="r")
        here, clustered = Measured.of(found[:-1], *labels), Measured.of(found[-1:], *labels)
        yield K, _ways(here, here.inner(), clustered, np.random.default_rng([seed, 3]), learned)


def _ways(
    here: Measured, inner: Measured, clustered: Measured, rng: np.random.Generator, learned: Sequence[str]
) -> dict[str, Any]:
    n = len(here.grams)
    even = np.full(n, 1.0 / n)
    C_single = best_penalty(lambda C: inner.fixed(np.eye(n)[0], C))
    C_average = best_penalty(lambda C: inner.fixed(even, C))
    singles = [here.fixed(np.eye(n)[number], C_single) for number in range(min(N_SINGLE, n))]
    rows: dict[str, Any] = {
        "single": {"error": float(np.mean(singles)), "n_kernels": 1, "C": C_single, "agreement": here.agreement()},
        "single_kmeans": {"error": clustered.fixed(np.ones(1), C_single), "n_kernels": 1, "C": C_single},
        "average": {"error": here.fixed(even, C_average), "n_kernels": n, "C": C_average},
    }
    for way in learned:
        C = best_penalty(lambda C, way=way: inner.learned(way, C)[0]["error"])  # type: ignore[misc]
        cell, weights = here.learned(way, C)
        rows[way] = {**cell, "C": C}
        if way == "l1":
            rows |= beside(here, weights, C, C_average, rng)
    curve = {str(m): here.fixed((np.arange(n) < m) / m, C_average) for m in COUNTS if m <= n}
    return {"rows": rows, "curve": curve}


def beside(here: Measured, l1: Array, C: float, C_even: float, rng: np.random.Generator) -> dict[str, Any]:
    """What l1's choice and its weights (c, k) are worth: random codebooks, the same for all classes or drawn for each of them,
    and either with the other."""
    n = len(here.grams)
    counts = (l1 > 0).sum(axis=1)
    count = max(1, round(float(counts.mean())))
    same = [here.fixed(_some(n, count, rng), C_even) for _ in range(DRAWS)]
    own = [here.own(np.stack([_some(n, count, rng) for count in counts]), C_even) for _ in range(DRAWS)]
    weighted = [here.own(np.stack([rng.permutation(row) for row in l1]), C) for _ in range(DRAWS)]
    return {
        "as_many": {"error": float(np.mean(same)), "n_kernels": count, "C": C_even},
        "as_many_own": {"error": float(np.mean(own)), "n_kernels": float(counts.mean()), "C": C_even},
        "as_many_weighted": {"error": float(np.mean(weighted)), "n_kernels": float(counts.mean()), "C": C},
    }


def _some(n: int, count: int, rng: np.random.Generator) -> Array:
    """Equal weights of a few of n codebooks."""
    return np.isin(np.arange(n), rng.permutation(n)[:count]) / count


def work(options: argparse.Namespace) -> None:
    """All splits, the file of results and the figure."""
    folder = options.data / "brodatz" if (options.data / "brodatz").is_dir() else options.data
    tiles = tiles_of(folder)
    splits = splits_of(options)
    for place, seed in enumerate(track(options.seeds, "splits", len(options.seeds))):
        sizes = [K for K in options.words if place < splits[K]]
        missing = [K for K in sizes if not _known(options, seed, K)]
        for K, one in cells(tiles, options.codebooks, seed, missing, options.work, options.ways) if missing else ():
            kept(options.work, "brodatz", _settings(options, seed, K), lambda one=one: one)  # type: ignore[misc]
            print(K, seed, {way: round(row["error"], 1) for way, row in one["rows"].items()}, flush=True)
    found = {
        K: [one for seed in options.seeds[: splits[K]] if (one := _known(options, seed, K))] for K in options.words
    }
    protocol = {
        "codebooks": options.codebooks,
        "penalties": PENALTIES,
        "components": N_COMPONENTS,
        "tiles": len(tiles.labels),
    }
    records = [row for K, some in found.items() if some for row in _records(K, some)]
    write_results(options, records + _reported(), protocol=protocol)
    write_figure(plot({K: some for K, some in found.items() if some}), options.figure)


def splits_of(options: argparse.Namespace) -> dict[int, int]:
    """How many of the seeds each size of codebook is measured on."""
    counts = options.splits or (len(options.seeds),)
    if len(counts) not in (1, len(options.words)) or min(counts) < 1:
        raise InvalidInput(
            f"brodatz: splits must be one number above 0 or one for each of the {len(options.words)} sizes of codebook, "
            f"got {','.join(map(str, counts))}."
        )
    return dict(zip(options.words, counts * (len(options.words) // len(counts)), strict=True))


def _settings(options: argparse.Namespace, seed: int, K: int) -> dict[str, Any]:
    return {
        "seed": seed,
        "words": K,
        "codebooks": options.codebooks,
        "penalties": list(PENALTIES),
        "features": "pca_sift",
        "version": 3,
        "learned": list(options.ways),
    }


def _known(options: argparse.Namespace, seed: int, K: int) -> dict[str, Any] | None:
    """What the work folder holds of a split."""
    try:
        return kept(options.work, "brodatz", _settings(options, seed, K), _nothing)
    except LookupError:
        return None


def _nothing() -> dict[str, Any]:
    raise LookupError


def _records(K: int, cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    head = {"dataset": "Brodatz", "channels": "codebooks", "learner": "svm", "words": K, "per_class": 4.5}
    rows = []
    for way, first in cells[0]["rows"].items():
        for metric in first:
            rows.append(record({**head, "combine": way}, metric, [one["rows"][way][metric] for one in cells]))
    for count in cells[0]["curve"]:
        about = {**head, "combine": "average", "n_kernels": int(count)}
        rows.append(record(about, "error", [one["curve"][count] for one in cells]))
    return rows


def _reported() -> list[dict[str, Any]]:
    """What the paper says, of all its sets."""
    rows = []
    for dataset, sizes in REPORTED.items():
        for K, values in sizes.items():
            for way, value in zip(WAYS, values, strict=True):
                counted = {"combine": "l1", "metric": "n_kernels"}
                about = counted if way == "n_kernels" else {"combine": way, "metric": "error"}
                rows.append(
                    {"dataset": dataset, "learner": "svm", "words": K, **about, "mean": value, "reported": True}
                )
    return rows


def plot(found: dict[int, list[dict[str, Any]]]) -> Figure:
    """Error against the number of codebooks. [Fig. 3]"""
    figure = Figure(figsize=(4.2 * len(found), 3.6), layout="constrained")
    for axes, (K, cells) in zip(figure.subplots(1, len(found), squeeze=False)[0], found.items(), strict=True):
        curve = {int(count): float(np.mean([one["curve"][count] for one in cells])) for count in cells[0]["curve"]}
        learned = {
            way: (_mean(cells, way, "n_kernels"), _mean(cells, way, "error"))
            for way in LEARNED
            if way in cells[0]["rows"]
        }
        lines = {"one codebook": _mean(cells, "single", "error")}
        draw_kernel_counts(axes, curve, learned, lines, f"Brodatz, {K} words")
    return figure


def _mean(cells: list[dict[str, Any]], way: str, what: str) -> float:
    return float(np.mean([one["rows"][way][what] for one in cells]))


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    made = base_arguments(
        "brodatz", __doc__, folder="the folder of the textures D1.jpg ...", seeds="0-9", of="splits", paper="gehler2009"
    )
    made.add_argument("--words", type=numbers, default=(10, 300, 1000), help="of a codebook (10,300,1000)")
    made.add_argument(
        "--splits",
        type=lambda text: tuple(int(word) for word in text.split(",")),
        help="of these seeds, how many for each number of words, as 10,5,3 (all)",
    )
    made.add_argument("--ways", type=words_of(LEARNED), default=LEARNED, help=f"to learn weights ({','.join(LEARNED)})")
    made.add_argument("--codebooks", type=int, default=N_CODEBOOKS, help=f"that are drawn ({N_CODEBOOKS})")
    made.add_argument("--json", type=Path, default=Path("experiments/results/gehler2009/brodatz.json"))
    made.add_argument("--figure", type=Path, default=Path("docs/images/gehler2009_brodatz.png"))
    return made


if __name__ == "__main__":
    run(parser(), work)
