"""ONNX files of strangers: what they say about themselves, and every way in which one can be refused."""

import os
import threading
import time

import numpy as np
import pytest

from fewsight._base.errors import FewsightError
from fewsight.features.networks import ImageNetwork, Wishes, onnx_writing, read_onnx, session
from fewsight.features.networks import protobuf as wire
from fewsight.features.networks.onnx_graph import read_graph
from small_networks import N_FEATURES, SIDE, filters, network, write_network

pytest.importorskip("onnxruntime", reason="needs fewsight[onnx]")
PIXELS = np.random.default_rng(1).random((40, 30, 3), dtype=np.float32)


def opened(path, **wishes):
    return ImageNetwork(read_onnx(path, "Embedding"), Wishes(**wishes))


def vector(path, **wishes):
    return opened(path, **wishes).vector(PIXELS, "photo.jpg")


def refused(path, **wishes):
    with pytest.raises(FewsightError) as caught:
        vector(path, **wishes)
    sentence = str(caught.value)
    assert sentence.startswith("Embedding: ")
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 500
    return sentence


def ends_well(path):
    """In a vector, or in words."""
    try:
        return np.isfinite(vector(path)).all()
    except FewsightError as error:
        return str(error).startswith("Embedding: ")


@pytest.fixture
def write(tmp_path):
    return lambda **options: write_network(tmp_path / "small.onnx", **options)


def test_the_vector_is_what_the_definition_says(write):
    found = opened(write(), mean=(0.5, 0.4, 0.3), std=(0.2, 0.3, 0.4))
    tensor = found.preparation.tensor(PIXELS)[0].astype(np.float64)
    patches = tensor.reshape(3, SIDE // 4, 4, SIDE // 4, 4)
    expected = np.maximum(np.einsum("chiwj,ocij->ohw", patches, filters()), 0).mean(axis=(1, 2))
    np.testing.assert_allclose(found.vector(PIXELS, "photo"), expected, rtol=1e-5)


def test_the_file_says_what_it_takes_and_gives(write):
    graph = read_graph(network(metadata={"mean": "[0.5, 0.5, 0.5]", "side": "32"}))
    assert [(port.name, port.shape) for port in graph.inputs] == [("image", (None, 3, SIDE, SIDE))]
    assert [(port.name, port.shape) for port in graph.outputs] == [("vector", (None, N_FEATURES))]
    assert graph.metadata == {"mean": "[0.5, 0.5, 0.5]", "side": "32"}
    assert graph.n_nodes == 4


def test_what_is_not_given_is_read_from_the_metadata(write):
    said = {"mean": "0.1, 0.2, 0.3", "std": "[0.5,0.5,0.5]", "side": "32", "colours": "bgr"}
    how = opened(write(shape=("n", 3, "h", "w"), metadata=said)).preparation
    assert (how.height, how.width, how.mean, how.std, how.colours) == (32, 32, (0.1, 0.2, 0.3), (0.5,) * 3, "bgr")
    how = opened(
        write(shape=("n", 3, "h", "w"), metadata=said), side=48, mean=(0.0, 0.0, 0.0), colours="rgb"
    ).preparation
    assert (how.height, how.mean, how.colours) == (48, (0.0, 0.0, 0.0), "rgb")


def test_a_map_is_averaged_and_of_a_sequence_the_first_is_taken(write):
    expected = vector(write())
    np.testing.assert_allclose(vector(write(ending="map", output=("n", N_FEATURES, "h", "w"))), expected, rtol=1e-5)
    tokens = write(ending="tokens", output=("n", "tokens", N_FEATURES))
    np.testing.assert_allclose(vector(tokens, pooling="mean"), expected, rtol=1e-5)
    assert not np.allclose(vector(tokens), expected)
    assert len(vector(tokens)) == N_FEATURES


def test_colours_crop_and_bytes(tmp_path, write):
    assert not np.allclose(vector(write(), colours="bgr"), vector(write()))
    assert not np.allclose(vector(write(), crop=0.5), vector(write()))
    whole = opened(write(), crop=1.0).preparation
    assert whole._box(30, 40) == (0, 5, 30, 35)
    nodes = [
        onnx_writing.node("Cast", ["image"], "f", {"to": 1}),
        onnx_writing.node("ReduceMean", ["f"], "v", {"axes": [1, 2], "keepdims": 0}),
    ]
    inputs, outputs = [onnx_writing.value("image", ("n", 8, 8, 3), 2)], [onnx_writing.value("v", ("n", 3))]
    path = tmp_path / "bytes.onnx"
    path.write_bytes(onnx_writing.model("bytes", nodes, [], inputs, outputs))
    assert opened(path).preparation.layout == "nhwc"
    np.testing.assert_allclose(vector(path), 255 * PIXELS.mean(axis=(0, 1)), rtol=0.05)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"second_input": True}, "must have one input, an image, got 'image', 'text'; export the image part alone."),
        ({"shape": ("n", 3)}, r"the input must be images, (n, 3, h, w) or (n, h, w, 3), got the shape (any, 3)."),
        ({"shape": ("n", 1, 28, 28)}, "the input must have three colour channels, got the shape (any, 1, 28, 28)."),
        ({"shape": (8, 3, SIDE, SIDE)}, "must take any number of images, or one, at a time, got 8."),
        ({"element": 7}, "the input must be images, (n, 3, h, w) or (n, h, w, 3), got another kind of number."),
        ({"shape": ("n", 3, "h", "w")}, "the network takes images of any height; set side, 224 for example."),
        ({"output": None}, "the network must have an output, got none."),
        (
            {"output": ("n", 1, 1, 1, 1)},
            "the output must be one vector for each image, got the shape (any, 1, 1, 1, 1).",
        ),
        ({"output": ("n", 10**9)}, "the length of a vector must be a whole number from 1 to 65,536, got 1000000000."),
        ({"ending": "nan"}, "the output must hold finite numbers only, got NaN or infinity for photo.jpg."),
        ({"domain": "my.ops"}, "only ONNX's own operators are run, got some of 'my.ops'."),
        ({"metadata": {"std": "0, 0, 0"}}, "std must be three numbers for pixels in [0, 1], got [0, 0, 0]."),
    ],
)
def test_a_network_that_cannot_be_used_is_one_sentence(write, options, sentence):
    assert refused(write(**options)).endswith(sentence)


