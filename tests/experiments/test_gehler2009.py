"""A small version of each experiment runs, is taken up where it was, and finds what the whole finds."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from experiments.gehler2009.chessboard import APART, board

ROOT = Path(__file__).parents[2]


def test_the_board_has_blobs_of_two_classes_by_turns():
    X, y = board(3_000, np.random.default_rng(0))
    assert X.shape == (3_000, 20)
    places = np.round(X[:, :2] / APART).astype(int)
    assert set(np.unique(places)) <= {-1, 0, 1, 2, 3, 4}
    assert np.mean(places.sum(axis=1) % 2 == y) > 0.999
    assert abs(np.corrcoef(X[:, 5], y)[0, 1]) < 0.06


@pytest.mark.slow
def test_the_chessboard_is_learned_from_one_draw(tmp_path):
    command = [sys.executable, "-m", "experiments.gehler2009.chessboard", "--work", tmp_path, "--seeds", "100"]
    files = ["--json", tmp_path / "r.json", "--figure", tmp_path / "f.png", "--starts", "3", "--grid", "5"]
    subprocess.run([*command, *files], cwd=ROOT, check=True, capture_output=True)
    found = {row["metric"]: row["mean"] for row in json.loads((tmp_path / "r.json").read_text())["records"]}
    assert found["accuracy"] > 0.99 > 0.7 > found["accuracy_gaussian"]
    assert found["weight_of_first"] > 0.9
    assert 1.8 < found["theta_ratio"] < 2.2
    assert found["noise_share"] < 0.01
    assert found["excess"] <= 1e-3
    assert (tmp_path / "f.png").stat().st_size > 1_000
