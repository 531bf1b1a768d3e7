"""What is installed can be listed, with the package it comes from."""

from __future__ import annotations

import pytest

import fewsight
from fewsight.apps.workbench.parts import REGISTRIES, describe_parts


def test_every_registered_part_is_described_once() -> None:
    listed = [(part.kind, part.name) for part in describe_parts()]
    assert listed == [(kind, name) for kind, registry in REGISTRIES.items() for name in registry]
    assert all(part.summary for part in describe_parts())


def test_one_kind_can_be_asked_for() -> None:
    assert [part.name for part in describe_parts("learners")] == list(fewsight.LEARNERS)


def test_parts_of_fewsight_name_no_package_and_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fewsight.QUERY_RULES, "_others", {})
    register_a_rule()
    found = {part.name: part.package for part in describe_parts("rules")}
    assert found["uncertainty"] is None
    assert found["asks_the_first"] == __name__.partition(".")[0]


def register_a_rule() -> None:
    @fewsight.register
    class AsksTheFirst(fewsight.QueryRule):
        """Whatever comes first."""

        name = "asks_the_first"

        def reason(self, view, position):
            return "it comes first"

        def _scores(self, view, candidates, rng):
            return -candidates.astype(float)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(fewsight.InvalidInput, match=r"parts: kind must be one of .*channels.*, got 'lerners'"):
        describe_parts("lerners")
