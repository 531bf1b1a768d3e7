"""Channel `vectors`: a table of the user's own."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight._base.types import State
from fewsight.channels import Embedding, Vectors
from fewsight.images import as_image
from fewsight.learners import GPClassifier
from fewsight.persistence import load, save
from small_networks import write_vectors


def test_images_without_a_row_are_reported_as_unreadable(tiles, table):
    stranger = as_image(np.full((5, 5, 3), 7, np.uint8))
    channel = Vectors(table).fit(tiles.images)
    (failure,) = channel.prepare([*tiles.images, stranger])
    assert failure.reason == f"no row in {table}"
    with pytest.raises(UnreadableImage, match="no row in"):
        channel.encode([stranger])
    said = Vectors(table).remarks([*tiles.images[2:], stranger])
    assert [text.partition(" in ")[0] for text in said] == [
        "vectors: 1 images without a row",
        "vectors: 2 rows without an image",
    ]


def test_options_that_are_missing_or_wrong_are_one_sentence(tiles, table):
    for options, sentence in [
        ({}, "Vectors: table must be the path of a table of vectors, got None."),
        ({"table": table, "compare": "chi"}, "Vectors: compare must be one of 'rbf', 'cosine', 'linear', got 'chi'."),
        ({"table": table, "unit_length": "yes"}, "Vectors: unit_length must be True or False, got 'yes'."),
        ({"table": table, "scale": 0}, "Vectors: scale must be a number from 1e-09 to 1e+09, got 0."),
    ]:
        with pytest.raises(InvalidInput) as caught:
            Vectors(**options).fit(tiles.images)
        assert str(caught.value) == sentence
    with pytest.raises(InvalidInput, match="Embedding: model must be the path of an ONNX file, got None"):
        Embedding().fit(tiles.images)


def test_a_model_remembers_the_table_and_takes_another(tiles, table, tmp_path):
    save(GPClassifier(Vectors(table)).fit(tiles.images[:12], np.arange(12) % 3), tmp_path / "m.fewsight")
    moved = table.rename(tmp_path / "moved.npz")
    model = load(tmp_path / "m.fewsight")  # opens without the table
    with pytest.raises(InvalidInput, match="the table of vectors must be a file with rows, got: no such file"):
        model.predict(tiles.images)
    model.input_.channels[0].table = moved
    assert len(model.predict(tiles.images)) == len(tiles)
    write_vectors(tmp_path / "other.npz", tiles.images, n_columns=5)
    model.input_.channels[0].table = tmp_path / "other.npz"
    with pytest.raises(InvalidInput, match="vectors must have 6 numbers, as those of the training images, got 5"):
        model.predict(tiles.images)


def test_a_model_file_names_no_file_on_another_computer(tiles, table):
    state = Vectors(table).fit(tiles.images).state()
    for place in ("//server/share/v.npz", "\\\\server\\share\\v.npz"):
        options = {**state.header["options"], "table": place}
        with pytest.raises(InvalidInput, match="table must not be on another computer"):
            Vectors.from_state(State({**state.header, "options": options}, state.arrays))
