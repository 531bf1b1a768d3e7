"""The bench of domains on made-up vectors: what is drawn, what peers say, what is kept and what ours promises."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from experiments.domains import few_labels
from experiments.domains.accuracy import (
    best_peers,
    calibration,
    differences,
    judge_added,
    kept_peers,
    records,
    verdict,
)
from experiments.domains.cells import Bench, expected_calibration_error, measure
from experiments.domains.left_out_sets import AS_IT_IS, POWER, moved, table
from experiments.domains.peers import (
    LEARNERS,
    PEERS,
    Answers,
    balanced_logistic,
    gp,
    logistic,
    nearest_mean,
    pooled_lda,
)
from experiments.domains.summary import mean_over
from experiments.domains.tasks import BENCH, DOMAINS, UNSEEN, Place, Task, draw_task, draw_unlabelled, places_of
from experiments.domains.unknown import Case, draw, mahalanobis
from experiments.domains.unknown import measure as measure_unknown
from experiments.domains.unknown import summary as unknown_summary
from experiments.domains.unseen import ANIMALS, KINDS, UNSEEN_READERS
from experiments.domains.vectors import LabelledVectors
from scipy.special import softmax
from sklearn.covariance import ledoit_wolf
from sklearn.linear_model import LogisticRegression

from fewsight._base.errors import InvalidInput
from fewsight.kernels.rbf import squared_distances
from fewsight.learners import LogisticClassifier, balance

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def known():
    """Six categories of 70 vectors, two of them hard to tell apart."""
    rng = np.random.default_rng(0)
    centres = rng.random((6, 40))
    centres[1] = centres[0] + 0.1 * rng.random(40)
    labels = np.repeat([f"category {i}" for i in range(6)], 70)
    vectors = np.repeat(centres, 70, axis=0) + 0.5 * rng.random((420, 40))
    return LabelledVectors(vectors.astype(np.float32), labels)


def task_of(known, per_class, *, even=True, seed=100):
    return draw_task(Place("neu_steel", per_class, seed, even), known)


def test_training_and_test_rows_are_apart_and_sizes_share_the_test(known):
    small, large = task_of(known, 2), task_of(known, 15)
    np.testing.assert_array_equal(small.test, large.test)
    assert squared_distances(large.test, large.train).min() > 1e-9
    np.testing.assert_array_equal(np.bincount(large.codes), [15] * 6)
    np.testing.assert_array_equal(np.bincount(large.test_codes), [50] * 6)


def test_an_uneven_task_has_categories_from_all_to_a_fifth(known):
    counts = np.bincount(task_of(known, 15, even=False).codes)
    assert counts.max() == 15
    assert counts.min() == 3


def test_a_domain_of_some_categories_draws_as_many(known):
    task = draw_task(Place("caltech_5", 5, 100), known)
    assert task.n_classes == 5
    other = draw_task(Place("caltech_5", 5, 102), known)
    assert not np.array_equal(task.train, other.train)


def test_places_of_many_categories_have_fewer_seeds():
    found = places_of([DOMAINS["caltech_101"], DOMAINS["clothing"]], range(10), (1, 15), uneven=False)
    assert sum(place.domain == "caltech_101" for place in found) == 3 * 2
    assert sum(place.domain == "clothing" for place in found) == 10 * 2


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(("per_class", "even"), [(1, True), (5, False)])
def test_every_learner_is_far_above_chance(known, name, per_class, even):
    task = task_of(known, per_class, even=even)
    found = LEARNERS[name](task)
    assert measure(found, task.test_codes)["accuracy"] > 0.4
    if found.probabilities is not None:
        np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)


def test_logistic_regression_in_the_span_is_that_of_the_rows(known):
    task = task_of(known, 5)
    inner = LogisticRegression(C=1000.0, max_iter=10_000, tol=1e-10).fit(task.train, task.codes)
    ours = LogisticClassifier("precomputed", C=1000.0).fit(task.train @ task.train.T, task.codes)
    np.testing.assert_allclose(ours.predict_proba(task.test @ task.train.T), inner.predict_proba(task.test), atol=1e-4)


def test_the_calibration_error_of_true_probabilities_is_what_is_expected():
    rng = np.random.default_rng(0)
    stated = softmax(2 * rng.normal(size=(300, 4)), axis=1)
    drawn = [(stated.cumsum(axis=1) > rng.random((300, 1))).argmax(axis=1) for _ in range(50)]
    errors = [measure(Answers(stated, stated), truth)["calibration_error"] for truth in drawn]
    assert expected_calibration_error(stated) == pytest.approx(np.mean(errors), abs=0.01)


def test_answers_are_kept_and_not_computed_again(known, tmp_path):
    bench = Bench(tmp_path, tmp_path, {"neu_steel": known})
    places = [Place("neu_steel", 2, seed) for seed in (100, 101)]
    bench.fill({"logistic": logistic}, places)

    def refuse(task: Task) -> Answers:
        raise AssertionError("computed again")

    bench.fill({"logistic": refuse}, places)
    assert bench.cell("logistic", places[0])["accuracy"] > 0.5


def test_the_verdict_says_where_ours_is_worse():
    places = [Place("clothing", size, seed) for size in (1, 5) for seed in range(4)]
    rng = np.random.default_rng(0)
    cells = {(name, place): {"accuracy": 0.8, "log_loss": 0.5} for name in ("gp", *PEERS) for place in places}
    for place in places:
        gap = 0.1 if place.per_class == 5 else -0.1
        cells["gp", place] = {"accuracy": 0.8, "log_loss": 0.5 + gap + 0.001 * rng.random()}
    rows = differences(cells, "gp", best_peers(cells, places), places)
    found = verdict(rows)
    assert found["cells"] == 2
    assert found["within_two_standard_errors"] == 0.5
    assert found["worst_log_loss"] == pytest.approx(0.1, abs=0.01)
    assert len(records(cells, ["gp"], places)) == 4


def test_cells_of_one_set_are_one_observation_of_the_test_over_sets():
    places = [Place(name, size, seed) for name in [*BENCH][:6] for size in (1, 2) for seed in (0, 1)]
    cells = {(name, place): {"accuracy": 0.8, "log_loss": 0.5} for name in ("gp", *PEERS) for place in places}
    for number, place in enumerate(places):
        cells["gp", place] = {"accuracy": 0.8, "log_loss": 0.4 - 0.001 * number}
    found = verdict(differences(cells, "gp", best_peers(cells, places), places))
    assert found["p_log_loss_over_sets"] == pytest.approx(2 / 2**6)
    assert found["p_log_loss"] == pytest.approx(2 / 2**12)


def test_peers_of_an_earlier_run_serve_another_one(tmp_path):
    places = [Place("clothing", size, seed) for size in (1, 5) for seed in (0, 1)]
    rng = np.random.default_rng(0)
    metrics = ("accuracy", "log_loss")
    cells = {
        (name, place): dict(zip(metrics, rng.random(2).tolist(), strict=True))
        for name in ("gp", *PEERS)
        for place in places
    }
    best = best_peers(cells, places)
    gaps = differences(cells, "gp", best, places)
    kept = {"protocol": {"seeds": [0, 1]}, "records": records(cells, ["gp", *PEERS], places), "differences": gaps}
    path = tmp_path / "accuracy.json"
    path.write_text(json.dumps(kept))
    found, same = kept_peers(path, places, [0, 1])
    assert same == best
    assert found == {key: cell for key, cell in cells.items() if key[0] != "gp"}
    with pytest.raises(InvalidInput, match=r"the seeds of accuracy.json must be \[0\], got \[0, 1\]"):
        kept_peers(path, places, [0])
    others, known = kept_peers(path, [Place("neu_steel", 1, seed) for seed in (0, 1)], [0, 1])
    assert not others  # peers on a set that the file does not hold are measured
    assert ("neu_steel", 1, True) not in known


@pytest.mark.parametrize("per_class", [2, 15])
def test_pooled_discriminant_analysis_is_that_of_one_shrunk_covariance(known, per_class):
    task = task_of(known, per_class)
    means = np.array([task.train[task.codes == code].mean(axis=0) for code in range(6)])
    n, rest = len(task.codes), task.train - means[task.codes]
    covariance = ledoit_wolf(rest, assume_centered=True)[0] * n / (n - 6)
    apart = task.test[:, None, :] - means
    expected = softmax(-0.5 * np.einsum("mcd,de,mce->mc", apart, np.linalg.inv(covariance), apart), axis=1)
    np.testing.assert_allclose(pooled_lda(task).probabilities, expected, atol=1e-9)


def test_balanced_logistic_regression_lets_all_categories_count_alike(known):
    uneven, even = task_of(known, 15, even=False), task_of(known, 15)
    rare = np.bincount(uneven.codes).argmin()
    of_rare = uneven.test_codes == rare
    stated, plain = (learner(uneven).probabilities[of_rare, rare].mean() for learner in (balanced_logistic, logistic))
    assert stated > plain
    np.testing.assert_array_equal(balanced_logistic(even).probabilities, logistic(even).probabilities)


def test_pooled_discriminant_analysis_of_one_row_of_each_is_the_nearest_mean(known):
    task = task_of(known, 1)
    np.testing.assert_array_equal(pooled_lda(task).scores, nearest_mean(task).scores)


def test_a_peer_that_an_earlier_run_did_not_know_may_become_the_best(known, tmp_path):
    bench = Bench(Path("nowhere"), tmp_path, {"neu_steel": known})
    places = [Place("neu_steel", 5, seed) for seed in (100, 101)]
    best = {("neu_steel", 5, True): "nearest_neighbour"}
    judge_added(bench, best, {"pooled_lda": pooled_lda}, places)
    cells = {
        name: np.mean([bench.cell(name, place)["accuracy"] for place in places])
        for name in ("nearest_neighbour", "pooled_lda")
    }
    assert best == {("neu_steel", 5, True): max(cells, key=cells.get)}
    judge_added(bench, best, {"logistic": lambda task: Answers(np.zeros((len(task.test), 6)))}, places)
    assert best["neu_steel", 5, True] != "logistic"


def test_calibration_is_summed_up_over_sets_for_each_size():
    metrics = ("accuracy", "log_loss", "calibration_error", "calibration_error_if_true", "overconfidence")
    places = [Place(name, size, seed) for name in ("clothing", "neu_steel") for size in (1, 5) for seed in range(2)]
    cells = {(name, place): dict.fromkeys(metrics, 0.1) for name in ("gp", "logistic") for place in places}
    for place in places:
        cells["gp", place]["overconfidence"] = {"clothing": 0.2, "neu_steel": -0.4}[place.domain]
    first, second = calibration(cells, places)
    assert (first["per_class"], second["per_class"]) == (1, 5)
    assert first["gp_overconfidence"] == pytest.approx(-0.1)
    assert first["gp_furthest_confidence"] == pytest.approx(0.4)
    assert second["logistic_log_loss"] == pytest.approx(0.1)


def test_ours_does_not_lean_to_large_categories(known):
    task = task_of(known, 15, even=False)
    small = np.isin(task.test_codes, np.flatnonzero(np.bincount(task.codes) <= 5))

    def share(found: Answers) -> float:
        decided = found.scores.argmax(axis=1)
        return float(np.isin(decided, np.unique(task.test_codes[small])).mean() / small.mean())

    assert abs(share(gp(task)) - 1) <= abs(share(logistic(task)) - 1) + 0.02


def test_strangers_are_of_other_categories_and_are_noticed(known):
    case = Case("neu_steel", 5, 100, two=False)
    task, strange = draw(case, known)
    assert task.n_classes == 4
    assert len(strange) == 2 * 30
    assert squared_distances(strange, np.vstack([task.train, task.test])).min() > 1e-9
    assert draw(Case("neu_steel", 5, 100, two=True), known)[0].n_classes == 2
    found = {case: measure_unknown(case, known) for case in (case, Case("neu_steel", 5, 101, two=False))}
    rows, gaps = unknown_summary(found)
    assert mean_over(rows, "fewsight", "unknown_auroc") > 0.7  # one of two twins may be strange
    assert gaps[0]["mean"] > -0.1
    assert all(0 <= row["mean"] <= 1 for row in rows)


def test_the_mahalanobis_distance_is_that_of_the_shrunk_covariance(known):
    task, strange = draw(Case("neu_steel", 15, 100, two=True), known)
    means = np.stack([task.train[task.codes == code].mean(axis=0) for code in (0, 1)])
    inverse = np.linalg.inv(ledoit_wolf(task.train - means[task.codes], assume_centered=True)[0])
    apart = strange[:, None] - means
    expected = np.einsum("mcd,de,mce->mc", apart, inverse, apart).min(axis=1)
    np.testing.assert_allclose(mahalanobis(task, strange), expected, rtol=1e-6)


@pytest.mark.parametrize("per_class", [1, 2])
def test_rows_without_a_label_are_neither_learned_from_nor_tested(known, per_class):
    place = Place("neu_steel", per_class, 3)
    task, unlabelled = draw_task(place, known), draw_unlabelled(place, known, 5)
    assert len(unlabelled) == 5 * task.n_classes
    seen = {row.tobytes() for row in unlabelled}
    assert not seen & {row.tobytes() for row in np.vstack([task.train, task.test])}
    assert len(seen) == len(unlabelled)


def test_few_labels_beside_none_without_one_are_the_learner_as_it_is(known):
    task = draw_task(Place("neu_steel", 1, 0), known)
    alone = few_labels.beside(task, task.train[:0])
    np.testing.assert_allclose(alone.probabilities, gp(task).probabilities, atol=1e-6)


def test_the_table_of_few_labels_names_the_set_that_is_furthest_off():
    def cell(too_sure):
        return dict.fromkeys(("accuracy", "log_loss", "calibration_error"), 0.5) | {"overconfidence": too_sure}

    cells = {
        (count, Place(name, 1, seed)): cell(value)
        for count in (0, 4)
        for name, value in (("clothing", 0.1), ("neu_steel", -0.2 if count else 0.05))
        for seed in (0, 1)
    }
    alone, more = few_labels.table(cells, [0, 4])
    assert (alone["furthest"], more["furthest"]) == ("clothing", "neu_steel")
    assert (more["furthest_overconfidence"], more["mean_distance"]) == (pytest.approx(-0.2), pytest.approx(0.15))


@pytest.mark.slow
def test_the_command_writes_records_and_a_verdict(caltech101, tmp_path):
    pytest.importorskip("onnxruntime", reason="needs the extra fewsight[pretrained]")
    data = caltech101.parent
    if not (data / "more").is_dir():
        pytest.skip("needs the folder more beside caltech101")
    out = tmp_path / "accuracy.json"
    options = ["--work", tmp_path, "--sets", "neu_steel", "--sizes", "1,5", "--seeds", "200,201", "--chosen-on", "202"]
    command = [sys.executable, "-m", "experiments.domains.accuracy", data, *options, "--json", out]
    subprocess.run([*map(str, command)], cwd=ROOT, check=True, timeout=600)
    found = json.loads(out.read_text())
    assert found["protocol"]["verdict"]["cells"] == 3
    assert {"set", "learner", "per_class"} <= set(found["records"][0])
    assert str(tmp_path) not in json.dumps(found["protocol"])


def test_a_set_that_is_left_out_has_no_say_in_what_is_chosen():
    """The setting that suits two sets costs the third what it would not have chosen."""
    places = [Place(name, 5, seed) for name in ("clothing", "neu_steel", "blood_cells") for seed in (0, 1)]
    as_it_is = dict.fromkeys(places, 0.5)
    other = {place: 0.7 if place.domain == "blood_cells" else 0.4 for place in places}
    rows = {row["set"]: row for row in table({AS_IT_IS: as_it_is, "other": other}, [5])}
    assert (rows["blood_cells"]["others_choose"], rows["blood_cells"]["it_would_choose"]) == ("other", AS_IT_IS)
    assert rows["blood_cells"]["loses"] == pytest.approx(0.2)
    assert rows["clothing"]["loses"] == pytest.approx(0.1)


def test_a_constant_is_moved_only_while_it_is_measured():
    before = balance.POWER
    with moved((POWER, 0.5)):
        assert balance.POWER == 0.5
    assert before == balance.POWER


def test_unseen_categories_share_no_member_and_have_images_enough():
    members = [member for kind in KINDS.values() for member in kind.split()]
    assert len(members) == len(set(members))
    assert set(ANIMALS) < set(KINDS)
    assert not set(BENCH) & set(UNSEEN)
    for name in ("digits", "faces_or_not", "tiles"):
        counts = np.unique(UNSEEN_READERS[name](Path()).labels, return_counts=True)[1]
        assert counts.min() >= max(UNSEEN[name].sizes) + UNSEEN[name].least_tested
