"""Labels go out and come in without loss; what does not match is listed, never guessed."""

from __future__ import annotations

import csv
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput, ProjectError
from fewsight.apps.workbench import learn
from fewsight.apps.workbench.image_sources import ImageSource
from fewsight.apps.workbench.verbs import Workbench
from fewsight.channels import Colour
from fewsight.images import ImageFile, ImageSet, image_set_from_table
from fewsight.images.hashing import hash_of

NAMES = ["a.jpg", "b.jpg", "deep/c.jpg", "caf\udce9.jpg", "=1+1.jpg"]


@pytest.fixture
def filled(folder: Path) -> Path:
    for name in NAMES:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content(name))
    with Workbench(folder, who="ann") as bench:
        bench.scan()
    return folder


def content(name: str) -> bytes:
    return b"\xff\xd8\xff" + name.encode("utf-8", "surrogateescape")


def image(name: str) -> str:
    return hash_of(content(name))


def table(path: Path, *rows: tuple[str, ...], delimiter: str = ",") -> Path:
    with open(path, "w", newline="", encoding="utf-8", errors="surrogateescape") as stream:
        csv.writer(stream, delimiter=delimiter).writerows(rows)
    return path


def named(bench: Workbench) -> dict[str, str | None]:
    """What holds for each image, in words."""
    present = bench.present
    return {
        each: None
        if s.choice is None
        else present.categories[s.choice.category]
        if s.choice.category
        else s.choice.kind
        for each, s in present.standings().items()
    }


def test_a_table_of_files_and_categories(filled: Path, tmp_path: Path) -> None:
    source = table(
        tmp_path / "labels.csv", ("Path", "Label"), ("a.jpg", "owl"), ("./deep/c.jpg", "tit"), ("caf\udce9.jpg", "owl"),
        ("none.jpg", "owl"), ("b.jpg", ""), ("../outside.jpg", "owl"), delimiter=";",
    )  # fmt: skip
    with Workbench(filled, who="ann") as bench:
        found = bench.import_labels(source)
        assert (found.n_new, found.n_same, found.categories) == (3, 0, ["owl", "tit"])
        assert found.missing == ["none.jpg", "../outside.jpg"]
        expected = {image("a.jpg"): "owl", image("deep/c.jpg"): "tit", image("caf\udce9.jpg"): "owl"}
        assert named(bench) == expected
        again = bench.import_labels(source)
        assert (again.n_new, again.n_same, again.categories) == (0, 3, [])
        n_events = len(bench.file.events())
        bench.import_labels(source)
        assert len(bench.file.events()) == n_events  # safe to repeat
        bench.undo()  # one act
        assert named(bench) == {}
        assert bench.present.categories == {}


