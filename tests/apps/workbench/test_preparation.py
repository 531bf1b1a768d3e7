"""Images are prepared in processes that end with their parent, are replaced when they die, and survive any file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from fewsight.apps.workbench import preparation
from fewsight.apps.workbench.fitted_channels import read_channels, write_channels
from fewsight.apps.workbench.image_worker import ImageWorker
from fewsight.apps.workbench.preparation import FATAL, Preparation
from fewsight.apps.workbench.project.catalogue import Reading
from fewsight.channels import make_channel
from fewsight.images import FeatureCache, ImageFile
from fewsight.images.looks import stored_look
from fewsight.images.shown import kept_copy

NAMES = [f"{number}.png".encode() for number in range(6)]


@pytest.fixture
def photographs(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    for name in NAMES:
        Pillow.fromarray(rng.integers(0, 256, (40, 60, 3), dtype=np.uint8)).save(folder / os.fsdecode(name))
    return folder


class Heard:
    """What `on_reading` was told."""

    def __init__(self) -> None:
        self.readings: list[Reading] = []
        self.features: list[tuple[str, Path | None, str | None]] = []
        self.lock = threading.Lock()

    def __call__(self, reading: Reading) -> None:
        with self.lock:
            self.readings.append(reading)

    def on_features(self, image: str, fitted: Path | None, failure: str | None) -> None:
        with self.lock:
            self.features.append((image, fitted, failure))

    @property
    def by_path(self) -> dict[bytes, Reading]:
        return {reading.path: reading for reading in self.readings}


@pytest.fixture
def cache(tmp_path: Path) -> FeatureCache:
    return FeatureCache(tmp_path / "cache", 10**9)


@pytest.fixture
def prepare(photographs: Path, cache: FeatureCache) -> Iterator[Callable[..., tuple[Preparation, Heard]]]:
    opened: list[Preparation] = []

    def start(**options: object) -> tuple[Preparation, Heard]:
        heard = Heard()
        opened.append(Preparation(photographs, cache, heard, on_features=heard.on_features, n_workers=1, **options))
        return opened[-1], heard

    yield start
    for each in opened:
        each.close()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z" if Path("/proc").exists() else True


def test_every_file_is_read_once_and_its_copies_are_kept(prepare, photographs: Path, cache: FeatureCache) -> None:
    work, heard = prepare()
    work.add(NAMES)
    assert work.wait(60)
    assert sorted(reading.path for reading in heard.readings) == NAMES
    for path, reading in heard.by_path.items():
        file = photographs / os.fsdecode(path)
        assert reading.hash == ImageFile(file).content_hash
        assert (reading.width, reading.height, reading.unreadable) == (60, 40, None)
        assert reading.stamp.size == file.stat().st_size
        assert kept_copy(cache, reading.hash, 320)
        assert stored_look(reading.hash, cache) is not None


def test_what_somebody_waits_for_comes_first(prepare) -> None:
    work, heard = prepare()
    wanted = NAMES[3]
    work._waiting.extend(preparation._Job(name) for name in NAMES)  # not awake yet: nobody was told
    work.first([wanted])
    assert work.wait(60)
    assert heard.readings[0].path == wanted


def test_features_and_encodings_are_in_the_cache_afterwards(
    prepare, photographs: Path, cache: FeatureCache, tmp_path: Path
) -> None:
    images = [ImageFile(photographs / os.fsdecode(name)) for name in NAMES]
    fitted = make_channel("colour").fit(images)
    write_channels(tmp_path / "channels", [fitted])
    work, heard = prepare(features=True, fitted=tmp_path / "channels")
    work.add(NAMES)
    assert work.wait(120)
    assert {image for image, _, _ in heard.features} == {image.content_hash for image in images}
    assert {fitted for _, fitted, _ in heard.features} == {tmp_path / "channels"}
    (channel,) = read_channels(tmp_path / "channels")
    channel.cache = cache
    channel._describe = lambda image: pytest.fail("its features are in the cache")
    kept = channel.encode(images)
    np.testing.assert_allclose(np.asarray(channel.gram(kept)), np.asarray(fitted.gram(fitted.encode(images))))


def test_the_first_images_do_not_wait_for_features(prepare) -> None:
    work, heard = prepare(features=True, channels=["colour"])
    seen: list[int] = []
    work._on_features = lambda *about: seen.append(len(heard.readings))
    work.add(NAMES)
    assert work.wait(120)
    assert seen == [7, 8, 9, 10, 11, 12]  # each file was looked at before the first had its features


def test_channels_are_fitted_in_a_process_and_images_encoded_by_them(
    prepare, photographs: Path, cache: FeatureCache, tmp_path: Path
) -> None:
    work, heard = prepare(features=True, channels=["colour"])
    work.add(NAMES)
    assert work.wait(120)
    pairs = [(path, reading.hash) for path, reading in sorted(heard.by_path.items())]
    ended: list[str | None] = []
    work.fit(pairs, tmp_path / "new" / "channels", ended.append)
    assert work.wait(120)
    assert ended == [None]
    for name in NAMES:
        (photographs / os.fsdecode(name)).unlink()  # what the cache has is not read again
    heard.features.clear()
    work.describe(pairs)
    assert work.wait(60)
    assert heard.features == [(content, tmp_path / "new" / "channels", None) for _, content in pairs]
    (channel,) = read_channels(tmp_path / "new" / "channels")
    expected = make_channel("colour", cache=cache).fit([ImageFile(name, content) for name, content in pairs])
    assert channel.learned_.header == expected.learned_.header


def test_features_of_a_file_that_has_changed_say_why_there_are_none(prepare, photographs: Path) -> None:
    work, heard = prepare(features=True, channels=["colour"])
    work.describe([(NAMES[0], "0" * 40)])
    assert work.wait(60)
    assert heard.features == [("0" * 40, None, "the file has changed since it was first read")]
    assert heard.readings == []


def test_channels_that_cannot_be_made_are_said_and_files_read_all_the_same(prepare) -> None:
    work, heard = prepare(features=True, channels=["nonsense"])
    work.add(NAMES)
    assert work.wait(60)
    assert set(heard.by_path) == set(NAMES)
    assert len(work.remarks) == 1
    assert work.remarks[0].startswith("Features cannot be computed: ")
    assert "nonsense" in work.remarks[0]


def test_broken_files_are_answered_for(prepare, photographs: Path) -> None:
    (photographs / "text.jpg").write_text("no image")
    (photographs / "half.png").write_bytes((photographs / "0.png").read_bytes()[:500])
    work, heard = prepare()
    work.add([b"text.jpg", b"half.png", b"none.png", NAMES[0]])
    assert work.wait(60)
    reasons = {path: reading.unreadable for path, reading in heard.by_path.items()}
    assert reasons[b"text.jpg"] == "not an image (JPEG, PNG, TIFF, BMP, WebP or GIF)"
    assert reasons[b"half.png"] in ("truncated", "damaged PNG")
    assert reasons[b"none.png"] == "no such file or directory"
    assert reasons[NAMES[0]] is None


def test_a_process_that_is_killed_is_replaced(prepare) -> None:
    work, heard = prepare()
    work.add(NAMES[:1])
    assert work.wait(60)
    (before,) = work.pids
    os.kill(before, signal.SIGKILL)
    work.add(NAMES[1:])
    assert work.wait(60)
    assert set(heard.by_path) == set(NAMES)
    assert work.pids != [before]
    assert work.remarks == []


def test_a_file_on_which_processes_die_is_unreadable(prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    work, heard = prepare()
    ask = preparation._Worker.ask

    def killing(worker: preparation._Worker, task, patience: float) -> object:
        if bytes.fromhex(task["path"]) == NAMES[2]:
            os.kill(worker._started().pid, signal.SIGKILL)
        return ask(worker, task, patience)

    monkeypatch.setattr(preparation._Worker, "ask", killing)
    work.add(NAMES)
    assert work.wait(120)
    reasons = {path: reading.unreadable for path, reading in heard.by_path.items()}
    assert reasons == dict.fromkeys(NAMES) | {NAMES[2]: FATAL}


def test_processes_that_keep_dying_are_given_up_and_it_is_said(prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation.sys, "executable", "/bin/false")
    work, _ = prepare()
    work.add(NAMES)
    assert not work.wait(60)
    assert work.remarks == ["A program that prepares images ended 3 times (with code 1) and is not started again."]
    assert not work.is_idle


def test_closing_ends_the_processes(prepare) -> None:
    work, _ = prepare()
    work.add(NAMES)
    assert work.wait(60)
    pids = work.pids
    work.close()
    assert not any(map(alive, pids))


PARENT = """
import sys, time
from pathlib import Path
from fewsight.apps.workbench.preparation import Preparation
from fewsight.images import FeatureCache
options = {"features": True, "channels": ["colour"], "n_workers": 2}
work = Preparation(Path(sys.argv[1]), FeatureCache(sys.argv[2], 10**9), lambda *_: None, **options)
work.add([name.encode() for name in sys.argv[3:]])
while len(work.pids) < 2:
    time.sleep(0.01)
print(*work.pids, flush=True)
time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 0.3, 2.0])
def test_no_process_outlives_a_killed_parent(photographs: Path, cache: FeatureCache, delay: float) -> None:
    command = [sys.executable, "-c", PARENT, str(photographs), str(cache.folder), *map(os.fsdecode, NAMES)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        time.sleep(delay)
        parent.kill()
    assert len(pids) == 2
    deadline = time.monotonic() + 5
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, pids))


def test_a_file_that_changes_while_it_is_read(
    photographs: Path, cache: FeatureCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fewsight.apps.workbench import image_worker

    worker = ImageWorker(
        {"folder": str(photographs), "cache": str(cache.folder), "max_bytes": 10**9, "channels": [], "seed": 0}
    )
    read = image_worker.read_bytes

    def meanwhile(path: str) -> bytes:
        content = read(path)
        Path(path).write_bytes(b"shorter")
        return content

    monkeypatch.setattr(image_worker, "read_bytes", meanwhile)
    answer = worker.answer({"path": NAMES[0].hex(), "features": False})
    assert (answer["hash"], answer["unreadable"]) == (None, "the file changed while it was read")
