"""`fewsight label` as a command: what it says, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fewsight.apps.cli.label import _has_display, _show
from fewsight.apps.workbench.verbs import Workbench
from page_visits import Visitor, write_pictures

Refused = Callable[..., str]


class Running:
    """The command in a process of its own, as a terminal starts it."""

    def __init__(self, environment: dict[str, str], *arguments: str | Path) -> None:
        command = [sys.executable, "-m", "fewsight.apps.cli", "label", "--no-browser", *map(str, arguments)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=environment["PWD"]
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()

    def all_read(self, n: int) -> None:
        """Wait until all files of the folder were read."""
        port, token = self.address.removeprefix("http://127.0.0.1:").split("/?token=")
        visitor = Visitor(int(port), token, {"cookie": "fewsight-PORT=TOKEN"})
        while visitor.get("/api/state").json()["n_read"] < n:
            time.sleep(0.05)

    def waited(self) -> tuple[int, list[str], list[str]]:
        """How it ended by itself, and what it said besides the address."""
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out.splitlines(), err.splitlines()

    def end(self, how: signal.Signals = signal.SIGINT) -> tuple[int, list[str], list[str]]:
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out.splitlines(), err.splitlines()


def label_all(folder: Path, project: Path, rows: list[tuple[str, str]]) -> None:
    """Labels from elsewhere, without a page."""
    table = folder.parent / "labels.csv"
    table.write_text("".join(f"{file},{category}\n" for file, category in [("file", "category"), *rows]))
    with Workbench(folder, project=project, who="ann") as bench:
        bench.scan()
        bench.import_labels(table)


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    environment = {
        **os.environ,
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "PYTHONPATH": os.pathsep.join(each for each in sys.path if each),
        "PWD": str(tmp_path),
    }
    began: list[Running] = []

    def start(*arguments: str | Path) -> Running:
        began.append(Running(environment, *arguments))
        return began[-1]

    yield start
    for each in began:
        if each.process.poll() is None:
            each.process.kill()
        each.process.wait()
        for stream in (each.process.stdout, each.process.stderr):
            if stream is not None:
                stream.close()


def test_a_folder_without_images_is_refused(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no image")
    assert refused("label", tmp_path) == f"{tmp_path}: must be a folder with images, got none in it."
    missing = refused("label", tmp_path / "missing")
    assert missing.startswith(f"{tmp_path / 'missing'}: must be a folder of images, got:")


def test_either_a_folder_or_the_sample_images(run: Callable[..., object], tmp_path: Path) -> None:
    for arguments in (["label"], ["label", str(tmp_path), "--demo"]):
        result = run(*arguments)
        assert result.exit_code == 2  # type: ignore[attr-defined]
        assert "--demo" in result.stderr  # type: ignore[attr-defined]


def test_without_a_display_the_address_is_all(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.platform != "linux":
        pytest.skip("other systems always have a display")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert not _has_display()
    _show("http://127.0.0.1:1/?token=x", no_browser=False)
    said = capsys.readouterr()
    assert said.out == "http://127.0.0.1:1/?token=x\n"
    assert said.err == "fewsight: there is no display here; open the address in a browser on this computer.\n"


@pytest.mark.slow
def test_one_line_at_the_start_some_at_the_end(begin: Callable[..., Running], tmp_path: Path) -> None:
    folder = tmp_path / "my photos"
    write_pictures(folder, 3)
    running = begin(folder)
    assert running.address.startswith("http://127.0.0.1:")
    running.all_read(3)
    code, said, told = running.end()
    assert code == 0
    assert said == [
        "0 images answered in this session; 0 labelled in all, 3 left.",
        f"To go on: fewsight label '{folder}'",
    ]
    assert told == ["fewsight: the page is open; Ctrl-C ends it."]
    first, second, third = sorted(path for path in folder.iterdir() if path.suffix != ".sqlite")
    project = tmp_path / "other.sqlite"
    label_all(folder, project, [(first.name, "owl"), (second.name, "tit")])
    running = begin(folder, "--project", project, "--name", "Ann B", "--channels", "colour")
    _, said, _ = running.end()
    assert said[1:] == [
        f"To go on: fewsight label '{folder}' --name 'Ann B' --channels colour --project {project}",
        f"To sort: fewsight learn '{folder}' -o '{folder}.fewsight' --project {project}",
        f"         fewsight sort '{folder}' '{folder}-sorted' --project {project} --model '{folder}.fewsight'",
    ]
    label_all(folder, project, [(third.name, "tit")])
    running = begin(folder, "--project", project)
    running.all_read(3)
    assert running.end()[1][2] == f"To sort: fewsight sort '{folder}' '{folder}-sorted' --project {project}"


@pytest.mark.slow
def test_a_second_start_shows_the_page_that_runs(begin: Callable[..., Running], tmp_path: Path) -> None:
    write_pictures(tmp_path / "photos", 3)
    first = begin(tmp_path / "photos")
    second = begin(tmp_path / "photos")
    assert second.address == first.address
    assert second.process.wait(120) == 0
    first.end(signal.SIGKILL)  # leaves its note behind, which must lock nobody out
    third = begin(tmp_path / "photos")
    assert third.address != first.address
    assert third.address.partition("/?")[0] == first.address.partition("/?")[0]  # the port is kept
    assert third.end(signal.SIGTERM)[0] == 0


@pytest.mark.slow
def test_a_second_start_never_labels_under_the_name_of_somebody_else(
    begin: Callable[..., Running], tmp_path: Path
) -> None:
    write_pictures(tmp_path / "photos", 3)
    first = begin(tmp_path / "photos", "--name", "Ann")
    code, said, told = begin(tmp_path / "photos", "--name", "Bob").waited()
    assert (code, said) == (1, [])
    assert told == [
        "fewsight: label: the page of this project is open already, and answers there are kept as Ann's; end it first (Ctrl-C "
        "where it was started), or change the name in its settings."
    ]
    again = begin(tmp_path / "photos", "--name", "Ann", "--channels", "colour")
    assert again.address == first.address
    assert again.waited()[2][0] == (
        "fewsight: the page of this project is open already. --channels will count when it is started again."
    )
    first.end()


@pytest.mark.slow
def test_folders_are_offered_as_labels(begin: Callable[..., Running], tmp_path: Path) -> None:
    for name in ("owls", "hawks"):
        write_pictures(tmp_path / "photos" / name, 2, seed=len(name))
    _, _, told = begin(tmp_path / "photos").end()
    folder = tmp_path / "photos"
    assert told[0] == (
        f"fewsight: {folder} holds 2 folders of images (hawks, owls); "
        f"to take their names as labels: fewsight import {folder} {folder}"
    )


@pytest.mark.slow
def test_the_sample_images_are_copied_under_numbers(begin: Callable[..., Running], tmp_path: Path) -> None:
    running = begin("--demo")
    assert running.address.startswith("http://127.0.0.1:")
    running.end()
    photos = sorted((tmp_path / "fewsight-demo" / "photos").glob("*.png"))
    assert len(photos) > 400
    assert photos[0].name == "photo_001.png"
