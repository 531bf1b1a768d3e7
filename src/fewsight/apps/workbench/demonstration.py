"""The whole way on the embedded images: learning curves, a report, a model file, and predictions from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fewsight.active import ImagePool
from fewsight.apps.workbench.channel_options import make_channels
from fewsight.apps.workbench.evaluating import evaluate_images, write_results
from fewsight.apps.workbench.image_sources import Workplace
from fewsight.apps.workbench.learning import Learned, learn
from fewsight.apps.workbench.output_paths import check_outputs, checked_files, make_output_folder
from fewsight.apps.workbench.predicting import Predictions, file_of
from fewsight.apps.workbench.prediction_table import write_table
from fewsight.apps.workbench.result_kinds import MODEL, PREDICTIONS, REPORT, RESULTS
from fewsight.apps.workbench.sample_photos import CHANNELS
from fewsight.evaluation import ActiveCurves, Evaluation, Protocol, compare_asking
from fewsight.images import ImageSet, draw_split, sample_set
from fewsight.learners import GPClassifier
from fewsight.persistence import load_learner, save

PROTOCOL = Protocol(per_class=(1, 3, 5, 10), test_per_class=15, repeats=3, seed=0)
EXAMPLES_TO_LEARN = 10  # per category
STARTS = 10  # of asking for labels, each from other first examples
NOTE = (
    "The images are tiles of photographs that come with scikit-image, one photograph per category and no pixel in two tiles: "
    "a test of telling materials apart by their colours and textures."
)


@dataclass(frozen=True)
class Demonstration:
    """What the demo found, and where it put it."""

    evaluation: Evaluation
    asking: ActiveCurves
    learned: Learned
    n_predicted: int
    n_right: int
    report_file: Path
    json_file: Path
    model_file: Path
    predictions_file: Path


@checked_files(fills=("output",))
def demo(output: str | Path, *, workplace: Workplace | None = None) -> Demonstration:
    """Evaluate, ask, learn and predict on the embedded images, with all results in one folder."""
    folder, workplace = make_output_folder(output), workplace or Workplace()
    report, results = folder / "report.html", folder / "results.json"
    model, table = folder / "model.fewsight", folder / "predictions.csv"
    check_outputs({REPORT: report, RESULTS: results, MODEL: model, PREDICTIONS: table}, [])
    images = sample_set()
    evaluation = evaluate_images(images, PROTOCOL, channels=CHANNELS, workplace=workplace)
    asking = _ask(images, workplace)
    write_results(
        evaluation,
        images,
        json_file=results,
        report_file=report,
        command="fewsight demo",
        note=NOTE,
        asking=asking,
    )
    split = draw_split(
        images.labels, images_per_class=None, per_class=EXAMPLES_TO_LEARN, test_per_class=None, seed=PROTOCOL.seed
    )
    learned = _learn(images.select(split.train), model, workplace)
    n_right, n_predicted = _predict(images.select(split.test), model, table, workplace)
    return Demonstration(evaluation, asking, learned, n_predicted, n_right, report, results, model, table)


def _ask(images: ImageSet, workplace: Workplace) -> ActiveCurves:
    """Labels that are asked for against labels picked at random; the test images are those of the first repeat."""
    split = draw_split(
        images.labels,
        per_class=max(PROTOCOL.per_class),
        test_per_class=PROTOCOL.test_per_class,
        seed=PROTOCOL.seed,
    )
    others = np.setdiff1d(np.arange(len(images)), split.test)
    with workplace.cache() as cache:
        channels = make_channels(CHANNELS, {}, seed=PROTOCOL.seed, jobs=workplace.jobs, cache=cache)
        pool = ImagePool(images.images, channels, learn_from=others)
    return compare_asking(
        GPClassifier(pool.channels),
        pool,
        images.labels,
        split.test.tolist(),
        n_queries=(EXAMPLES_TO_LEARN - 1) * len(images.classes),
        seeds=range(PROTOCOL.seed, PROTOCOL.seed + STARTS),
    )


def _learn(images: ImageSet, model_file: Path, workplace: Workplace) -> Learned:
    with workplace.cache() as cache:
        channels = make_channels(CHANNELS, {}, seed=PROTOCOL.seed, jobs=workplace.jobs, cache=cache)
        learned = learn(images, channels)
    save(learned.model, model_file)
    return learned


def _predict(images: ImageSet, model_file: Path, table: Path, workplace: Workplace) -> tuple[int, int]:
    """Ask the model file, as another machine would; how many answers are right, of how many."""
    rows = list(Predictions(load_learner(model_file), images.images, workplace))
    write_table(table, rows)
    truth = {file_of(image): label for image, label in zip(images.images, images.labels, strict=True)}
    return sum(truth[row.file] == row.category for row in rows), len(rows)
