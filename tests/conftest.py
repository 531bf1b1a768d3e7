"""What tests of several folders share."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from PIL import Image as Pillow

from fewsight.images import sample_set

PER_CATEGORY = 8  # images in the folder of photographs

pytest.register_assert_rewrite("fewsight.testing")  # what fails there says which numbers it failed on
# For modules that tests of several folders share, and for the parts of somebody else, which are not installed.
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "plugin_package")]

# The same examples in every run, so that a failure is the change's; tests/hostile/fuzz_readers.py is what looks for new ones.
settings.register_profile("same examples", derandomize=True)
settings.load_profile("same examples")

# A run started in the background ignores Ctrl-C, and so would every command that the tests start and interrupt.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def caltech101() -> Path:
    """The folder of Caltech-101's categories, where there is one."""
    folder = Path(os.environ.get("FEWSIGHT_DATA", "")) / "caltech101"
    if "FEWSIGHT_DATA" not in os.environ or not folder.is_dir():
        pytest.skip("FEWSIGHT_DATA names no folder with caltech101 in it")
    return folder


@pytest.fixture(autouse=True, scope="session")
def _classic_channels():
    """What a command does by default must not depend on what is installed beside fewsight; tests of that say so."""
    before = os.environ.get("FEWSIGHT_CHANNELS")
    os.environ["FEWSIGHT_CHANNELS"] = "spatial_pmk"
    yield
    if before is None:
        del os.environ["FEWSIGHT_CHANNELS"]
    else:
        os.environ["FEWSIGHT_CHANNELS"] = before


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory):
    """Tests never read or fill the user's cache."""
    before = os.environ.get("FEWSIGHT_CACHE")
    os.environ["FEWSIGHT_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["FEWSIGHT_CACHE"]
    else:
        os.environ["FEWSIGHT_CACHE"] = before


@pytest.fixture(autouse=True, scope="module")
def _threads_end() -> Iterator[None]:
    """What a test opens it closes: a thread of ours that goes on meets whatever later tests put in place of `os` or `time`."""
    before = set(threading.enumerate())
    yield
    ours = [each for each in threading.enumerate() if each not in before and _is_ours(each)]
    for thread in ours:
        thread.join(10)
    assert [thread.name for thread in ours if thread.is_alive()] == []


def _is_ours(thread: threading.Thread) -> bool:
    target = getattr(thread, "_target", None)
    return str(getattr(target, "__module__", "")).startswith("fewsight")


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A client of two processes on this machine."""
    distributed = pytest.importorskip(
        "distributed", reason="distributed is not installed: pip install 'fewsight[dask]'"
    )
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of class folders, to be left as it is."""
    folder = tmp_path_factory.mktemp("photos")
    written = dict.fromkeys(("brick", "grass", "tissue"), 0)
    samples = sample_set()
    for image, category in zip(samples.images, samples.labels, strict=True):
        if written.get(category, PER_CATEGORY) < PER_CATEGORY:
            (folder / category).mkdir(exist_ok=True)
            pixels = np.rint(image.pixels() * 255).astype(np.uint8)
            Pillow.fromarray(pixels).save(folder / category / f"{written[category]}.png")
            written[category] += 1
    return folder