def test_names_as_other_computers_and_predictions_write_them(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(filled.parent)
    rows = [
        ("file", "category"),
        (".\\A.jpg", "owl"),
        (f"{filled.name}/deep/c.jpg", "tit"),
        (f"{filled.name}/d.jpg", "tit"),
    ]
    with Workbench(filled, who="ann") as bench:
        found = bench.import_labels(table(tmp_path / "labels.csv", *rows))
        assert (found.n_new, found.missing) == (2, [f"{filled.name}/d.jpg"])
        assert named(bench) == {image("a.jpg"): "owl", image("deep/c.jpg"): "tit"}


def test_exported_labels_come_back_the_same(filled: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    with Workbench(filled, who="ann") as bench:
        bench.import_labels(table(tmp_path / "in.csv", ("file", "category"), *((name, "all") for name in NAMES)))
        owl = bench.new_category("Owl, barn\u2019s")
        bench.label([image("a.jpg"), image("caf\udce9.jpg")], owl)
        bench.none_of_these(image("b.jpg"))
        bench.discard(image("deep/c.jpg"))
        before, categories = named(bench), sorted(bench.present.categories.values())
        assert bench.export_labels(out).n_rows == 5
    (filled / "fewsight.sqlite").unlink()
    (filled / "a.jpg").rename(filled / "renamed.jpg")
    with Workbench(filled, who="ann") as bench:
        bench.scan()
        assert bench.import_labels(out).missing == []
        assert named(bench) == before
        assert sorted(bench.present.categories.values()) == categories


def test_an_exported_table_can_be_learned_from(filled: Path, tmp_path: Path) -> None:
    with Workbench(filled, who="ann") as bench:
        bench.import_labels(table(tmp_path / "in.csv", ("file", "category"), ("a.jpg", "owl"), ("b.jpg", "tit")))
        bench.none_of_these(image("a.jpg"))
        bench.export_labels(tmp_path / "out.csv")
    images = image_set_from_table(filled, tmp_path / "out.csv")
    assert dict(zip((each.name for each in images.images), images.labels, strict=True)) == {
        str(filled / "a.jpg"): None,
        str(filled / "b.jpg"): "tit",
    }


def test_other_content_under_an_old_name_gets_no_label(filled: Path, tmp_path: Path) -> None:
    rows = ("file", "category", "hash"), ("a.jpg", "owl", image("a.jpg")), ("b.jpg", "tit", hash_of(b"of long ago"))
    with Workbench(filled, who="ann") as bench:
        found = bench.import_labels(table(tmp_path / "labels.csv", *rows))
        assert (found.n_new, found.other_content) == (1, ["b.jpg"])
        assert named(bench) == {image("a.jpg"): "owl"}


def test_a_renamed_file_is_found_by_its_hash(filled: Path, tmp_path: Path) -> None:
    rows = ("file", "category", "hash"), ("old name.jpg", "owl", image("a.jpg"))
    with Workbench(filled, who="ann") as bench:
        bench.import_labels(table(tmp_path / "first.csv", ("file", "category"), ("a.jpg", "tit")))  # so that it is read
        assert bench.import_labels(table(tmp_path / "labels.csv", *rows)).n_new == 1
        assert named(bench) == {image("a.jpg"): "owl"}


def test_class_folders_are_matched_by_content(filled: Path, tmp_path: Path) -> None:
    for category, name in (("owl", "a.jpg"), ("owl", "deep/c.jpg"), ("tit", "b.jpg"), ("_unsure", "=1+1.jpg")):
        (tmp_path / "sorted" / category).mkdir(parents=True, exist_ok=True)
        shutil.copy(filled / name, tmp_path / "sorted" / category / f"copy of {Path(name).name}")
    (tmp_path / "sorted" / "tit" / "stranger.jpg").write_bytes(b"\xff\xd8\xff not of this folder")
    with Workbench(filled, who="ann") as bench:
        found = bench.import_labels(tmp_path / "sorted")
        assert found.n_new == 3
        assert found.missing == [str(tmp_path / "sorted" / "tit" / "stranger.jpg")]
        assert named(bench) == {image("a.jpg"): "owl", image("deep/c.jpg"): "owl", image("b.jpg"): "tit"}


def test_copies_labelled_apart_are_joined_without_loss(filled: Path, tmp_path: Path) -> None:
    with Workbench(filled, who="ann") as bench:
        bench.import_labels(table(tmp_path / "in.csv", ("file", "category"), *((name, "start") for name in NAMES)))
    copy = tmp_path / "copy.sqlite"
    shutil.copy(filled / "fewsight.sqlite", copy)
    with Workbench(filled, who="ann") as ours, Workbench(filled, project=copy, who="bob") as theirs:
        ours.label(image("a.jpg"), ours.new_category("owl"))
        theirs.label(image("b.jpg"), theirs.new_category("Owl"))
        theirs.none_of_these(image("deep/c.jpg"))
        found = ours.import_labels(copy)
        assert found.n_new == 3
        assert found.categories == []  # Owl is owl
        assert named(ours) == {
            image("a.jpg"): "owl",
            image("b.jpg"): None,
            image("deep/c.jpg"): None,
            image("caf\udce9.jpg"): "start",
            image("=1+1.jpg"): "start",
        }
        assert found.disagreements == [
            "b.jpg: ann says start, bob says owl",
            "deep/c.jpg: ann says start, bob says none of these",
        ]
        assert ours.import_labels(copy).n_new == 0
        theirs.import_labels(filled / "fewsight.sqlite")
        assert theirs.present.standings() == ours.present.standings()
        assert theirs.present.categories == ours.present.categories


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            [("picture", "kind"), ("a.jpg", "owl")],
            "the first line must name the columns file and category, got picture, kind",
        ),
        ([("file", "category"), ("a.jpg", "owl"), ("a.jpg", "tit")], "must have one category, got 'owl' and 'tit'"),
        ([("file", "category"), ("a.jpg", "x" * 101)], "must have 1 to 100 characters"),
    ],
)
def test_a_table_with_a_mistake_brings_nothing(
    filled: Path, tmp_path: Path, rows: list[tuple[str, ...]], sentence: str
) -> None:
    source = table(tmp_path / "labels.csv", *rows)
    with Workbench(filled, who="ann") as bench:
        with pytest.raises(InvalidInput, match=sentence):
            bench.import_labels(source)
        assert bench.file.events() == []


