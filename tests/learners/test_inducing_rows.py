"""Counting on a cluster gives the model that one machine gives, also where a worker leaves."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fewsight._base.errors import FewsightError, InvalidInput
from fewsight.channels import Colour
from fewsight.images import ImageFile, sample_set
from fewsight.kernels import RBF
from fewsight.learners import SparseGPClassifier
from fewsight.learners.inducing_rows import is_dask_array
from fewsight.persistence import load, save

X, Y = load_digits(return_X_y=True)
X, KERNEL = X / 16.0, RBF(scale=1.8)
TRAIN, TEST = np.arange(0, 1_797, 2), np.arange(1, 1_797, 6)


class Done:
    """A future of what is there."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def result(self) -> Any:
        return self.value


class AtOnce:
    """A client that does what it is asked there and then; some of its workers may be unable to see files."""

    def __init__(self, blind: bool = False) -> None:
        self.blind, self.tasks = blind, 0

    def scheduler_info(self, n_workers: int = -1) -> dict[str, Any]:
        return {"workers": {"one": {}, "two": {}}}

    def submit(self, work: Any, *arguments: Any, **_: Any) -> Done:
        self.tasks += 1
        return Done(work(*(each.value if isinstance(each, Done) else each for each in arguments)))

    def scatter(self, value: Any, **_: Any) -> Done:
        return Done(value)

    def run(self, work: Any, *arguments: Any) -> dict[str, Any]:
        return {"one": work(*arguments), "two": work(*arguments) and not self.blind}


def same(far: SparseGPClassifier, here: SparseGPClassifier, asked: Any = X[TEST]) -> None:
    """The same decisions, and latent values to rounding."""
    assert far.noise_variance_ == here.noise_variance_
    np.testing.assert_array_equal(far.sums_.counts, here.sums_.counts)
    np.testing.assert_allclose(far.latent(asked).mean, here.latent(asked).mean, atol=1e-8)
    np.testing.assert_allclose(far.predict_proba(asked), here.predict_proba(asked), atol=1e-7)
    np.testing.assert_array_equal(far.predict(asked), here.predict(asked))


@pytest.fixture(scope="module")
def here() -> SparseGPClassifier:
    return SparseGPClassifier(KERNEL, n_inducing=100).fit(X[TRAIN], Y[TRAIN])


def test_pieces_are_counted_by_workers_and_come_to_the_same(here: SparseGPClassifier, tmp_path: Path) -> None:
    client = AtOnce()
    far = SparseGPClassifier(KERNEL, n_inducing=100, cluster=client).fit(X[TRAIN], Y[TRAIN])
    assert client.tasks >= 8
    same(far, here)
    save(far, tmp_path / "model")  # which needs no cluster
    same(load(tmp_path / "model"), here)
    far.add(X[TEST], Y[TEST])
    assert far.n_examples_ == len(TRAIN) + len(TEST)


def test_images_are_described_by_workers_that_see_them() -> None:
    samples = sample_set().select(range(0, 548, 5))
    channel = Colour()
    here = SparseGPClassifier(channel, n_inducing=6).fit(samples.images, samples.labels)
    far = SparseGPClassifier(channel, n_inducing=6, cluster=AtOnce()).fit(samples.images, samples.labels)
    same(far, here, samples.images[:5])


def test_a_worker_that_does_not_see_the_images_is_named(photos: Path) -> None:
    images = [ImageFile(path) for path in sorted(photos.rglob("*.*"))]
    learner = SparseGPClassifier(Colour(), n_inducing=2, cluster=AtOnce(blind=True))
    with pytest.raises(
        InvalidInput, match=r"workers must see images under the same path as here, but two has no file /"
    ):
        learner.fit(images, [image.path.split(os.sep)[-2] for image in images])


def test_an_address_without_a_scheduler_is_one_sentence() -> None:
    with pytest.raises(FewsightError, match="SparseGPClassifier: cluster must be a client or the address of a sch"):
        SparseGPClassifier(KERNEL, cluster="nowhere:1:2").fit(X[:20], Y[:20])


def test_a_dask_array_needs_a_cluster() -> None:
    arrays = pytest.importorskip("dask.array")
    assert is_dask_array(arrays.from_array(X))
    assert not is_dask_array(X)
    with pytest.raises(InvalidInput, match="a Dask array needs a cluster"):
        SparseGPClassifier(KERNEL).fit(arrays.from_array(X[TRAIN]), Y[TRAIN])


@pytest.mark.slow
def test_three_processes_of_which_one_is_killed_learn_what_one_machine_learns(here: SparseGPClassifier) -> None:
    distributed, arrays = pytest.importorskip("distributed"), pytest.importorskip("dask.array")
    with (
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as local,
        distributed.Client(local) as client,
    ):
        rows = client.persist(arrays.from_array(X[TRAIN], chunks=(97, 20)))
        distributed.wait(rows)
        killed = client.run(os.getpid)
        os.kill(next(iter(killed.values())), signal.SIGKILL)  # with the blocks that it holds
        far = SparseGPClassifier(KERNEL, n_inducing=100, cluster=client).fit(rows, Y[TRAIN])
        same(far, here)
        same(SparseGPClassifier(KERNEL, n_inducing=100, cluster=local.scheduler_address).fit(X[TRAIN], Y[TRAIN]), here)
