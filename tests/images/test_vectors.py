"""Tables of vectors: every format, matching, and every way in which one can be wrong."""

import io
import unicodedata
import zipfile

import numpy as np
import pytest
from PIL import Image as Pillow

from fewsight._base.errors import InvalidInput
from fewsight.images import ImageFile
from fewsight.images.vectors import VectorTable, read_vectors, reading

ROWS = np.array([[1.0, 2.0, 3.0], [4.0, 5.5, 6.0]])
FILES = ("a/one.jpg", "b/two.jpg")
NO_COLUMN = "the table of vectors must have a column file or hash in its heading,"
NOT_FINITE = "vectors must hold finite numbers only, got NaN or infinity in 1 row"
NO_MATRIX = "vectors must be a matrix of numbers, a row per image,"
TWICE = "an image must have one vector, got two different ones for 'a.jpg',"


@pytest.fixture
def photos(tmp_path):
    """Two photographs in two folders, as images."""
    for number, name in enumerate(FILES):
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True)
        Pillow.fromarray(np.full((8, 8, 3), 90 * number, np.uint8)).save(path)
    return [ImageFile(tmp_path / "photos" / name) for name in FILES]


def csv_of(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def refused(path):
    with pytest.raises(InvalidInput) as caught:
        read_vectors(path)
    sentence = str(caught.value)
    assert sentence.startswith(str(path))
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence.removeprefix(f"{path}: ")


def places(table, images):
    return [table.place(image) for image in images]


def write_every_format(folder):
    csv = csv_of(folder / "v.csv", "file,x,y,z\na/one.jpg,1,2,3\nb/two.jpg,4,5.5,6\n")
    tabs = csv_of(folder / "v.tsv", "x\ty\tz\tfile\n1\t2\t3\ta/one.jpg\n4\t5.5\t6\tb/two.jpg\n")
    np.savez(folder / "v.npz", features=ROWS, names=np.array(FILES))
    np.savez_compressed(folder / "w.npz", vectors=ROWS.astype(np.float16), files=np.array(FILES))
    np.save(folder / "v.npy", ROWS)
    (folder / "v.txt").write_text("a/one.jpg\nb/two.jpg\n")
    return [csv, tabs, folder / "v.npz", folder / "w.npz", folder / "v.npy"]


def test_every_format_gives_the_same_table(tmp_path, photos):
    for path in write_every_format(tmp_path):
        table = read_vectors(path)
        np.testing.assert_array_equal(table.rows, ROWS)
        assert places(table, photos) == [0, 1]


def test_parquet_with_columns_or_with_lists(tmp_path, photos):
    pyarrow = pytest.importorskip("pyarrow", reason="needs fewsight[parquet]")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"file": list(FILES), "x": ROWS[:, 0], "y": ROWS[:, 1], "z": ROWS[:, 2]}
    for number, table in enumerate([columns, {"embedding": ROWS.tolist(), "path": list(FILES)}]):
        parquet.write_table(pyarrow.table(table), tmp_path / f"{number}.parquet")
        np.testing.assert_array_equal(read_vectors(tmp_path / f"{number}.parquet").rows, ROWS)
    parquet.write_table(pyarrow.table({"file": list(FILES), "x": ["a", "b"]}), tmp_path / "words.parquet")
    assert refused(tmp_path / "words.parquet").startswith("the columns of vectors must hold numbers")
    parquet.write_table(pyarrow.table({"file": list(FILES), "x": [[1.0], [1.0, 2.0]]}), tmp_path / "ragged.parquet")
    assert "lists of one length" in refused(tmp_path / "ragged.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "0.parquet").read_bytes()[:100])
    assert refused(tmp_path / "cut.parquet").startswith("the table of vectors must be a sound Parquet file, got: ")


def test_without_pyarrow_one_line_says_how_to_get_it(tmp_path, monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(reading.importlib, "import_module", absent)
    assert refused(tmp_path / "v.parquet") == (
        "Parquet is read with pyarrow, which is not installed; pip install 'fewsight[parquet]'."
    )


def test_rows_are_matched_by_hash_or_by_as_much_of_the_path_as_there_is(tmp_path, photos):
    def of(*keys, by_hash=False):
        return places(VectorTable("t", keys, ROWS.astype(np.float32), by_hash=by_hash), photos)

    assert of(photos[1].content_hash, photos[0].content_hash.upper(), by_hash=True) == [1, 0]
    assert of("two.jpg", "one.jpg") == [1, 0]
    assert of("photos/a/one.jpg", "./b//two.jpg") == [0, 1]
    assert of(photos[0].path, photos[1].path) == [0, 1]
    assert of("/elsewhere/birds/a/one.jpg", "/elsewhere/birds/b/two.jpg") == [0, 1]
    assert of("C:\\birds\\a\\one.jpg", "C:\\birds\\b\\two.jpg") == [0, 1]
    assert of("c/one.jpg", "three.jpg") == [None, None]


def test_names_are_the_same_however_their_accents_are_stored(tmp_path):
    Pillow.new("RGB", (4, 4)).save(tmp_path / unicodedata.normalize("NFD", "été.jpg"))
    image = ImageFile(tmp_path / unicodedata.normalize("NFD", "été.jpg"))
    table = read_vectors(csv_of(tmp_path / "v.csv", f"file,x\n{unicodedata.normalize('NFC', 'été.jpg')},1\n"))
    assert table.place(image) == 0
    assert read_vectors(csv_of(tmp_path / "w.csv", "file;x\né t é.jpg;1\n", "utf-16")).keys == ["é t é.jpg"]


def test_missing_extra_and_repeated_rows_are_told(tmp_path, photos):
    table = read_vectors(csv_of(tmp_path / "v.csv", "file,x\na/one.jpg,1\na/one.jpg,1\nc/three.jpg,2\n"))
    match = table.match(photos)
    assert match.missing == [photos[1].name]
    assert match.extra == ["c/three.jpg"]
    assert match.repeated == ["a/one.jpg"]


def test_two_images_with_one_row_are_an_error_and_two_copies_are_not(tmp_path, photos):
    other = tmp_path / "photos" / "b" / "one.jpg"
    Pillow.fromarray(np.full((8, 8, 3), 200, np.uint8)).save(other)
    table = read_vectors(csv_of(tmp_path / "v.csv", "file,x\none.jpg,1\n"))
    with pytest.raises(
        InvalidInput, match=r"every image must have a row of its own, got 'one.jpg' for both .* name them"
    ):
        table.match([photos[0], ImageFile(other)])
    other.write_bytes((tmp_path / "photos" / "a" / "one.jpg").read_bytes())
    assert table.match([photos[0], ImageFile(other)]).missing == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the table of vectors must be a file with rows, got: empty file."),
        ("file,x\n", "the table of vectors must have rows below its heading, got none."),
        ("a.jpg,1,2\nb.jpg,3,4\n", NO_COLUMN + " got the columns a.jpg, 1, 2."),
        ("name,x\na.jpg,1\n", NO_COLUMN + " got the columns name, x."),
        ("file,x,y\na.jpg,1,2\nb.jpg,3\n", "every row must have as many columns as the heading, 3, got 2 in line 3."),
        ("file,x\na.jpg,1,2\n", "every row must have as many columns as the heading, 2, got 3 in line 2."),
        ("file,x,label\na.jpg,1,cat\n", "every column but file must hold numbers, got 'cat' in column label, line 2."),
        ("file,x,y\na.jpg,1,\n", "every column but file must hold numbers, got '' in column y, line 2."),
        ("file,x\na.jpg,1\nb.jpg,nan\n", NOT_FINITE + ", the first for 'b.jpg'."),
        ("file,x\na.jpg,1e300\n", NOT_FINITE + ", the first for 'a.jpg'."),
        ("file,x\na.jpg,1\nb.jpg,2\na.jpg,3\n", TWICE + " in rows 1 and 3."),
        ("file,x\n,1\n", "every row must name an image, got none in row 1."),
        ("file\na.jpg\n", "vectors must be a matrix of numbers, a row per image, got 1 x 0 of float64."),
    ],
)  # fmt: skip
def test_a_wrong_table_is_one_sentence(tmp_path, text, sentence):
    assert refused(csv_of(tmp_path / "v.csv", text)) == sentence


