"""Which files of a folder are images, told from names and file status, so that a hundred thousand take seconds.

A name ending that images have makes a file an image, to be judged when it is read; endings of well-known other files
and hidden names are passed over; anything else is an image if its first bytes say so. Links are followed, but no folder
is entered twice, so links that lead in a circle end.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from fewsight._base.errors import UnreadableImage
from fewsight.images.files import printable, read_start, reason_of, reason_to_refuse
from fewsight.images.reading import SIGNATURE_BYTES, format_of

_READ = ".jpg .jpeg .jpe .jfif .png .tif .tiff .bmp .dib .webp .gif"
_NOT_READ_BUT_TOLD = ".heic .heif .avif .jp2 .ppm .pgm .pbm .psd .dng .cr2 .cr3 .nef .arw"
_PASSED_OVER = """
    .txt .csv .tsv .json .xml .yaml .yml .toml .md .rst .html .htm .py .ipynb .m .log .db .ini .cfg .lnk .url
    .pdf .doc .docx .xls .xlsx .odt .ods .ppt .pptx .zip .gz .bz2 .xz .tar .tgz .7z .rar .exe .dll
    .npy .npz .mat .h5 .hdf5 .pkl .sqlite .fewsight .svg .mp4 .m4v .avi .mov .mkv .webm .mp3 .wav .aae .xmp
"""
IMAGE_ENDINGS = frozenset(f"{_READ} {_NOT_READ_BUT_TOLD}".split())
OTHER_ENDINGS = frozenset(_PASSED_OVER.split())
OTHER_NAMES = frozenset({"thumbs.db", "desktop.ini", "__macosx", "icon\r"})

Identity = tuple[int, int]  # device and file number


@dataclass
class Listing:
    """Paths of images in the order of their names, and the files that a look at their status already ruled out."""

    paths: list[str] = field(default_factory=list)
    unreadable: list[UnreadableImage] = field(default_factory=list)

    def add_file(self, path: str) -> None:
        """A file that is meant as an image."""
        reason = _reason_against(path)
        if reason is None:
            self.paths.append(path)
        else:
            self.unreadable.append(UnreadableImage(printable(path), reason))

    def sorted(self) -> Listing:
        return Listing(sorted(self.paths), sorted(self.unreadable, key=lambda item: item.name))


def list_images(folder: str, entered: set[Identity] | None = None) -> Listing:
    """The images in a folder and in its sub-folders. `entered` names folders that are passed over, and grows."""
    entered = set() if entered is None else entered
    listing = Listing()
    waiting = [folder]
    while waiting:
        waiting.extend(_list_one(waiting.pop(), entered, listing))
    return listing.sorted()


def files_below(folder: str) -> Iterator[os.DirEntry[str]]:
    """All files of a folder and of its sub-folders that are not hidden, images or not; what cannot be opened is passed over."""
    entered: set[Identity] = set()
    waiting = [folder]
    while waiting:
        folder = waiting.pop()
        with contextlib.suppress(OSError, ValueError):
            if identity_of(folder) in entered:
                continue
            entered.add(identity_of(folder))
            for entry in list(visible_entries(folder)):
                if is_folder(entry):
                    waiting.append(entry.path)
                else:
                    yield entry


def identity_of(path: str) -> Identity:
    """What a folder is known by, whichever link leads to it."""
    status = os.stat(path)
    return status.st_dev, status.st_ino


def visible_entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """The entries of a folder that are neither hidden nor left there by an operating system."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(".") and entry.name.lower() not in OTHER_NAMES:
                yield entry


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is, or links to, a folder."""
    try:
        return entry.is_dir()
    except OSError:  # a link that leads in a circle
        return False


def is_meant_as_image(path: str) -> bool:
    """Whether a file is one to read: by the ending of its name, or by its first bytes where that says nothing."""
    ending = os.path.splitext(path)[1].lower()
    if ending in IMAGE_ENDINGS or ending in OTHER_ENDINGS:
        return ending in IMAGE_ENDINGS
    return format_of(read_start(path, SIGNATURE_BYTES)) is not None


def _list_one(folder: str, entered: set[Identity], listing: Listing) -> list[str]:
    """Add the files of one folder to the listing; its sub-folders are returned."""
    try:
        identity = identity_of(folder)
        if identity in entered:
            return []
        entered.add(identity)
        entries = list(visible_entries(folder))
    except OSError as error:
        listing.unreadable.append(UnreadableImage(printable(folder), reason_of(error, folder)))
        return []
    folders = [entry.path for entry in entries if is_folder(entry)]
    for path in (entry.path for entry in entries if not is_folder(entry)):
        if is_meant_as_image(path):
            listing.add_file(path)
    return folders


def _reason_against(path: str) -> str | None:
    try:
        status = os.stat(path)
    except OSError as error:
        return reason_of(error, path)
    except ValueError:  # a null character inside the path
        return "no such file"
    reason = reason_to_refuse(status)
    if reason is None and stat.S_ISREG(status.st_mode) and not os.access(path, os.R_OK):
        return "permission denied"
    return reason
