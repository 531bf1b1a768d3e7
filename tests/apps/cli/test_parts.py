"""`fewsight parts` shows what there is."""

from __future__ import annotations

import json
from collections.abc import Callable

from typer.testing import Result


def test_learners_rules_kernels_and_families_are_listed_by_kind(run: Callable[..., Result]) -> None:
    lines = run("parts").stdout.splitlines()
    headings = [line for line in lines if not line.startswith(" ")]
    assert headings == ["channels", "learners", "rules", "kernels", "families"]
    assert any(line.startswith("  histogram_gp: ") for line in lines)


def test_other_programs_get_json(run: Callable[..., Result]) -> None:
    rules = json.loads(run("parts", "rules", "--json").stdout)
    assert {"kind": "rules", "name": "random"}.items() <= rules[[r["name"] for r in rules].index("random")].items()


def test_an_unknown_kind_is_one_sentence(run: Callable[..., Result]) -> None:
    result = run("parts", "spare")
    assert result.exit_code == 1
    assert "parts: kind must be one of" in result.stderr
