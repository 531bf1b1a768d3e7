"""Every exported channel satisfies the contract: it is covered by standing in CHANNELS."""

import pytest
from sklearn.base import clone

from fewsight._base.errors import FewsightError
from fewsight.channels import CHANNELS, make_channel
from fewsight.images import FeatureCache
from fewsight.testing import CHANNEL_CHECKS
from fewsight.testing.channel_checks import FLAT_IMAGES, ODD_IMAGES, some_images
from small_networks import write_network, write_vectors

# Small enough to be quick; an option that a channel does not have is left out.
QUICK = {"n_words": 30, "n_descriptors": 2_000, "n_points": 40, "longest_side": 64, "width": 64, "n_starts": 1}


@pytest.fixture(scope="module")
def images():
    return some_images()


@pytest.fixture(scope="module")
def files(images, tmp_path_factory):
    """Of the channels that need one, by name. Vectors are those of few images: of all that the checks look at."""
    folder = tmp_path_factory.mktemp("files")
    known = [*images, *ODD_IMAGES, *FLAT_IMAGES]
    return {
        "embedding": {"model": write_network(folder / "small.onnx")},
        "vectors": {"table": write_vectors(folder / "vectors.npz", known)},
    }


@pytest.fixture(params=sorted(CHANNELS))
def channel(request, files):
    kind = CHANNELS[request.param]
    if kind.missing() is not None:
        pytest.skip(kind.missing())
    options = {**QUICK, **files.get(request.param, {})}
    return make_channel(
        request.param, **{key: value for key, value in options.items() if key in kind._get_param_names()}
    )


@pytest.mark.parametrize("check", CHANNEL_CHECKS, ids=lambda check: check.__name__)
def test_every_channel_satisfies_the_contract(check, channel, images):
    check(channel, images)


def test_a_scale_that_is_none_is_refused_with_and_without_a_cache(files, images, tmp_path):
    for cache in (None, FeatureCache(tmp_path)):
        channel = make_channel("vectors", cache=cache, scale=-3, **files["vectors"])
        with pytest.raises(FewsightError, match="Vectors: scale must be a number from 1e-09 to 1e"):
            clone(channel).fit(images[:2])
