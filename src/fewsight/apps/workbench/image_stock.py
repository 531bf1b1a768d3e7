"""All files and images of a project in memory, for questions that a page asks many times a minute."""

from __future__ import annotations

import bisect
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import final

from fewsight.apps.workbench.project.catalogue import KnownFile, Reading, known_files, shown_path
from fewsight.apps.workbench.project.file import ProjectFile
from fewsight.images.capture import BURST_SECONDS, Capture
from fewsight.images.hashing import hash_of


@final
@dataclass
class ImageStock:
    """What lies in the folder. `seed` decides the random order of images, with their content alone."""

    seed: int = 0
    files: dict[bytes, KnownFile] = field(default_factory=dict)
    paths: dict[str, list[bytes]] = field(default_factory=dict)  # of each image that is there
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    captures: dict[str, Capture] = field(default_factory=dict)
    vanished: set[str] = field(default_factory=set)  # images that are known and no longer there
    n_unread: int = 0  # files whose turn has not come yet
    n_unreadable: int = 0
    _order: list[tuple[str, str]] = field(default_factory=list)  # random key and image
    _by_camera: dict[str, list[tuple[int, str]]] = field(default_factory=dict)  # times and images, sorted

    @classmethod
    def read(cls, project: ProjectFile, seed: int = 0) -> ImageStock:
        """As the project file has it."""
        stock = cls(seed)
        for image, width, height, taken_at, camera in project.read(
            "SELECT hash, width, height, taken_at, camera FROM images"
        ):
            stock._describe(str(image), width, height, Capture(taken_at, camera))  # type: ignore[arg-type]
        for file in known_files(project).values():
            if file.vanished_at is None:
                stock.files[file.path] = file
                stock._count(file, 1)
                if file.hash:
                    stock.paths.setdefault(file.hash, []).append(file.path)
            elif file.hash:
                stock.vanished.add(file.hash)
        stock.vanished.difference_update(stock.paths)
        stock._order = sorted((stock._key(image), image) for image in stock.paths)
        for taken in stock._by_camera.values():
            taken.sort()
        return stock

    def take(self, readings: Sequence[Reading]) -> list[str]:
        """Files were read; the images that are new."""
        new = []
        for reading in readings:
            known = self.files.get(reading.path)
            if known is None or known.stamp != reading.stamp:  # it has changed since, or is gone
                continue
            self._count(known, -1)
            self.files[reading.path] = replace(known, hash=reading.hash, unreadable=reading.unreadable)
            self._count(self.files[reading.path], 1)
            if reading.hash is None:
                continue
            if reading.hash not in self.sizes and reading.width and reading.height:
                self._describe(reading.hash, reading.width, reading.height, reading.capture, in_order=True)
            paths = self.paths.setdefault(reading.hash, [])
            self.vanished.discard(reading.hash)
            if not paths:
                bisect.insort(self._order, (self._key(reading.hash), reading.hash))
                new.append(reading.hash)
            if reading.path not in paths:
                paths.append(reading.path)
        return new

    def unprepared(self) -> Iterator[bytes]:
        """Files that nobody has looked at yet; of some only the hash is known, because a scan had to compare them."""
        for path, file in self.files.items():
            if file.unreadable is None and (file.hash is None or file.hash not in self.sizes):
                yield path

    def unreadable(self) -> list[tuple[str, str]]:
        """Files that cannot be used, and why."""
        return [(shown_path(path), file.unreadable) for path, file in self.files.items() if file.unreadable is not None]

    def shown(self, image: str) -> str:
        """The path of an image, for people."""
        paths = self.paths.get(image)
        return shown_path(min(paths)) if paths else image

    def in_random_order(self) -> Iterator[str]:
        """Every image that was read."""
        return (image for _, image in self._order)

    def burst(self, image: str, seconds: float = BURST_SECONDS) -> list[str]:
        """The other photographs of its burst: of one camera, each within a few seconds of the one before."""
        at, camera = self.captures.get(image, Capture())
        if at is None or camera is None:
            return []
        taken = self._by_camera[camera]
        place = bisect.bisect_left(taken, (at, image))
        first, last = place, place
        while first > 0 and taken[first][0] - taken[first - 1][0] <= 1000 * seconds:
            first -= 1
        while last + 1 < len(taken) and taken[last + 1][0] - taken[last][0] <= 1000 * seconds:
            last += 1
        return [other for _, other in taken[first : last + 1] if other != image and other in self.paths]

    def _describe(
        self, image: str, width: int | None, height: int | None, capture: Capture, in_order: bool = False
    ) -> None:
        if width and height:
            self.sizes[image] = (width, height)
        self.captures[image] = capture
        if capture.taken_at is not None and capture.camera is not None:
            taken = self._by_camera.setdefault(capture.camera, [])
            (bisect.insort if in_order else list.append)(taken, (capture.taken_at, image))

    def _count(self, file: KnownFile, by: int) -> None:
        self.n_unreadable += by * (file.unreadable is not None)
        self.n_unread += by * (file.hash is None and file.unreadable is None)

    def _key(self, image: str) -> str:
        return hash_of(str(self.seed).encode(), image.encode())


def first_of(images: Iterable[str], n: int, closed: Sequence[Container[str]]) -> list[str]:
    """The first images that are in none of these."""
    found: list[str] = []
    for image in images:
        if len(found) == n:
            break
        if not any(image in each for each in closed):
            found.append(image)
    return found
