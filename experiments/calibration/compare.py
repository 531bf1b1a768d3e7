"""Do the probabilities mean what they say? Calibrated against uncalibrated, with 1, 3, 5 and 15 examples per category.

The protocol is that of [Kapoor2010, section 8]: 30 images of each category of Caltech-101, n of them to learn from, 15 others to
test on. Both classifiers see the same Gram matrices; nothing but training images decides the calibration.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from fewsight.channels import make_channel
from fewsight.evaluation import Protocol, evaluate
from fewsight.images import FeatureCache, image_set_from_class_folders
from fewsight.learners import GPClassifier


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of Caltech-101's category folders")
    parser.add_argument("--channel", default="spatial_pmk")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--per-class", default="1,3,5,15")
    parser.add_argument("--json", type=Path, required=True)
    options = parser.parse_args()
    sizes = tuple(int(size) for size in options.per_class.split(","))
    found = evaluate(
        image_set_from_class_folders(options.data, exclude=("BACKGROUND_Google",)),
        Protocol(30, sizes, 15, options.repeats, options.seed),
        {options.channel: make_channel(options.channel, n_jobs=-1, cache=FeatureCache())},
        {
            "gp": GPClassifier("precomputed", prototypes=False),
            "gp_uncalibrated": GPClassifier("precomputed", calibrated=False),
        },
    )
    found.write_json(options.json, command="python -m experiments.calibration.compare " + shlex.join(sys.argv[1:]))
    for row in found.records():
        if row["metric"] in {"accuracy", "log_loss", "calibration_error"}:
            print(
                f"{row['per_class']:3} {row['learner']:16} {row['metric']:18} {row['mean']:.4f} +- {row['std'] or 0:.4f}"
            )


if __name__ == "__main__":
    main()
