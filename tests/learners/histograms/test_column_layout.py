"""Encodings of millions of columns are narrowed to those that occur, and no kernel value changes by it."""

import numpy as np
import pytest
import scipy.sparse

from fewsight._base.encodings import SparseRows
from fewsight._base.errors import FewsightError
from fewsight._base.types import State
from fewsight.kernels import HistogramIntersection
from fewsight.learners.histograms import SideBySide, column_layout
from fewsight.learners.histograms.column_layout import Narrowing

RNG = np.random.default_rng(0)


def encodings(n, width):
    return SparseRows(scipy.sparse.csr_array(scipy.sparse.random(n, width, density=0.02, random_state=RNG)))


TRAIN = [encodings(30, 900), encodings(30, 400)]
NEW = [encodings(7, 900), encodings(7, 400)]
KERNEL = HistogramIntersection()


@pytest.fixture
def layouts(monkeypatch):
    plain = SideBySide.of(TRAIN)
    monkeypatch.setattr(column_layout, "WIDE", 1_000)
    return plain, SideBySide.of(TRAIN)


def test_kernels_with_the_training_examples_and_with_itself_stay_what_they_were(layouts):
    plain, narrow = layouts
    assert plain.narrowing is None
    assert narrow.rows(TRAIN).shape[1] == len(narrow.groups) < 900
    for encoded in (TRAIN, NEW):
        before, after = plain.rows(encoded), narrow.rows(encoded)
        expected = KERNEL.gram(before, plain.rows(TRAIN))
        np.testing.assert_allclose(KERNEL.gram(after, narrow.rows(TRAIN)), expected, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(KERNEL.diag(after), KERNEL.diag(before), rtol=1e-12)


def test_every_channel_keeps_its_share(layouts):
    plain, narrow = layouts
    for encoded in (TRAIN, NEW):
        parts = (np.asarray(layout.rows(encoded).sum(axis=0)).ravel() for layout in (plain, narrow))
        sums = [np.bincount(layout.groups, part) for layout, part in zip(layouts, parts, strict=True)]
        np.testing.assert_allclose(sums[1], sums[0], rtol=1e-12)


def test_a_model_file_keeps_the_columns_and_edited_ones_are_refused(layouts):
    _, narrow = layouts
    state = narrow.narrowing.state()
    again = Narrowing.from_state(state)
    np.testing.assert_array_equal(again.groups, narrow.narrowing.groups)
    for wrong in ([3, 3], [5, 2], [0, 99_999], [-1, 4]):
        arrays = {**state.arrays, "used": np.array(wrong)}
        with pytest.raises(
            FewsightError,
            match=r"the columns that are kept must be|the stored array used must hold numbers from 0 to 1299",
        ):
            Narrowing.from_state(State({}, arrays))
