"""Parts of other packages join by a call or an entry point, and a broken one never takes the others with it."""

from __future__ import annotations

import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import fewsight
from fewsight._base import registry as registry_module
from fewsight._base.errors import InvalidInput, PluginWarning, UnknownPart
from fewsight._base.registry import Registry, register

GROUP = "fewsight.test_shapes"


class Shape(ABC):
    name: str

    @abstractmethod
    def area(self) -> float: ...


class Square(Shape):
    name = "square"

    def area(self) -> float:
        return 1.0


class Disc(Square):
    name = "disc"


@pytest.fixture
def shapes(monkeypatch: pytest.MonkeyPatch) -> Registry[Shape]:
    monkeypatch.setattr(registry_module, "_REGISTRIES", [])  # what a test registers is gone afterwards
    return Registry("shape", Shape, [Square], group=GROUP)


Install = Callable[[str, dict[str, str]], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a package of one module on the path, with its metadata, as pip would."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def put(source: str, points: dict[str, str], module: str = "other_shapes") -> None:
        (tmp_path / f"{module}.py").write_text(source)
        info = tmp_path / f"{module}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.2\n")
        lines = [f"{name} = {value}" for name, value in points.items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines]))

    yield put
    for module in [name for name in sys.modules if name.startswith("other_shapes")]:
        del sys.modules[module]


TRIANGLE = """
from shapes_of_the_test import Square

class Triangle(Square):
    name = "triangle"
"""


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shapes_of_the_test", sys.modules[__name__])


def test_it_reads_like_a_dictionary(shapes: Registry[Shape]) -> None:
    assert shapes["square"] is Square
    assert list(shapes) == ["square"]
    assert list(shapes.items()) == [("square", Square)]
    assert len(shapes) == 1
    assert "square" in shapes
    assert "disc" not in shapes
    assert 3 not in shapes
    assert shapes.get("disc") is None
    with pytest.raises(KeyError, match="disc"):
        shapes["disc"]
    assert repr(shapes) == "Registry of 1: square"


def test_one_call_adds_a_class_which_then_comes_after_those_of_the_package(shapes: Registry[Shape]) -> None:
    assert register(Disc) is Disc
    assert list(shapes) == ["square", "disc"]
    assert shapes["disc"] is Disc
    assert register(Disc) is Disc  # once more changes nothing
    assert shapes.is_registered(Disc)
    assert not shapes.is_registered(type("Derived", (Disc,), {}))


def test_a_class_defined_again_in_a_notebook_takes_the_place_of_the_first(shapes: Registry[Shape]) -> None:
    first, second = (type("Disc", (Square,), {"name": "disc", "__module__": "__main__"}) for _ in range(2))
    register(first)
    register(second)
    assert shapes["disc"] is second


@pytest.mark.parametrize(
    ("attributes", "sentence"),
    [
        ({"name": "square"}, r"the name 'square' is taken by .*\.Square\."),
        ({"name": "a shape"}, "its name must be a word of letters, digits and underscores, got 'a shape'"),
        ({"name": None}, "its name must be a word of letters, digits and underscores, got None"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(
    shapes: Registry[Shape], attributes: dict[str, object], sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        register(type("Wrong", (Square,), attributes))
    assert list(shapes) == ["square"]


def test_what_is_no_whole_class_of_the_family_is_refused(shapes: Registry[Shape]) -> None:
    with pytest.raises(InvalidInput, match=r"register: .*\.Half cannot be a shape: it must define area\."):
        register(type("Half", (Shape,), {"name": "half", "__module__": "m"}))
    with pytest.raises(InvalidInput, match=r"register: part must be a class derived from one of Shape, got 3\."):
        register(3)  # type: ignore[type-var]
    with pytest.raises(InvalidInput, match="register: 3 cannot be a shape: it must be a class derived from Shape"):
        shapes.register(3)  # type: ignore[type-var]


def test_an_entry_point_is_found_by_name_and_in_the_list(shapes: Registry[Shape], install: Install) -> None:
    install(TRIANGLE, {"triangle": "other_shapes:Triangle"})
    assert shapes["square"] is Square
    assert "other_shapes" not in sys.modules  # a known name needs nobody's package
    assert shapes["triangle"].__module__ == "other_shapes"
    assert list(shapes) == ["square", "triangle"]


def test_listing_loads_every_entry_point(shapes: Registry[Shape], install: Install) -> None:
    install(TRIANGLE, {"triangle": "other_shapes:Triangle"})
    assert list(shapes) == ["square", "triangle"]
    assert len(shapes) == 2


@pytest.mark.parametrize(
    ("source", "name", "reason"),
    [
        ("raise OSError('no\\nlibrary')", "triangle", r"it cannot be imported \(OSError: no library\)"),
        ("", "triangle", r"it cannot be imported \(AttributeError: .*Triangle.*\)"),
        ("Triangle = 3", "triangle", "it must be a class derived from Shape"),
        (TRIANGLE, "wedge", "its name is 'triangle', not that of the entry point"),
        (TRIANGLE.replace('"triangle"', '"square"'), "triangle", "the name 'square' is taken by"),
    ],
)
def test_a_broken_plugin_is_one_warning_that_names_it(
    shapes: Registry[Shape], install: Install, source: str, name: str, reason: str
) -> None:
    install(source, {name: "other_shapes:Triangle"})
    sentence = rf"The shape '{name}' of other_shapes 1\.2 \(other_shapes:Triangle\) is left out: {reason}"
    with pytest.warns(PluginWarning, match=sentence) as caught:
        assert list(shapes) == ["square"]
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once, not at every look
        assert name not in shapes
        assert list(shapes) == ["square"]


def test_a_built_in_name_is_never_taken_by_an_entry_point(shapes: Registry[Shape], install: Install) -> None:
    install(TRIANGLE.replace('"triangle"', '"square"'), {"square": "other_shapes:Triangle"})
    assert shapes["square"] is Square
    with pytest.warns(PluginWarning, match=r"the name 'square' is taken by .*\.Square"):
        assert dict(shapes) == {"square": Square}


def test_the_call_is_a_public_name() -> None:
    assert fewsight.register is register


def test_what_a_file_names_is_found_or_the_sentence_says_what_to_do(shapes: Registry[Shape]) -> None:
    assert shapes.find("square") is Square
    for name in ("disc", 3, None, ["square"]):
        with pytest.raises(
            UnknownPart, match=r"the shape .* is not known here; if it comes from another package, install"
        ):
            shapes.find(name)


def test_an_object_that_could_not_be_found_again_is_refused(shapes: Registry[Shape]) -> None:
    shapes.check_registered(Square())
    sentence = (
        r"save: the shape Disc must be known by a name of its own to be opened again; call fewsight\.register\(Disc\)"
    )
    with pytest.raises(InvalidInput, match=sentence):
        shapes.check_registered(Disc())
