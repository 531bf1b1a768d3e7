"""Every version opens the files of earlier ones, and they answer as they did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fewsight.images import sample_set
from fewsight.persistence import VERSION, load, save

FIXTURES = Path(__file__).parent / "fixtures"
VERSIONS = range(1, VERSION + 1)


def expected(version: int) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((FIXTURES / f"model_v{version}.json").read_text())
    if isinstance(content["probabilities"], dict):  # of images, by their names
        content = {
            **content,
            "images": [*content["probabilities"]],
            "probabilities": [*content["probabilities"].values()],
        }
    return content


@pytest.mark.parametrize("version", VERSIONS)
def test_a_kept_file_opens_with_what_it_learned(version: int) -> None:
    model, answers = load(FIXTURES / f"model_v{version}.fewsight"), expected(version)
    assert model.classes_.tolist() == answers["classes"]
    if "leave_one_out_mean" in answers:
        np.testing.assert_allclose(model.leave_one_out().mean, answers["leave_one_out_mean"], rtol=0, atol=1e-8)
    else:
        np.testing.assert_allclose(model.latent(answers["rows"]).std, answers["std"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_kept_file_answers_as_it_did(version: int) -> None:
    model, answers = load(FIXTURES / f"model_v{version}.fewsight"), expected(version)
    images = {image.name: image for image in sample_set().images}
    asked = answers["rows"] if "rows" in answers else [images[name] for name in answers["images"]]
    np.testing.assert_allclose(model.predict_proba(asked), answers["probabilities"], rtol=0, atol=1e-6)


def test_a_kept_file_is_small() -> None:
    assert all(path.stat().st_size < 200_000 for path in FIXTURES.iterdir())


def test_a_loan_keeps_its_form_through_files_and_a_new_one_has_the_new_form(tmp_path: Path) -> None:
    """A loan of an early file is not blended with what the borrower is alone; one that is made today is."""
    model = load(FIXTURES / "model_v2.fewsight")
    (borrower,) = model.loans_
    assert not model.loans_[borrower].blended
    model.borrow(next(name for name in model.classes_.tolist() if name != borrower), borrower, 0.5)
    save(model, tmp_path / "again.fewsight")
    again = load(tmp_path / "again.fewsight")
    assert again.loans_ == model.loans_
    np.testing.assert_allclose(again.leave_one_out().mean, model.leave_one_out().mean, rtol=0, atol=1e-12)
