"""How a contract says that something must be refused."""

import pytest

import fewsight.testing
from fewsight._base.errors import InvalidInput
from fewsight.kernels import RBF
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


@pytest.mark.parametrize("wrong", [3, "rbf", None, RBF])
@pytest.mark.parametrize(
    ("check", "base"),
    [
        (fewsight.testing.check_kernel, "Kernel"),
        (fewsight.testing.check_channel, "Channel"),
        (fewsight.testing.check_learner, "Learner"),
        (fewsight.testing.check_rule, "QueryRule"),
        (fewsight.testing.check_family, "KernelFamily"),
    ],
)
def test_a_check_wants_an_object_and_not_its_class(check, base, wrong):
    with pytest.raises(
        InvalidInput, match=rf"{check.__name__}: \w+ must be an object of a class derived from {base}, got"
    ):
        check(wrong)
