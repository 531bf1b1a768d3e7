"""Training with the dimensions shared out on a cluster gives the model that one machine gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fewsight._base.errors import FewsightError
from fewsight.kernels import HistogramOperator
from fewsight.learners import HistogramGPClassifier
from fewsight.learners.histograms import left_out_search
from fewsight.persistence import load, save

RNG = np.random.default_rng(0)
CLASSES = np.arange(550) % 4
X = RNG.gamma(0.4, size=(550, 40)) * (1.0 + 2.0 * RNG.random((4, 40))[CLASSES])
X_TEST = RNG.gamma(0.4, size=(20, 40))
# Conjugate gradients magnify rounding, so that numbers agree as closely as the systems are solved.
GIVEN = {"noise_variance": 0.3, "tolerance": 1e-12}


class AtOnce:
    """A client that does what it is asked there and then."""

    def scheduler_info(self, n_workers: int = -1) -> dict[str, Any]:
        return {"workers": {"one": {}, "two": {}}}

    def submit(self, work: Any, *arguments: Any, **_: Any) -> Any:
        return work(*arguments)

    def gather(self, futures: list[Any]) -> list[Any]:
        return futures

    def scatter(self, value: Any, **_: Any) -> Any:
        return value


def compare(cluster: Any, rows: Any = X, labels: Any = CLASSES, **options: Any) -> HistogramGPClassifier:
    """Latent values to 1e-10, or 1e-6 where a search finds the noise; what left-out examples teach, as closely as those are
    solved for (1e-3)."""
    options = {"tolerance": 1e-12, **options}
    here = HistogramGPClassifier(**options).fit(rows, labels)
    far = HistogramGPClassifier(cluster=cluster, **options).fit(rows, labels)
    rtol = 1e-10 if "noise_variance" in options else 1e-6
    np.testing.assert_allclose(far.noise_variance_, here.noise_variance_, rtol=rtol)
    np.testing.assert_allclose(far.latent_mean(X_TEST), here.latent_mean(X_TEST), rtol=rtol, atol=rtol)
    np.testing.assert_allclose(far.predict_proba(X_TEST), here.predict_proba(X_TEST), atol=1e-4)
    np.testing.assert_allclose(far.latent(X_TEST).std, here.latent(X_TEST).std, rtol=1e-3)
    np.testing.assert_array_equal(far.predict(X_TEST), here.predict(X_TEST))
    return far


@pytest.mark.parametrize(
    "options",
    [
        GIVEN,
        {**GIVEN, "preconditioner": 40},
        {},
        pytest.param(
            {"noise_variance": 0.3, "feature_transform": "power", "transform_parameter": 0.6, "balanced": True},
            marks=pytest.mark.slow,
        ),
        pytest.param({"noise_variance": 0.3, "unknown_rule": "latent+variance"}, marks=pytest.mark.slow),
    ],
    ids=["given", "preconditioned", "learned", "transform", "variance"],
)
def test_a_cluster_gives_the_same_model_which_needs_it_no_more(options: dict[str, Any], tmp_path: Any) -> None:
    far = compare(AtOnce(), **options)
    assert isinstance(far.posterior_.operator, HistogramOperator)
    save(far, tmp_path / "model")
    opened = load(tmp_path / "model")
    assert opened.cluster is None
    np.testing.assert_array_equal(opened.predict(X_TEST), far.predict(X_TEST))
    far.add(X_TEST[:3], [0, 1, 4])


@pytest.mark.parametrize("most", [5_000, 300])
def test_a_cluster_chooses_for_a_rare_class_as_one_machine_does(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_out_search, "MOST_SEARCHED", most)
    rng = np.random.default_rng(1)
    classes = (np.arange(900) % 11 == 0).astype(np.intp)  # 82 of 900
    rows = rng.gamma(0.4, size=(900, 40)) * (1.0 + 2.0 * rng.random((2, 40))[classes])
    far = compare(AtOnce(), rows, classes)
    here = HistogramGPClassifier(tolerance=1e-12).fit(rows, classes)
    assert (far.hellinger_share_, far.noise_balance_) == (here.hellinger_share_, here.noise_balance_)


def test_a_cluster_that_is_none_is_refused_in_one_sentence() -> None:
    with pytest.raises(FewsightError, match=r"client must be a distributed\.Client, got int"):
        HistogramGPClassifier(cluster=3).fit(X, CLASSES)


@pytest.mark.slow
def test_two_processes_train_the_model_of_one(cluster: Any) -> None:
    few = X[:60], np.arange(60) % 20  # three of each, and so three folds: every iteration is a journey
    compare(cluster, *few, **GIVEN)
    compare(cluster.scheduler.address, *few, **GIVEN)


def test_an_address_where_nobody_listens_is_one_sentence_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="distributed is missing: pip install 'fewsight[dask]'")

    def patient(*_: Any, **__: Any) -> Any:
        raise AssertionError("a client that finds nobody takes 20 seconds")

    monkeypatch.setattr(distributed, "Client", patient)
    with pytest.raises(FewsightError, match=r"cluster must be a client or the address .* [Rr]efused"):
        HistogramGPClassifier(cluster="tcp://127.0.0.1:1").fit(X, CLASSES)