@pytest.mark.parametrize(
    ("wishes", "sentence"),
    [
        ({"side": 32}, "side must be 16, which is what the network takes, got 32."),
        ({"side": "\ud800"}, r"side must be 16, which is what the network takes, got '\ud800'."),
        ({"output": "logits"}, "output must be one of 'vector', got 'logits'."),
        ({"layout": "chwn"}, "layout must be one of 'nchw', 'nhwc', got 'chwn'."),
        ({"colours": "grey"}, "colours must be one of 'rgb', 'bgr', got 'grey'."),
        ({"pooling": "max"}, "pooling must be one of 'mean', 'first', got 'max'."),
        ({"mean": (1, 2)}, "mean must be three numbers for pixels in [0, 1], got (1, 2)."),
        ({"std": (0.0, 1.0, 1.0)}, "std must be three numbers for pixels in [0, 1], got (0.0, 1.0, 1.0)."),
        ({"crop": 2}, "crop must be a share from 0.1 to 1, or None for the whole image, got 2."),
    ],
)
def test_a_wrong_wish_is_one_sentence(write, wishes, sentence):
    assert refused(write(), **wishes).endswith(sentence)


@pytest.mark.parametrize(
    "content", [b"", b"hello, world\n", b"PK\x03\x04" + bytes(60), bytes(1000), b"\x08\x07", b"\xff" * 64]
)
def test_what_is_no_onnx_file_is_one_sentence(tmp_path, content):
    path = tmp_path / "other.onnx"
    path.write_bytes(content)
    assert "other.onnx: " in refused(path)


def test_a_file_that_is_not_there_or_no_file(tmp_path):
    assert refused(tmp_path / "none.onnx").endswith("the ONNX file must be readable, got none.onnx: no such file.")
    assert refused(tmp_path).endswith("a folder, not a file.")


