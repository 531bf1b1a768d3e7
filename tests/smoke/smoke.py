"""The whole way with whatever is installed: learn, predict, evaluate and ask, on the sample images. `python smoke.py FOLDER`.

`python smoke.py FOLDER --base` leaves out what needs optional dependencies.

Uses no test tools, so that it runs where only fewsight is installed. Anything that goes wrong ends it with an exit code.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

SMALL = ("--set", "spatial_pmk.n_words=50", "--set", "spatial_pmk.n_descriptors=5000", "--no-cache")
CATEGORIES = ("brick", "coins", "grass", "tissue")
TILES = 10


def main(folder: Path, base: bool) -> None:
    photos = folder / "photos"
    write_photos(photos)
    steps = (help_, learn_and_predict, evaluate, several_channels, ask, project, stored_files)
    for step in steps if base else (*steps, extras):
        step(photos)
        print(f"smoke: {step.__name__.rstrip('_')} works", flush=True)


def fewsight(*arguments: str | Path) -> str:
    """Run the command line; what it prints."""
    command = [sys.executable, "-m", "fewsight.apps.cli", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or "Traceback" in done.stderr:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def write_photos(photos: Path) -> None:
    import numpy as np
    from PIL import Image

    from fewsight.images import sample_set

    samples = sample_set()
    for category in CATEGORIES:
        (photos / category).mkdir(parents=True)
        chosen = [image for image, label in zip(samples.images, samples.labels, strict=True) if label == category]
        for number, image in enumerate(chosen[:TILES]):
            Image.fromarray(np.rint(image.pixels() * 255).astype(np.uint8)).save(photos / category / f"{number}.png")


def help_(photos: Path) -> None:
    for verb in ((), ("learn",), ("predict",), ("evaluate",), ("channels",)):
        assert "Usage" in fewsight(*verb, "--help")
    refused = subprocess.run([sys.executable, "-m", "fewsight.apps.cli", "learn"], capture_output=True, text=True)
    assert refused.returncode == 2, refused
    assert "Traceback" not in refused.stderr, refused.stderr


def learn_and_predict(photos: Path) -> None:
    for learner in ("gp", "histogram_gp"):
        model, table = photos.parent / f"{learner}.fewsight", photos.parent / f"{learner}.csv"
        fewsight("learn", photos, "-o", model, "--learner", learner, "--channels", "spatial_pmk", *SMALL)
        fewsight("predict", model, photos, "-o", table, "--no-cache")
        with table.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        assert len(rows) == TILES * len(CATEGORIES), len(rows)
        right = sum(Path(row["file"]).parent.name == row["category"] for row in rows)
        assert right > 0.9 * len(rows), f"only {right} of {len(rows)} training images are recognised"


def evaluate(photos: Path) -> None:
    results, report = photos.parent / "results.json", photos.parent / "report.html"
    files = ("--json", results, "--report", report)
    fewsight("evaluate", photos, "--per-class", "3", "--repeats", "1", "--channels", "spatial_pmk", *SMALL, *files)
    accuracies = [
        record["mean"] for record in json.loads(results.read_text())["records"] if record["metric"] == "accuracy"
    ]
    assert accuracies
    assert all(accuracy > 0.5 for accuracy in accuracies), accuracies
    assert "<svg" in report.read_text(encoding="utf-8")


def several_channels(photos: Path) -> None:
    model = photos.parent / "several.fewsight"
    names = "phog,texture,colour,opponent_sift,dense_pmk,vocabulary_pmk,harris_pmk"
    fewsight("learn", photos, "-o", model, "--channels", names, "--no-cache")
    fewsight("predict", model, photos / "brick", "--no-cache")


def ask(photos: Path) -> None:
    from fewsight.active import ActiveLearner, ImagePool
    from fewsight.channels import SpatialPmk
    from fewsight.images import image_set_from_class_folders
    from fewsight.learners import GPClassifier

    images = image_set_from_class_folders(photos)
    pool = ImagePool(images.images, [SpatialPmk(n_words=50, n_descriptors=5000)])
    active = ActiveLearner(GPClassifier(pool.channels)).fit(pool)
    for _ in range(12):
        asked = active.query().indices
        active.teach(asked, [images.labels[position] for position in asked])
    assert len(active.learner_.classes_) > 1
    assert len(active.predict()) == len(images)


def project(photos: Path) -> None:
    """Labels in and out of a project file, sorting, and taking back."""
    labels, kept = photos.parent / "labels.csv", ("--project", photos.parent / "project.sqlite")
    fewsight("import", photos, photos, *kept)
    assert f"{TILES * len(CATEGORIES)} labelled" in fewsight("status", photos, *kept)
    fewsight("export", photos, "-o", labels, *kept)
    with labels.open(newline="", encoding="utf-8") as stream:
        assert sorted({row["category"] for row in csv.DictReader(stream)}) == sorted(CATEGORIES)
    fewsight("sort", photos, photos.parent / "sorted", "--yes", *kept)
    assert len(list((photos.parent / "sorted" / "brick").iterdir())) == TILES
    fewsight("undo", photos, *kept)
    assert "import" in fewsight("history", photos, *kept)


def stored_files(photos: Path) -> None:
    """Model files and a project file of earlier versions, which lie beside the tests, open."""
    from fewsight import load

    tests = Path(__file__).resolve().parents[1]
    kept = sorted((tests / "persistence" / "fixtures").glob("*.fewsight"))
    assert kept
    for path in kept:
        expected = json.loads(path.with_suffix(".json").read_text())["classes"]
        assert load(path).classes_.tolist() == expected, path
    projects = sorted((tests / "apps" / "workbench" / "project" / "versions").glob("*.sqlite"))
    assert projects
    for number, path in enumerate(projects):
        folder = photos.parent / f"project-{number}"
        folder.mkdir()
        shutil.copy(path, folder / "fewsight.sqlite")
        assert json.loads(fewsight("status", folder, "--json")), path


def extras(photos: Path) -> None:
    """What optional dependencies are for: a network, a table in a column format, word meanings, a cluster."""
    fewsight("learn", photos, "-o", photos.parent / "network.fewsight", "--channels", "pretrained", "--no-cache")
    fewsight("predict", photos.parent / "network.fewsight", photos / "brick", "--no-cache")
    parquet(photos)
    fewsight("learn", photos, "-o", photos.parent / "loans.fewsight", "--channels", "spatial_pmk", "--borrow", *SMALL)
    cluster()


def parquet(photos: Path) -> None:
    import numpy as np
    import pyarrow
    import pyarrow.parquet

    rng = np.random.default_rng(0)
    files = [str(path.relative_to(photos)) for path in sorted(photos.glob("*/*.png"))]
    columns = {f"x{number}": rng.normal(size=len(files)) for number in range(3)}
    pyarrow.parquet.write_table(pyarrow.table({"file": files, **columns}), photos.parent / "vectors.parquet")
    table = ("--channels", "vectors", "--set", f"vectors.table={photos.parent / 'vectors.parquet'}")
    fewsight("learn", photos, "-o", photos.parent / "vectors.fewsight", *table, "--no-cache")


def cluster() -> None:
    import numpy as np
    from distributed import Client, LocalCluster

    from fewsight.kernels import DistributedHistogramOperator, HistogramOperator

    rows = np.abs(np.random.default_rng(0).normal(size=(20, 6)))
    settings = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with LocalCluster(**settings) as local, Client(local) as client:
        shared = DistributedHistogramOperator.from_rows(client, rows)
        np.testing.assert_allclose(shared @ np.eye(20), HistogramOperator.from_rows(rows) @ np.eye(20), atol=1e-9)


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--base" in sys.argv[2:])
