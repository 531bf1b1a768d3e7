"""An answer and the next question on a large pool, against learning anew and scoring everything, and against scikit-activeml.

`--part defaults` measures a label with all defaults of `ActiveLearner` and the default channels alone.
"""

from __future__ import annotations

import time
from statistics import mean, median
from typing import Any

import numpy as np
from skimage.transform import resize

from bench_pyramid_channels import crops, encoded, mixture
from fewsight.active import ActiveLearner, GramPool, ImagePool, Pool, PoolView, Query, Uncertainty, VectorPool
from fewsight.apps.workbench.channel_options import default_channels
from fewsight.channels import DensePmk, make_channel
from fewsight.kernels import HistogramIntersection
from fewsight.learners import GPClassifier, HistogramGPClassifier

from histogram_data import Words
from timing import arguments, record, side_by_side, write

N_POOL, N_LABELS, N_CLASSES, NOISE = 10_000, 300, 10, 0.01
BUDGET_SECONDS = 0.020
N_PICTURES = 400  # that are drawn, for the default channels
N_TIMED = 60  # labels with all defaults: noise, weights and calibration are learned again every 20


def problem(n_pool: int) -> tuple[np.ndarray, np.ndarray]:
    """A Gram matrix of random vectors around a centre for each class, with squared-exponential kernel, and the classes."""
    rng = np.random.default_rng(0)
    classes = rng.integers(N_CLASSES, size=n_pool)
    X = (rng.normal(size=(N_CLASSES, 20))[classes] + rng.normal(size=(n_pool, 20))).astype(np.float32)
    squared = (X**2).sum(axis=1)
    K = X @ X.T
    K *= 2.0
    K -= squared[:, None]
    K -= squared
    np.minimum(K, 0.0, out=K)
    K /= 40.0
    np.exp(K, out=K)
    np.fill_diagonal(K, 1.0)
    return np.minimum(K, K.T), classes


def start(
    pool: Pool, classes: np.ndarray, n_labels: int, kind: Any = GPClassifier, rule: str = "uncertainty"
) -> ActiveLearner:
    """A learner with the first labels. Noise is given, so that no route spends time on learning it."""
    learner = kind(pool.parameter, noise_variance=NOISE, balanced=False, calibrated=False)
    known = [*classes[:n_labels].tolist(), *[None] * (len(pool) - n_labels)]
    return ActiveLearner(learner, rule, explore=False, audit_share=0.0, relearn_every=None).fit(pool, known)


def anew(active: ActiveLearner) -> Query:
    """Nothing but what a question needs: condition on all labels so far, means and variances of the pool, the smallest ratio."""
    view = PoolView(active.pool_, active.view_.settings)
    view.start(active.view_.positions.tolist(), active.view_.labels, active.view_.classes)
    return Uncertainty().query(view)


def by_fit(active: ActiveLearner, K: np.ndarray) -> Query:
    """By the calls that a user has: fit a classifier, which also learns what unknown examples look like, then its latent."""
    labelled, rest = active.view_.positions, np.flatnonzero(active.view_.unlabelled)
    fitted = GPClassifier("precomputed", noise_variance=NOISE, balanced=False, calibrated=False)
    fitted.fit(K[np.ix_(labelled, labelled)], np.array(active.view_.labels))
    found = Uncertainty().query(fitted, K[np.ix_(rest, labelled)])
    return Query(rest[found.indices], found.scores)


class Stepping:
    """Our way: take in the answer to the question at hand, and ask the next."""

    def __init__(
        self, pool: Pool, classes: np.ndarray, n_labels: int, kind: Any = GPClassifier, rule: str = "uncertainty"
    ) -> None:
        self.active, self.classes = start(pool, classes, n_labels, kind, rule), classes
        self.asked = self.active.query().indices

    def __call__(self) -> None:
        self.active.teach(self.asked, self.classes[self.asked])
        self.asked = self.active.query().indices


