"""Makes the model file that later versions must open: `python tests/persistence/make_fixture.py`, once per file version.

The file and what it answers are kept in `fixtures/`; they are made anew only together with a new version of the format, and hold
what is new in it. Version 1 was a model of images, version 2 the same with a loan; version 3 had several kernels of rows;
version 4 is a learner of histograms whose variance nobody asked for; in version 5 prototypes decide.
"""

from __future__ import annotations

import json
from pathlib import Path

from sklearn.datasets import make_blobs

from fewsight.kernels import RBF
from fewsight.learners import GPClassifier
from fewsight.persistence import VERSION, save

FOLDER = Path(__file__).parent / "fixtures"


def main() -> None:
    """Learn four categories from ten rows each, and ask about ten others."""
    rows, labels = make_blobs(50, 3, centers=4, cluster_std=2.0, random_state=0)
    model = GPClassifier(RBF(scale=4.0), noise_variance=0.1)
    model.fit(rows[:40], [f"category {label}" for label in labels[:40]])
    save(model, FOLDER / f"model_v{VERSION}.fewsight")
    answers = {
        "classes": model.classes_.tolist(),
        "rows": rows[40:].tolist(),
        "probabilities": model.predict_proba(rows[40:]).tolist(),
        "leave_one_out_mean": model.leave_one_out().mean.tolist(),
    }
    (FOLDER / f"model_v{VERSION}.json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
