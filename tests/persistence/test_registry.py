"""Which kinds a model file may hold follows from what is registered."""

import pytest

from fewsight._base.errors import InvalidInput
from fewsight.channels import CHANNELS, Colour
from fewsight.learners import LEARNERS, GPClassifier, HistogramGPClassifier
from fewsight.persistence import KINDS, kind_of
from fewsight.transfer import TransferGPClassifier


def test_every_registered_learner_and_channel_has_a_kind():
    assert {*LEARNERS.values(), TransferGPClassifier, *CHANNELS.values()} == set(KINDS.values())
    assert len(KINDS) == len(set(KINDS.values()))


def test_kinds_of_earlier_files_keep_their_names():
    assert kind_of(GPClassifier()) == "gp_classifier"
    assert kind_of(HistogramGPClassifier()) == "histogram_gp_classifier"
    assert kind_of(Colour()) == "colour"


def test_what_is_derived_from_a_kind_is_none():
    class Derived(GPClassifier):
        """Looks the same, and could do anything."""

    with pytest.raises(InvalidInput, match="the learner Derived must be known by a name of its own"):
        kind_of(Derived())