def bench_anew(K: np.ndarray, classes: np.ndarray, n_labels: int, repeats: int) -> list[dict[str, Any]]:
    """One label after the other: ours takes it in and asks on, theirs starts from nothing with the same labels."""
    ours = Stepping(GramPool(K), classes, n_labels)
    ours()
    for found in (anew(ours.active), by_fit(ours.active, K)):
        np.testing.assert_allclose(found.scores, ours.active.query().scores, rtol=1e-3, atol=1e-6)
        assert found.indices.tolist() == ours.asked.tolist()  # the same question
    name = f"answer and next question, pool of {len(K):,}, {n_labels} labels, {N_CLASSES} classes"
    limits = {"limit_ratio": 5.0, "budget_seconds": BUDGET_SECONDS} if len(K) >= N_POOL else {}
    lean = side_by_side(ours, lambda: anew(ours.active), repeats)
    full = side_by_side(ours, lambda: by_fit(ours.active, K), max(3, repeats // 3))
    return [
        record(name, *lean, "conditioning and scoring anew", **limits),
        record(name, *full, "GPClassifier.fit and scoring anew", **limits),
    ]


def bench_alone(
    pool: Pool,
    what: str,
    classes: np.ndarray,
    n_labels: int,
    repeats: int,
    kind: Any = GPClassifier,
    rule: str = "uncertainty",
) -> dict[str, Any]:
    """Ours with nothing else in between."""
    ours = Stepping(pool, classes, n_labels, kind, rule)
    ours()
    seconds, _ = side_by_side(ours, lambda: None, repeats)
    by = rule if kind is GPClassifier else f"{rule} of {kind.__name__}"
    name = f"answers and questions by {by}, {what} of {len(pool):,}, {n_labels} labels, {N_CLASSES} classes"
    print(f"{name}: {seconds * 1e3:.2f} ms (budget {BUDGET_SECONDS * 1e3:.0f} ms)")
    return {"name": name, "ours_seconds": seconds, "budget_seconds": BUDGET_SECONDS}


def bench_defaults(pool: ImagePool, n_labels: int, n_timed: int, *, calibrated: bool) -> dict[str, Any]:
    """A label in `ActiveLearner` as it is: rule, random checks, exploring and re-learning included; processor time too."""
    classes = np.arange(len(pool)) % N_PICTURES % N_CLASSES  # copies of a picture are of one class
    given = np.random.default_rng(0).permutation(len(pool))[:n_labels]
    labels: list[Any] = [None] * len(pool)
    for place in given.tolist():
        labels[place] = classes[place]
    fresh = ImagePool.encoded(pool.channels, pool.encodings)  # no row of it is known
    active = ActiveLearner(GPClassifier(fresh.parameter, calibrated=calibrated)).fit(fresh, labels)
    asked = active.query().indices
    wall, processor = list[float](), list[float]()
    for _ in range(n_timed):
        start, start_processor = time.perf_counter(), time.process_time()
        active.teach(asked, classes[asked])
        asked = active.query().indices
        wall.append(time.perf_counter() - start)
        processor.append(time.process_time() - start_processor)
    kind = "calibrated" if calibrated else "not calibrated"
    what = "+".join(channel.name for channel in pool.channels)
    name = f"a label with all defaults, {kind}, images by {what}, pool of {len(pool):,}, {n_labels} labels"
    print(
        f"{name}: {median(wall) * 1e3:.2f} ms in the median (budget {BUDGET_SECONDS * 1e3:.0f} ms), processor time "
        f"{median(processor) * 1e3:.2f} ms, {mean(processor) * 1e3:.1f} on average with re-learning"
    )
    return {
        "name": name,
        "ours_seconds": median(wall),
        "processor_seconds": median(processor),
        "mean_processor_seconds": mean(processor),
        "budget_seconds": BUDGET_SECONDS,
    }


def image_pool(n_pool: int) -> ImagePool:
    """Images as `dense_pmk` sees them, made as for `bench_pyramid_channels`."""
    rng = np.random.default_rng(0)
    parts, channel = crops(40, 290, rng), DensePmk(n_descriptors=20_000)
    rows = encoded(channel, [mixture(parts, rng) for _ in range(n_pool)], 300)
    return ImagePool.encoded([channel], [rows])


def default_pool(n_pool: int) -> ImagePool:
    """Images as the default channels see them: a few hundred pictures of coloured noise, each of them several times."""
    rng = np.random.default_rng(0)
    pictures = [noise(rng) for _ in range(N_PICTURES)]
    channels = [make_channel(name, n_jobs=1).fit(pictures[:100]) for name in default_channels()]
    places = np.arange(n_pool) % N_PICTURES
    return ImagePool.encoded(channels, [channel.encode(pictures).take(places) for channel in channels])


def noise(rng: np.random.Generator) -> np.ndarray:
    """An image of a few large patches of colour, with some noise: as many colours as a photograph has."""
    coarse = rng.random((*rng.integers(2, 7, size=2), 3))
    smooth = resize(coarse, (200, 250), order=1)
    return np.clip(smooth + 0.05 * rng.normal(size=smooth.shape), 0.0, 1.0).astype(np.float32)


def histogram_pool(n_pool: int) -> tuple[VectorPool, np.ndarray]:
    """Bags of 1,000 words, a quarter of them not zero, and their classes."""
    rng = np.random.default_rng(0)
    classes = rng.integers(N_CLASSES, size=n_pool)
    return VectorPool(Words.drawn(1_000, N_CLASSES, rng).images(classes, rng, False), HistogramIntersection()), classes


def bench_row(pool: ImagePool, repeats: int) -> dict[str, Any]:
    """One image against the whole pool: its encodings made ready once, against comparing them anew."""
    (channel,), (codes,) = pool.channels, pool.encodings
    ready = channel.against(codes)
    places = iter(np.random.default_rng(1).permutation(len(pool))[: 2 * repeats + 2].tolist())

    def ours() -> Any:
        return ready.gram(codes.take(np.array([next(places)])))

    first = codes.take(np.array([0]))
    np.testing.assert_allclose(ready.gram(first), channel.gram(first, codes), rtol=1e-12)
    ours()
    seconds = side_by_side(ours, lambda: channel.gram(first, codes), repeats)
    name = f"one dense_pmk image against a pool of {len(pool):,}, {codes.matrix.nnz / len(pool):.0f} non-zeros a row"
    return record(name, *seconds, "Channel.gram, which looks at all rows anew")


def gram_kernel(K: np.ndarray) -> Any:
    """A kernel for scikit-learn whose examples are row numbers of a Gram matrix."""
    from sklearn.gaussian_process.kernels import Kernel

    class Looked(Kernel):
        def __init__(self) -> None:
            pass

        def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
            rows = np.asarray(X, dtype=np.intp)[:, 0]
            columns = rows if Y is None else np.asarray(Y, dtype=np.intp)[:, 0]
            values = K[np.ix_(rows, columns)].astype(np.float64)
            values += NOISE * (rows[:, None] == columns) if Y is None else 0.0
            return (values, np.empty((*values.shape, 0))) if eval_gradient else values

        def diag(self, X: Any) -> Any:
            return np.ones(len(X))

        def is_stationary(self) -> bool:
            return False

    return Looked()


def bench_peer(K: np.ndarray, classes: np.ndarray, n_labels: int, repeats: int) -> dict[str, Any] | None:
    """scikit-activeml asks around scikit-learn's Gaussian process classifier, which it fits anew for every question."""
    try:
        from skactiveml.classifier import SklearnClassifier
        from skactiveml.pool import UncertaintySampling
    except ImportError as error:
        print(f"scikit-activeml: skipped, {error}")
        return None
    from sklearn.gaussian_process import GaussianProcessClassifier

    ours = Stepping(GramPool(K), classes, n_labels)
    machine = GaussianProcessClassifier(gram_kernel(K), optimizer=None, copy_X_train=False)
    classifier = SklearnClassifier(machine, classes=list(range(N_CLASSES)), random_state=0)
    rule, rows = UncertaintySampling(method="margin_sampling", random_state=0), np.arange(len(K), dtype=float)[:, None]
    labels = np.full(len(K), np.nan)
    labels[:n_labels] = classes[:n_labels]

    def theirs() -> None:
        found = rule.query(rows, labels, classifier)
        labels[found] = classes[found]

    seconds = side_by_side(ours, theirs, repeats)
    name = f"answer and next question, pool of {len(K):,}, {n_labels} labels, {N_CLASSES} classes, Gram matrix"
    return record(name, *seconds, "scikit-activeml around scikit-learn's GaussianProcessClassifier (Laplace)")


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--part", choices=("all", "defaults"), default="all", help="what to measure (all)")
    options = parser.parse_args()
    n_pool, n_labels, repeats = (2_000, 100, 5) if options.quick else (N_POOL, N_LABELS, 15)
    several = default_pool(n_pool)
    as_it_is = [
        bench_defaults(several, n_labels, N_TIMED // 2 if options.quick else N_TIMED, calibrated=calibrated)
        for calibrated in (True, False)
    ]
    if options.part == "defaults":
        write(as_it_is, options.json)
        return
    K, classes = problem(n_pool)
    sizes = K, classes, n_labels
    rules = ("uncertainty", "exploration")
    found: list[dict[str, Any] | None] = [
        bench_alone(GramPool(K), "Gram matrix", classes, n_labels, repeats, rule=rule) for rule in rules
    ]
    found += [*bench_anew(*sizes, repeats), bench_peer(*sizes, 3)]
    images = image_pool(n_pool)
    found += [bench_alone(images, "images", classes, n_labels, repeats, rule=rule) for rule in rules]
    found += [bench_row(images, 3)]
    what = f"images by {'+'.join(channel.name for channel in several.channels)}"
    found += [bench_alone(several, what, classes, n_labels, repeats, rule=rule) for rule in rules]
    found += [bench_alone(images, "images", classes, n_labels, repeats, HistogramGPClassifier)]
    for size in (n_pool, 5 * n_pool):
        words, categories = histogram_pool(size)
        for kind in (GPClassifier, HistogramGPClassifier):
            found += [bench_alone(words, "histograms", categories, n_labels, repeats, kind)]
    write([row for row in (*as_it_is, *found) if row is not None], options.json)


if __name__ == "__main__":
    main()
