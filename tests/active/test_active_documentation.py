"""What docs/active.md shows, runs."""

import re
from pathlib import Path

from fewsight.active import QUERY_RULES

TEXT = (Path(__file__).parents[2] / "docs/active.md").read_text()


def test_its_examples_run_and_asking_beats_random(capsys):
    names = {}
    for code in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        exec(compile(code, "active.md", "exec"), names)
    *status, uncertainty, random = capsys.readouterr().out.strip().splitlines()
    assert "60 labelled" in status[0]
    assert float(uncertainty.split()[1]) > float(random.split()[1])
    assert names["model"].score(names["X"], names["truth"]) > 0.8


def test_every_rule_is_documented():
    assert all(f"`{name}`" in TEXT for name in QUERY_RULES)