def test_a_damaged_project_brings_nothing(filled: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.sqlite").write_bytes(b"SQLite format 3\0" + bytes(5000))
    with Workbench(filled, who="ann") as bench:
        with pytest.raises(ProjectError, match=r"bad\.sqlite: "):
            bench.import_labels(tmp_path / "bad.sqlite")
        assert bench.file.events() == []


# From labels to decisions.


@pytest.fixture
def flat(photos: Path, folder: Path) -> Path:
    """The photographs of all categories in one folder, without their categories."""
    for path in sorted(photos.glob("*/*")):
        shutil.copy(path, folder / f"{path.parent.name[::-1]}-{path.name}")
    with Workbench(folder, who="ann") as bench:
        bench.scan()
    return folder


def decisions(folder: Path) -> dict[str, tuple[str, float]]:
    """What `learn` makes of the labels of a project: each image of the folder, what it is taken for, and how probably."""
    learned = learn(ImageSource(folder).read(), [Colour()], learner="gp")
    paths = sorted(path for path in folder.iterdir() if path.suffix != ".sqlite")
    said = learned.model.assess([ImageFile(path) for path in paths])
    names = learned.model.classes_[np.asarray(said.probabilities).argmax(axis=1)]
    probable = said.probabilities.max(axis=1).round(9).tolist()
    return {path.name: found for path, found in zip(paths, zip(names.tolist(), probable, strict=True), strict=True)}


@pytest.mark.parametrize("source", ["class folders", "table"])
def test_imported_exported_deleted_and_imported_again_decides_the_same(
    photos: Path, flat: Path, tmp_path: Path, source: str
) -> None:
    labels = photos
    if source == "table":
        rows = [(path.name, path.name.split("-")[0][::-1]) for path in sorted(flat.glob("*-*"))]
        labels = table(tmp_path / "in.csv", ("file", "category"), *rows)
    with Workbench(flat, who="ann") as bench:
        bench.import_labels(labels)
        kept = sorted(named(bench))
        bench.none_of_these(kept[0])
        bench.discard(kept[1])
        bench.clear(kept[2:5])
        before, categories = named(bench), sorted(bench.present.categories.values())
        bench.export_labels(tmp_path / "out.csv")
    decided = decisions(flat)
    (flat / "fewsight.sqlite").unlink()
    with Workbench(flat, who="ann") as bench:
        bench.scan()
        bench.import_labels(tmp_path / "out.csv")
        assert named(bench) == before
        assert sorted(bench.present.categories.values()) == categories
    assert decisions(flat) == decided
    assert len(decided) == len(list(flat.iterdir())) - 1


def test_copies_labelled_apart_decide_the_same_whichever_is_added_to_the_other(
    photos: Path, flat: Path, tmp_path: Path
) -> None:
    with Workbench(flat, who="ann") as bench:
        bench.import_labels(photos)
        known = named(bench)
    other = Path(shutil.copytree(flat, tmp_path / "other"))
    with Workbench(flat, who="ann") as ours, Workbench(other, who="bob") as theirs:
        theirs.scan()
        ours.none_of_these(sorted(known)[0])
        theirs.clear(sorted(known)[1])  # bob said nothing about it, so ann's label stays
        theirs.discard(sorted(known)[2])
        ours.import_labels(other / "fewsight.sqlite")
        theirs.import_labels(flat / "fewsight.sqlite")
        assert named(ours) == named(theirs)
        assert named(ours)[sorted(known)[1]] == known[sorted(known)[1]]
    assert decisions(flat) == decisions(other)


def test_labels_that_contradict_category_folders_are_told(photos: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(photos, tmp_path / "photos"))
    with Workbench(folder, who="ann") as bench:
        bench.scan()
        bench.import_labels(folder)
    assert ImageSource(folder).remarks(ImageSource(folder).read()) == ()
    moved = next((folder / "grass").iterdir())
    moved.rename(folder / "brick" / "moved.png")
    source = ImageSource(folder)
    assert source.remarks(source.read()) == (
        "1 image lies in the folder of another category than the label names; the label counts: "
        f"{folder / 'brick' / 'moved.png'} (grass).",
    )


def test_only_some_of_many_contradictions_are_named(photos: Path) -> None:
    images = ImageSource(photos).read()
    wrong = ImageSet(images.images, [images.classes[0]] * len(images))
    source = ImageSource(photos)
    assert source.remarks(wrong) == ()  # no other category is among the labels
    named = [images.classes[images.classes.index(label) - 1] for label in images.labels]
    (said,) = source.remarks(ImageSet(images.images, named))
    assert said.startswith(f"{len(images):,} images lie in the folder of another category than the label names; ")
    assert said.endswith("), ....")


def test_other_content_under_an_old_name_is_not_learned_from_and_that_is_said(photos: Path, flat: Path) -> None:
    with Workbench(flat, who="ann") as bench:
        bench.import_labels(photos)
    before = ImageSource(flat).read()
    first, second = (Path(image.path) for image in before.images[:2])
    os.replace(first, flat / "renamed.png")
    second.write_bytes(second.read_bytes() + b"\0")  # other content, as an image editor leaves it
    after = ImageSource(flat).read()
    names = [Path(image.path).name for image in after.images]
    assert len(names) == len(before) - 1
    assert "renamed.png" in names
    assert second.name not in names
    assert [str(failure) for failure in after.unreadable] == [
        f"{second}: other content under an old name, so the old label does not count"
    ]
