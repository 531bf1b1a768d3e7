"""What every exported channel must satisfy."""

import json

import numpy as np
import pytest
from sklearn.base import clone

from fewsight._base.errors import FewsightError, UnreadableImage
from fewsight.channels import CHANNELS, make_channel
from fewsight.images import FeatureCache, as_image, sample_set
from small_networks import write_network, write_vectors

# Small enough to be quick; an option that a channel does not have is left out.
QUICK = {"n_words": 30, "n_descriptors": 2_000, "longest_side": 64}


FILES = {}  # of the channels that need one, by name
ODD = [as_image(np.full(shape, 0.5, np.float32)) for shape in [(1, 1, 3), (2, 300, 3), (300, 2, 3), (7, 7, 3)]]
FLAT = [as_image(np.full((40, 40, 3), level, np.float32)) for level in (0.2, 0.8)]


def quick(name, **options):
    known = CHANNELS[name]._get_param_names()
    options = {**QUICK, **FILES.get(name, {}), **options}
    return make_channel(name, **{key: value for key, value in options.items() if key in known})


@pytest.fixture(scope="module", autouse=True)
def files(tiles, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    FILES["embedding"] = {"model": write_network(folder / "small.onnx")}
    FILES["vectors"] = {"table": write_vectors(folder / "vectors.npz", [*tiles, *ODD, *FLAT])}


def same(A, B):
    """Whether encodings are equal to the last bit; some have millions of columns, so never made dense."""
    A, B = A.state(), B.state()
    return (
        A.header == B.header
        and A.arrays.keys() == B.arrays.keys()
        and all(np.array_equal(A.arrays[name], B.arrays[name]) for name in A.arrays)
    )


@pytest.fixture(scope="module")
def tiles():
    tiles = sample_set()
    return [tiles.images[index] for index in range(0, len(tiles), len(tiles) // 12)][:12]


@pytest.fixture(params=sorted(CHANNELS))
def name(request):
    missing = CHANNELS[request.param].missing()
    if missing is not None:
        pytest.skip(missing)
    return request.param


def test_its_name_is_the_one_it_is_listed_under(name):
    assert CHANNELS[name].name == name
    assert CHANNELS[name].__doc__.strip()


def test_a_row_per_image_and_a_valid_gram_matrix(name, tiles):
    channel = quick(name).fit(tiles[:8])
    A = channel.encode(tiles)
    assert isinstance(A, channel.encodings)
    assert A.shape == (12, channel.n_columns)
    K = channel.gram(A)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-10
    np.testing.assert_allclose(np.diag(K), channel.diag(A), rtol=1e-12)
    np.testing.assert_allclose(channel.gram(A, A.take(np.arange(5))), K[:, :5], rtol=1e-12)
    np.testing.assert_allclose(np.diag(channel.distances(A, A)), 0, atol=1e-7)


def test_its_encodings_can_be_taken_joined_and_stored(name, tiles):
    channel = quick(name).fit(tiles[:8])
    A = channel.encode(tiles)
    assert same(channel.encode(tiles[:5]).join(channel.encode(tiles[5:])), A)
    assert same(A.take(np.array([3, 0, 3])), channel.encode([tiles[3], tiles[0], tiles[3]]))
    assert same(channel.encodings.from_state(A.state()), A)
    assert len(channel.encode([])) == 0
    np.testing.assert_allclose(channel.against(A).gram(A.take(np.array([2]))), channel.gram(A)[2:3], rtol=1e-12)


def test_the_encoding_of_an_image_does_not_depend_on_its_company(name, tiles):
    channel = quick(name).fit(tiles[:8])
    together, alone = channel.encode(tiles), channel.encode(tiles[9:10])
    assert same(together.take(np.array([9])), alone)


@pytest.mark.parametrize("n_jobs", [2])
def test_the_number_of_jobs_changes_nothing(name, tiles, n_jobs):
    one, several = (quick(name, n_jobs=jobs).fit(tiles) for jobs in (1, n_jobs))
    assert same(one.encode(tiles), several.encode(tiles))


def test_the_cache_changes_nothing_and_is_used(name, tiles, tmp_path):
    plain = quick(name).fit(tiles).encode(tiles)
    cache = FeatureCache(tmp_path / "cache")
    for _ in range(2):  # the first fills it, the second reads it
        channel = quick(name, cache=cache).fit(tiles)
        assert same(channel.encode(tiles), plain)
    if channel._kept is None:
        assert name == "vectors"  # a table is quick to read
        return
    channel._describe = None  # a third time nothing may be described
    assert same(channel.fit(tiles).encode(tiles), plain)


def test_it_learns_from_training_images_only(name, tiles):
    """What test images look like never reaches the encoding of others."""
    channel = quick(name).fit(tiles[:8])
    before = channel.encode(tiles[:8])
    channel.encode(tiles)
    assert same(channel.encode(tiles[:8]), before)


def test_its_state_survives_json_and_gives_the_same_encodings(name, tiles):
    channel = quick(name).fit(tiles[:8])
    state = channel.state()
    restored = CHANNELS[name].from_state(type(state)(json.loads(json.dumps(state.header)), state.arrays))
    assert same(restored.encode(tiles), channel.encode(tiles))


def test_it_can_be_cloned_and_an_unfitted_one_says_so(name, tiles):
    channel = clone(quick(name).fit(tiles[:8]))
    with pytest.raises(FewsightError, match="call fit"):
        channel.encode(tiles)


def test_fit_leaves_its_options_alone(name, tiles):
    channel = quick(name)
    before = channel.get_params()
    assert channel.fit(tiles[:4]).get_params() == before


@pytest.mark.parametrize("odd", ODD, ids=["one pixel", "flat", "narrow", "small"])
def test_tiny_and_narrow_images_have_an_encoding(name, tiles, odd):
    channel = quick(name).fit(tiles[:4])
    K = channel.gram(channel.encode([odd]), channel.encode(tiles[:4]))
    assert np.isfinite(K).all()


def test_flat_images_alone_can_be_fitted(name):
    channel = quick(name).fit(FLAT)
    assert np.isfinite(channel.gram(channel.encode(FLAT))).all()


def test_prepare_reports_what_cannot_be_read_and_encode_fails_on_it(name, tiles, tmp_path):
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"not an image")
    channel = quick(name, cache=FeatureCache(tmp_path / "cache")).fit(tiles[:4])
    assert [error.name for error in channel.prepare([*tiles[:2], broken])] == [str(broken)]
    with pytest.raises(UnreadableImage, match=r"broken\.jpg"):
        channel.encode([broken])


def test_no_images_at_all_is_one_sentence(name):
    with pytest.raises(FewsightError, match="at least one image"):
        quick(name).fit([])


def test_a_wrong_name_or_option_lists_the_right_ones(name):
    with pytest.raises(FewsightError, match=name):
        make_channel("no_such_channel")
    with pytest.raises(FewsightError, match="compare" if name == "vectors" else "longest_side"):
        make_channel(name, no_such_option=1)


def test_bad_options_are_refused_with_and_without_a_cache(name, tiles, tmp_path):
    for cache in (None, FeatureCache(tmp_path)):
        if name == "vectors":  # which looks at no pixels
            with pytest.raises(FewsightError, match="Vectors: scale must be a number from 1e-09 to 1e"):
                quick(name, cache=cache, scale=-3).fit(tiles[:2])
            continue
        with pytest.raises(FewsightError, match="longest_side must be a whole number from 16 to 5,000, got 3"):
            quick(name, cache=cache, longest_side=3).fit(tiles[:2])
