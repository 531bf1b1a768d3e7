"""Which training examples of a large set are left out together."""

import numpy as np

from fewsight.kernels import HistogramOperator
from fewsight.learners import folds
from fewsight.learners.folds import columns_to_calibrate, identical, sampled_folds

RNG = np.random.default_rng(0)
CLASSES = np.arange(300) % 3
OPERATOR = HistogramOperator.from_rows(RNG.random((300, 8)))


def test_examples_with_the_same_row_have_the_same_number():
    rows = RNG.random((20, 5))
    rows[7] = rows[3]
    numbers = identical(HistogramOperator.from_rows(rows))
    assert numbers[7] == numbers[3]
    assert len(np.unique(numbers)) == 19


def test_each_fold_has_the_same_share_of_every_class_and_leaves_some_of_each():
    found = sampled_folds(OPERATOR, CLASSES)
    everything = np.concatenate(found)
    assert len(np.unique(everything)) == len(everything) == 300
    for fold in found:
        assert np.bincount(CLASSES[fold]).tolist() == [5, 5, 5]


def test_a_few_folds_are_enough_of_a_large_set_but_rare_classes_are_left_out_more_often(monkeypatch):
    monkeypatch.setattr(folds, "EXAMPLES", 40)
    monkeypatch.setattr(folds, "MOST_COLUMNS", 0)
    assert [len(fold) for fold in sampled_folds(OPERATOR, CLASSES)] == [15, 15, 15]
    monkeypatch.setattr(
        folds, "MOST_COLUMNS", 24
    )  # 4 systems a fold: as many as six folds while a class has less than 30
    assert len(sampled_folds(OPERATOR, CLASSES)) == 6


def test_all_examples_are_in_a_few_large_folds_where_that_is_asked_for():
    found = sampled_folds(OPERATOR, CLASSES, most_folds=3)
    assert len(found) == 3
    assert sum(map(len, found)) == 300


def test_the_only_example_of_a_class_is_never_left_out():
    classes = np.append(np.zeros(10, np.intp), 1)
    found = sampled_folds(HistogramOperator.from_rows(RNG.random((11, 4))), classes)
    assert 10 not in np.concatenate(found)


def test_the_number_of_systems_to_expect_is_that_of_the_folds():
    assert columns_to_calibrate(CLASSES, 1) == len(sampled_folds(OPERATOR, CLASSES)) * (3 + 1)
