"""Pictures for the labelling page, and visitors who send requests as they are."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

HUES = {"red": (190, 60, 50), "green": (60, 160, 70), "blue": (50, 80, 190)}


def write_pictures(folder: Path, n: int, *, seed: int = 0, side: int = 96) -> list[Path]:
    """Noisy squares of three colours in turn, named by number."""
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(seed)
    paths = []
    for number in range(n):
        hue = list(HUES.values())[number % len(HUES)]
        pixels = np.clip(generator.normal(hue, 25, (side, side + 8 * (number % 3), 3)), 0, 255)
        paths.append(folder / f"picture_{seed}{number:03d}.png")
        Image.fromarray(pixels.astype(np.uint8)).save(paths[-1])
    return paths


def write_burst(folder: Path, n: int, *, second: int = 0) -> list[Path]:
    """Photographs of one camera, a second apart; JPEG files with their EXIF data."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(n):
        exif = Image.Exif()
        exif[0x010F], exif[0x0110] = "Maker", "Camera"
        exif.get_ifd(0x8769)[0x9003] = f"2024:05:01 10:00:{second + number:02d}"
        pixels = np.random.default_rng(100 + second + number).integers(0, 255, (80, 120, 3))
        paths.append(folder / f"burst_{second + number:02d}.jpg")
        Image.fromarray(pixels.astype(np.uint8)).save(paths[-1], exif=exif)
    return paths


@dataclass(frozen=True)
class Answered:
    """What a server said."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Visitor:
    """Sends requests as they are. PORT and TOKEN in paths and headers stand for those of the server."""

    port: int
    token: str
    headers: dict[str, str] = field(default_factory=dict)

    def send(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | Iterable[bytes] | None = None
    ) -> Answered:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        wanted = {"host": "127.0.0.1:PORT", **self.headers, **(headers or {})}
        try:
            connection.putrequest(method, self._real(path), skip_host=True, skip_accept_encoding=True)
            for name, value in wanted.items():
                connection.putheader(name, self._real(value))
            if isinstance(body, bytes):
                connection.putheader("content-length", str(len(body)))
                connection.endheaders(body)
            elif body is not None:
                connection.putheader("transfer-encoding", "chunked")
                connection.endheaders(body, encode_chunked=True)
            else:
                connection.endheaders()
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answered(response.status, found, response.read())
        finally:
            connection.close()

    def get(self, path: str, headers: dict[str, str] | None = None) -> Answered:
        return self.send("GET", path, headers)

    def post(self, path: str, said: object, headers: dict[str, str] | None = None) -> Answered:
        return self.send(
            "POST", path, {"content-type": "application/json", **(headers or {})}, json.dumps(said).encode()
        )

    def _real(self, text: str) -> str:
        return text.replace("TOKEN", self.token).replace("PORT", str(self.port))
