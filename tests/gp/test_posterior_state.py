"""What a posterior leaves in a file, and what a file may not make of it."""

import numpy as np
import pytest

from fewsight._base.archive import read_archive, write_archive
from fewsight._base.errors import InvalidInput, JitterWarning
from fewsight._base.types import State
from fewsight.gp import Posterior


def stored_and_loaded(posterior, folder):
    write_archive(folder / "posterior", posterior.state())
    return Posterior.from_state(read_archive(folder / "posterior"))


@pytest.mark.parametrize(("n", "n_targets"), [(0, 2), (1, 1), (12, 3), (12, 0)])
def test_a_reloaded_posterior_gives_the_same_numbers_to_the_bit(make_problem, tmp_path, n, n_targets):
    problem = make_problem(n, n_targets)
    ours = Posterior.condition(problem.K, problem.targets, problem.noise)
    again = stored_and_loaded(ours, tmp_path)
    assert again.log_evidence == ours.log_evidence
    np.testing.assert_array_equal(again.mean(problem.K_test), ours.mean(problem.K_test))
    variances = [p.variance(problem.K_test, problem.diagonal) for p in (again, ours)]
    np.testing.assert_array_equal(*variances)
    np.testing.assert_array_equal(again.leave_one_out().mean, ours.leave_one_out().mean)
    np.testing.assert_array_equal(again.leave_one_out().variance, ours.leave_one_out().variance)


def test_a_reloaded_posterior_can_be_updated(problem, tmp_path):
    K, K_new_new = problem.K_test, np.eye(5) * 2
    ours = Posterior.condition(problem.K, problem.targets, problem.noise)
    again = stored_and_loaded(ours, tmp_path)
    for update in (
        lambda p: p.append(K, K_new_new, np.ones((5, 3)), 0.1),
        lambda p: p.remove([3, 5]),
        lambda p: p.relabel([1], np.ones((1, 3))),
        lambda p: p.add_targets(np.ones((12, 1))),
    ):
        np.testing.assert_array_equal(update(again).dual_weights, update(ours).dual_weights)
        assert update(again).log_evidence == update(ours).log_evidence


def test_a_posterior_that_was_updated_reloads_to_the_same_numbers(problem, tmp_path):
    ours = Posterior.condition(problem.K, problem.targets, problem.noise).remove([2]).relabel([1], np.ones((1, 3)))
    again = stored_and_loaded(ours, tmp_path)
    rows = problem.K_test[:, :11]
    np.testing.assert_array_equal(again.mean(rows), ours.mean(rows))


def test_jitter_is_remembered(tmp_path):
    with pytest.warns(JitterWarning):
        ours = Posterior.condition(np.ones((3, 3)), np.ones((3, 1)), 1e-20)
    assert stored_and_loaded(ours, tmp_path).jitter == ours.jitter > 0


def test_only_the_lower_triangle_is_stored(problem):
    arrays = Posterior.condition(problem.K, problem.targets, problem.noise).state().arrays
    assert arrays["factor"].shape == (12 * 13 // 2,)
    L = np.linalg.cholesky(problem.K + np.diag(problem.noise))
    np.testing.assert_allclose(arrays["factor"], np.concatenate([L[j:, j] for j in range(12)]), atol=1e-12)


def test_from_state_does_not_freeze_or_share_the_callers_arrays(problem):
    state = Posterior.condition(problem.K, problem.targets, problem.noise).state()
    arrays = {name: array.copy() for name, array in state.arrays.items()}
    again = Posterior.from_state(State(state.header, arrays))
    before = again.mean(problem.K_test)
    for array in arrays.values():
        array[:] = 0.0
    np.testing.assert_array_equal(again.mean(problem.K_test), before)


def edited(state, name, change):
    return State(state.header, {**state.arrays, name: change(state.arrays[name].copy())})


def with_first(value):
    def change(array):
        array.flat[0] = value
        return array

    return change


HOSTILE = [
    (
        lambda s: State({**s.header, "n": 13}, s.arrays),
        "array factor must be float64 of shape 91, got float64 of shape 78.",
    ),
    (lambda s: State({**s.header, "n": -1}, s.arrays), "n must be a whole number from 0 to 2,147,483,648, got -1."),
    (lambda s: State({**s.header, "n": True}, s.arrays), "n must be a whole number from 0 to 2,147,483,648, got True."),
    (lambda s: State({**s.header, "n": "12"}, s.arrays), "n must be a whole number from 0 to 2,147,483,648, got '12'."),
    (lambda s: State({}, s.arrays), "n is missing."),
    (lambda s: State({**s.header, "n_targets": 10**30}, s.arrays), "n_targets must be a whole number from 0 to"),
    (lambda s: State({**s.header, "n_targets": 4}, s.arrays), "array targets must be float64 of shape 12 x 4"),
    (lambda s: State(s.header, {}), "array factor must be float64 of shape 78, got nothing."),
    (lambda s: edited(s, "factor", lambda a: a[:-1]), "array factor must be float64 of shape 78"),
    (lambda s: edited(s, "factor", with_first(np.nan)), "array factor must hold numbers from"),
    (lambda s: edited(s, "factor", with_first(0.0)), "the diagonal of the stored factor must be > 1e-150"),
    (lambda s: edited(s, "factor", with_first(-1.0)), "the diagonal of the stored factor must be > 1e-150"),
    (lambda s: edited(s, "noise_variance", with_first(0.0)), "array noise_variance must hold numbers above 0"),
    (lambda s: edited(s, "noise_variance", lambda a: a[:, None]), "array noise_variance must be float64 of shape 12"),
    (lambda s: edited(s, "jitters", with_first(-1e-9)), "array jitters must hold numbers from 0 to"),
    (lambda s: edited(s, "targets", with_first(np.inf)), "array targets must hold numbers from"),
    (lambda s: edited(s, "targets", lambda a: a.astype(str)), "array targets must be float64"),
    (lambda s: edited(s, "targets", lambda a: a.astype(complex)), "array targets must be float64"),
    (lambda s: edited(s, "dual_weights", lambda a: a.T), "array dual_weights must be float64 of shape 12 x 3"),
    (lambda s: edited(s, "dual_weights", with_first(np.nan)), "array dual_weights must hold numbers from"),
]


@pytest.mark.parametrize(("edit", "sentence"), HOSTILE)
def test_a_state_that_no_posterior_left_is_refused_in_a_sentence(problem, edit, sentence):
    state = Posterior.condition(problem.K, problem.targets, problem.noise).state()
    with pytest.raises(InvalidInput) as refusal:
        Posterior.from_state(edit(state))
    assert sentence in str(refusal.value)
