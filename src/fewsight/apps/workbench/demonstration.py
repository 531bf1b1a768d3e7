"""The whole way on the embedded images: learning curves, a report, a model file, predictions from it, and four short lessons.

The lessons are which cue decides, a category that was never shown, a wrong label, and a category from one image. Categories and
images are drawn by the seed; what comes out is said, whatever it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fewsight.active import ImagePool
from fewsight.apps.workbench.borrowing import borrow
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
    lessons: tuple[str, ...]  # a sentence each
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
    split = draw_split(
        images.labels, images_per_class=None, per_class=EXAMPLES_TO_LEARN, test_per_class=None, seed=PROTOCOL.seed
    )
    train, test = images.select(split.train), images.select(split.test)
    learned = _learn(train, workplace)
    save(learned.model, model)
    lessons = (which_cue(learned), *_surprises(train, test, workplace), _one_image(train, test, workplace))
    write_results(
        evaluation,
        images,
        json_file=results,
        report_file=report,
        command="fewsight demo",
        note=" ".join((NOTE, *lessons)),
        asking=asking,
    )
    n_right, n_predicted = _predict(test, model, table, workplace)
    return Demonstration(evaluation, asking, learned, lessons, n_predicted, n_right, report, results, model, table)


def which_cue(learned: Learned) -> str:
    """How much each channel counts."""
    return f"Which cue decides: {', '.join(f'{name} counts {share:.0%}' for name, share in learned.shares.items())}."


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


def _learn(images: ImageSet, workplace: Workplace) -> Learned:
    with workplace.cache() as cache:
        channels = make_channels(CHANNELS, {}, seed=PROTOCOL.seed, jobs=workplace.jobs, cache=cache)
        return learn(images, channels)


def _surprises(train: ImageSet, test: ImageSet, workplace: Workplace) -> tuple[str, str]:
    """What is said about a category that was never shown, and about one label that is wrong."""
    stranger, other = _drawn(train, 0)
    shown = train.select(train.labels != stranger)
    labels = shown.labels.copy()
    place = int(np.flatnonzero(labels == other)[0])
    truth, name = labels[place], shown.images[place].name
    labels[place] = next(category for category in shown.classes if category != truth)
    learned = _learn(ImageSet(shown.images, labels.tolist()), workplace)
    doubted = [doubt.image for doubt in learned.doubts]
    where = f"number {doubted.index(name) + 1} of" if name in doubted else "none of"
    wrong = (
        f"A wrong label: one image of {truth} was called {labels[place]} on purpose; it is {where} {len(doubted)} labels "
        "that look wrong to the model."
    )
    called = np.array([row.unknown == "yes" for row in Predictions(learned.model, test.images, workplace)])
    strange = test.labels == stranger
    return (
        f"Unknown: {stranger} was never shown; {called[strange].sum()} of its {strange.sum()} images are called unknown, "
        f"and {called[~strange].sum()} of {(~strange).sum()} images of the categories that were shown.",
        wrong,
    )


def _one_image(train: ImageSet, test: ImageSet, workplace: Workplace) -> str:
    """What is said about a category of which one image was shown, before and after it borrows."""
    newcomer, _ = _drawn(train, 1)
    others = np.flatnonzero(train.labels == newcomer)[1:]
    learned = _learn(train.without(others.tolist()), workplace)
    asked = test.select(test.labels == newcomer)

    def right() -> int:
        return sum(row.category == newcomer for row in Predictions(learned.model, asked.images, workplace))

    alone = right()
    borrowed = borrow(learned.model.borrower())
    lenders = " and ".join(sorted({str(loan.lender) for loan in borrowed.suggestions})) or "nobody, as nothing suits"
    return (
        f"A category from one image: with one image of {newcomer}, {alone} of {len(asked)} others are recognised; "
        f"{right()} once it borrows from {lenders}."
    )


def _drawn(images: ImageSet, number: int) -> tuple[str, str]:
    """Two categories, by the seed."""
    one, other = np.random.default_rng([PROTOCOL.seed, number]).permutation(images.classes)[:2].tolist()
    return one, other


def _predict(images: ImageSet, model_file: Path, table: Path, workplace: Workplace) -> tuple[int, int]:
    """Ask the model file, as another machine would; how many answers are right, of how many."""
    rows = list(Predictions(load_learner(model_file), images.images, workplace))
    write_table(table, rows)
    truth = {file_of(image): label for image, label in zip(images.images, images.labels, strict=True)}
    return sum(truth[row.file] == row.category for row in rows), len(rows)
