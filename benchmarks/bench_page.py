"""How long the labelling page takes in a real browser.

    python benchmarks/bench_page.py IMAGES --channels pretrained   (keys; IMAGES is a folder of images)
    python benchmarks/bench_page.py --start                        (from the command to the first picture)

Times of keys are taken inside the page: from the key event to the first frame that shows the next picture, whole, and to the
frame that shows the tick for that very answer. The person answers by the first letter of the file's folder, every `--pause`
seconds, while images are prepared and the model learns. The load of the machine is printed too: other work counts in all of them.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from fewsight.apps.workbench.verbs import Workbench

from timing import arguments, write

BROWSER = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SHOWN = "() => { const p = document.querySelector('#sight img'); return p?.complete && p.naturalWidth > 0; }"
NEXT_MS, NEXT_P95_MS, SAVED_MS, FIRST_SECONDS, TAB_SECONDS = 50, 100, 150, 3.0, 2.0  # the bounds
N_CATEGORIES = 9
WATCH = """
(() => {
  const times = { next: [], saved: [] };
  window.pageTimes = times;
  let key = null;
  const began = new Map();
  addEventListener("keydown", (event) => { key = event.timeStamp; }, true);
  const keep = Storage.prototype.setItem;
  Storage.prototype.setItem = function (name, value) {
    if (name.includes(".outbox.") && key !== null) began.set(name.split(".").pop(), key);
    return keep.call(this, name, value);
  };
  const painted = (then) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => then(performance.now());
    channel.port2.postMessage(0);
  });
  addEventListener("DOMContentLoaded", () => {
    new MutationObserver(() => {
      const picture = document.querySelector("#sight img");
      if (key === null || !picture) return;
      const from = key;
      key = null;
      const finish = () => painted((now) => times.next.push(now - from));
      if (picture.complete && picture.naturalWidth) finish();
      else picture.addEventListener("load", finish, { once: true });
    }).observe(document.getElementById("sight"), { childList: true });
    new MutationObserver(() => {
      const request = document.getElementById("saved").dataset.request;
      if (began.has(request)) {
        const from = began.get(request);
        began.delete(request);
        painted((now) => times.saved.push(now - from));
      }
    }).observe(document.getElementById("saved"), { attributes: true, attributeFilter: ["data-request"] });
  });
})();
"""


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("images", type=Path, nargs="?", help="a folder of images")
    parser.add_argument("--channels", default="pretrained")
    parser.add_argument("--labels", type=int, default=300)
    parser.add_argument("--n-images", type=int, default=10_000, help="mirrored copies fill what is missing")
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between two keys")
    parser.add_argument(
        "--ready", type=int, default=0, help="wait until the model sees this many images before the first key"
    )
    parser.add_argument("--work", type=Path, help="keep folder and cache here, for the next run")
    parser.add_argument(
        "--start", action="store_true", help="measure the way from the command to the first picture instead"
    )
    options = parser.parse_args()
    if not options.start and options.images is None:
        parser.error("IMAGES is needed, or --start.")
    work = options.work or Path(tempfile.mkdtemp())
    try:
        records = measure_start(work, options.quick) if options.start else [measure_keys(work, options)]
    finally:
        if options.work is None:
            shutil.rmtree(work)
    print("load of the machine over the last 1, 5 and 15 minutes:", *(f"{each:.1f}" for each in os.getloadavg()))
    write([{**each, "load": os.getloadavg()[1], "processors": os.cpu_count()} for each in records], options.json)


def measure_keys(work: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Distribution of both times over some hundred answers."""
    n_images, n_labels = (300, 40) if options.quick else (options.n_images, options.labels)
    folder = work / "photos"
    flat_folder(options.images, folder, n_images)
    for old in folder.glob("fewsight.sqlite*"):
        old.unlink()
    with program(folder, work, "--channels", options.channels) as (address, _), browser_page() as page:
        page.add_init_script(WATCH)
        page.goto(address)
        page.wait_for_selector("#sight img")
        wait_for_features(page, options.ready)
        name_categories(page)
        page.evaluate("pageTimes.next.length = pageTimes.saved.length = 0")
        end = time.monotonic()
        for _ in range(n_labels):
            page.wait_for_selector("#sight img")
            end = max(time.monotonic(), end + options.pause)
            time.sleep(max(0.0, end - time.monotonic()))
            page.keyboard.press(key_of(page.inner_text("#file")))
        page.wait_for_function("() => !Object.keys(localStorage).some((key) => key.includes('.outbox.'))")
        time.sleep(0.5)
        times = page.evaluate("pageTimes")
        state = page.evaluate("fetch('/api/state').then((response) => response.json())")
        elsewhere = seconds_to_another_tab(page)
    images = f"{state['n_files']:,} images ({state['n_known']:,} with features by the end)"
    line = f"{images}, {options.channels}, {state['n_labelled']:,} labels"
    following, saved = shares(times["next"]), shares(times["saved"])
    print(line)
    print(f"  next picture: {in_words(following)} (bounds {NEXT_MS} and {NEXT_P95_MS})")
    print(f"  saved tick: {in_words(saved)} (bound {SAVED_MS})")
    print(f"  model: {state['model']}, learned from {state['n_learned']:,} answers, {state['n_behind']:,} behind")
    tabs = {"median": statistics.median(elsewhere), "largest": max(elsewhere)}
    print(f"  in another tab: median {tabs['median']:.2f} s, largest {tabs['largest']:.2f} s (bound {TAB_SECONDS})")
    return {"name": line, "next_ms": following, "saved_ms": saved, "other_tab_seconds": tabs, "n": len(times["next"])}


