"""What lies in a folder, in memory: it follows readings as the project file does."""

from __future__ import annotations

from pathlib import Path

from fewsight.apps.workbench.image_stock import ImageStock, first_of
from fewsight.apps.workbench.project import ProjectFile
from fewsight.apps.workbench.project.catalogue import KnownFile, Reading, Stamp, record, replace
from fewsight.images.capture import Capture

IMAGES = [f"{number:040x}" for number in range(6)]
STAMPS = [Stamp(10, 1_000, number + 1) for number in range(6)]
LATE = 10**19 // 2


def reading(number: int, image: str | None, **more: object) -> Reading:
    size = {"width": 4, "height": 3} if image else {}
    return Reading(b"%d.png" % number, STAMPS[number], image, **(size | {"read_at_ns": LATE} | more))


def test_readings_in_memory_are_those_of_the_file(folder: Path) -> None:
    with ProjectFile(folder / "fewsight.sqlite") as project:
        replace(project, [KnownFile(b"%d.png" % n, None, STAMPS[n]) for n in range(6)], [])
        stock = ImageStock.read(project)
        assert (stock.n_unread, stock.n_unreadable, len(stock.files)) == (6, 0, 6)
        readings = [
            reading(0, IMAGES[0], capture=Capture(1_000, "c")),
            reading(1, IMAGES[1], capture=Capture(3_000, "c")),
            reading(2, IMAGES[1], capture=Capture(3_000, "c")),  # a copy
            reading(3, None, unreadable="empty file"),
        ]
        record(project, readings)
        assert stock.take(readings) == IMAGES[:2]
        again = ImageStock.read(project)
        assert stock == again
        assert (stock.n_unread, stock.unreadable()) == (2, [("3.png", "empty file")])
        assert stock.shown(IMAGES[1]) == "1.png"
        assert sorted(stock.unprepared()) == [b"4.png", b"5.png"]
        assert stock.burst(IMAGES[0]) == [IMAGES[1]]
        assert stock.burst(IMAGES[0], seconds=1.0) == []


def test_a_reading_of_a_file_that_has_changed_since_is_passed_over(folder: Path) -> None:
    with ProjectFile(folder / "fewsight.sqlite") as project:
        replace(project, [KnownFile(b"0.png", None, STAMPS[0])], [])
        stock = ImageStock.read(project)
        late = Reading(b"0.png", Stamp(11, 1_000, 1), IMAGES[0], None, 4, 3, read_at_ns=LATE)
        assert stock.take([late, reading(5, IMAGES[5])]) == []
        assert stock.n_unread == 1


def test_the_random_order_depends_on_seed_and_content_alone(folder: Path) -> None:
    with ProjectFile(folder / "fewsight.sqlite") as project:
        rows = [KnownFile(b"%d.png" % n, image, STAMPS[n]) for n, image in enumerate(IMAGES)]
        replace(project, rows, [])
        order = list(ImageStock.read(project, seed=1).in_random_order())
        replace(project, [KnownFile(b"z%d.png" % n, image, STAMPS[n]) for n, image in enumerate(IMAGES)], [])
        assert list(ImageStock.read(project, seed=1).in_random_order()) == order
        assert {tuple(ImageStock.read(project, seed).in_random_order()) for seed in range(5)} != {tuple(order)}


def test_vanished_images_are_known_but_not_there(folder: Path) -> None:
    with ProjectFile(folder / "fewsight.sqlite") as project:
        replace(project, [KnownFile(b"0.png", IMAGES[0], STAMPS[0], vanished_at=5)], [])
        stock = ImageStock.read(project)
        assert (stock.vanished, stock.paths, len(stock.files)) == ({IMAGES[0]}, {}, 0)


def test_first_of() -> None:
    assert first_of(IMAGES, 2, [{IMAGES[0]}, {IMAGES[2]: 1}]) == [IMAGES[1], IMAGES[3]]
