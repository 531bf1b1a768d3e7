"""The whole way on the embedded images: learning curves, a report, a model file, predictions from it, and four short lessons.

The lessons are which cue decides, categories that were never shown, wrong labels, and categories from one image. Each category
has its turn, so that none is picked for its figures; what comes out is said, whatever it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from fewsight.apps.workbench.sample_photos import CHANNELS, PHOTOS, write_sample_photos
from fewsight.evaluation import ActiveCurves, Evaluation, Protocol, compare_asking
from fewsight.images import Image, ImageSet, draw_split, sample_set
from fewsight.learners import GPClassifier
from fewsight.persistence import load_learner, save

PROTOCOL = Protocol(per_class=(1, 3, 5, 10), test_per_class=15, repeats=3, seed=0)
EXAMPLES_TO_LEARN = 10  # per category
STARTS = 10  # of asking for labels, each from other first examples
OURS = "fewsight"
OTHERS = {"svm": "support vector machine", "nn": "nearest neighbour"}
NOTE = (
    "The images are tiles of photographs that come with scikit-image, one photograph per category and no pixel in two tiles: "
    "a test of telling materials apart by their colours and textures. The other channels that are used by default look for the "
    "shapes of objects, which tiles do not have, and are left out here."
)


@dataclass(frozen=True)
class Predicted:
    """How many images the model file was asked about, how many it named right, and how many it called unknown."""

    n_images: int
    n_right: int
    n_unknown: int


@dataclass(frozen=True)
class Demonstration:
    """What the demo found, and where it put it."""

    evaluation: Evaluation
    compared: str  # a sentence: who is ahead
    asking: ActiveCurves
    learned: Learned
    lessons: tuple[str, ...]  # a sentence each
    predicted: Predicted
    report_file: Path
    json_file: Path
    model_file: Path
    predictions_file: Path
    photos: Path  # a folder of all images without their labels, to sort or to label


@checked_files(fills=("output",))
def demo(output: str | Path, *, workplace: Workplace | None = None) -> Demonstration:
    """Evaluate, ask, learn and predict on the embedded images, with all results in one folder."""
    folder, workplace = make_output_folder(output), workplace or Workplace()
    report, results = folder / "report.html", folder / "results.json"
    model, table = folder / "model.fewsight", folder / "predictions.csv"
    check_outputs({REPORT: report, RESULTS: results, MODEL: model, PREDICTIONS: table}, [])
    photos = write_sample_photos(folder / PHOTOS)
    images = sample_set()
    evaluation = evaluate_images(images, PROTOCOL, channels=CHANNELS, workplace=workplace)
    asking = _ask(images, workplace)
    split = draw_split(
        images.labels, images_per_class=None, per_class=EXAMPLES_TO_LEARN, test_per_class=None, seed=PROTOCOL.seed
    )
    train, test = images.select(split.train), images.select(split.test)
    learned = _learn(train, workplace)
    save(learned.model, model)
    predicted = _predict(test, model, table, workplace)
    surprises = _surprises(train, test, predicted.n_unknown, workplace)
    lessons = (which_cue(learned), *surprises, _one_image(train, test, workplace))
    compared = who_is_ahead(evaluation)
    write_results(
        evaluation,
        images,
        json_file=results,
        report_file=report,
        command="fewsight demo",
        note=" ".join((NOTE, compared, *lessons)),
        asking=asking,
    )
    return Demonstration(
        evaluation, compared, asking, learned, lessons, predicted, report, results, model, table, photos
    )


def who_is_ahead(evaluation: Evaluation) -> str:
    """Who is ahead with the most examples, and why that is not all."""
    most = max(evaluation.protocol.per_class)
    at = {setting: each["accuracy"] for setting, each in evaluation.summaries.items() if setting.per_class == most}
    (ours,) = (found for setting, found in at.items() if setting.learner == "gp" and setting.combine == "evidence")
    best = max((setting for setting in at if setting.learner in OTHERS), key=lambda setting: at[setting].mean)
    difference = 100 * (ours.mean - at[best].mean)
    if difference >= 0:
        return f"At {most} per category {OURS} is {difference:.1f} points ahead of the best other ({OTHERS[best.learner]})."
    return (
        f"At {most} per category the {OTHERS[best.learner]} is {-difference:.1f} points ahead of {OURS}"
        f"{', less than from draw to draw' if -difference < 100 * (ours.std or 0) else ''}; what follows is what it does not do."
    )


def which_cue(learned: Learned) -> str:
    """How much each channel counts."""
    return f"Which cue decides: {', '.join(f'{name} counts {100 * share:.0f} %' for name, share in learned.shares.items())}."


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


def _surprises(train: ImageSet, test: ImageSet, n_alarms: int, workplace: Workplace) -> tuple[str, str]:
    """What is said about categories that were never shown, and about labels that are wrong: each category in turn."""
    n_called, n_found, n_accused = 0, 0, 0
    for stranger, other in _in_turn(train):
        shown = train.select(train.labels != stranger)
        labels = shown.labels.copy()
        place = int(np.flatnonzero(labels == other)[0])
        labels[place] = next(category for category in shown.classes if category != other)
        learned = _learn(ImageSet(shown.images, labels.tolist()), workplace)
        doubted = [doubt.image for doubt in learned.doubts]
        found = shown.images[place].name in doubted
        n_found, n_accused = n_found + found, n_accused + len(doubted) - found
        strange = test.select(test.labels == stranger).images
        n_called += sum(row.unknown == "yes" for row in Predictions(learned.model, strange, workplace))
    n, turns = len(test), len(train.classes)
    return (
        f"Unknown images: each category in turn was left out of learning; {n_called} of {n} images of left-out categories are "
        f"called unknown, and {n_alarms} of {n} images of learned ones ({100 * GPClassifier().false_alarm_rate:.0f} % are asked "
        "for, on average over draws).",
        f"Wrong labels: in each turn one image got a wrong label; {n_found} of {turns} were found, and "
        f"{'1 right label was' if n_accused == 1 else f'{n_accused} right labels were'} doubted.",
    )


def _one_image(train: ImageSet, test: ImageSet, workplace: Workplace) -> str:
    """What is said about categories of which one image was shown, before and after they borrow: each in turn."""
    alone, helped = 0, 0
    loans: dict[str, tuple[int, str]] = {}  # by borrower: images more that are recognised, and from whom it borrows
    for newcomer, _ in _in_turn(train):
        others = np.flatnonzero(train.labels == newcomer)[1:]
        learned = _learn(train.without(others.tolist()), workplace)
        asked = test.select(test.labels == newcomer).images
        before = _n_called(newcomer, learned, asked, workplace)
        lenders = sorted({str(loan.lender) for loan in borrow(learned.model.borrower()).suggestions})
        after = _n_called(newcomer, learned, asked, workplace) if lenders else before
        alone, helped = alone + before, helped + after
        loans[newcomer] = (after - before, " and ".join(lenders))
    best = max(loans, key=lambda name: loans[name][0])
    example = f" (most: {best} from {loans[best][1]}, {loans[best][0]} more)" if loans[best][0] > 0 else ""
    return (
        f"A category from one image: each category in turn was learned from one image; {alone} of {len(test)} other images are "
        f"recognised, and {helped} once it borrows from related categories{example}."
    )


def _n_called(category: str, learned: Learned, images: Sequence[Image], workplace: Workplace) -> int:
    return sum(row.category == category for row in Predictions(learned.model, images, workplace))


def _in_turn(images: ImageSet) -> Iterator[tuple[str, str]]:
    """Each category, and another one."""
    names = list(images.classes)
    return zip(names, names[1:] + names[:1], strict=True)


def _predict(images: ImageSet, model_file: Path, table: Path, workplace: Workplace) -> Predicted:
    """Ask the model file, as another machine would."""
    rows = list(Predictions(load_learner(model_file), images.images, workplace))
    write_table(table, rows)
    truth = {file_of(image): label for image, label in zip(images.images, images.labels, strict=True)}
    n_right = sum(truth[row.file] == row.category for row in rows)
    return Predicted(len(rows), n_right, sum(row.unknown == "yes" for row in rows))
