"""The Gram matrix of the pyramid-match channels against that of `spatial_pmk`, on the same local features, in one run.

The images are made: each mixes the local features of three crops of photographs in the scikit-image wheel, 2,700 in all, so that
words and bins are as unevenly filled as those of photographs. Each crop is put at a place of its own in each image; without that
the bins of 3,030 images would be those of the crops, a third as many as photographs fill. (Of 1,000 images of Caltech-101,
the bins of `dense_pmk` fill 259,000 columns, 93,000 of them once; here 253,000 and 68,000.)
"""

from __future__ import annotations

import time

import numpy as np
from skimage import data

from fewsight._base.encodings import SparseRows
from fewsight._base.types import LocalFeatures
from fewsight.channels import DensePmk, SpatialPmk, VocabularyPmk
from fewsight.channels.base import Channel
from fewsight.features import DenseSift

from timing import arguments, record, side_by_side, write

N_FEATURES = 2_700
SHIFT = 0.15  # of the image's width and height, at most, either way


def crops(n: int, side: int, rng: np.random.Generator) -> list[LocalFeatures]:
    """Local features of random crops."""
    photographs = [data.astronaut(), data.coffee(), data.chelsea(), data.rocket(), data.immunohistochemistry()]
    sift, found = DenseSift(scales=(1.0, 1.5, 2.0)), []
    for number in range(n):
        photograph = photographs[number % len(photographs)]
        top, left = (int(rng.integers(0, length - side + 1)) for length in photograph.shape[:2])
        found.append(sift.describe(photograph[top : top + side, left : left + side].astype(np.float32) / 255))
    return found


def mixture(parts: list[LocalFeatures], rng: np.random.Generator) -> LocalFeatures:
    """An image of features drawn from three crops, each moved a little."""
    chosen = [parts[number] for number in rng.choice(len(parts), 3, replace=False)]
    drawn = [shifted(part, rng.choice(len(part), N_FEATURES // 3), rng) for part in chosen]
    descriptors, locations = zip(*drawn, strict=True)
    return LocalFeatures(np.concatenate(descriptors), np.concatenate(locations))


def shifted(part: LocalFeatures, rows: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Descriptors and locations of some features of a crop, all moved by one random step."""
    locations = part.locations[rows] + rng.uniform(-SHIFT, SHIFT, 2)
    return part.descriptors[rows], np.clip(locations, 0, 1).astype(np.float32)


def encoded(channel: Channel, images: list[LocalFeatures], n_training: int) -> SparseRows:
    """Rows of a channel that learned from the first few images, without files and without a cache."""
    rng = np.random.default_rng(0)
    channel._set_learned(channel._learn([channel._sample(image, n_training, rng) for image in images[:n_training]]))
    return SparseRows.stack([channel._encode(image) for image in images], channel.n_columns)


def main() -> None:
    options = arguments(__doc__).parse_args()
    n = 600 if options.quick else 3_030
    rng = np.random.default_rng(0)
    parts = crops(40 if options.quick else 150, 290, rng)
    images = [mixture(parts, rng) for _ in range(n)]
    start = time.perf_counter()
    spatial = SpatialPmk(n_descriptors=20_000)
    theirs = encoded(spatial, images, n // 2).matrix
    print(f"spatial_pmk encodings made in {time.perf_counter() - start:.0f} s, {theirs.nnz / n:.0f} non-zeros a row")
    records = []
    for channel in (DensePmk(n_descriptors=20_000), VocabularyPmk(n_descriptors=20_000)):
        ours = encoded(channel, images, n // 2).matrix
        channel.gram(ours[:50])  # compiles
        spatial.gram(theirs[:50])
        seconds = side_by_side(
            lambda channel=channel, ours=ours: channel.gram(ours),
            lambda: spatial.gram(theirs),
            3 if options.quick else 2,
        )
        name = f"Gram matrix of {n} {channel.name} rows, {ours.nnz / n:.0f} non-zeros a row"
        records.append(record(name, *seconds, f"that of spatial_pmk, {theirs.nnz / n:.0f} non-zeros a row"))
    write(records, options.json)


if __name__ == "__main__":
    main()
