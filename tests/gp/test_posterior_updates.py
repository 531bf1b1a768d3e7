"""Appending, removing, relabelling examples and adding targets against conditioning from scratch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewsight._base.errors import InvalidInput
from fewsight.gp import Posterior, _cholesky


def condition(problem, rows=slice(None)):
    return Posterior.condition(problem.K[rows][:, rows], problem.targets[rows], problem.noise[rows])


def append(start, problem, rows, old):
    K = problem.K
    return start.append(K[rows][:, old], K[rows][:, rows], problem.targets[rows], problem.noise[rows])


def assert_same(ours, scratch, K_test, diagonal, atol=1e-8):
    assert (ours.n, ours.n_targets) == (scratch.n, scratch.n_targets)
    for name in ("targets", "noise_variance", "jitters", "dual_weights"):
        np.testing.assert_allclose(getattr(ours, name), getattr(scratch, name), atol=atol, err_msg=name)
    np.testing.assert_allclose(ours.log_evidence, scratch.log_evidence, rtol=1e-10, atol=atol)
    np.testing.assert_allclose(ours.mean(K_test), scratch.mean(K_test), atol=atol)
    np.testing.assert_allclose(ours.variance(K_test, diagonal), scratch.variance(K_test, diagonal), atol=atol)
    np.testing.assert_allclose(ours.leave_one_out().mean, scratch.leave_one_out().mean, atol=atol)
    np.testing.assert_allclose(ours.leave_one_out().variance, scratch.leave_one_out().variance, atol=atol)


@pytest.mark.parametrize("before", [0, 1, 7, 11, 12])
def test_append_equals_conditioning_on_everything(problem, before):
    old, new = np.arange(before), np.arange(before, 12)
    appended = append(condition(problem, old), problem, new, old)
    assert_same(appended, condition(problem), problem.K_test, problem.diagonal)


def test_one_at_a_time_from_nothing_equals_conditioning_on_everything(problem):
    grown = Posterior.condition(np.zeros((0, 0)), np.zeros((0, 3)), 1.0)
    for i in range(12):
        grown = append(grown, problem, np.array([i]), np.arange(i))
    assert_same(grown, condition(problem), problem.K_test, problem.diagonal)


@pytest.mark.parametrize("removed", [[], [0], [11], 5, [3, 8], [8, 3], list(range(11)), list(range(12))])
def test_remove_equals_conditioning_on_the_rest(problem, removed):
    kept = np.delete(np.arange(12), removed)
    smaller = condition(problem).remove(removed)
    assert_same(smaller, condition(problem, kept), problem.K_test[:, kept], problem.diagonal)


def test_relabel_equals_conditioning_on_the_new_targets(problem):
    targets = problem.targets.copy()
    targets[[7, 2]] = [[5.0, 4.0, 3.0], [2.0, 1.0, 0.0]]
    relabelled = condition(problem).relabel([7, 2], targets[[7, 2]])
    scratch = Posterior.condition(problem.K, targets, problem.noise)
    assert_same(relabelled, scratch, problem.K_test, problem.diagonal)


def test_relabel_leaves_untouched_columns_as_they_were_to_the_bit(problem):
    before = condition(problem)
    row = problem.targets[[4]] + [[0.0, 1.0, 0.0]]
    after = before.relabel([4], row)
    np.testing.assert_array_equal(after.dual_weights[:, [0, 2]], before.dual_weights[:, [0, 2]])
    assert (after.dual_weights[:, 1] != before.dual_weights[:, 1]).all()


def test_add_targets_equals_conditioning_with_all_columns(problem):
    few = Posterior.condition(problem.K, problem.targets[:, :1], problem.noise)
    assert_same(few.add_targets(problem.targets[:, 1:]), condition(problem), problem.K_test, problem.diagonal)
    none = Posterior.condition(problem.K, problem.targets[:, :0], problem.noise)
    assert_same(none.add_targets(problem.targets), condition(problem), problem.K_test, problem.diagonal)


def test_an_update_leaves_the_posterior_it_starts_from_alone(problem):
    start = condition(problem, np.arange(6))
    before = {name: array.copy() for name, array in start.state().arrays.items()}
    append(start, problem, np.arange(6, 12), np.arange(6))
    start.remove([1, 2])
    start.relabel([0], np.zeros((1, 3)))
    start.add_targets(np.ones((6, 1)))
    for name, array in start.state().arrays.items():
        np.testing.assert_array_equal(array, before[name])


def test_updates_never_factorise_more_than_the_new_rows(problem, monkeypatch):
    start, sizes = condition(problem, np.arange(9)), []
    dpotrf = _cholesky._dpotrf
    monkeypatch.setattr(_cholesky, "_dpotrf", lambda A: sizes.append(len(A)) or dpotrf(A))
    append(start, problem, np.arange(9, 12), np.arange(9)).remove([0]).relabel([0], np.zeros((1, 3)))
    start.add_targets(np.ones((9, 1)))
    assert sizes == [3]


@settings(max_examples=40, deadline=None)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["append", "remove", "relabel", "add_targets"]), st.integers(1, 4), st.integers(0, 999)
        ),
        max_size=10,
    )
)
def test_any_chain_of_updates_equals_conditioning_from_scratch(make_problem, steps):
    pool = make_problem(60, 1)
    K, noise = pool.K, pool.noise
    members = np.array([0, 1, 2])
    targets = pool.targets[members]
    ours = Posterior.condition(K[members][:, members], targets, noise[members])
    next_new = 3
    for action, count, seed in steps:
        rng = np.random.default_rng(seed)
        if action == "append":
            new = np.arange(next_new, next_new + count)
            next_new += count
            rows = rng.normal(size=(count, targets.shape[1]))
            ours = ours.append(K[new][:, members], K[new][:, new], rows, noise[new])
            members, targets = np.concatenate([members, new]), np.vstack([targets, rows])
        elif action == "remove":
            gone = rng.permutation(len(members))[:count]
            ours = ours.remove(gone)
            members, targets = np.delete(members, gone), np.delete(targets, gone, axis=0)
        elif action == "relabel":
            chosen = rng.permutation(len(members))[:count]
            targets = targets.copy()
            targets[chosen] = rng.normal(size=(len(chosen), targets.shape[1]))
            ours = ours.relabel(chosen, targets[chosen])
        else:
            columns = rng.normal(size=(len(members), count))
            ours, targets = ours.add_targets(columns), np.hstack([targets, columns])
    scratch = Posterior.condition(K[members][:, members], targets, noise[members])
    assert_same(ours, scratch, pool.K_test[:, members], pool.diagonal)


@pytest.mark.parametrize(
    ("indices", "sentence"),
    [
        ([12], "indices must be from 0 to below 12, got [12]."),
        ([-1], "indices must be from 0 to below 12, got [-1]."),
        ([1, 1], "indices must name each example once, got [1, 1]."),
        ([1.5], "indices must be a list of whole numbers, got [1.5]."),
        ([True] * 12, "indices must be a list of whole numbers"),
        ([[1]], "indices must be a list of whole numbers, got [[1]]."),
    ],
)
def test_indices_that_name_no_example_are_refused(problem, indices, sentence):
    for update in (lambda p: p.remove(indices), lambda p: p.relabel(indices, np.zeros((len(indices), 3)))):
        with pytest.raises(InvalidInput) as refusal:
            update(condition(problem))
        assert f"Posterior: {sentence}" in str(refusal.value)


def test_blocks_that_do_not_fit_are_refused(problem):
    start, K = condition(problem), problem.K
    with pytest.raises(InvalidInput, match=r"K_new must be a matrix of any x 12, got 2 x 11\."):
        start.append(K[:2, :11], K[:2, :2], problem.targets[:2], 0.1)
    with pytest.raises(InvalidInput, match=r"K_new_new must be a matrix of 2 x 2, got 3 x 3\."):
        start.append(K[:2], K[:3, :3], problem.targets[:2], 0.1)
    with pytest.raises(InvalidInput, match=r"targets must be a matrix of 2 x 3, got 2 x 2\."):
        start.append(K[:2], K[:2, :2], problem.targets[:2, :2], 0.1)
    with pytest.raises(InvalidInput, match=r"noise_variance must be one number or one for each of 2 examples"):
        start.append(K[:2], K[:2, :2], problem.targets[:2], [0.1, 0.1, 0.1])
    with pytest.raises(InvalidInput, match=r"targets must be a matrix of 1 x 3, got 2 x 3\."):
        start.relabel([4], problem.targets[:2])
    with pytest.raises(InvalidInput, match=r"columns must be a matrix of 12 x any, got 11 x 3\."):
        start.add_targets(problem.targets[:11])
