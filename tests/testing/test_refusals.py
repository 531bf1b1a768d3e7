"""How a contract says that something must be refused."""

import pytest

from fewsight._base.errors import InvalidInput
from fewsight.testing.refusals import refusal


def test_what_is_refused_with_the_sentence_passes():
    with refusal("must be 3"):
        raise InvalidInput("x: it must be 3, got 4.")


def test_another_sentence_or_none_is_a_failure():
    with pytest.raises(AssertionError, match="the refusal must say 'must be 3', got 'no'"), refusal("must be 3"):
        raise InvalidInput("no")
    with pytest.raises(AssertionError, match="must be refused with 'must be 3', but was not"), refusal("must be 3"):
        pass


def test_another_error_is_not_hidden():
    with pytest.raises(ZeroDivisionError), refusal("must be 3"):
        1 / 0  # noqa: B018
