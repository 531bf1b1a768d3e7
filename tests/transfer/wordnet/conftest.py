"""A WordNet of a few dozen words, written in the form of the real one, and the real one where there is one."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from fewsight._base.errors import WordNetMissing
from fewsight.transfer.wordnet import WordNet, find_wordnet

LICENCE = "  1 This is no licence, but it is where one stands.  \n"


@dataclass
class Entry:
    """A synset: its words, the first words of what it is a kind of, its lexicographer's file and its words' tag counts."""

    words: list[str]
    kinds: list[str]
    file: int
    gloss: str
    counts: dict[str, int] = field(default_factory=dict)
    pointer: str = "@"


ENTRIES = [
    Entry(["entity"], [], 3, "that which is"),
    Entry(["physical_entity"], ["entity"], 3, "an entity that can be touched"),
    Entry(["abstraction"], ["entity"], 3, "a concept"),
    Entry(["animal", "beast"], ["physical_entity"], 5, "a living thing that moves", {"animal": 9}),
    Entry(["artifact"], ["physical_entity"], 6, "a thing that was made"),
    Entry(["plant"], ["physical_entity"], 20, "a living thing that stays"),
    Entry(["person"], ["physical_entity"], 18, "a human being", {"person": 40}),
    Entry(["cat"], ["animal"], 5, "a feline mammal", {"cat": 6}),
    Entry(["pet"], ["animal"], 5, "an animal kept for pleasure"),
    Entry(["house_cat"], ["cat", "pet"], 5, "a cat that lives with people", {"house_cat": 3}),  # two ways up
    Entry(["fur#leopard", "leopard"], ["artifact"], 27, "the pelt of a leopard"),
    Entry(["leopard", "Panthera_pardus"], ["cat"], 5, "a large cat with spots"),
    Entry(["cougar", "puma"], ["cat"], 5, "a large cat without spots", {"cougar": 1}),
    Entry(["wildcat"], ["cat"], 5, "a small cat of the woods"),
    Entry(["fish"], ["animal"], 5, "lives in water", {"fish": 5}),
    Entry(["food#fish", "fish"], ["physical_entity"], 13, "the flesh of fish"),
    Entry(["bass#low", "bass"], ["abstraction"], 7, "the lowest part of the musical range", {"bass": 2}),
    Entry(["sea_bass", "bass"], ["food#fish"], 13, "the flesh of a saltwater fish"),
    Entry(["bass"], ["fish"], 5, "a spiny-finned swimmer"),
    Entry(["bass_guitar", "bass"], ["artifact"], 6, "the member with the lowest range of a family of instruments"),
    Entry(["goose"], ["animal"], 5, "a bird with a long neck", {"goose": 3}),
    Entry(["face"], ["physical_entity"], 8, "the front of the head", {"face": 20}),
    Entry(["side"], ["abstraction"], 15, "a place within a region", {"side": 8}),
    Entry(["fan"], ["artifact"], 6, "makes a current of air", {"fan": 4}),
    Entry(["fan#person", "fan"], ["person"], 18, "an ardent follower", {"fan": 3}),
    Entry(["in-line_skate"], ["artifact"], 6, "a shoe with a line of rollers"),
    Entry(["binoculars"], ["artifact"], 6, "an optical instrument for both eyes", {"binoculars": 1}),
    Entry(["water_lily"], ["plant"], 20, "a plant in a pond"),
    Entry(["water"], ["physical_entity"], 27, "a clear liquid"),
    Entry(["car"], ["artifact"], 6, "a motor vehicle", {"car": 7}),
    Entry(["rose"], ["plant"], 20, "a shrub"),
    Entry(["stable"], ["artifact"], 6, "a house for horses"),
    Entry(["staple"], ["artifact"], 6, "a bent wire"),
    Entry(["100"], ["abstraction"], 23, "ten tens"),
    Entry(["c"], ["abstraction"], 23, "how fast light is"),
    Entry(["metronome"], ["artifact"], 6, "gives the tempo"),
    Entry(["Tom"], ["house_cat"], 5, "a cat of a comic strip", {}, "@i"),
]


def write_wordnet(folder: Path, entries=ENTRIES, *, ending: str = "\n", tags: str | None = "cntlist.rev") -> Path:
    """The files of a WordNet folder; a word with # is a way to name a synset here, and is no word."""
    folder.mkdir(parents=True, exist_ok=True)
    offsets = {entry.words[0]: 1000 + 7 * place for place, entry in enumerate(entries)}
    data, index, counts, numbers = [], {}, [], {}
    for entry in entries:
        words = [word for word in entry.words if "#" not in word]
        ids = [numbers.setdefault((word.lower(), entry.file), []) for word in words]
        for used in ids:
            used.append(None)
        listed = " ".join(f"{word} {len(used) - 1:x}" for word, used in zip(words, ids, strict=True))
        up = [f"{entry.pointer} {offsets[kind]:08d} n 0000" for kind in entry.kinds] + ["+ 00000007 v 0101"]
        offset = offsets[entry.words[0]]
        data.append(
            f"{offset:08d} {entry.file:02d} n {len(words):02x} {listed} {len(up):03d} {' '.join(up)} | {entry.gloss}  "
        )
        for word, used in zip(words, ids, strict=True):
            count = entry.counts.get(word, 0)
            index.setdefault(word.lower(), []).append((-count, offset))
            key = f"{word.lower()}%1:{entry.file:02d}:{len(used) - 1:02d}::"
            counts.append(f"{key} {offset:08d} 1 {count}" if tags == "index.sense" else f"{key} 1 {count}")
    lines = [
        f"{word} n {len(senses)} 2 @ ~ {len(senses)} 0 " + " ".join(f"{at:08d}" for _, at in sorted(senses)) + "  "
        for word, senses in sorted(index.items())
    ]
    files = {"data.noun": data, "index.noun": lines, "noun.exc": ["geese goose"]}
    if tags:
        files[tags] = [*counts, "run%2:38:00:: 1 99"]
    for name, content in files.items():
        start = LICENCE if name.endswith(".noun") else ""
        text = start + "".join(line + "\n" for line in content)
        (folder / name).write_bytes(text.replace("\n", ending).encode())
    return folder


@pytest.fixture(scope="session")
def made() -> SimpleNamespace:
    """How to make a folder: `made.write(folder, entries, ending=, tags=)`."""
    return SimpleNamespace(write=write_wordnet, entries=ENTRIES, Entry=Entry)


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory) -> Path:
    return write_wordnet(tmp_path_factory.mktemp("wordnet") / "dict")


@pytest.fixture(scope="session")
def small(small_folder) -> WordNet:
    return WordNet.open(small_folder)


@pytest.fixture(scope="session")
def real() -> WordNet:
    """The WordNet of this machine."""
    try:
        return WordNet.open(find_wordnet())
    except WordNetMissing as missing:
        pytest.skip(str(missing))
