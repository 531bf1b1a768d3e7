"""Phrases of the page, and answers as JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fewsight.apps.web.site import Site, percent, plain
from fewsight.apps.workbench.session import LabellingSession


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.0, "0 %"), (0.001, "under 1 %"), (0.5, "50 %"), (0.91, "91 %"), (0.996, "over 99 %"), (1.0, "100 %")],
)
def test_percent_never_reaches_an_end_by_rounding(share: float, shown: str) -> None:
    assert percent(share) == shown


def test_dataclasses_become_what_json_can_hold() -> None:
    @dataclass
    class Inner:
        place: Path
        pair: tuple[int, float]

    assert plain({"a": [Inner(Path("x"), (1, 0.5))], 2: None}) == {"a": [{"place": "x", "pair": [1, 0.5]}], "2": None}


def test_the_head_says_what_is_under_way(session: LabellingSession) -> None:
    site = Site(session)
    state = replace(session.state(), n_files=2000, n_read=800, n_unreadable=0, n_features=0, n_images=800, n_known=0)
    assert site.state(state)["shown"]["features"] == "800 of 2,000 images read"
    state = replace(state, n_read=1990, n_unreadable=10, n_features=700, n_images=1900)  # ninety files are copies
    assert site.state(state)["shown"]["features"] == "700 of 1,900 images prepared"
    state = replace(state, n_features=1900)  # the model has not seen them
    assert site.state(state)["shown"]["features"] == "1,900 of 1,900 images prepared"
    assert site.state(replace(state, n_known=20))["shown"]["features"] == "20 of 1,900 images prepared"
    state = replace(state, n_known=1900)
    assert site.state(state)["shown"]["features"] == "1,990 images"
    state = replace(state, model="learned", n_learned=120, n_behind=4)
    assert site.state(state)["shown"]["learned"] == "learned from 120 of 124 answers"
    assert site.state(replace(state, model="none"))["shown"]["learned"] == ""
