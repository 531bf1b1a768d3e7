"""A project file that is damaged in any place works, or is refused in one sentence; it is never left half read."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzz_models import check_sentence

from fewsight._base.errors import FewsightError
from fewsight.apps.workbench.project.file import read_copy
from fewsight.apps.workbench.verbs import Workbench


@pytest.fixture(scope="module")
def good(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The project file of the photographs with all their labels."""
    path = tmp_path_factory.mktemp("project") / "good.sqlite"
    with Workbench(photos, project=path, who="ann") as bench:
        bench.import_labels(photos)
    return path.read_bytes()


def flipped(content: bytearray, rng: random.Random) -> bytearray:
    for _ in range(rng.choice([1, 3, 30, 300])):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return content


def other_text(content: bytearray, rng: random.Random) -> bytearray:
    places = [found.start() for found in re.finditer(rb'[a-z"{}:0-9]{6,}', bytes(content))]
    for _ in range(rng.choice([1, 5])):
        content[rng.choice(places) + rng.randrange(6)] = rng.choice([0, 0xFF, 0x22, 0x7B, 0x78, 0x39])
    return content


def cut(content: bytearray, rng: random.Random) -> bytearray:
    return content[: rng.randrange(len(content))]


def emptied(content: bytearray, rng: random.Random) -> bytearray:
    start, length = rng.randrange(len(content)), rng.choice([16, 512, 4096])
    content[start : start + length] = bytes(length)
    return content


@pytest.mark.parametrize("damage", [flipped, other_text, cut, emptied])
@pytest.mark.parametrize("seed", range(10))
def test_every_verb_works_or_says_one_sentence(
    damage: Callable[[bytearray, random.Random], bytearray], seed: int, good: bytes, photos: Path, tmp_path: Path
) -> None:
    path = tmp_path / "project.sqlite"
    path.write_bytes(damage(bytearray(good), random.Random(seed)))
    check(lambda: read_copy(path))
    try:
        bench = Workbench(photos, project=path, who="ann", create=False)
    except FewsightError as error:
        check_sentence(error)
        return
    with bench:
        for verb in (bench.status, bench.history, bench.undo, lambda: bench.export_labels(tmp_path / "labels.csv")):
            check(verb)


def check(verb: Callable[[], object]) -> None:
    try:
        verb()
    except FewsightError as error:
        check_sentence(error)


def test_a_message_of_sqlite_that_quotes_damaged_text_is_a_damaged_file(
    good: bytes, photos: Path, tmp_path: Path
) -> None:
    """The text of a table's definition: SQLite quotes it in its complaint."""
    place = good.index(b"CREATE TABLE")
    path = tmp_path / "project.sqlite"
    path.write_bytes(good[: place + 7] + b"\xb3\xff" + good[place + 9 :])
    with pytest.raises(FewsightError, match=r"project\.sqlite: the project file is damaged and was left as it is"):
        Workbench(photos, project=path, create=False)
