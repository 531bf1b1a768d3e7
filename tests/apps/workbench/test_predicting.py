"""What a model says about images, image by image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fewsight._base.errors import ModelFileError
from fewsight.apps.workbench import Predictions, Workplace, learn, predict_images
from fewsight.apps.workbench.predicting import uncertainty_of
from fewsight.channels import Colour
from fewsight.images import sample_set
from fewsight.persistence import save


def test_uncertainty_goes_from_certain_to_no_idea() -> None:
    rows = np.array([[1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0.0]])
    np.testing.assert_allclose(uncertainty_of(rows), [0, 1, np.log(2) / np.log(3)], atol=1e-12)
    assert uncertainty_of(np.ones((2, 1))).tolist() == [0, 0]


def test_a_learner_that_does_not_say_what_is_unknown_leaves_that_empty() -> None:
    whole = sample_set()
    tiles = whole.select(np.concatenate([np.flatnonzero(whole.labels == name)[:4] for name in ("brick", "retina")]))
    for learner, answers in (("mean", {""}), ("gp", {"yes", "no"})):
        model = learn(tiles, [Colour()], learner=learner).model
        rows = list(Predictions(model, tiles.images, Workplace(keep_features=False)))
        assert {row.unknown for row in rows} <= answers
        assert [row.category for row in rows] == model.predict(tiles.images).tolist()


def test_a_channel_alone_is_no_model_to_predict_with(tmp_path: Path) -> None:
    save(Colour().fit(sample_set().images[:3]), tmp_path / "channel")
    with pytest.raises(ModelFileError, match="holds a channel, not a learner, so it names no categories"):
        predict_images(tmp_path / "channel", [tmp_path])
