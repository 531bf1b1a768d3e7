"""Training examples of a model file come back as they were; what cannot be some is refused."""

import numpy as np
import pytest
import scipy.sparse

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.learners.inputs.stored import checked_scales, matrix_from_state, matrix_state

X = np.arange(12.0).reshape(4, 3) % 5


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_rows_come_back_in_the_form_they_had(make):
    again = matrix_from_state(matrix_state(make(X)))
    assert scipy.sparse.issparse(again) == scipy.sparse.issparse(make(X))
    np.testing.assert_array_equal(again.toarray() if scipy.sparse.issparse(again) else again, X)


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_rows_without_a_column_are_refused(make):
    with pytest.raises(InvalidInput, match="the training examples must have a column or more, got none"):
        matrix_from_state(matrix_state(make(X[:, :0])))


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("columns", lambda a: a + 1, "array columns must hold numbers from 0 to 2, got 1 to 3"),
        ("columns", lambda a: a[:-1], "array columns must be whole numbers of shape"),
        ("starts", lambda a: a[::-1], "array starts must ascend from 0|array columns must be"),
        ("starts", lambda a: a[:-1], "array starts must be whole numbers of shape 5, got"),
        ("values", lambda a: a.astype(np.float32), "array values must be float64 of shape"),
    ],
)
def test_edited_sparse_rows_are_refused(name, change, said):
    state = matrix_state(scipy.sparse.csr_array(X))
    with pytest.raises(InvalidInput, match=said):
        matrix_from_state(State(state.header, {**state.arrays, name: change(state.arrays[name])}))


@pytest.mark.parametrize(
    ("scales", "count", "said"),
    [
        ([1.0, 2.0], 3, "array scales must be float64 of shape 3, got"),
        ([0.0], 1, "array scales must hold numbers above"),
        ([1e200], 1, "array scales must hold numbers above"),
        ([], None, "must be one or more numbers, got none"),
    ],
)
def test_scales_are_one_sensible_number_for_each_kernel(scales, count, said):
    assert checked_scales(State({}, {"scales": np.ones(2)}), None).tolist() == [1.0, 1.0]
    with pytest.raises(InvalidInput, match=said):
        checked_scales(State({}, {"scales": np.array(scales)}), count)
