"""A flat folder with a table of labels, as spreadsheets really write them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PIL import Image as Pillow

from fewsight._base.errors import InvalidInput
from fewsight.images import ImageSet, image_set_from_class_folders, image_set_from_table
from fewsight.images.cells import as_cell


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.png", "b.png", "c.png", "d, e.png"):
        Pillow.new("L", (3, 3)).save(tmp_path / name)
    return tmp_path


def read(folder: Path, content: str | bytes) -> ImageSet:
    path = folder / "labels.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return image_set_from_table(folder, path)


def pairs(image_set: ImageSet) -> list[tuple[str, str | None]]:
    return [
        (os.path.basename(image.name), label) for image, label in zip(image_set.images, image_set.labels, strict=True)
    ]


EXPECTED = [("b.png", "cat"), ("a.png", "dog")]


@pytest.mark.parametrize(
    "content",
    [
        "file,category\nb.png,cat\na.png,dog\n",
        "file;category\r\nb.png;cat\r\na.png;dog\r\n",
        "file\tcategory\nb.png\tcat\na.png\tdog",
        b"\xef\xbb\xbffile,category\nb.png,cat\na.png,dog\n",
        "file,category\nb.png,cat\na.png,dog\n".encode("utf-16"),
        "category,file\ncat,b.png\ndog,a.png\n",
        " File , Category \n b.png , cat \n\n a.png , dog \n",
        "file,label\nb.png,cat\na.png,dog\n",
        "filename,class\nb.png,cat\na.png,dog\n",
        'file,category,probability,uncertainty\nb.png,cat,"0,9",1\na.png,dog,0.8,2\n',
        "file,category\nb.png,cat\nb.png,cat\n./b.png,\na.png,dog\n",
    ],
)
def test_tables_of_every_dialect_give_the_rows_in_order(folder: Path, content: str | bytes) -> None:
    assert pairs(read(folder, content)) == EXPECTED


def test_quoted_names_and_categories_with_the_delimiter_are_read(folder: Path) -> None:
    assert pairs(read(folder, 'file,category\n"d, e.png","cat, or ""dog"""\n')) == [("d, e.png", 'cat, or "dog"')]


def test_an_empty_category_means_unlabelled(folder: Path) -> None:
    found = read(folder, "file,category\na.png,cat\nb.png,\nc.png\nb.png,dog\n")
    assert pairs(found) == [("a.png", "cat"), ("b.png", "dog"), ("c.png", None)]
    assert found.classes == ["cat", "dog"]


def test_missing_files_are_reported_and_the_others_used(folder: Path) -> None:
    found = read(folder, "file,category\na.png,cat\nnone.png,dog\n")
    assert pairs(found) == [("a.png", "cat")]
    assert [(os.path.basename(item.name), item.reason) for item in found.unreadable] == [("none.png", "no such file")]