def test_a_wrong_ending_or_no_file(tmp_path):
    assert refused(tmp_path / "v.csv") == "the table of vectors must be a file with rows, got: no such file."
    assert refused(tmp_path / "v.xlsx").endswith(".parquet, got .xlsx.")
    (tmp_path / "folder.npz").mkdir()
    assert "a folder, not a file" in refused(tmp_path / "folder.npz")


def test_a_wrong_npz_is_one_sentence(tmp_path):
    path = tmp_path / "v.npz"
    for arrays, sentence in [
        ({"features": ROWS}, "an .npz must hold one matrix, and files or hashes for its rows, got features."),
        ({"files": np.array(FILES)}, "an .npz must hold one matrix, and files or hashes for its rows, got files."),
        ({"x": ROWS, "files": np.array(["a"])}, "there must be a name for every row, got 1 for 2 rows."),
        ({"x": ROWS, "files": np.arange(2)}, "files must be an array of texts, got int64."),
        ({"x": ROWS.astype(str), "files": np.array(FILES)}, NO_MATRIX + " got 2 x 3 of <U32."),
        ({"x": ROWS * 1j, "files": np.array(FILES)}, NO_MATRIX + " got 2 x 3 of complex128."),
    ]:  # fmt: skip
        np.savez(path, **arrays)
        assert refused(path) == sentence
    np.savez(path, x=ROWS, files=np.array(FILES, dtype=object))
    assert "holds Python objects, which are never loaded" in refused(path)
    path.write_bytes(path.read_bytes()[:200])
    assert refused(path).startswith("the table of vectors must be a sound .npz of numbers and texts, got: ")


def test_a_wrong_npy_is_one_sentence(tmp_path):
    path = tmp_path / "v.npy"
    np.save(path, ROWS)
    assert refused(path) == "the files that the rows belong to must be in v.txt, one in a line, got no such file."
    (tmp_path / "v.txt").write_text("a.jpg\n")
    assert refused(path) == "there must be a name for every row, got 1 for 2 rows."
    path.write_bytes(path.read_bytes()[:-8])
    assert "has the wrong length" in refused(path)
    np.save(path, ROWS[0])
    assert refused(path).startswith("vectors must be a matrix of numbers")


def test_a_table_larger_than_any_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_ROWS", 1)
    for path in write_every_format(tmp_path):
        assert "must be at most 1 rows" in refused(path)
    monkeypatch.undo()
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (10**7, 10**4)})
    (tmp_path / "v.npy").write_bytes(header.getvalue())
    assert "claims more than it holds" in refused(tmp_path / "v.npy")
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", header.getvalue() + bytes(10**6))
    monkeypatch.setattr(reading, "MOST_BYTES", 10**5)
    assert "it would unpack to more than 100,000 bytes" in refused(tmp_path / "bomb.npz")
