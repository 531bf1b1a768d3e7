"""Model files made on purpose, with a digest that fits: whatever stands in them, they are refused or answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hostile_models import edited_headers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fewsight._base.archive import read_archive, write_archive
from fewsight._base.errors import FewsightError
from fewsight._base.types import State
from fewsight.persistence import load
from fewsight.persistence.soundness import with_digest

SLOWLY = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=8), children, max_size=3),
    max_leaves=6,
)


@SLOWLY
@given(data=st.data())
def test_whatever_a_hostile_author_writes_into_the_header_is_refused_or_answers(
    data: st.DataObject, model_file: Path, photos: Path
) -> None:
    whole = read_archive(model_file)
    header = json.loads(json.dumps(whole.header))
    place = data.draw(st.sampled_from(list(edited_headers(header))))
    check_refused_or_answers(model_file, State(place(data.draw(JSON)), whole.arrays), photos)


@pytest.mark.slow
@SLOWLY
@given(data=st.data())
def test_whatever_a_hostile_author_does_to_an_array_is_refused_or_answers(
    data: st.DataObject, model_file: Path, photos: Path
) -> None:
    whole = read_archive(model_file)
    name = data.draw(st.sampled_from(sorted(whole.arrays)))
    changed = data.draw(st.sampled_from(CHANGES))(whole.arrays[name])
    check_refused_or_answers(model_file, State(whole.header, {**whole.arrays, name: changed}), photos)


CHANGES: list[Callable[[np.ndarray], np.ndarray]] = [
    lambda array: array[:0],
    lambda array: array[:-1],
    lambda array: array[None],
    lambda array: array.ravel(),
    lambda array: array.T,
    lambda array: np.zeros_like(array),
    lambda array: -array,
    lambda array: array * 10**6,
    lambda array: array[::-1],
    lambda array: array.astype(np.float32),
    lambda array: array.astype(np.int64),
    lambda array: array.astype(np.uint8),
    lambda array: array.astype("U4"),
    lambda array: array.astype(bool),
    lambda array: array.astype(np.complex128),
    lambda array: np.full_like(array, 2**30),
    lambda array: np.full_like(array, -1),
    lambda array: np.full(array.shape, 1e300),
]


def check_refused_or_answers(model_file: Path, state: State, photos: Path) -> None:
    path = model_file.with_name("authored")
    write_archive(path, with_digest(state))
    try:
        answers = load(path).predict_proba([next(photos.glob("*/*.png"))])
    except FewsightError:
        return
    assert np.isfinite(answers).all()
