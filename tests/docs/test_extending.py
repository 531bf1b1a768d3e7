"""What docs/extending.md shows is run, in a process of its own: what it registers is gone afterwards."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from fewsight import CHANNELS, KERNEL_FAMILIES, KERNELS, LEARNERS, QUERY_RULES

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()


def test_the_examples_run(tmp_path: Path) -> None:
    program = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    kernels, blocks, query, predicted = done.stdout.splitlines()
    assert kernels == "[Laplace(scale=1.0), Laplace(scale=5.0), Linear()]"
    assert blocks == "2"
    assert re.fullmatch(r"\[\d+\]", query)
    assert predicted == "['ant' 'ant' 'ant']"
    assert [path.name for path in tmp_path.iterdir()] == ["bees.fewsight"]


def test_the_table_names_every_registry_its_base_class_and_its_group() -> None:
    for registry in (CHANNELS, KERNELS, LEARNERS, QUERY_RULES, KERNEL_FAMILIES):
        row = f"`{registry.base.__name__}`.* | `{registry.attribute}` | `[A-Z_]+` | `{registry.group}` | `check_"
        assert re.search(row, PAGE), registry.group


def test_the_entry_points_are_those_of_the_registries() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    groups = tomllib.loads(example)["project"]["entry-points"]
    assert set(groups) == {KERNELS.group, CHANNELS.group}