def test_file_names_that_are_not_utf8_are_found(folder: Path) -> None:
    with open(os.fsencode(folder) + b"/caf\xe9.png", "wb") as stream:
        Pillow.new("L", (3, 3)).save(stream, "PNG")
    found = read(folder, b"file,category\ncaf\xe9.png,cup\n")
    assert pairs(found) == [("caf\\xe9.png", "cup")]
    assert found.images[0].pixels().shape == (3, 3, 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "table of labels must be a file with rows, got: empty file"),
        (b"PK\3\4\0\0\x9d\nfile,category\n", "table of labels must be a text file with rows, got one that is no text"),
        (
            "name,category\na.png,cat\n",
            r"must name a column file \(or filename, path, image\), got the columns name, cat",
        ),
        (
            "file,species\na.png,cat\n",
            r"must name a column category \(or label, class\), got the columns file, species",
        ),
        ("file,category\na.png,cat\na.png,dog\n", r"one category, got cat in line 2 and dog in line 3 for a\.png"),
        ("file,category\n,cat\n", "every row must name a file, got none in line 2"),
        ("file,category\n", "got 0 rows and no image"),
        ("file,category\nnone.png,cat\n", r"got 1 rows and no image that can be read, the first: .*none\.png: no such"),
        (b"file,category\na.png,caf\xe9\n", r"must be written in UTF-8, got .* in line 2; save the table as UTF-8"),
        ("file,category\na.png," + "x" * 200_000, "must be CSV, got an error in line 2: field larger"),
    ],
)
def test_tables_that_make_no_sense_are_refused_with_a_sentence(
    folder: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        read(folder, content)


def test_a_missing_table_is_an_error_not_a_traceback(folder: Path) -> None:
    with pytest.raises(InvalidInput, match=r"nothing\.csv: the table of labels must be a file with rows, got: no such"):
        image_set_from_table(folder, folder / "nothing.csv")


@pytest.mark.parametrize("name", ["owl/Été 1.png", "OWL/été 1.PNG", "owl\\Été 1.png", ".\\Owl\\E\u0301TE\u0301 1.png"])
def test_another_case_backslashes_and_another_accent_find_the_file(folder: Path, name: str) -> None:
    (folder / "owl").mkdir()
    Pillow.new("L", (3, 3)).save(folder / "owl" / "Été 1.png")
    found = read(folder, f"file,category\n{name},owl\na.png,dog\n")
    assert pairs(found) == [("Été 1.png", "owl"), ("a.png", "dog")]
    assert found.unreadable == []


def test_names_relative_to_the_current_directory_are_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    rows = f"file,category\n{folder.name}/b.png,cat\n./{folder.name}/a.png,dog\n"
    assert pairs(read(folder, rows)) == EXPECTED


def test_a_folder_on_another_drive_holds_no_name_relative_to_the_current_directory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on_windows(path: str, start: str = os.curdir) -> str:
        if os.path.basename(path) == "gone.png":
            raise ValueError("path is on mount 'C:', start on mount 'D:'")
        return relpath(path, start)

    relpath = os.path.relpath
    monkeypatch.setattr(os.path, "relpath", on_windows)
    assert [each.name for each in read(folder, "file,category\ngone.png,cat\na.png,dog\n").unreadable] == [
        str(folder / "gone.png")
    ]


def test_a_quotation_mark_that_is_never_closed_is_an_error(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="the table must be CSV, got an error in line 3: unexpected end of data"):
        read(folder, 'file,category\n"b.png,cat\na.png,dog\n')


def test_a_file_that_is_nearly_found_is_named(folder: Path) -> None:
    (folder / "owl").mkdir()
    Pillow.new("L", (3, 3)).save(folder / "owl" / "1.png")
    found = read(folder, "file,category\nC:\\photos\\1.PNG,owl\na.png,dog\n")
    assert [item.reason for item in found.unreadable] == [f"no such file; nearly: {os.path.join('owl', '1.png')}"]


def test_of_two_files_that_could_be_meant_none_is_taken(folder: Path) -> None:
    Pillow.new("L", (3, 3)).save(folder / "A.png")
    if len(list(folder.glob("[aA].png"))) < 2:
        pytest.skip("this disk takes a.png and A.png for one file")
    assert pairs(read(folder, "file,category\nA.png,cat\na.png,dog\n")) == [("A.png", "cat"), ("a.png", "dog")]
    found = read(folder, "file,category\nA.PNG,cat\nb.png,dog\n")
    assert [item.reason for item in found.unreadable] == ["no such file; more than one could be meant: A.png or a.png"]


def test_two_spellings_of_one_file_with_two_categories_contradict_each_other(folder: Path) -> None:
    with pytest.raises(InvalidInput, match=r"one category, got cat in line 2 and dog in line 3 for A\.PNG"):
        read(folder, "file,category\na.png,cat\nA.PNG,dog\n")


def test_names_that_a_spreadsheet_would_run_are_read_as_they_were_written(folder: Path) -> None:
    names = ["=1+1.png", "-x.png", "'=y.png", "@z.png"]
    for name in names:
        Pillow.new("L", (3, 3)).save(folder / name)
    rows = "".join(f"{as_cell(name)},{as_cell('=' + name)}\n" for name in names)
    assert pairs(read(folder, "file,category\n" + rows)) == [(name, "=" + name) for name in names]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("labels.csv", "a table; if it says which image is what, name the folder of the images, and --labels"),
        ("m.fewsight", "a model file; `fewsight predict` asks it about images"),
        ("a.png", "an image; name the folder that its category's folder lies in"),
        ("notes.bin", "a folder of images is needed, got a file"),
    ],
)
def test_a_file_where_a_folder_is_due_is_called_what_it_is(folder: Path, name: str, said: str) -> None:
    if not (folder / name).exists():
        (folder / name).write_text("file,category\n")
    for attempt in (
        lambda: image_set_from_class_folders(folder / name),
        lambda: image_set_from_table(folder / name, "t.csv"),
    ):
        with pytest.raises(InvalidInput, match="a folder of images is needed, got") as refusal:
            attempt()
        assert said in str(refusal.value)
