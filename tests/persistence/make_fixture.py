"""Makes the model file that later versions must open: `python tests/persistence/make_fixture.py`, once per file version.

The file and what it answers are kept in `fixtures/`; they are made anew only together with a new version of the format.
"""

from __future__ import annotations

import json
from pathlib import Path

from fewsight.channels import SpatialPmk
from fewsight.images import ImageSet, draw_split, sample_set
from fewsight.learners import GPClassifier
from fewsight.persistence import VERSION, save

FOLDER = Path(__file__).parent / "fixtures"
CATEGORIES = ("brick", "grass", "gravel", "tissue")


def main() -> None:
    """Learn four categories from five tiles each, and ask about five others of each."""
    samples = sample_set()
    samples = samples.select([i for i, label in enumerate(samples.labels) if label in CATEGORIES])
    split = draw_split(samples.labels, per_class=5, test_per_class=5, seed=0)
    train, test = samples.select(split.train), samples.select(split.test)
    channel = SpatialPmk(n_words=30, n_levels=2, n_descriptors=3000)
    model = GPClassifier(channel).fit(train.images, train.labels)
    model.borrow("gravel", "tissue", 0.5)  # version 2 has loans
    save(model, FOLDER / f"model_v{VERSION}.fewsight")
    (FOLDER / f"model_v{VERSION}.json").write_text(json.dumps(_answers(model, test), indent=1) + "\n")


def _answers(model: GPClassifier, test: ImageSet) -> dict[str, object]:
    probabilities = model.predict_proba(test.images).tolist()
    return {
        "classes": model.classes_.tolist(),
        "leave_one_out_mean": model.leave_one_out().mean.tolist(),
        "probabilities": {image.name: row for image, row in zip(test.images, probabilities, strict=True)},
    }


if __name__ == "__main__":
    main()
