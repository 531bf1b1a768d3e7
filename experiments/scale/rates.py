"""What one image costs on the way into a sparse GP, and from that a plan for more images than one machine can take.

Processor milliseconds of one thread for an image of Caltech-101 through `pretrained` and `spatial_pmk`: opening it in small,
describing, encoding, comparing with 2,000 inducing points and counting; and the bytes that travel. Nothing is in a cache. The
inducing points are forty images, many times over, each a little changed: what a comparison costs does not depend on that.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.command import images_of
from experiments.scale.result_file import checked, parser, write
from fewsight.channels import make_channel
from fewsight.gp import FeatureSums, InducingPoints
from fewsight.images.looks import look_of

CHANNELS = ("pretrained", "spatial_pmk")
POINTS, FITTED_ON = 2_000, 40


def milliseconds(work: Callable[[], Any], n: int) -> float:
    """Processor time for each of n images."""
    start = time.process_time()
    work()
    return 1e3 * (time.process_time() - start) / n


def measured(data: Path, n: int, seed: int) -> dict[str, Any]:
    """Each step of all images in turn."""
    images, rng = images_of(data), np.random.default_rng(seed)
    chosen = [images.images[place] for place in rng.permutation(len(images))[: n + FITTED_ON]]
    some, points = chosen[:n], chosen[n:]
    found: dict[str, Any] = {"opening": milliseconds(lambda: [look_of(image) for image in some], n)}
    sample = rng.integers(0, FITTED_ON, POINTS)
    blocks = []
    for name in CHANNELS:
        channel = make_channel(name, n_jobs=1).fit(points)  # also loads and compiles what is timed
        known = channel.encode(points).take(sample)
        features = []
        found[f"{name}: describing"] = milliseconds(lambda: features.extend(channel.local_features(some)), n)  # noqa: B023
        found[f"{name}: encoding"] = milliseconds(lambda: [channel._encode(each) for each in features], n)  # noqa: B023
        rows = channel.encodings.stack([channel._encode(each) for each in features], channel.n_columns)
        channel.gram(rows, known)
        found[f"{name}: comparing"] = milliseconds(lambda: blocks.append(channel.gram(rows, known)), n)  # noqa: B023
    made = rng.normal(size=(POINTS, POINTS))
    inducing, sums = InducingPoints.of(made @ made.T / POINTS + np.eye(POINTS)), FeatureSums.empty(POINTS, 101)
    K = rng.normal(size=(1_024, POINTS))
    classes = rng.integers(0, 101, len(K))
    found["counting"] = milliseconds(lambda: sums.add(inducing.features(K), classes), len(K))
    return {
        "milliseconds": found,
        "all_milliseconds": sum(found.values()),
        "bytes_of_sums": 8 * POINTS * (POINTS + 102),
    }


def main() -> None:
    made = parser(__doc__ or "", "rates.json")
    made.add_argument("data", type=Path)
    made.add_argument("--images", type=int, default=100)
    made.add_argument("--seed", type=int, default=0)
    options = checked(made.parse_args())
    record = measured(options.data, options.images, options.seed)
    print(record)
    write(options.json, {"images": options.images, "seed": options.seed, "points": POINTS}, [record])


if __name__ == "__main__":
    main()
