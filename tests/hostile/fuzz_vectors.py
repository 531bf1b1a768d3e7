"""What damaged networks and tables of vectors do to those who read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from fuzz_mutations import mutated

from fewsight._base.errors import FewsightError
from fewsight.features.networks import ImageNetwork, Wishes, read_onnx, session
from fewsight.images.vectors import read_vectors
from small_networks import network

PIXELS = np.random.default_rng(0).random((20, 30, 3), dtype=np.float32)
ENDINGS: dict[str, dict[str, Any]] = {
    "vector": {},
    "map": {"output": ("n", 12, "h", "w")},
    "tokens": {"output": ("n", "t", 12), "metadata": {"mean": "[0.5, 0.5, 0.5]", "side": "32"}},
}


def said(error: FewsightError) -> str:
    """How it ended, in a word; more than one line is a fault."""
    if "\n" in str(error):
        raise ValueError(f"more than one line: {error}")
    return "refused"


class Networks:
    """An ONNX file, and whatever loads is run: a vector or a FewsightError."""

    def __init__(self, folder: Path) -> None:
        session.MOST_SECONDS = 5.0
        self.path = folder / "net.onnx"
        self.seeds = [network(ending=ending, **options) for ending, options in ENDINGS.items()]
        assert [self.read(seed) for seed in self.seeds] == ["vector"] * len(self.seeds)  # and the library is loaded

    def make(self, rng: np.random.Generator) -> bytes:
        return mutated(self.seeds[int(rng.integers(len(self.seeds)))], self.seeds, rng)

    def read(self, content: bytes) -> str:
        self.path.write_bytes(content)
        try:
            vector = ImageNetwork(read_onnx(self.path, "Embedding"), Wishes()).vector(PIXELS, "image")
        except FewsightError as error:
            return said(error)
        assert np.isfinite(vector).all(), "a vector that is no number"
        return "vector"


class Tables:
    """A table of vectors in any format: rows of finite numbers or a FewsightError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rows, files = np.arange(12.0).reshape(3, 4), np.array(["a.jpg", "b/c.jpg", "é.jpg"])
        (folder / "v.txt").write_text("a.jpg\nb.jpg\nc.jpg\n")
        np.save(folder / "v.npy", rows)
        np.savez_compressed(folder / "v.npz", vectors=rows, files=files)
        text = "".join(f"{file},{','.join(map(str, row))}\n" for file, row in zip(files, rows, strict=True))
        (folder / "v.csv").write_text("file,w,x,y,z\n" + text, encoding="utf-8")
        self.seeds = [(folder / f"v.{ending}").read_bytes() for ending in ("npy", "npz", "csv")]

    def make(self, rng: np.random.Generator) -> bytes:
        number = int(rng.integers(len(self.seeds)))
        return bytes([number]) + mutated(self.seeds[number], self.seeds, rng)

    def read(self, content: bytes) -> str:
        path = self.folder / f"damaged.{('npy', 'npz', 'csv')[content[0] % 3]}"
        (self.folder / "damaged.txt").write_text("a.jpg\nb.jpg\nc.jpg\n")
        path.write_bytes(content[1:])
        try:
            table = read_vectors(path)
        except FewsightError as error:
            return said(error)
        assert np.isfinite(table.rows).all(), "a row that is no number"
        assert len(table.keys) == len(table.rows)
        return "table"
