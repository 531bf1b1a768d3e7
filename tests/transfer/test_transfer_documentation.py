"""The Python of docs/transfer.md runs."""

import re
from pathlib import Path

import numpy as np

from fewsight.kernels import RBF

TEXT = (Path(__file__).parents[2] / "docs/transfer.md").read_text()


def test_the_examples_run(capsys):
    in_a_categoriser, against_a_background = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    rng = np.random.default_rng(0)
    centres = {"other": (0, 0), "chair": (4, 0), "llama": (0, 4), "gerenuk": (2, 5), "cup": (-4, 0)}
    labels = np.repeat(list(centres), [20, 12, 12, 1, 12])
    spread = np.where(labels == "other", 1.5, 0.5)[:, None]  # a background is everywhere
    X = rng.normal(size=(len(labels), 2)) * spread + np.array([centres[name] for name in labels])
    exec(in_a_categoriser, {"kernel": RBF(scale=2.5), "X": X, "labels": labels})
    assert "learned gerenuk from 1 image, borrowing from llama" in capsys.readouterr().out
    K = RBF(scale=1.5).gram(X)
    names = {"K": K, "K_test": K[:3], "labels": labels}
    exec(against_a_background, names)
    assert names["learner"].support_[0] == "llama"
