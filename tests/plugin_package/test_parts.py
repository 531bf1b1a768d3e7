"""Parts of another package, with no change in fewsight: listed, checked, evaluated, asked with, stored and opened again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from fewsight import (
    CHANNELS,
    KERNEL_FAMILIES,
    KERNELS,
    LEARNERS,
    QUERY_RULES,
    ActiveLearner,
    GPClassifier,
    ModelFileError,
    load,
    make_channel,
    save,
)
from fewsight.testing import check_channel, check_family, check_kernel, check_learner, check_rule

X, Y = make_blobs(60, 4, centers=3, cluster_std=1.5, random_state=3)


@pytest.mark.usefixtures("installed")
class TestInstalled:
    """As somebody who has installed the package meets it."""

    def test_every_part_is_listed(self) -> None:
        assert {"laplace", "mean_of_gaussians"} <= set(KERNELS)
        assert {"block_sets", "centred_colour"} <= set(CHANNELS)
        assert "laplace_scales" in list(KERNEL_FAMILIES)
        assert "parzen" in list(LEARNERS)
        assert "entropy" in list(QUERY_RULES)

    def test_the_kernel_keeps_the_contract(self) -> None:
        check_kernel(KERNELS["laplace"](0.7))

    def test_the_kernel_of_sets_keeps_the_contract(self) -> None:
        check_kernel(KERNELS["mean_of_gaussians"](0.4))

    @pytest.mark.parametrize("name", ["block_sets", "centred_colour"])
    def test_the_channels_keep_the_contract(self, name: str) -> None:
        check_channel(make_channel(name))

    def test_the_family_keeps_the_contract(self) -> None:
        check_family(KERNEL_FAMILIES["laplace_scales"]())

    def test_the_rule_keeps_the_contract(self) -> None:
        check_rule(QUERY_RULES["entropy"]())

    def test_the_learner_keeps_the_contract(self) -> None:
        check_learner(LEARNERS["parzen"]())

    def test_all_of_them_work_together_and_are_stored(self, tmp_path: Path) -> None:
        family, rng = KERNEL_FAMILIES["laplace_scales"](), np.random.default_rng(0)
        kernels = [family.make(family.propose(X, rng)) for _ in range(3)]
        for learner in (GPClassifier(kernels, weights="evidence"), LEARNERS["parzen"](kernels)):
            asking = ActiveLearner(learner, rule="entropy").fit(X, [*Y[:9].tolist(), *[None] * 51])
            for _ in range(5):
                (place,) = asking.query().indices.tolist()
                asking.teach(place, int(Y[place]))
            save(asking.learner_, tmp_path / "model")
            again = load(tmp_path / "model")
            assert again.kernel == kernels
            np.testing.assert_array_equal(again.predict(X), asking.learner_.predict(X))

    def test_a_file_is_opened_where_the_package_is_installed_and_nowhere_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        save(GPClassifier(KERNELS["laplace"](2.0)).fit(X, Y), tmp_path / "kernel")
        save(LEARNERS["parzen"]().fit(X, Y), tmp_path / "learner")
        for registry in (KERNELS, LEARNERS):
            monkeypatch.setattr(registry, "_others", {})
            monkeypatch.setattr(registry, "_waiting", {})
        with pytest.raises(ModelFileError, match="kernel: the kernel 'laplace' is not known here; if it comes from"):
            load(tmp_path / "kernel")
        with pytest.raises(ModelFileError, match=r"learner: holds a model of a kind .* \('parzen_classifier'\)"):
            load(tmp_path / "learner")


def test_nothing_of_it_is_known_where_it_is_not_installed() -> None:
    known = [*CHANNELS, *KERNELS, *LEARNERS, *QUERY_RULES, *KERNEL_FAMILIES]
    assert not {"laplace", "mean_of_gaussians", "block_sets", "laplace_scales", "parzen", "entropy"} & set(known)


def fewsight(paths: list[str], *arguments: str | Path) -> str:
    """What the command says in a process in which the package is installed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, *sys.path])}
    command = [sys.executable, "-m", "fewsight.apps.cli", *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_command_line_evaluates_and_learns_with_the_learner(paths: list[str], photos: Path, tmp_path: Path) -> None:
    small = ("--set", "spatial_pmk.n_words=20", "--set", "spatial_pmk.n_descriptors=2000")
    sizes = ("--images-per-class", "6", "--per-class", "3", "--repeats", "1")
    fewsight(paths, "evaluate", photos, *sizes, "--learners", "gp,parzen", "--json", tmp_path / "out.json", *small)
    records = json.loads((tmp_path / "out.json").read_text())["records"]
    assert {record["learner"] for record in records} == {"gp", "parzen"}
    fewsight(paths, "learn", photos, "--learner", "parzen", "-o", tmp_path / "model", *small)
    fewsight(paths, "predict", tmp_path / "model", photos, "-o", tmp_path / "out.csv")
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 25


@pytest.mark.slow
def test_the_command_line_lists_evaluates_and_learns_with_the_channels(
    paths: list[str], photos: Path, tmp_path: Path
) -> None:
    listed = fewsight(paths, "channels")
    assert "block_sets: Sets of coloured blocks, compared pair by pair." in listed
    assert "--set block_sets.side=4" in listed
    channels = ("--channels", "block_sets,centred_colour", "--combine", "average")
    sizes = (
        "--images-per-class",
        "6",
        "--per-class",
        "2",
        "--test-per-class",
        "3",
        "--repeats",
        "1",
        "--unlabelled",
        "2",
    )
    fewsight(paths, "evaluate", photos, *channels, *sizes, "--json", tmp_path / "out.json")
    records = json.loads((tmp_path / "out.json").read_text())["records"]
    assert "block_sets+centred_colour" in {record["channels"] for record in records}
    fewsight(paths, "learn", photos, *channels, "-o", tmp_path / "model")
    fewsight(paths, "predict", tmp_path / "model", photos, "-o", tmp_path / "out.csv")
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 25
