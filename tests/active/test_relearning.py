"""Re-learning in a job of its own, adopted while answers come."""

import json
import threading

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.active import ActiveLearner
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, HistogramGPClassifier, SVMClassifier

LEARNERS = {
    "gp": GPClassifier(RBF(scale=2.0), noise_variance="evidence"),
    "balanced": GPClassifier(RBF(scale=2.0), noise_variance="evidence", balanced=True),
    "histograms": HistogramGPClassifier(),
    "svm": SVMClassifier(RBF(scale=2.0)),
}


def answer(active, truth, n):
    for _ in range(n):
        query = active.query()
        active.teach(query.indices, truth[query.indices])


def rebuilt(active):
    records = json.loads(json.dumps(active.records_))
    return ActiveLearner(**active.get_params(deep=False)).rebuild(active.pool_, records)


def assert_same(one, other):
    np.testing.assert_allclose(one.view_.mean, other.view_.mean, atol=1e-8)
    np.testing.assert_allclose(one.view_.variance, other.view_.variance, atol=1e-8)
    np.testing.assert_allclose(one.predict_proba(), other.predict_proba(), atol=1e-6)
    assert one.query().indices.tolist() == other.query().indices.tolist()
    assert str(one.status()) == str(other.status())


@pytest.fixture(params=LEARNERS)
def started(request, digits):
    active = ActiveLearner(LEARNERS[request.param], relearn_every=None).fit(digits[0][:200])
    answer(active, digits[1], 15)
    return active, digits[1]


def test_a_job_that_ran_while_answers_came_equals_a_rebuild_from_its_records(started):
    active, truth = started
    job = active.relearning()
    thread = threading.Thread(target=job.run)
    thread.start()
    answer(active, truth, 8)
    thread.join()
    before = active.view_.mean.copy()
    assert active.adopt(job)
    assert active.view_.n_labelled == 23
    if not isinstance(active.learner, SVMClassifier):  # nothing is learned at intervals
        assert not np.allclose(active.view_.mean, before)
    assert_same(active, rebuilt(active))
    answer(active, truth, 4)
    assert_same(active, rebuilt(active))


def test_a_job_adopted_at_once_is_what_relearn_does(started):
    active, _ = started
    other = rebuilt(active).relearn()
    assert active.adopt(active.relearning().run())
    assert_same(active, other)


def test_labels_changed_since_the_snapshot_are_learned_as_they_are_now(started):
    active, truth = started
    job = active.relearning().run()
    answer(active, truth, 2)
    active.correct(int(active.view_.positions[2]), int(truth[active.view_.positions[3]]))
    active.forget(active.view_.positions[[1, 16]])
    assert active.adopt(job)
    assert active.view_.n_labelled == 15
    assert_same(active, rebuilt(active))


def test_a_job_is_dropped_once_an_answer_of_its_snapshot_was_undone(started):
    active, _ = started
    job = active.relearning().run()
    active.undo()
    before, records = active.view_.mean.copy(), active.records_
    assert not active.adopt(job)
    np.testing.assert_array_equal(active.view_.mean, before)
    assert active.records_ == records
    active.redo()
    assert active.adopt(job)


def test_a_job_that_is_older_than_what_is_in_force_is_dropped(started):
    active, truth = started
    old = active.relearning().run()
    answer(active, truth, 3)
    assert active.adopt(active.relearning().run())
    records = active.records_
    assert not active.adopt(old)
    assert active.records_ == records


def test_a_job_that_has_not_run_or_was_adopted_is_refused(started):
    active, _ = started
    job = active.relearning()
    for _ in range(2):
        with pytest.raises(InvalidInput, match="must have run before it is adopted, and can be adopted only once"):
            active.adopt(job)
        job = active.relearning().run()
        assert job.done
        assert job.n_labelled == 15
        active.adopt(job)


def test_undo_past_an_adopted_job_brings_the_former_noise_back(digits):
    active = ActiveLearner(LEARNERS["gp"], relearn_every=None).fit(digits[0][:200])
    answer(active, digits[1], 12)
    noise, stated = active.view_.noise_variance, active.predict_proba()
    answer(active, digits[1], 3)
    assert active.adopt(active.relearning().run())
    assert active.view_.noise_variance != noise
    for _ in range(3):
        active.undo()
    assert active.view_.noise_variance == noise
    np.testing.assert_allclose(active.predict_proba(), stated, atol=1e-10)