def test_a_truncated_file_is_refused_wherever_it_ends(tmp_path):
    whole = network()
    path = tmp_path / "cut.onnx"
    for end in range(1, len(whole) - 1, len(whole) // 60):
        path.write_bytes(whole[:end])
        assert ends_well(path)  # what is missing may be metadata


def test_damaged_bytes_end_in_a_vector_or_in_words(tmp_path):
    rng, whole, path = np.random.default_rng(0), network(), tmp_path / "damaged.onnx"
    for _ in range(120):
        content = bytearray(whole)
        for place in rng.integers(0, 400, size=rng.integers(1, 6)):
            content[place] = rng.integers(256)
        path.write_bytes(content)
        assert ends_well(path)


def test_a_giant_result_is_refused_and_not_waited_for(write):
    assert "the network must run on photo.jpg, got" in refused(write(ending="giant", output=("n", "many")))


def test_a_network_that_never_ends_is_stopped(write, monkeypatch):
    monkeypatch.setattr(session, "MOST_SECONDS", 0.3)
    path = write()
    body = _endless_body()
    loop = wire.content(5, wire.content(1, "body") + wire.content(6, body) + wire.integer(20, 5))
    node = (
        b"".join(wire.content(1, name) for name in ("trips", "", "start"))
        + wire.content(2, "end")
        + wire.content(4, "Loop")
        + loop
    )
    nodes = [
        node,
        onnx_writing.node("GlobalAveragePool", ["image"], "p"),
        onnx_writing.node("Flatten", ["p"], "f"),
        onnx_writing.node("Add", ["f", "end"], "v"),
    ]
    tensors = [
        onnx_writing.tensor("trips", np.array(2**60)),
        onnx_writing.tensor("start", np.zeros((1, 3), np.float32)),
    ]
    path.write_bytes(
        onnx_writing.model(
            "endless",
            nodes,
            tensors,
            [onnx_writing.value("image", ("n", 3, 8, 8))],
            [onnx_writing.value("v", ("n", 3))],
        )
    )
    start = time.monotonic()
    assert "the network must run on photo.jpg, got" in refused(path)
    assert time.monotonic() - start < 60


def _endless_body():
    nodes = [onnx_writing.node("Identity", ["going"], "still"), onnx_writing.node("Sin", ["before"], "after")]
    ports = {
        11: [
            onnx_writing.value("trip", (), 7),
            onnx_writing.value("going", (), 9),
            onnx_writing.value("before", (1, 3)),
        ],
        12: [onnx_writing.value("still", (), 9), onnx_writing.value("after", (1, 3))],
    }
    parts = [wire.content(1, node) for node in nodes] + [wire.content(2, "body")]
    return b"".join(parts + [wire.content(number, port) for number, several in ports.items() for port in several])


def external(location):
    """The small network with its filters in another file."""
    values = filters()
    entries = b"".join(
        wire.content(13, wire.content(1, key) + wire.content(2, text)) for key, text in [("location", location)]
    )
    shape = b"".join(wire.integer(1, side) for side in values.shape)
    tensor = shape + wire.integer(2, 1) + wire.content(8, "filters") + entries + wire.integer(14, 1)
    whole = network()
    inside = onnx_writing.tensor("filters", values)
    assert wire.content(5, inside) in whole
    graph_start = whole.index(wire.content(2, "small"))
    graph_end = whole.index(wire.content(8, wire.content(1, "") + wire.integer(2, onnx_writing.OPSET)))
    graph = whole[graph_start:graph_end].replace(wire.content(5, inside), wire.content(5, tensor))
    head = wire.integer(1, onnx_writing.IR_VERSION) + wire.content(2, "fewsight")
    return head + wire.content(7, graph) + whole[graph_end:]


def test_weights_in_a_file_beside_it_are_read_and_belong_to_the_hash(tmp_path, write):
    expected = vector(write())
    path, beside = tmp_path / "outside.onnx", tmp_path / "filters.bin"
    path.write_bytes(external("filters.bin"))
    beside.write_bytes(filters().tobytes())
    np.testing.assert_allclose(vector(path), expected, rtol=1e-6)
    before = opened(path).digest
    beside.write_bytes((2 * filters()).tobytes())
    assert opened(path).digest != before
    beside.unlink()
    assert "a file of weights must be readable, got filters.bin: no such file." in refused(path)


@pytest.mark.parametrize("location", ["../secret.bin", "/etc/passwd", "a/../../secret.bin", "", "link.bin"])
def test_weights_anywhere_else_are_never_opened(tmp_path, location):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(filters().tobytes())
    os.symlink(tmp_path / "secret.bin", folder / "link.bin")
    path = folder / "outside.onnx"
    path.write_bytes(external(location))
    assert f"files of weights must lie in the folder of the model, got {location!r}; export it again." in refused(path)


def test_several_threads_share_a_network(write):
    found = opened(write())
    expected, results = found.vector(PIXELS, "photo"), []
    threads = [threading.Thread(target=lambda: results.append(found.vector(PIXELS, "photo"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(result, expected) for result in results)
    assert len(results) == 8


def test_a_graph_deeper_than_any_is_damaged():
    graph = wire.content(2, "g") + wire.content(1, onnx_writing.node("Relu", ["x"], "y"))
    for _ in range(40):
        inner = wire.content(5, wire.content(6, graph))
        graph = wire.content(1, wire.content(4, "If") + inner)
    with pytest.raises(wire.Damaged, match="without end"):
        read_graph(wire.content(7, graph))
