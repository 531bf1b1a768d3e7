"""A labelling session under load: how soon it asks, how soon it answers while it learns, and how much memory it takes.

`--part photographs` makes photographs of 12 megapixels and opens a session on them with an empty cache, in a process of its own,
as the command would. `--part answers` and `--part memory` use made-up images: the project knows them as if they had been read,
and the cache holds encodings that are mixtures of those of real images, so that scanning, learning, choosing and answering do the
work they always do, while nothing waits for 10,000 images to be decoded.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as Pillow

from fewsight.apps.workbench.channel_options import default_channels, make_channels
from fewsight.apps.workbench.feature_supply import SETTING, FeatureSupply
from fewsight.apps.workbench.fitted_channels import write_channels
from fewsight.apps.workbench.project import ProjectFile
from fewsight.apps.workbench.project.catalogue import Reading, known_files
from fewsight.apps.workbench.project.catalogue import record as keep
from fewsight.apps.workbench.scan import scan
from fewsight.apps.workbench.session import LabellingSession
from fewsight.apps.workbench.session_messages import Answer
from fewsight.apps.workbench.stored_image import StoredImage
from fewsight.images import FeatureCache, sample_set
from fewsight.images.hashing import hash_of

from timing import arguments, write

PAGE = "0123456789abcdef"
N_CATEGORIES = 20
FIRST_QUESTION_SECONDS, ANSWER_SECONDS, GRID_SECONDS, MOST_BYTES = 2.0, 0.050, 1.0, 3 * 10**9
PAUSE_SECONDS = 0.2  # between two answers; nobody is quicker for long


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--part", choices=("photographs", "answers", "memory", "all"), default="all")
    parser.add_argument("--channels", default=",".join(default_channels()), help="for the made-up images")
    options = parser.parse_args()
    records = []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        if options.part in ("photographs", "all"):
            records += photographs(place / "a", 12 if options.quick else 300)
        if options.part in ("answers", "all"):
            n = (500, 60, 30) if options.quick else (10_000, 300, 200)
            records += answers(place / "b", options.channels.split(","), *n)
        if options.part in ("memory", "all"):
            n_images, n_labels = (500, 60) if options.quick else (20_000, 1_000)
            records += memory(place / "c", options.channels.split(","), n_images, n_labels)
    write(records, options.json)


# A new folder of photographs.


def photographs(place: Path, n: int) -> list[dict[str, Any]]:
    """Seconds from the start of a program until its first question, and how many answers it took before features were done."""
    folder = place / "photos"
    folder.mkdir(parents=True)
    make_photographs(folder, n)
    command = [sys.executable, __file__.replace("bench_session", "session_child"), str(folder), str(place / "cache")]
    started = time.time()
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    first = found["first"] - started
    line = f"first question about {n} photographs of 12 megapixels, empty cache"
    print(f"{line}: {first:.2f} s; {found['n_answers']} answers before all features were there")
    print(f"  answers: {_distribution(found['seconds'])}; features of {found['n_features']} images then")
    return [
        {"name": line, "ours_seconds": first, "budget_seconds": FIRST_QUESTION_SECONDS, **found},
    ]


def make_photographs(folder: Path, n: int) -> None:
    """Noise on large blobs, another part of it in each file: as many pixels and bytes as a camera makes."""
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (60, 80, 3), dtype=np.uint8)
    whole = np.asarray(Pillow.fromarray(coarse).resize((4400, 3300), Pillow.Resampling.BICUBIC)).astype(np.int16)
    whole += rng.integers(-6, 7, whole.shape, dtype=np.int16)
    pixels = np.clip(whole, 0, 255).astype(np.uint8)
    for number in range(n):
        x, y = rng.integers(0, 400), rng.integers(0, 300)
        Pillow.fromarray(pixels[y : y + 3000, x : x + 4000]).save(folder / f"{number:04}.jpg", quality=85)


# Many images.


def answers(place: Path, names: list[str], n_images: int, n_labels: int, n_answers: int) -> list[dict[str, Any]]:
    """Seconds from an answer to the next questions, its commit included, while noise and weights are learned without a pause."""
    truth = make_project(place, names, n_images)
    with opened(place, names) as session:
        keys = first_labels(session, truth, n_labels)
        _settle(session)
        grids = one_key_for_100(session, truth, keys)
        _settle(session)
        stop = threading.Event()
        eager = threading.Thread(target=learn_all_the_time, args=(session, stop), daemon=True)
        eager.start()
        before = len(session.bench.present.relearned)
        seconds, known = [], 0
        for number in range(n_answers):
            question = session.questions(PAGE)[0]
            answer = Answer("label", (question.image,), keys[truth[question.image]])
            start = time.perf_counter()
            receipt = session.answer(PAGE, answer, f"answer-{number}")
            seconds.append(time.perf_counter() - start)
            known += receipt.state.n_behind == 0
            time.sleep(PAUSE_SECONDS)
        stop.set()
        eager.join()
        n_relearned = len(session.bench.present.relearned) - before
    line = f"answer to next question, {n_images:,} images, {n_labels} labels, re-learning all the time"
    print(f"{line} ({'+'.join(names)}): {_distribution(seconds)}")
    print(f"  {n_relearned} re-learnings meanwhile; {known} of {n_answers} replies knew the answer already")
    print(f"  a grid of 100 labels, committed and known to the model: {_distribution(grids)}")
    about = {"channels": "+".join(names), "n_relearned": n_relearned, "n_replies_that_knew": known}
    return [
        {"name": line, "ours_seconds": _at(seconds, 95), "budget_seconds": ANSWER_SECONDS, **about, "seconds": seconds},
        {
            "name": "a grid of 100 labels, known to the model",
            "ours_seconds": max(grids),
            "budget_seconds": GRID_SECONDS,
            "seconds": grids,
        },
    ]


def memory(place: Path, names: list[str], n_images: int, n_labels: int) -> list[dict[str, Any]]:
    """Bytes of all processes together, at most, while labels come and noise and weights are learned."""
    truth = make_project(place, names, n_images)
    with opened(place, names) as session:
        most = 0
        first_labels(session, truth, n_labels)
        end = time.monotonic() + 900
        while time.monotonic() < end:
            most = max(most, bytes_of([os.getpid(), *session._watch.preparation.pids]))
            if session.settle(0.2):
                break
        session.results(n=100)
        most = max(most, bytes_of([os.getpid(), *session._watch.preparation.pids]))
        state = session.state()
    line = f"memory of all processes, {n_images:,} images, {n_labels:,} labels ({'+'.join(names)})"
    print(f"{line}: {most / 1e9:.2f} GB; the model knows {state.n_learned:,} labels, {state.model}")
    return [{"name": line, "bytes": most, "budget_bytes": MOST_BYTES, "n_learned": state.n_learned}]


def opened(place: Path, names: list[str]) -> LabellingSession:
    session = LabellingSession(place / "photos", cache=place / "cache", who="bench", channels=names)
    start = time.perf_counter()
    _settle(session)
    state = session.state()
    print(
        f"  opened: {state.n_read:,} images read, {state.n_features:,} with features, {time.perf_counter() - start:.1f} s"
    )
    return session


def first_labels(session: LabellingSession, truth: dict[str, int], n: int) -> list[str]:
    """Labels in grids of one category each, as fast as they are taken; the ids of the categories."""
    keys = [
        str(session.new_category(PAGE, f"category {number}", f"category-{number}").category)
        for number in range(N_CATEGORIES)
    ]
    by_category: dict[int, list[str]] = {}
    for image in sorted(truth)[:n]:
        by_category.setdefault(truth[image], []).append(image)
    for number, chosen in by_category.items():
        session.answer(PAGE, Answer("label", tuple(chosen), keys[number], "grid"), f"grid-{number}")
    return keys


def one_key_for_100(session: LabellingSession, truth: dict[str, int], keys: list[str]) -> list[float]:
    """Seconds of one answer about a hundred images, taken back each time, and until the model knows it."""
    answered = {image for image in truth if session.bench.present.standing(image) is not None}
    images = tuple(image for image in sorted(truth) if image not in answered)[:100]
    seconds = []
    for number in range(5):
        start = time.perf_counter()
        session.answer(PAGE, Answer("label", images, keys[0], "grid"), f"hundred-{number}")
        while session.state().n_behind:
            time.sleep(0.005)
        seconds.append(time.perf_counter() - start)
        session.undo(PAGE, f"undo-hundred-{number}")
        _settle(session)
    return seconds


def learn_all_the_time(session: LabellingSession, stop: threading.Event) -> None:
    while not stop.is_set():
        session.relearn()
        time.sleep(0.05)


def make_project(place: Path, names: list[str], n: int) -> dict[str, int]:
    """A folder, project and cache as a session that has prepared all images leaves them; the category of each image."""
    folder = place / "photos"
    cache = FeatureCache(place / "cache", 64 * 2**30)
    images = []
    for number in range(n):
        part = folder / f"{number // 1000:03}"
        part.mkdir(parents=True, exist_ok=True)
        content = b"\xff\xd8\xff" + number.to_bytes(4, "big")
        (part / f"{number:06}.jpg").write_bytes(content)
        os.utime(part / f"{number:06}.jpg", (1_600_000_000, 1_600_000_000))
        images.append(hash_of(content))
    real = sample_set()
    channels = make_channels(names, {}, seed=0, jobs=1, cache=cache)
    for channel in channels:
        channel.fit(real.images)
    with ProjectFile(folder / "fewsight.sqlite") as project:
        scan(project, folder)
        rows = [
            Reading(
                path, file.stamp, hash_of((folder / os.fsdecode(path)).read_bytes()), None, 4, 3, read_at_ns=2 * 10**18
            )
            for path, file in known_files(project).items()
        ]
        keep(project, rows)
        project.set(SETTING, {"channels": names, "seed": 0, "images": images[:200]})
        supply = FeatureSupply(project, cache, lambda: None, channels=names, seed=0)
        target = supply._file(images[:200])
        target.parent.mkdir(parents=True, exist_ok=True)
        write_channels(target, channels)
        supply.fitted = target
        supply.keep_order(images)
    truth = {image: number % N_CATEGORIES for number, image in enumerate(images)}
    for channel in channels:
        entries = [channel._encoding_of(image) for image in real.images]
        fill(cache, channel, entries, images, truth)
    return truth


def fill(cache: FeatureCache, channel: Any, entries: list[Any], images: list[str], truth: dict[str, int]) -> None:
    """Encodings of made-up images: one real encoding for each category, and beside it another one that varies."""
    from fewsight._base.types import State

    rng = np.random.default_rng(1)
    for image in images:
        own, other = entries[truth[image] % len(entries)], entries[rng.integers(len(entries))]
        share = rng.uniform(0.3, 0.6)
        cache.put(channel._encoding_key(StoredImage(image)), State({}, mixed(own, other, share, rng)))


def mixed(own: Any, other: Any, share: float, rng: np.random.Generator) -> dict[str, Any]:
    if "columns" not in own:
        noise = np.abs(rng.normal(scale=0.3 * own["values"].std(), size=own["values"].shape))
        values = share * own["values"] + (1 - share) * other["values"] + noise
        return {"values": values / np.linalg.norm(values)}
    first = rng.random(len(own["columns"])) < share
    second = rng.random(len(other["columns"])) < 1 - share
    columns = np.concatenate([own["columns"][first], other["columns"][second]])
    values = np.concatenate([own["values"][first], other["values"][second]])
    columns, where = np.unique(columns, return_inverse=True)
    total = np.bincount(where, values)
    return {"columns": columns.astype(np.int32), "values": total / max(float(total.sum()), 1e-12)}


def bytes_of(pids: list[int]) -> int:
    """Memory of processes, what they share divided among them."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):  # one that has ended
            for text in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if text.startswith("Pss:"):
                    total += 1024 * int(text.split()[1])
    return total


def _settle(session: LabellingSession) -> None:
    if not session.settle(1800):
        raise RuntimeError("the session did not come to rest within half an hour")


def _at(seconds: list[float], percent: float) -> float:
    return float(np.percentile(seconds, percent))


def _distribution(seconds: list[float]) -> str:
    marks = ", ".join(f"{percent} % {_at(seconds, percent) * 1e3:.0f}" for percent in (50, 75, 90, 95, 99))
    return f"{marks}, most {max(seconds) * 1e3:.0f} ms ({len(seconds)})"


if __name__ == "__main__":
    main()
