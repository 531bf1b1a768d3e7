"""`--cluster`: workers look at the images, and the answers are those of one machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from fewsight.learners import SparseGPClassifier

SMALL = (
    "--channels",
    "spatial_pmk,colour",
    "--set",
    "spatial_pmk.n_words=20",
    "--set",
    "spatial_pmk.n_descriptors=500",
)
Run = Callable[..., Result]
Refused = Callable[..., str]


def test_a_cluster_shares_the_work_of_one_learner(refused: Refused, photos: Path, tmp_path: Path) -> None:
    said = refused("learn", photos, "-o", tmp_path / "m", "--learner", "gp", "--cluster", "tcp://localhost:1", *SMALL)
    assert said == "learn: a cluster shares the work of sparse_gp, which takes any channels, got gp."
    said = refused("learn", photos, "-o", tmp_path / "m", "--borrow", "--cluster", "tcp://localhost:1", *SMALL)
    assert said.startswith("learn: sparse_gp, which learns on a cluster, cannot be used: ")


def test_an_address_that_is_none_is_one_sentence(refused: Refused, photos: Path, tmp_path: Path) -> None:
    said = refused("learn", photos, "-o", tmp_path / "m", "--cluster", "no:such:thing", *SMALL)
    assert said.startswith("learn: cluster must be a client or the address of a scheduler, got 'no:such:thing': ")


@pytest.mark.slow
def test_learn_and_predict_on_a_cluster_say_what_one_machine_says(
    run: Run, photos: Path, tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparseGPClassifier, "__init__", partialmethod(SparseGPClassifier.__init__, n_inducing=9))
    monkeypatch.chdir(photos.parent)  # the workers have another folder
    folder, address = photos.name, cluster.scheduler.address
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"no image")
    for name, more in (("here", ()), ("far", ("--cluster", address))):
        learned = run("learn", folder, "-o", tmp_path / name, "--learner", "sparse_gp", *more, *SMALL)
        assert learned.exit_code == 0, learned.stderr
        table = tmp_path / f"{name}.csv"
        asked = run("predict", tmp_path / name, folder, broken, "-o", table, *more)
        assert asked.exit_code == 0, asked.stderr
        assert "broken.jpg" in asked.stderr
    here, far = ((tmp_path / f"{name}.csv").read_text().splitlines() for name in ("here", "far"))
    assert len(far) == 1 + sum(len(files) for _, _, files in os.walk(photos))
    assert [line.split(",")[:2] for line in far] == [line.split(",")[:2] for line in here]
    for mine, theirs in zip(here[1:], far[1:], strict=True):
        assert float(mine.split(",")[2]) == pytest.approx(float(theirs.split(",")[2]), abs=1e-6)
