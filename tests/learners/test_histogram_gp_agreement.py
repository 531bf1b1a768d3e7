"""The large-scale learner says what a dense reference says: exact parts to 1e-8, approximate ones within their stated bounds.

Quickly with 300 examples, and with 2,000 among the slow tests; dense and sparse rows with ties, zeros, rows that are empty or
the same, and columns that are empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from fewsight.gp import likelihood_bound, log_evidence_and_gradients, noise_curve
from fewsight.kernels import HistogramOperator
from fewsight.kernels.histogram_tables import _nodes
from fewsight.learners import HistogramGPClassifier

NOISE = 0.5
SIZES = [300, pytest.param(2_000, marks=pytest.mark.slow)]
MAKE = {"dense": np.asarray, "sparse": scipy.sparse.csr_array}
WIDTH = 24


def histograms(n: int, seed: int) -> tuple[Any, Any]:
    """Bags of few words of three unequal classes: many ties and zeros, an empty row, a row twice and an empty column."""
    rng = np.random.default_rng(seed)
    classes = np.minimum(np.arange(n) % 5, 2)  # a fifth, a fifth and three fifths
    shares = np.random.default_rng(7).dirichlet(np.full(WIDTH, 0.7), 3)
    X = np.array([rng.multinomial(30, 0.6 * shares[c] + 0.4 / WIDTH) for c in classes]) / 30.0
    X += 0.01 * rng.random(X.shape) * (rng.random(X.shape) < 0.2)
    X[:, 3] = 0.0
    X[4] = 0.0
    X[7] = X[2]
    return X, classes


@dataclass(frozen=True)
class Dense:
    """K of mean diagonal 1, its inverse with noise, and what follows from that for the one-vs-all problems."""

    X: Any
    X_test: Any
    classes: Any
    K: Any
    K_test: Any
    prior: Any  # K(x, x) of test rows
    noise: Any  # (n, 3)

    @classmethod
    @cache
    def of(cls, n: int, balanced: bool) -> Dense:
        (X, classes), X_test = histograms(n, 0), histograms(60, 1)[0]
        X_test[5] = 2.0  # far beyond every training value
        scale = X.sum() / n
        K, K_test = (sum(np.minimum.outer(A[:, d], X[:, d]) for d in range(WIDTH)) / scale for A in (X, X_test))
        share = (classes[:, None] == np.arange(3)).mean(axis=0)
        own = np.where(classes[:, None] == np.arange(3), share, 1 - share)
        noise = NOISE * (2 * own if balanced else np.ones_like(own))
        return cls(X, X_test, classes, K, K_test, X_test.sum(axis=1) / scale, noise)

    @property
    def targets(self) -> Any:
        return np.where(self.classes[:, None] == np.arange(3), 1.0, -1.0)

    def column(self, c: int) -> tuple[Any, Any, float, Any]:
        """Dual weights, latent means of test rows, free mean, and variances before their scale."""
        A = np.linalg.inv(self.K + np.diag(self.noise[:, c]))
        y, ones = self.targets[:, c], A.sum(axis=1)
        mean = float(ones @ y / ones.sum())
        dual = A @ (y - mean)
        variance = self.prior - np.einsum("ij,jk,ik->i", self.K_test, A, self.K_test, optimize=True)
        return dual, mean + self.K_test @ dual, mean, variance + (1 - self.K_test @ ones) ** 2 / ones.sum()


def learned(dense: Dense, rows: Any, **options: Any) -> HistogramGPClassifier:
    options = {"noise_variance": NOISE, "tolerance": 1e-12, "calibrated": False, **options}
    return HistogramGPClassifier(**options).fit(rows(dense.X), dense.classes)


def same(found: Any, expected: Any) -> None:
    """To 1e-8 of the largest."""
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("n", "balanced", "rows"),
    [
        (300, False, np.asarray),
        (300, True, scipy.sparse.csr_array),
        pytest.param(2_000, True, np.asarray, marks=pytest.mark.slow),
        pytest.param(2_000, False, scipy.sparse.csr_array, marks=pytest.mark.slow),
    ],
)
def test_training_prediction_and_exact_variance_are_those_of_an_inverse(n, balanced, rows):
    dense = Dense.of(n, balanced)
    learner = learned(dense, rows, balanced=balanced, quantization_bins=None)
    posterior = learner.posterior_
    dual, mean, free, variance = (np.array(part).T for part in zip(*map(dense.column, range(3)), strict=True))
    same(posterior.operator @ dense.targets, dense.K @ dense.targets)
    same(posterior.operator.diag(), np.diag(dense.K))
    same(posterior.dual_weights, dual)
    same(posterior.means, free)
    assert posterior.scale == pytest.approx(np.einsum("ij,ij->", dual, dense.targets) / (3 * (n - 1)), rel=1e-8)
    same(learner.latent_mean(rows(dense.X_test)), mean)
    same(learner.exact_variance(rows(dense.X_test)), posterior.scale * variance)
    np.testing.assert_allclose(learner.latent_mean(rows(dense.X_test[:1])), mean[:1], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("bins", [10, 100])
def test_predictions_by_table_are_within_the_bound_that_the_documentation_states(n, bins):
    dense = Dense.of(n, balanced=False)
    learner = learned(dense, np.asarray, quantization_bins=bins)
    operator, dual = learner.posterior_.operator, learner.posterior_.dual_weights
    apart = np.abs(learner.latent_mean(dense.X_test) - learner.posterior_.exact_mean(dense.X_test))
    bound = np.zeros(3)
    for d, nodes in enumerate(_nodes(operator, bins)[0]):
        places = np.clip(np.searchsorted(nodes, dense.X[:, d], side="right") - 1, 0, bins - 1)
        inside = dense.X[:, d] > 0
        sums = np.array([np.bincount(places[inside], np.abs(column[inside]), minlength=bins) for column in dual.T])
        bound += operator.weights[d] * (np.diff(nodes) / 4 * sums).max(axis=1)
    assert (apart <= bound + 1e-12).all()
    assert apart.max() > 0  # it is a table


@pytest.mark.parametrize("n", SIZES)
def test_the_fast_variance_stays_below_a_bound_that_lies_above_the_exact_one(n):
    dense = Dense.of(n, balanced=False)
    fast = learned(dense, np.asarray).variances_.fast
    exact, bound = dense.column(0)[3], fast.bound(dense.X_test)
    assert (bound >= exact - 1e-8).all()
    assert (fast.of(dense.X_test) <= bound + 0.02 * dense.prior).all()  # its own bound is looked up in a table
    assert (fast.of(dense.X_test) >= 0).all()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("free", "rows"), [(False, np.asarray), (True, scipy.sparse.csr_array)])
def test_the_bound_is_above_the_negative_log_likelihood_and_meets_it_with_more_eigenvalues(n, free, rows):
    dense = Dense.of(n, balanced=False)
    operator = HistogramOperator.from_rows(rows(dense.X), weights=np.full(WIDTH, n / dense.X.sum()))
    y = dense.targets
    true = -log_evidence_and_gradients([dense.K], np.ones(1), y, NOISE, free_mean=free, any_scale=free).value
    options = {"free_mean": free, "any_scale": free, "tolerance": 1e-10}
    apart = {
        (kind, count): likelihood_bound(operator, y, NOISE, bound=kind, n_eigenvalues=count, **options).value - true
        for kind in ("bai_golub", "deflated", "tightest")
        for count in (1, 20)
    }
    assert min(apart.values()) >= 0
    assert apart["deflated", 20] < apart["deflated", 1]
    assert apart["tightest", 20] == min(apart["bai_golub", 20], apart["deflated", 20])
    if n <= 300:
        whole = likelihood_bound(operator, y, NOISE, bound="deflated", n_eigenvalues=n, **options).value
        assert whole == pytest.approx(true, rel=1e-8)


@pytest.mark.parametrize("n", SIZES)
def test_the_evidence_of_noise_levels_is_that_of_a_factorisation(n):
    dense = Dense.of(n, balanced=False)
    operator = HistogramOperator.from_rows(dense.X, weights=np.full(WIDTH, n / dense.X.sum()))
    curve = noise_curve(operator, dense.targets)

    def exact(level: float) -> Any:
        return log_evidence_and_gradients([dense.K], np.ones(1), dense.targets, level, free_mean=True, any_scale=True)

    level, value = curve.best()
    for at in (0.3 * level, level, 3 * level):
        assert curve.scale(at) == pytest.approx(exact(at).scale, rel=1e-8)  # by Gauss's rule, also with many
        # random signs estimate the log-determinant of many examples: a thousandth of an example each
        assert curve.joint_log_evidence(at) == pytest.approx(
            exact(at).value, rel=1e-9, abs=0.0 if n <= 500 else 3e-3 * 3 * n
        )
    assert value == pytest.approx(curve.joint_log_evidence(level))
    assert exact(level).value >= max(exact(0.7 * level).value, exact(1.4 * level).value)


@pytest.mark.parametrize("rows", MAKE.values(), ids=MAKE)
@pytest.mark.parametrize("n", [2, 3])
def test_a_row_or_two_of_each_class_are_learned_from_exactly(n, rows):
    X, classes = np.array([[0.0, 0.5, 0.0], [0.5, 0.5, 0.0], [0.25, 0.0, 0.0]])[:n], np.array([0, 1, 0])[:n]
    learner = HistogramGPClassifier(noise_variance=NOISE, tolerance=1e-12, quantization_bins=None).fit(rows(X), classes)
    scale = X.sum() / n
    A = np.linalg.inv(np.minimum(X[:, None], X[None]).sum(axis=2) / scale + NOISE * np.eye(n))
    y = np.where(classes == 1, 1.0, -1.0)
    mean = A.sum(axis=0) @ y / A.sum()
    new = np.array([[1.0, 0.1, 3.0], [0.0, 0.0, 0.0]])
    K_new = np.minimum(new[:, None], X[None]).sum(axis=2) / scale
    same(learner.latent_mean(rows(new))[:, 1], mean + K_new @ A @ (y - mean))


BAD = {
    "NaN": (np.nan, "NaN"),
    "infinity": (np.inf, "infinity"),
    "negative": (-0.25, "X must hold numbers >= 0 only, got -0.25"),
}


@cache
def small_learner() -> HistogramGPClassifier:
    dense = Dense.of(300, balanced=False)
    return HistogramGPClassifier(noise_variance=NOISE, calibrated=False).fit(dense.X[:40], dense.classes[:40])


@pytest.mark.parametrize("ask", ["predict", "latent", "assess", "exact_variance", "add", "partial_fit", "fit"])
@pytest.mark.parametrize("rows", MAKE.values(), ids=MAKE)
@pytest.mark.parametrize("bad", [*BAD, "width"])
def test_rows_that_are_no_histograms_get_one_sentence_and_change_nothing(ask, rows, bad):
    dense, learner = Dense.of(300, balanced=False), small_learner()
    before = learner.latent_mean(dense.X_test)
    wrong = dense.X[:6].copy()
    if bad == "width":
        if ask == "fit":
            return  # which sets the width
        wrong, sentence = wrong[:, 1:], f"{WIDTH - 1} .*{WIDTH}"
    else:
        wrong[2, 5], sentence = BAD[bad]
    labels = (dense.classes[:6],) if ask in ("add", "partial_fit", "fit") else ()
    with pytest.raises(ValueError, match=sentence) as caught:
        getattr(learner, ask)(rows(wrong), *labels)
    assert str(caught.value).count(". ") == 0, str(caught.value)
    assert "\n" not in str(caught.value)
    np.testing.assert_array_equal(learner.latent_mean(dense.X_test), before)
