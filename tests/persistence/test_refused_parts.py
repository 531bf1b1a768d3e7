"""What could not be opened again is not written in the first place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import fewsight
from fewsight._base.archive import read_archive, write_archive
from fewsight._base.errors import InvalidInput, ModelFileError
from fewsight._base.types import State
from fewsight.channels import CHANNELS, SpatialPmk
from fewsight.images import sample_set
from fewsight.kernels import KERNELS, RBF, Kernel, Linear, Product, Sum
from fewsight.learners import LEARNERS, GPClassifier, SVMClassifier
from fewsight.persistence import load, save

X = np.random.default_rng(0).normal(size=(12, 3))
LABELS = np.repeat(["a", "b"], 6)


@dataclass(frozen=True)
class Own(Kernel):
    """Twice the inner product, and a parameter."""

    kind: ClassVar[str] = "own_kernel"
    parameter: object = 1.0

    def _gram(self, A, B):
        return 2.0 * Linear()._gram(A, B)

    def _diag(self, A):
        return 2.0 * Linear()._diag(A)


@pytest.fixture
def registered() -> Iterator[type[Own]]:
    yield fewsight.register(Own)
    del KERNELS._others["own_kernel"]


@pytest.mark.parametrize("kernel", [Own(), Own() + RBF(), Product((RBF(), Sum((Linear(), Own()))))])
def test_a_kernel_of_ones_own_is_refused_until_it_is_registered(kernel: Kernel, tmp_path: Path) -> None:
    model = GPClassifier(kernel).fit(X, LABELS)
    with pytest.raises(InvalidInput, match=r"save: the kernel 'own_kernel' is not known here.*fewsight\.register\.$"):
        save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    fewsight.register(Own)
    try:
        save(model, tmp_path / "model")
        np.testing.assert_array_equal(load(tmp_path / "model").predict(X), model.predict(X))
    finally:
        del KERNELS._others["own_kernel"]
    with pytest.raises(
        ModelFileError, match=r"model: the kernel 'own_kernel' is not known here; .*fewsight\.register\.$"
    ):
        load(tmp_path / "model")


def test_a_kernel_that_its_recipe_does_not_bring_back_is_refused(registered: type[Own], tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Derived(RBF):
        """Says of itself that it is a Gaussian."""

    for kernel, sentence in [
        (Derived(), r"save: .*Derived.* must come back from its recipe as it is, got RBF\(scale=1\.0\)"),
        (Own({1, 2}), r"save: the parameters of own_kernel must be such that JSON can hold them"),
        (Own(float("nan")), r"save: the parameters of own_kernel must be such that JSON can hold them"),
    ]:
        with pytest.raises(InvalidInput, match=sentence):
            save(GPClassifier(kernel).fit(X, LABELS), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_channel_and_a_learner_of_ones_own_are_refused_as_well(tmp_path: Path) -> None:
    class OwnChannel(SpatialPmk):
        name = "own_channel"

    class OwnLearner(SVMClassifier):
        name = "own_learner"

    tiles = [sample_set().images[place] for place in (0, 1, -1, -2)]
    channel = OwnChannel(n_words=10, n_descriptors=500, longest_side=64)
    model = GPClassifier(channel).fit(tiles, ["a", "a", "b", "b"])
    for refused, sentence in [
        (
            model,
            r"save: the channel OwnChannel must be known by a name of its own .*fewsight\.register\(OwnChannel\) first",
        ),
        (model.channels[0], r"save: the channel OwnChannel must be known by a name of its own"),
        (OwnLearner(RBF()).fit(X, LABELS), r"save: the learner OwnLearner must be known by a name of its own"),
    ]:
        with pytest.raises(InvalidInput, match=sentence):
            save(refused, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


class Careless(SVMClassifier):
    """Takes an array from the file as it is."""

    name = "careless"

    def _restore(self, state: State) -> None:
        self._restore_options(state)
        self.dual_weights_ = state.arrays["dual_weights"]
        self.intercepts_ = state.array("intercepts", self.classes_.shape, np.float64)


def test_a_learner_that_does_not_check_an_array_cannot_be_stored(tmp_path: Path) -> None:
    fewsight.register(Careless)
    try:
        with pytest.raises(
            InvalidInput, match=r"the stored array dual_weights is read by nobody, or not with State\.array"
        ):
            save(Careless(RBF()).fit(X, LABELS), tmp_path / "model")
    finally:
        del LEARNERS._others["careless"]
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_needs_a_channel_from_elsewhere_says_so(tmp_path: Path) -> None:
    tiles = [sample_set().images[place] for place in (0, 1, -1, -2)]
    channel = SpatialPmk(n_words=10, n_descriptors=500, longest_side=64)
    save(GPClassifier(channel).fit(tiles, ["a", "a", "b", "b"]), tmp_path / "model")
    whole = read_archive(tmp_path / "model")
    whole.header["model"]["input"]["channel0"]["name"] = "from_elsewhere"
    write_archive(tmp_path / "model", State(whole.header, whole.arrays))
    assert "from_elsewhere" not in CHANNELS
    with pytest.raises(ModelFileError, match="model: the channel 'from_elsewhere' is not known here; if it comes from"):
        load(tmp_path / "model")
