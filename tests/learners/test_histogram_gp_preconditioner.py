"""A preconditioner changes how fast the histogram learner solves its systems, never what comes out."""

import numpy as np
import pytest

from fewsight._base.errors import FewsightError
from fewsight.learners import HistogramGPClassifier
from fewsight.learners.folds import sampled_folds
from fewsight.persistence import load, save

RNG = np.random.default_rng(5)
CLASSES = np.arange(240) % 12
X = RNG.gamma(0.3, size=(240, 80)) * (1.0 + 4.0 * RNG.random((12, 80))[CLASSES])
X_TEST = RNG.gamma(0.3, size=(30, 80))


def fitted(rank, **options):
    options = {"tolerance": 1e-9, "noise_variance": 1e-2, **options}
    return HistogramGPClassifier(preconditioner=rank, **options).fit(X, CLASSES)


@pytest.mark.parametrize("options", [{}, {"balanced": True}], ids=["shared noise", "a noise for each class"])
def test_solution_calibration_and_variance_are_those_without_one_in_fewer_iterations(options):
    plain, helped = fitted(0, **options), fitted(60, **options)
    assert plain.posterior_.low_rank is None
    assert helped.n_iter_ < 0.7 * plain.n_iter_
    for name in ("dual_weights", "ones", "means"):
        expected = getattr(plain.posterior_, name)
        np.testing.assert_allclose(getattr(helped.posterior_, name), expected, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_allclose(helped.predict_proba(X_TEST), plain.predict_proba(X_TEST), atol=1e-3)
    np.testing.assert_allclose(helped.exact_variance(X_TEST), plain.exact_variance(X_TEST), rtol=1e-3)


def test_examples_that_are_left_out_are_predicted_as_without_one():
    plain, helped = fitted(0).posterior_, fitted(60).posterior_
    fold = sampled_folds(plain.operator, plain.classes)[0]
    np.testing.assert_allclose(helped.left_out(fold), plain.left_out(fold), atol=5e-3)


def test_examples_and_classes_that_are_added_are_learned_as_without_one():
    few, many = CLASSES < 11, np.arange(240)
    plain, helped = (
        HistogramGPClassifier(preconditioner=rank, tolerance=1e-9, noise_variance=1e-2)
        .fit(X[few], CLASSES[few])
        .add(X[~few], CLASSES[~few])
        for rank in (0, 60)
    )
    assert helped.posterior_.low_rank is not None
    assert len(helped.posterior_.low_rank.left) == len(many)
    np.testing.assert_allclose(helped.latent_mean(X_TEST), plain.latent_mean(X_TEST), atol=1e-6)


def test_the_model_file_keeps_the_rank_and_a_wrong_one_is_refused(tmp_path):
    save(fitted(60), tmp_path / "model")
    assert load(tmp_path / "model").preconditioner == 60
    with pytest.raises(FewsightError, match="preconditioner must be"):
        fitted("always")
    with pytest.raises(FewsightError, match="preconditioner must be"):
        fitted(-1)
