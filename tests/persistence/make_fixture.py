"""Makes the model file that later versions must open: `python tests/persistence/make_fixture.py`, once per file version.

The file and what it answers are kept in `fixtures/`; they are made anew only together with a new version of the format, and hold
what is new in it. Version 1 was a model of images, version 2 the same with a loan; version 3 has several kernels of rows.
"""

from __future__ import annotations

import json
from pathlib import Path

from sklearn.datasets import make_blobs

from fewsight.kernels import RBF, Linear
from fewsight.learners import GPClassifier
from fewsight.persistence import VERSION, save

FOLDER = Path(__file__).parent / "fixtures"


def main() -> None:
    """Learn four categories from ten rows each, and ask about ten others."""
    rows, labels = make_blobs(50, 3, centers=4, cluster_std=2.0, random_state=0)
    model = GPClassifier([RBF(1.0), RBF(scale=(2.0, 1.0, 3.0)), Linear()], weights="evidence")
    model.fit(rows[:40], [f"category {label}" for label in labels[:40]])
    save(model, FOLDER / f"model_v{VERSION}.fewsight")
    answers = {
        "classes": model.classes_.tolist(),
        "leave_one_out_mean": model.leave_one_out().mean.tolist(),
        "rows": rows[40:].tolist(),
        "probabilities": model.predict_proba(rows[40:]).tolist(),
    }
    (FOLDER / f"model_v{VERSION}.json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
