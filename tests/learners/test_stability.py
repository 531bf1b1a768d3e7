"""How sure to be with one or two labels of each class, told by examples without a label."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fewsight import load, save
from fewsight.gp import Posterior
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier
from fewsight.learners.stability import LEAST, MOST, MOST_OF_EACH, RANKS, agreement, some_unlabelled

KERNEL = RBF(scale=1.5)


def drawn(spread: float, seed: int, n: int = 60, columns: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Points around four centres, the first of each centre in front, and the centre of each. The seed does not move centres."""
    rng, numbers = np.random.default_rng([seed, columns]), np.arange(n) % 4
    centres = 3.0 / np.sqrt(2.0 * columns) * np.random.default_rng(columns).normal(size=(4, columns))
    return centres[numbers] + spread / np.sqrt(columns) * rng.normal(size=(n, columns)), numbers


def some_labels(numbers: np.ndarray, each: int) -> list[int | None]:
    return [int(number) if place < 4 * each else None for place, number in enumerate(numbers)]


def mean_confidence(model: GPClassifier, X: np.ndarray) -> float:
    return float(model.predict_proba(X).max(axis=1).mean())


def with_and_without(X: np.ndarray, numbers: np.ndarray) -> tuple[GPClassifier, GPClassifier]:
    """Learned from one label of each class alone, and beside the examples that have none."""
    kernel = RBF.as_wide_as(X)
    return GPClassifier(kernel).fit(X[:4], numbers[:4]), GPClassifier(kernel).fit(X, some_labels(numbers, 1))


@pytest.mark.parametrize(("columns", "spread", "sign"), [(100, 4.0, 1.0), (5, 4.0, -1.0)])
def test_clusters_make_surer_and_blended_classes_less_sure(columns: int, spread: float, sign: float) -> None:
    gained = []
    for seed in range(10):
        X, numbers = drawn(spread, seed, columns=columns)
        alone, seen = with_and_without(X, numbers)
        gained.append(sign * (mean_confidence(seen, X[4:]) - mean_confidence(alone, X[4:])))
    assert np.mean(gained) > 0.05


def test_stated_confidence_comes_closer_to_the_accuracy_wherever_it_lies() -> None:
    errors = np.zeros(2)
    for columns, spread in ((5, 2.0), (5, 4.0), (20, 2.0), (20, 4.0), (100, 2.0), (100, 4.0)):
        for seed in range(6):
            X, numbers = drawn(spread, seed, columns=columns)
            asked, truth = drawn(spread, 100 + seed, 400, columns)
            models = with_and_without(X, numbers)
            right = float((models[0].predict(asked) == truth).mean())
            errors += [abs(mean_confidence(model, asked) - right) for model in models]
    assert errors[1] < 0.75 * errors[0]


def test_decisions_stay_what_the_labels_make_them() -> None:
    X, numbers = drawn(1.5, 0)
    alone, seen = GPClassifier(KERNEL).fit(X[:4], numbers[:4]), GPClassifier(KERNEL).fit(X, some_labels(numbers, 1))
    np.testing.assert_allclose(seen.latent(X).mean, alone.latent(X).mean, rtol=1e-12)
    assert seen.calibration_.sharpness != alone.calibration_.sharpness
    assert seen.calibration_.from_prior


@pytest.mark.parametrize(("each", "n"), [(3, 60), (1, 4 + LEAST - 1)])
def test_with_more_labels_or_few_other_examples_the_labels_alone_speak(each: int, n: int) -> None:
    X, numbers = drawn(1.5, 0, n)
    alone = GPClassifier(KERNEL).fit(X[: 4 * each], numbers[: 4 * each])
    assert GPClassifier(KERNEL).fit(X, some_labels(numbers, each)).calibration_ == alone.calibration_


def test_rows_and_their_gram_matrix_say_the_same_and_a_model_file_keeps_it(tmp_path: Path) -> None:
    X, numbers = drawn(1.5, 0)
    shuffled = np.random.default_rng(1).permutation(len(X))
    labels = [some_labels(numbers, 1)[place] for place in shuffled]
    K = KERNEL.gram(X[shuffled])
    rows = GPClassifier(KERNEL).fit(X[shuffled], labels)
    twice = GPClassifier("precomputed", weights=[1.0, 0.0]).fit([K, K], labels)
    for model in (GPClassifier("precomputed").fit(K, labels), twice):
        assert model.calibration_.sharpness == pytest.approx(rows.calibration_.sharpness, abs=1e-4)
    save(rows, tmp_path / "model.fewsight")
    restored = load(tmp_path / "model.fewsight")
    assert isinstance(restored, GPClassifier)
    assert restored.calibration_ == rows.calibration_


def test_agreement_is_that_of_two_classifiers_on_examples_that_neither_learned_from() -> None:
    X, numbers = drawn(2.0, 3, 56)  # thirteen without a label for each class: enough for three ranks
    labelled, others = X[:4], X[4:]
    distances = np.linalg.norm(others[:, None] - labelled[None], axis=2)
    in_place = [[], *np.argsort(distances, axis=0)[:RANKS].tolist()]
    learned = [labelled, *(others[places] for places in in_place[1:])]
    models = [GPClassifier(KERNEL, noise_variance=0.2, balanced=False).fit(rows, numbers[:4]) for rows in learned]
    alike = []
    for first in range(RANKS + 1):
        for second in range(first):
            rest = [place for place in range(52) if place not in {*in_place[first], *in_place[second]}]
            alike += (models[first].predict(others[rest]) == models[second].predict(others[rest])).tolist()
    posterior = Posterior.condition(KERNEL.gram(labelled), np.where(np.eye(4) > 0, 1.0, -1.0), 0.2)
    found = agreement(posterior, KERNEL.gram(others, labelled), KERNEL.gram(others))
    assert found == pytest.approx((sum(alike) + 1) / (len(alike) + 2))


def test_of_many_examples_some_are_looked_at_always_the_same() -> None:
    few, many = np.arange(2 * MOST_OF_EACH), 3 + np.arange(4 * MOST)
    assert some_unlabelled(few, 2).tolist() == few.tolist()
    for n_classes, most in ((2, 2 * MOST_OF_EACH), (1_000, MOST)):
        chosen = some_unlabelled(many, n_classes)
        assert len(set(chosen.tolist())) == most
        assert set(chosen.tolist()) <= set(many.tolist())
        assert chosen.tolist() == some_unlabelled(many, n_classes).tolist() == sorted(chosen.tolist())
