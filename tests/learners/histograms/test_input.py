"""What a user passes becomes histograms: rows already, or images through channels that compare by intersection."""

import numpy as np
import pytest
import scipy.sparse

from bags_of_words import X
from fewsight._base.errors import FewsightError
from fewsight.channels import Phog, SpatialPmk
from fewsight.images import sample_set
from fewsight.kernels import HistogramIntersection
from fewsight.learners import HistogramGPClassifier
from fewsight.learners.histograms import HistogramInput, check_histograms, compares_by_intersection


def test_rows_stay_what_they_are_and_those_without_a_label_are_left_out():
    inputs = HistogramInput.chosen(HistogramIntersection())
    labels = np.array(["a", "b"])
    assert inputs.fit(X[:2], labels, np.arange(2)) is not None
    np.testing.assert_array_equal(inputs.fit(X[:4], labels, np.array([1, 3])), X[[1, 3]])
    assert inputs.read(X) is X
    assert inputs.groups.tolist() == [0] * 60
    assert inputs.parameter is None


def test_groups_come_back_from_the_state_and_must_be_one_for_each_column():
    groups = np.arange(60) % 3
    inputs = HistogramInput.chosen(None, groups)
    inputs.fit(X, np.array([0, 1]), np.arange(2))
    again = HistogramInput.from_state(inputs.state())
    np.testing.assert_array_equal(again.groups, groups)
    assert again.n_columns == 60
    with pytest.raises(FewsightError, match="groups must be one number for each of 59 columns, got 60"):
        inputs.fit(X[:, 1:], np.array([0, 1]), np.arange(2))
    with pytest.raises(FewsightError, match="groups must be a list of whole numbers from 0 to 1,000,000"):
        HistogramInput.chosen(None, [-1, 0])
    with pytest.raises(FewsightError, match="channels are groups of their own"):
        HistogramInput.chosen(SpatialPmk(), groups)


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_rows_that_are_no_histograms_get_one_sentence(make):
    for number, sentence in ((np.nan, "got NaN"), (np.inf, "got infinity"), (-2.0, ">= 0 only, got -2")):
        with pytest.raises(FewsightError, match=sentence):
            check_histograms(make(np.array([[1.0, number]])))


def test_only_channels_with_plain_intersection_are_taken():
    assert compares_by_intersection(SpatialPmk())
    assert not compares_by_intersection(Phog())


def test_images_go_through_channels_that_compare_by_intersection():
    tiles = sample_set()
    by_name = {
        name: [i for i, label in zip(tiles.images, tiles.labels, strict=True) if label == name]
        for name in tiles.classes
    }
    one, two = (by_name[name][:8] for name in tiles.classes[:2])
    channel = SpatialPmk(n_words=20, n_descriptors=1_000, scales=(1.0,), longest_side=64)
    for channels in (channel, [channel, SpatialPmk(n_words=30, n_levels=1, scales=(1.0,), longest_side=64)]):
        learner = HistogramGPClassifier(channels).fit([*one[:6], *two[:6]], ["a"] * 6 + ["b"] * 6)
        assert learner.predict([*one[6:], *two[6:]]).tolist().count("a") in {1, 2, 3}
    with pytest.raises(FewsightError, match="channels must compare by histogram intersection, got phog"):
        HistogramGPClassifier(Phog()).fit(one, ["a", "b"] * 4)
