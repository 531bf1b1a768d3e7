"""Sets on which nothing about the learner is chosen: they only show how well it carries over.

`kinds` and `animals_or_not` gather categories of Caltech-101 by meaning, so that a category is as mixed as many that people
have in mind; `digits` are scikit-learn's, `tiles` pieces of scikit-image's photographs (`fewsight.images.sample_set`),
`faces_or_not` comes with scikit-image, and `caltech_4` has rear cars, airplanes, faces, motorbikes and a campus, all grey and of
one size, one frame of each scene with cars.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow
from skimage.data import lfw_subset
from sklearn.datasets import load_digits

from experiments.common.command import images_of
from experiments.common.twins import twin_sets
from fewsight.images import Image, ImageArray, ImageFile, ImageSet, sample_set

KINDS: Mapping[str, str] = {  # of Caltech-101; Faces_easy shows the photographs of Faces again
    "mammals": "Leopards beaver cougar_body cougar_face dalmatian dolphin elephant gerenuk "
    "hedgehog kangaroo llama okapi panda platypus rhino wild_cat",
    "birds, reptiles, fish": "bass brontosaurus crocodile crocodile_head emu flamingo flamingo_head hawksbill ibis "
    "pigeon rooster sea_horse stegosaurus",
    "without backbone": "ant butterfly crab crayfish dragonfly lobster mayfly nautilus octopus scorpion starfish tick trilobite",
    "plants and food": "bonsai joshua_tree lotus pizza strawberry sunflower water_lilly",
    "vehicles": "Motorbikes airplanes car_side ferry helicopter ketch schooner wheelchair",
    "instruments": "accordion electric_guitar euphonium grand_piano mandolin metronome saxophone",
    "household": "binocular camera ceiling_fan cellphone chair chandelier cup ewer "
    "headphone lamp laptop menorah scissors stapler umbrella watch windsor_chair wrench",
    "buildings": "minaret pagoda pyramid",
}
ANIMALS = ("mammals", "birds, reptiles, fish", "without backbone")
MOST_OF_A_MEMBER = 60  # images, so that no member is most of its kind
MOST = 120  # images of a category of Caltech-4
SIDE, WIDTH, HEIGHT = 96, 300, 200  # of enlarged pictures; of all in Caltech-4


def kinds(data: Path) -> ImageSet:
    """Eight broad kinds, each of 3 to 18 categories of Caltech-101."""
    return _gathered(data, {member: kind for kind, members in KINDS.items() for member in members.split()})


def animals_or_not(data: Path) -> ImageSet:
    """The same in two categories."""
    names = {kind: "animal" if kind in ANIMALS else "no animal" for kind in KINDS}
    return _gathered(data, {member: names[kind] for kind, members in KINDS.items() for member in members.split()})


def _gathered(data: Path, kind_of: Mapping[str, str]) -> ImageSet:
    known = images_of(data)
    labels = np.array(known.labels)
    chosen = np.concatenate([_some(np.flatnonzero(labels == member), MOST_OF_A_MEMBER) for member in kind_of])
    return ImageSet([known.images[i] for i in chosen], [kind_of[labels[i]] for i in chosen])


def _some(members: npt.NDArray[np.intp], most: int) -> npt.NDArray[np.intp]:
    """At most so many, evenly spread."""
    return members[np.unique(np.linspace(0, len(members) - 1, min(most, len(members))).astype(np.intp))]


def digits(data: Path) -> ImageSet:
    """Handwritten digits of 8 x 8 pixels."""
    found = load_digits()
    return ImageSet(_enlarged(found.images / 16.0), [str(number) for number in found.target])


def faces_or_not(data: Path) -> ImageSet:
    """A hundred small grey faces, and as many pictures of the same size without one."""
    return ImageSet(_enlarged(lfw_subset()), ["face"] * 100 + ["no face"] * 100)


def _enlarged(grey: npt.NDArray[np.float64]) -> list[Image]:
    return [_picture(Pillow.fromarray(np.uint8(255 * each)), SIDE, SIDE, number) for number, each in enumerate(grey)]


def tiles(data: Path) -> ImageSet:
    """The tiles of eleven photographs."""
    return sample_set()


def caltech_4(data: Path) -> ImageSet:
    """The classes of Caltech-4 and its background, alike in size and without colour."""
    folders = {name: data / "caltech101" / name for name in ("airplanes", "Faces", "Motorbikes")}
    found = {name: _read(folder) for name, folder in folders.items()}
    cars, campus = _read(data / "caltech4_cars_rear"), _read(data / "caltech_background")
    found |= {"cars": [cars[twins[0]] for twins in twin_sets(cars, np.arange(len(cars)))], "campus": campus}
    images, labels = [], []
    for name, members in found.items():
        chosen = [members[i] for i in _some(np.arange(len(members)), MOST)]
        images += [_picture(_grey(each), WIDTH, HEIGHT, f"{name} {i}") for i, each in enumerate(chosen)]
        labels += [name] * len(chosen)
    return ImageSet(images, labels)


def _read(folder: Path) -> Sequence[Image]:
    return [ImageFile(path) for path in sorted(folder.glob("*.jpg"))]


def _grey(image: Image) -> Pillow.Image:
    return Pillow.fromarray(np.uint8(255 * image.pixels())).convert("L")


def _picture(grey: Pillow.Image, width: int, height: int, name: object) -> Image:
    resized = grey.resize((width, height), Pillow.Resampling.BICUBIC)
    return ImageArray(np.asarray(resized.convert("RGB")), str(name))


UNSEEN_READERS: Mapping[str, Callable[[Path], ImageSet]] = {
    reader.__name__: reader for reader in (kinds, animals_or_not, digits, tiles, faces_or_not, caltech_4)
}
