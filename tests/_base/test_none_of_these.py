"""One object that says: no category."""

import copy
import pickle

import fewsight
from fewsight._base.none_of_these import NONE_OF_THESE, NoneOfThese, is_none_of_these


def test_there_is_one_of_it_whatever_is_done_to_it():
    assert fewsight.NONE_OF_THESE is NONE_OF_THESE is NoneOfThese()
    assert pickle.loads(pickle.dumps(NONE_OF_THESE)) is NONE_OF_THESE
    assert copy.deepcopy([NONE_OF_THESE])[0] is copy.copy(NONE_OF_THESE) is NONE_OF_THESE


def test_it_equals_no_name_that_a_category_could_have():
    assert not any(name == NONE_OF_THESE for name in ("none of these", "NONE_OF_THESE", -1, None, False, ""))
    assert (repr(NONE_OF_THESE), str(NONE_OF_THESE)) == ("NONE_OF_THESE", "none of these")
    assert is_none_of_these(NONE_OF_THESE)
    assert not is_none_of_these(None)
