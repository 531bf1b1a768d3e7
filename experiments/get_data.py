"""Where the images of the experiments come from, and how they get to where the experiments look for them.

    python -m experiments.get_data [DATA]                       # every set: source, licence, size, and whether DATA has it
    python -m experiments.get_data DATA --put caltech101 FILE   # unpack or copy what you downloaded to DATA/caltech101

Nothing is downloaded: fetching a set, and agreeing to its licence, is yours. FILE is the archive as it is published (.zip, .tar,
.tar.gz, ...) or a folder. Of a set that was cut, as many images of each class are taken as the list says, by the rule that
ours was cut by. DATA is $FEWSIGHT_DATA unless given.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fewsight._base.errors import FewsightError, InvalidInput

ENDINGS = {".jpg", ".jpeg", ".png", ".gif", ".tif", ".tiff", ".bmp"}
DRAW = "fewsight-0"  # what the draw of a cut set begins its seed with


@dataclass(frozen=True)
class DataSet:
    """A set of images: what it is, who publishes it, and how it lies in the data folder."""

    name: str
    what: str
    source: str
    licence: str
    n_images: int
    n_classes: int | None = None  # folders, one for each class; None where all images lie in one folder
    per_class: int | None = None  # of how many images of each class it was cut; None if it was not

    @property
    def layout(self) -> str:
        """In words."""
        return f"{self.name}/CLASS/IMAGE" if self.n_classes else f"{self.name}/IMAGE"


SETS = {
    each.name: each
    for each in (
        DataSet(
            "caltech101",
            "Caltech-101, with its folder BACKGROUND_Google",
            "the California Institute of Technology (Caltech), under the name Caltech-101",
            "CC BY 4.0",
            9_144,
            102,
        ),
        DataSet(
            "caltech4_cars_rear",
            "rear views of cars, the fourth class of Caltech-4",
            "the California Institute of Technology (Caltech), as a part of Caltech-4",
            "research set",
            515,
        ),
        DataSet(
            "caltech_background",
            "the grey Caltech background set",
            "the California Institute of Technology (Caltech), its background set of the campus",
            "research set",
            900,
        ),
        DataSet(
            "brodatz",
            "the 112 Brodatz textures, 640 x 640",
            "the Brodatz album of textures, as digitised by others",
            "research set",
            112,
        ),
        DataSet(
            "more/neu_steel",
            "defects of hot-rolled steel (NEU)",
            "Northeastern University, China; on GitHub siddhartamukherjee/NEU-DET-Steel-Surface-Defect-Detection, revision "
            "351bee21b56b, IMAGES and Validation_Images",
            "none stated: do not pass it on",
            720,
            6,
            120,
        ),
        DataSet(
            "more/blood_cells",
            "stained single blood cells (PBC, Barcelona)",
            "Mendeley Data, data set snkd93bnjr; on GitHub AuralinACC/Blood-Cell-Classification, revision d2e7b75e11e2, "
            "PBC_dataset_normal_DIB",
            "of its own, see the source",
            800,
            8,
            100,
        ),
        DataSet(
            "more/clothing",
            "garments photographed at home",
            "on GitHub alexeygrigorev/clothing-dataset-small, revision 119615165124, train, validation and test together",
            "CC0 1.0",
            700,
            10,
            70,
        ),
        DataSet(
            "more/trashnet150",
            "rubbish by material (TrashNet), 150 x 150",
            "on GitHub JMadiedo/RecycleNet, revision cdb27a51c2a1, data/dataset-resized; its origin is garythung/trashnet",
            "MIT at its origin, none stated there",
            720,
            6,
            120,
        ),
    )
}


def described(data: Path | None) -> Iterator[str]:
    """A paragraph for each set."""
    for each in SETS.values():
        classes = f" in {each.n_classes} classes" if each.n_classes else ""
        cut = f", {each.per_class} of each class" if each.per_class else ""
        yield f"{each.name}: {each.what}; {each.n_images:,} images{classes}{cut}"
        yield f"    from     {each.source}"
        yield f"    licence  {each.licence}"
        yield f"    lies at  DATA/{each.layout}"
        if data is not None:
            yield f"    here     {standing(each, data / each.name)}"
        yield ""


def standing(wanted: DataSet, folder: Path) -> str:
    """Whether a set is there, and whole, in words."""
    if not folder.is_dir():
        return "missing"
    found = images_below(folder)
    classes = {path.relative_to(folder).parts[0] for path in found if path.parent != folder}
    if len(found) == wanted.n_images and len(classes) == (wanted.n_classes or 0):
        return "there"
    return f"{len(found):,} images in {len(classes)} classes, not {wanted.n_images:,} in {wanted.n_classes or 0}"


def put(wanted: DataSet, given: Path, data: Path) -> str:
    """Bring a set from an archive or a folder to its place, whole or not at all; what is there now, in words."""
    target = data / wanted.name
    if target.exists():
        raise InvalidInput(f"get_data: {target} must not be there yet; move it away first.")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".get_data-") as folder:
        source, made = given, Path(folder) / "made"
        if not given.is_dir():
            source = Path(folder) / "unpacked"
            unpack(given, source)
        chosen = placed(wanted, source)
        if not chosen:
            raise InvalidInput(f"get_data: {given} must hold images, got none.")
        for place, path in chosen.items():
            (made / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, made / place)
        made.rename(target)
    return standing(wanted, target)


def unpack(archive: Path, folder: Path) -> None:
    """Nothing of an archive is written outside the folder."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as zipped:
                zipped.extractall(folder)  # which drops leading slashes and dots
        else:
            with tarfile.open(archive) as tarred:
                tarred.extractall(folder, filter="data")
    except (OSError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise InvalidInput(
            f"get_data: {archive} must be a folder, a zip or a tar that can be read ({error})."
        ) from None


def placed(wanted: DataSet, source: Path) -> dict[Path, Path]:
    """Which file goes where: by the folder it lies in, where the set has classes; cut as ours was."""
    found = images_below(source)
    if wanted.n_classes is None:
        names = Counter(path.name for path in found)
        if names and names.most_common(1)[0][1] > 1:
            raise InvalidInput(f"get_data: each name must be there once, got {names.most_common(1)[0][0]} twice.")
        return {Path(path.name): path for path in found}
    classes: dict[str, list[Path]] = {}
    for path in found:
        classes.setdefault(path.parent.name, []).append(path)
    if wanted.per_class is not None:
        classes = cut(wanted, classes)
    return {Path(name) / _flat(path, source): path for name, paths in classes.items() for path in paths}


def cut(wanted: DataSet, classes: dict[str, list[Path]]) -> dict[str, list[Path]]:
    """As many of each class as the set has: content once, none that lies in two classes, then the first of a seeded draw."""
    content = {path: hashlib.sha256(path.read_bytes()).digest() for paths in classes.values() for path in paths}
    homes: dict[bytes, set[str]] = {}
    for name, paths in classes.items():
        for path in paths:
            homes.setdefault(content[path], set()).add(name)
    drawn = {}
    for name, paths in classes.items():
        once = {content[path]: path for path in reversed(paths)}  # the first by path
        kept = sorted(path for blob, path in once.items() if len(homes[blob]) == 1)
        order = random.Random(f"{DRAW}:{Path(wanted.name).name}:{name}").sample(kept, len(kept))
        drawn[name] = order[: wanted.per_class]
    return drawn


def images_below(folder: Path) -> list[Path]:
    """All image files, by path; what archives leave beside them (.DS_Store, __MACOSX) is none."""
    found = (path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file())
    return sorted(
        path for path in found if not any(part.startswith((".", "__")) for part in path.relative_to(folder).parts)
    )


def _flat(path: Path, source: Path) -> str:
    """The name of a file in its class; of a set that comes in splits, with the split before it."""
    splits = [part for part in path.relative_to(source).parts[:-2] if part in ("train", "validation", "test")]
    return "_".join([*splits, path.name])


def main() -> None:
    """List the sets, or put one in its place."""
    options = _options()
    try:
        if options.put is None:
            print("\n".join(described(options.data)))
            return
        name, given = options.put
        if options.data is None:
            raise InvalidInput("get_data: DATA must be the folder for all sets, got none.")
        if name not in SETS:
            raise InvalidInput(f"get_data: the set must be one of {', '.join(SETS)}, got {name}.")
        print(f"{name}: {put(SETS[name], Path(given), options.data)}")
    except FewsightError as error:
        sys.exit(str(error))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.get_data", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    chosen = os.environ.get("FEWSIGHT_DATA")
    parser.add_argument("data", type=Path, nargs="?", default=Path(chosen) if chosen else None, help="the data folder")
    parser.add_argument("--put", nargs=2, metavar=("SET", "FILE"), help="a set, and what you downloaded of it")
    return parser.parse_args()


if __name__ == "__main__":
    main()
