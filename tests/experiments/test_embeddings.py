"""The experiments on embeddings run on a part of the data, and go on where they were."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="needs the extra fewsight[pretrained]")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
SIX = ["anchor", "ant", "barrel", "bonsai", "brain", "butterfly"]


@pytest.fixture(scope="module")
def six(caltech101, tmp_path_factory):
    """A folder of links to six categories."""
    folder = tmp_path_factory.mktemp("six")
    for name in SIX:
        (folder / name).symlink_to(caltech101 / name)
    return folder


def run(name, six, tmp_path, *options):
    command = [sys.executable, "-m", f"experiments.embeddings.{name}", six, "--work", tmp_path, "--seeds", 0]
    out = tmp_path / f"{name}.json"
    subprocess.run([*map(str, [*command, *options, "--json", out])], cwd=ROOT, check=True, timeout=300)
    return json.loads(out.read_text())


def mean(found, **wanted):
    return next(row["mean"] for row in found["records"] if all(row[key] == value for key, value in wanted.items()))


def test_accuracy(six, tmp_path):
    found = run("accuracy", six, tmp_path, "--sizes", "1,5")
    assert mean(found, learner="gp", per_class=5, metric="accuracy") > 0.9
    assert {row["learner"] for row in found["records"]} == {"gp", "logistic", "nn", "mean", "svm"}
    assert str(tmp_path) not in json.dumps(found["protocol"])


def test_unknown(six, tmp_path):
    found = run("unknown", six, tmp_path, "--known", 4, "--unknown", 2)
    assert mean(found, learner="gp", rule="auto", metric="unknown_auroc") > 0.8


def test_label_efficiency(six, tmp_path):
    found = run("label_efficiency", six, tmp_path, "--categories", 4, "--labels", 24, "--every", 10)
    assert found["reached"]["labels"] == 24
    assert mean(found, learner="gp", rule="uncertainty", labels=24, metric="accuracy") > 0.9