def seconds_to_another_tab(page: Page, n: int = 10) -> list[float]:
    """From a key in one tab to the new number of labels in the head of another."""
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector("#sight img")
    found = []
    for _ in range(n):
        page.wait_for_selector("#sight img")
        before = other.inner_text("#state-labelled")
        began = time.perf_counter()
        page.keyboard.press("1")
        other.wait_for_function("text => document.getElementById('state-labelled').textContent !== text", arg=before)
        found.append(time.perf_counter() - began)
        time.sleep(0.5)
    return found


def measure_start(work: Path, quick: bool) -> list[dict[str, Any]]:
    """From the command to the first picture on screen."""
    n_files, n_labels = (2_000, 100) if quick else (20_000, 1_000)
    folder = work / "many"
    if not folder.exists():
        many_pictures(folder, n_files)
    for old in folder.glob("fewsight.sqlite*"):
        old.unlink()
    shutil.rmtree(work / "cache", ignore_errors=True)
    records = [_first(f"{n_files:,} files never seen", folder, work)]
    label_some(folder, work, n_labels)
    records.append(_first(f"{n_files:,} files, a project with {n_labels:,} labels", folder, work))
    return records


def _first(line: str, folder: Path, work: Path) -> dict[str, Any]:
    with browser_page() as page:
        began = time.perf_counter()
        with program(folder, work) as (address, _):
            served = time.perf_counter() - began
            page.goto(address)
            page.wait_for_function(SHOWN)
            page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))")
            seconds = time.perf_counter() - began
    print(f"{line}: first picture after {seconds:.2f} s (bound {FIRST_SECONDS}); the address after {served:.2f} s")
    return {
        "name": f"first picture, {line}",
        "seconds": seconds,
        "address_seconds": served,
        "budget_seconds": FIRST_SECONDS,
    }


@contextlib.contextmanager
def program(folder: Path, work: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`fewsight label`, ended as a person ends it."""
    environment = {**os.environ, "FEWSIGHT_CACHE": str(work / "cache"), "XDG_DATA_HOME": str(work / "data")}
    command = [sys.executable, "-m", "fewsight.apps.cli", "label", str(folder), "--no-browser", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process
    finally:
        process.send_signal(signal.SIGINT)
        began = time.perf_counter()
        process.communicate(timeout=30)
        print(f"  ended {time.perf_counter() - began:.2f} s after Ctrl-C")


@contextlib.contextmanager
def browser_page() -> Iterator[Page]:
    """An empty tab of Debian's chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=BROWSER)
        yield browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        browser.close()


def wait_for_features(page: Page, n: int) -> None:
    while True:
        state = page.evaluate("fetch('/api/state').then((response) => response.json())")
        if state["n_known"] >= n:
            return
        time.sleep(5)


def name_categories(page: Page) -> None:
    """Nine categories by name, then their keys stand for them."""
    for number in range(N_CATEGORIES):
        image = page.get_attribute("#sight img", "data-image")
        if not page.is_visible("#first-name"):
            page.keyboard.press("n")
        page.keyboard.type(f"group {number + 1}")
        page.keyboard.press("Enter")
        page.wait_for_function("image => document.querySelector('#sight img')?.dataset.image !== image", arg=image)
    page.wait_for_selector(f".cat:nth-child({N_CATEGORIES}) kbd:has-text('{N_CATEGORIES}')")
    time.sleep(2)


def key_of(file: str) -> str:
    """By the first letter of the folder that the image came from, which its name begins with."""
    return str(1 + (ord(file[0].lower()) - ord("a")) % N_CATEGORIES)


def flat_folder(source: Path, target: Path, n: int) -> None:
    """Links to images under names that tell their folder; mirrored copies make up the number."""
    if target.exists():
        return
    target.mkdir(parents=True)
    found = sorted(path for path in source.rglob("*") if path.suffix.lower() in (".jpg", ".png", ".jpeg"))
    random.Random(0).shuffle(found)
    for number, path in enumerate(found[:n]):
        (target / f"{path.parent.name}_{number:05}{path.suffix}").symlink_to(path.absolute())
    for number in range(len(found), n):
        path = found[number % len(found)]
        with Image.open(path) as image:
            mirrored = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT).convert("RGB")
        mirrored.save(target / f"{path.parent.name}_{number:05}.jpg", quality=90)


def many_pictures(folder: Path, n: int) -> None:
    """Small different pictures, a thousand in each folder."""
    generator = np.random.default_rng(0)
    for number in range(n):
        place = folder / f"{number // 1000:03}"
        place.mkdir(parents=True, exist_ok=True)
        pixels = generator.integers(0, 255, (48, 64, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(place / f"{number:06}.jpg", quality=60)


def label_some(folder: Path, work: Path, n: int) -> None:
    """A project with labels, from a table."""
    files = sorted(folder.rglob("*.jpg"))[:n]
    table = work / "labels.csv"
    with table.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["file", "category"])
        rows.writerows([str(path.relative_to(folder)), f"group {number % 20}"] for number, path in enumerate(files))
    with Workbench(folder) as bench:
        bench.scan()
        bench.import_labels(table)


def shares(times: Sequence[float]) -> dict[str, float]:
    """Median, 95th and 99th percentile and the largest, in milliseconds."""
    ordered = sorted(times)
    at = [statistics.quantiles(ordered, n=100, method="inclusive")[each] for each in (49, 94, 98)]
    return {"median": at[0], "p95": at[1], "p99": at[2], "largest": ordered[-1]}


def in_words(found: dict[str, float]) -> str:
    return f"median {found['median']:.0f}, p95 {found['p95']:.0f}, p99 {found['p99']:.0f}, largest {found['largest']:.0f} ms"


if __name__ == "__main__":
    main()
