"""Options that are stated once."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from fewsight.channels import CHANNELS, DensePmk, OpponentSift, Phog, SpatialPmk, Vectors, VocabularyPmk
from fewsight.channels.dense import DenseSiftChannel
from fewsight.channels.option_fields import Options, documented_options, option
from fewsight.images import FeatureCache


class Grid(Options):
    """A grid."""

    step: int = option(default=8, doc="distance of two points.")
    origin: float = option(default=0.0, doc="where it begins.")


class Fine(Grid):
    """A fine grid."""

    step: int = 2
    shape: str = option(default="square", doc="of its cells.", kw_only=False)


def test_a_class_is_made_from_its_own_options_and_those_it_inherits():
    assert vars(Fine("hexagon", origin=0.5)) == {"step": 2, "origin": 0.5, "shape": "hexagon"}
    assert vars(Grid()) == {"step": 8, "origin": 0.0}


def test_unless_told_otherwise_options_are_passed_by_keyword():
    kinds = {name: parameter.kind for name, parameter in inspect.signature(Fine).parameters.items()}
    assert kinds["shape"] == inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert kinds["step"] == kinds["origin"] == inspect.Parameter.KEYWORD_ONLY
    with pytest.raises(TypeError, match="steps"):
        Fine(steps=3)


def test_documentation_lists_own_options_first_and_inherits_words():
    assert list(documented_options(Fine)) == ["shape", "step", "origin"]
    assert Fine.__doc__.splitlines() == [
        "A fine grid.",
        "",
        "Parameters",
        "----------",
        "shape : of its cells.",
        "step : distance of two points.",
        "origin : where it begins.",
    ]


@pytest.mark.parametrize("kind", CHANNELS.values(), ids=list(CHANNELS))
def test_every_option_of_every_channel_is_explained(kind):
    explained = documented_options(kind)
    assert set(explained) == set(kind._get_param_names())
    assert all(explained.values())


def test_an_option_for_all_dense_channels_is_one_change_in_one_place():
    """Here: a class between the dense channels and the one that they share, instead of an edit of that."""

    class Blurred(DenseSiftChannel):
        blur: float = option(default=0.0, doc="standard deviation of a blur, in pixels.")

    for kind in (SpatialPmk, DensePmk, VocabularyPmk, OpponentSift):
        channel_kind = type(kind.__name__, (kind, Blurred), {"__module__": __name__})
        channel = channel_kind(blur=1.5, step=4)
        assert clone(channel).get_params() == {**kind(step=4).get_params(), "blur": 1.5}
        assert "blur=1.5" in repr(channel)


def test_a_channel_of_the_older_kind_with_a_constructor_of_its_own_keeps_it():
    class Older(Phog):
        def __init__(self, *, n_bins=3, cache=None, n_jobs=None, random_state=0):
            super().__init__(n_bins=n_bins, cache=cache, n_jobs=n_jobs, random_state=random_state)

    assert Older._get_param_names() == ["cache", "n_bins", "n_jobs", "random_state"]
    assert clone(Older(n_bins=5)).n_bins == 5


@pytest.mark.parametrize("kind", CHANNELS.values(), ids=list(CHANNELS))
def test_options_survive_clone_set_params_and_pickle(kind):
    channel = kind(random_state=3)
    channel.set_params(n_jobs=2)
    for copy in (clone(channel), pickle.loads(pickle.dumps(channel))):
        assert copy.get_params() == channel.get_params()
        assert copy.random_state == 3
        assert repr(copy) == repr(channel)


def test_a_clone_shares_the_cache_and_copies_the_rest(tmp_path):
    cache, scales = FeatureCache(tmp_path), [1.0, 2.0]
    channel = SpatialPmk(cache=cache, scales=scales)
    copy = clone(channel)
    assert copy.cache is cache
    assert copy.scales == scales
    assert copy.scales is not scales


def test_where_the_work_is_done_can_be_said_later_and_is_no_part_of_what_is_stored(tmp_path):
    cache = FeatureCache(tmp_path)
    channel = Phog(n_bins=4, longest_side=32).set_workplace(cache=cache, n_jobs=2)
    assert (channel.cache, channel.n_jobs) == (cache, 2)
    stored = channel.fit([np.eye(32, dtype=np.float32)[:, :, None].repeat(3, axis=2)]).state().header["options"]
    assert set(channel.get_params()) - set(stored) == {"cache", "n_jobs"}


def test_a_file_may_be_passed_by_position():
    assert Vectors("table.npz").table == "table.npz"
