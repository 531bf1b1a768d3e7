"""What the documentation says can be done, is done here."""

import re
from pathlib import Path

import pytest

import fewsight
from fewsight.channels import CHANNELS
from small_networks import N_FEATURES, write_network

ROOT = Path(__file__).parents[2]
MADE = {ROOT / "docs" / "tutorials", ROOT / "docs" / "reference" / "generated"}  # when the site is built
PAGES = [*ROOT.glob("*.md"), *(path for path in ROOT.glob("docs/**/*.md") if not MADE & set(path.parents))]
CODE = [path for folder in ("src", "tests", "examples", "docs/site") for path in ROOT.glob(f"{folder}/**/*.py")]
TEXTS = [*PAGES, *CODE]
KEY = re.compile(r"\[([A-Z][a-z]+(?:19|20)\d\d)\b[^\]]*\]")


def test_every_cited_paper_stands_in_the_references():
    known = set(re.findall(r"@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text()))
    cited = {key: path.name for path in TEXTS for key in KEY.findall(path.read_text())}
    assert cited
    assert {key: name for key, name in cited.items() if key not in known} == {}


def test_every_linked_file_and_heading_is_there():
    for path in PAGES:
        for target, _, heading in re.findall(r"\]\(([^)#:]*)(#([^)]+))?\)", path.read_text()):
            linked = path.parent / target if target else path
            assert linked.exists(), f"{path.name} links to {target}"
            assert not heading or heading in anchors(linked), f"{path.name} links to {target}#{heading}"


def anchors(path):
    """The headings of a page as links name them: lower case, hyphens for blanks, no other marks."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_of_the_documentation_stands_in_a_section():
    """A page that no table of contents names cannot be found on the site."""
    listed = set()
    for path in PAGES:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text(), re.DOTALL):
            listed |= {(path.parent / f"{line}.md").resolve() for line in block.splitlines() if line and line[0] != ":"}
    pages = {path.resolve() for path in PAGES if path.parent != ROOT}
    assert pages - listed == {ROOT / "docs" / "index.md"}
    assert {path for path in listed - pages if not MADE & set(path.parents)} == set()


def test_the_python_examples_of_the_readme_run(tmp_path, monkeypatch, capsys):
    learning, vectors = python_blocks("README.md")
    monkeypatch.chdir(tmp_path)
    exec(compile(learning, "README.md", "exec"), {})
    assert float(capsys.readouterr().out.split()[0]) > 0.9  # eleven categories: guessing is right in 0.09
    exec(compile(vectors, "README.md", "exec"), {})
    score, *said = capsys.readouterr().out.splitlines()
    assert float(score) > 0.6  # ten digits, five labels each
    assert any("60 labelled" in line for line in said)


def test_the_examples_of_many_images_run(capsys):
    examples = python_blocks("docs/large_scale.md")
    assert len(examples) == 2
    for example in examples:
        exec(compile(example, "large_scale.md", "exec"), {})
        assert float(capsys.readouterr().out.split()[0]) > 0.6  # four categories at most: guessing is right in 0.33


def test_the_recipe_for_a_network_of_your_own_runs(tmp_path, monkeypatch, capsys):
    (example,) = [
        text for text in python_blocks("docs/embeddings.md") if "network.onnx" in text and "GPClassifier" in text
    ]
    write_network(tmp_path / "network.onnx")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "embeddings.md", "exec"), {})
    *remarks, shape, score = capsys.readouterr().out.splitlines()
    assert remarks[0].startswith("embedding: the whole image at 16 x 16, RGB, mean 0.485")
    assert shape == f"(55, {N_FEATURES})"
    assert float(score) > 0.3  # a random convolution: three times guessing


@pytest.mark.slow
def test_the_vectors_of_the_pretrained_network_are_one_line():
    (example,) = [text for text in python_blocks("docs/embeddings.md") if "Pretrained().vectors" in text]
    known = {}
    exec(compile(example, "embeddings.md", "exec"), known)
    assert known["X"].shape == (548, 1280)


def test_what_the_guide_to_asking_shows_runs(capsys):
    names = {}
    for example in python_blocks("docs/active.md"):
        exec(compile(example, "active.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "60 labelled" in printed
    assert re.search(r"^random 0\.\d+$", printed, re.MULTILINE)


def test_what_the_page_about_parts_shows_runs(capsys):
    names = {}
    for example in python_blocks("docs/parts.md"):
        exec(compile(example, "parts.md", "exec"), names)
    score, *shapes = capsys.readouterr().out.splitlines()
    assert float(score) > 0.27  # eleven categories: guessing is right in 0.09
    assert shapes == ["(3, 1)", "(4, 3)", "(3, 11)"]


def python_blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


@pytest.mark.parametrize("name", sorted(CHANNELS))
def test_every_channel_is_documented(name):
    assert any(f"`{name}`" in path.read_text() for path in PAGES)


@pytest.mark.parametrize("page", [*PAGES, *sorted((ROOT / "examples").glob("*.py"))], ids=lambda page: page.name)
def test_a_page_imports_only_what_the_reference_lists(page):
    """From `fewsight` and `fewsight.testing`: whoever follows a page finds every name of it in the reference."""
    inside = re.findall(r"^(?:    >>> )?from (fewsight\.[\w.]+) import", page.read_text(), re.MULTILINE)
    assert set(inside) <= {"fewsight.testing"}


@pytest.mark.parametrize("registry", ["CHANNELS", "LEARNERS"])
def test_every_built_in_part_is_public(registry):
    for kind in getattr(fewsight, registry).values():
        if kind.__module__.startswith("fewsight."):
            assert getattr(fewsight, kind.__name__, None) is kind


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
