"""What the documentation says can be done, is done here."""

import re
from pathlib import Path

import pytest

import fewsight
from fewsight.channels import CHANNELS

ROOT = Path(__file__).parents[2]
TEXTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py")]
KEY = re.compile(r"\[([A-Z][a-z]+(?:19|20)\d\d)\b[^\]]*\]")


def test_every_cited_paper_stands_in_the_references():
    known = set(re.findall(r"@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text()))
    cited = {key: path.name for path in TEXTS for key in KEY.findall(path.read_text())}
    assert cited
    assert {key: name for key, name in cited.items() if key not in known} == {}


def test_every_linked_file_is_there():
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_the_python_examples_of_the_readme_run(tmp_path, monkeypatch, capsys):
    learning, asking = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(learning, "README.md", "exec"), {})
    assert float(capsys.readouterr().out.split()[0]) > 0.6  # eleven categories: guessing is right in 0.09
    exec(compile(asking, "README.md", "exec"), {})
    assert "60 labelled" in capsys.readouterr().out


def test_the_example_of_many_histograms_runs(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/large_scale.md").read_text(), re.DOTALL)
    exec(compile(example, "large_scale.md", "exec"), {})
    assert float(capsys.readouterr().out.split()[0]) > 0.6  # four categories: guessing is right in 0.25


@pytest.mark.parametrize("name", sorted(CHANNELS))
def test_every_channel_is_documented(name):
    assert any(f"`{name}`" in path.read_text() for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")))


def test_every_public_name_can_be_imported():
    for name in fewsight.__all__:
        assert getattr(fewsight, name) is not None
    assert set(fewsight.__all__) == set(dir(fewsight))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = fewsight.nonsense


def test_nothing_tracked_names_a_machine():
    """Paths of a home or work folder, and names of registries, have no place in a project."""
    forbidden = re.compile(r"(^|[^\w.])/(work|root|home)/\w|py" + r"pi\.org|npm" + r"js")
    for path in (*TEXTS, ROOT / "Makefile", ROOT / "pyproject.toml"):
        assert not forbidden.search(path.read_text()), path.name
