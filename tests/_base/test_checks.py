"""Error messages say who, which, what it must be and what it was."""

import numpy as np
import pytest

from fewsight._base.checks import check_choice, check_gram, check_integer, check_matrix, check_positive
from fewsight._base.errors import InvalidInput


class Owner:
    pass


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "1", None, True])
def test_a_number_that_is_not_positive_is_refused(value):
    with pytest.raises(InvalidInput, match=r"^Owner: noise must be a finite number > 0, got "):
        check_positive(Owner(), "noise", value)


@pytest.mark.parametrize("value", [np.float32(2), np.int64(2), 2, 2.0])
def test_numpy_numbers_count_as_numbers(value):
    assert check_positive("x", "noise", value) == 2.0


def test_integers_and_choices_name_what_they_must_be():
    with pytest.raises(InvalidInput, match=r"^Owner: n_words must be a whole number >= 1, got 0\.$"):
        check_integer(Owner(), "n_words", 0, least=1)
    with pytest.raises(InvalidInput, match=r"^Owner: rule must be one of 'a', 'b', got 'c'\.$"):
        check_choice(Owner(), "rule", "c", ["a", "b"])


def test_matrices_name_the_expected_shape():
    with pytest.raises(InvalidInput, match=r"^Owner: K must be a matrix of any x 4, got 2 x 3\.$"):
        check_matrix(Owner(), "K", np.ones((2, 3)), shape=(None, 4))
    with pytest.raises(InvalidInput, match="finite numbers only"):
        check_matrix(Owner(), "K", [[np.nan]])
    with pytest.raises(InvalidInput, match=r"square \(training x training\), got 2 x 3"):
        check_gram(Owner(), "K", np.ones((2, 3)))
    with pytest.raises(InvalidInput, match="symmetric"):
        check_gram(Owner(), "K", [[1.0, 0.5], [0.0, 1.0]])


def test_a_long_value_is_shown_short():
    with pytest.raises(InvalidInput) as caught:
        check_positive("x", "noise", "y" * 10_000)
    assert len(str(caught.value)) < 200


def test_a_whole_number_beyond_all_floats_is_refused():
    with pytest.raises(InvalidInput, match="noise must be a finite number > 0"):
        check_positive("x", "noise", 10**400)
