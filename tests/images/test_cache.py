"""The disk cache: shared by processes, bounded, and never the reason that work fails."""

from __future__ import annotations

import copy
import multiprocessing
import os
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.replacement import replacing
from fewsight._base.types import State
from fewsight.images import FeatureCache, default_cache_folder
from fewsight.images import cache as cache_module


def state(value: int, n: int = 1000) -> State:
    return State({"value": value}, {"descriptors": np.full((n, 8), value % 256, np.uint8), "empty": np.zeros((0, 2))})


def key(number: int) -> str:
    return FeatureCache.key_of("test", str(number))


def entry_files(cache: FeatureCache) -> list[Path]:
    return sorted(path for path in cache.folder.rglob("*") if path.is_file())


def test_what_is_put_can_be_got_from_another_object(tmp_path: Path) -> None:
    assert FeatureCache(tmp_path).put(key(1), state(7))
    got = FeatureCache(tmp_path).get(key(1))
    assert got is not None
    assert got.header == {"value": 7}
    np.testing.assert_array_equal(got.arrays["descriptors"], state(7).arrays["descriptors"])
    assert got.arrays["empty"].shape == (0, 2)
    assert FeatureCache(tmp_path).get(key(2)) is None
    assert FeatureCache(tmp_path / "never made").get(key(1)) is None


def test_keys_change_with_every_part_its_kind_and_its_place() -> None:
    recipe = {"step": 8, "patch": 16}
    keys = [
        FeatureCache.key_of(),
        FeatureCache.key_of("ab"),
        FeatureCache.key_of("a", "b"),
        FeatureCache.key_of("b", "a"),
        FeatureCache.key_of(b"ab"),
        FeatureCache.key_of("ab", recipe),
        FeatureCache.key_of("ab", {**recipe, "step": 9}),
        FeatureCache.key_of("caf\udce9"),
    ]
    assert len(set(keys)) == len(keys)
    assert FeatureCache.key_of("ab", dict(reversed(recipe.items()))) == FeatureCache.key_of("ab", recipe)


def doubled(stored: State) -> int:
    return 2 * int(stored.array("descriptors", (3, None), np.uint8)[0, 0])


@pytest.mark.parametrize(
    "restore",
    [
        lambda stored: stored.array("descriptors", (4, 8), np.uint8),
        lambda stored: stored.arrays["gone"],
        lambda stored: stored.header["value"] / 0,
        lambda stored: 7,  # which reads nothing of it
    ],
)
def test_an_entry_that_is_not_what_its_reader_takes_is_a_miss_and_goes(tmp_path: Path, restore: Any) -> None:
    cache = FeatureCache(tmp_path)
    entry = State({"value": 7}, {"descriptors": np.full((3, 8), 7, np.uint8)})
    cache.put(key(1), entry)
    assert cache.read(key(1), doubled) == 14
    assert cache.read(key(1), restore) is None
    assert key(1) not in cache
    assert cache.read(key(1), doubled) is None
    cache.put(key(1), entry)
    assert cache.read(key(1), doubled) == 14


@pytest.mark.parametrize("wrong", ["", "abc", "../../etc/passwd", "ABCDEF0123", "0123456789/", 5, None])
def test_only_keys_as_key_of_gives_them_are_taken(tmp_path: Path, wrong: Any) -> None:
    for ask in (FeatureCache(tmp_path).get, lambda text: FeatureCache(tmp_path).put(text, state(1))):
        with pytest.raises(InvalidInput, match="key must be hexadecimal digits"):
            ask(wrong)


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "foreign", "folder of another key"])
def test_a_damaged_entry_is_a_miss_and_goes(tmp_path: Path, damage: str) -> None:
    cache = FeatureCache(tmp_path)
    cache.put(key(1), state(1))
    (path,) = entry_files(cache)
    content = bytearray(path.read_bytes())
    if damage == "empty":
        content.clear()
    elif damage == "cut":
        del content[len(content) // 2 :]
    elif damage == "flipped":
        content[len(content) // 2] ^= 1
    elif damage == "foreign":
        content[:] = b"something else"
    else:
        cache.put(key(2), state(2))
        content[:] = next(other for other in entry_files(cache) if other != path).read_bytes()
    path.write_bytes(content)
    assert cache.get(key(1)) is None
    assert not path.exists()
    assert cache.put(key(1), state(1))
    assert cache.get(key(1)) is not None


def test_the_size_stays_within_the_limit_and_the_least_recently_used_go_first(tmp_path: Path) -> None:
    cache = FeatureCache(tmp_path, max_bytes=400_000)
    for number in range(30):
        assert cache.put(key(number), state(number))
        past = time.time() - 10_000 + number
        os.utime(cache._path(key(number)), (past, past))
    assert cache.get(key(0)) is not None  # used just now
    for number in range(30, 70):
        assert cache.put(key(number), state(number))
        assert cache.size() <= 400_000 * 1.1
    assert cache.get(key(0)) is not None
    assert cache.get(key(1)) is None
    assert cache.get(key(69)) is not None


def test_a_smaller_limit_cleans_an_old_folder_at_the_first_put(tmp_path: Path) -> None:
    for number in range(20):
        FeatureCache(tmp_path).put(key(number), state(number))
    small = FeatureCache(tmp_path, max_bytes=60_000)
    small.put(key(99), state(99))
    assert small.size() <= 60_000
    assert small.get(key(99)) is not None


def test_a_state_larger_than_the_cache_is_not_kept(tmp_path: Path) -> None:
    cache = FeatureCache(tmp_path, max_bytes=5_000)
    assert cache.put(key(1), state(1)) is False
    assert entry_files(cache) == []


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    cache = FeatureCache(tmp_path / "file")
    assert cache.put(key(1), state(1)) is False
    assert cache.get(key(1)) is None
    assert cache.size() == 0
    cache.clear()


def test_a_full_disk_costs_nothing_but_the_cache(tmp_path: Path) -> None:
    cache = FeatureCache(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))  # like a full disk: writing fails half way
    try:
        kept = cache.put(key(1), state(1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert kept is False
    assert entry_files(cache) == []
    assert cache.put(key(1), state(1))


def test_clear_removes_entries_and_nothing_else(tmp_path: Path) -> None:
    cache = FeatureCache(tmp_path)
    for number in range(5):
        cache.put(key(number), state(number))
    assert cache.size() > 5 * 8000
    (tmp_path / "mine.txt").write_text("keep")
    (tmp_path / "ab").mkdir(exist_ok=True)
    (tmp_path / "ab" / "mine.txt").write_text("keep")
    cache.clear()
    assert cache.size() == 0
    assert [path.name for path in entry_files(cache)] == ["mine.txt", "mine.txt"]
    assert cache.put(key(1), state(1))


def test_what_a_killed_process_left_half_written_is_cleaned_up(tmp_path: Path) -> None:
    cache = FeatureCache(tmp_path)
    cache.put(key(1), state(1))
    shard = entry_files(cache)[0].parent
    left = shard / f".writing-{8 * '0a'}"
    left.write_bytes(b"half")
    with replacing(shard / "entry", durable=False) as stream:
        stream.write(b"half")
        alive = [path for path in shard.glob(".writing-*") if path != left]
        FeatureCache(tmp_path).put(key(2), state(2))
        assert not left.exists()
        assert len(alive) == 1
        assert alive[0].exists()


def write_and_read(folder: str, seed: int, failures: Any) -> None:
    cache = FeatureCache(folder, max_bytes=150_000)
    for number in np.random.default_rng(seed).integers(0, 25, 150).tolist():
        got = cache.get(key(number))
        wrong = got is not None and (got.header["value"] != number or (got.arrays["descriptors"] != number).any())
        if wrong or not cache.put(key(number), state(number)):
            failures.put(number)


def test_processes_and_threads_share_a_folder_without_harm(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    failures = context.Queue()
    workers: list[Any] = [
        context.Process(target=write_and_read, args=(str(tmp_path), seed, failures)) for seed in range(2)
    ]
    workers += [threading.Thread(target=write_and_read, args=(str(tmp_path), seed, failures)) for seed in (2, 3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers[:2]] == [0, 0]
    assert failures.empty()
    assert FeatureCache(tmp_path).size() <= 150_000 * 1.5
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".writing")]


def test_copies_share_the_folder(tmp_path: Path) -> None:
    cache = FeatureCache(tmp_path, max_bytes=123_456)
    cache.put(key(1), state(1))
    other = copy.deepcopy(cache)
    assert other.get(key(1)) is not None
    assert repr(other) == repr(cache) == f"FeatureCache({str(tmp_path)!r}, max_bytes=123456)"


def test_the_default_folder_is_the_users_choice_or_the_systems_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEWSIGHT_CACHE", str(tmp_path / "mine"))
    assert default_cache_folder() == tmp_path / "mine" == FeatureCache().folder
    monkeypatch.delenv("FEWSIGHT_CACHE")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache_folder() == tmp_path / "xdg" / "fewsight"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_cache_folder() == tmp_path / ".cache" / "fewsight"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert default_cache_folder() == tmp_path / "Library" / "Caches" / "fewsight"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert default_cache_folder() == tmp_path / "local" / "fewsight"


def test_a_user_without_a_home_has_a_cache_that_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for variable in ("FEWSIGHT_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(cache_module.Path, "home", homeless)
    assert FeatureCache().put(key(1), state(1)) is False
    assert FeatureCache().get(key(1)) is None


def test_the_limit_is_the_users_choice_or_eight_gigabytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FEWSIGHT_CACHE_GB", raising=False)
    assert FeatureCache(tmp_path).max_bytes == 8 * 2**30
    monkeypatch.setenv("FEWSIGHT_CACHE_GB", "0.5")
    assert FeatureCache(tmp_path).max_bytes == 2**29
    assert FeatureCache(tmp_path, max_bytes=1000).max_bytes == 1000
    for wrong in ("much", "-1", "nan"):
        monkeypatch.setenv("FEWSIGHT_CACHE_GB", wrong)
        with pytest.raises(InvalidInput, match=f"FEWSIGHT_CACHE_GB must be a number of gigabytes, got '{wrong}'"):
            FeatureCache(tmp_path)


def test_a_limit_is_kept_for_the_folder_and_what_is_too_much_goes_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("FEWSIGHT_CACHE_GB", raising=False)
    cache = FeatureCache(tmp_path)
    for number in range(20):
        cache.put(key(number), state(number))
    assert cache.n_entries() == 20
    cache.keep_limit(cache.size() // 2)
    assert 0 < cache.n_entries() < 10
    assert cache.size() <= cache.max_bytes == FeatureCache(tmp_path).max_bytes
    cache.clear()
    assert FeatureCache(tmp_path).max_bytes == cache.max_bytes  # the limit stays
    monkeypatch.setenv("FEWSIGHT_CACHE_GB", "1")
    assert FeatureCache(tmp_path).max_bytes == 2**30
    with pytest.raises(InvalidInput, match="max_bytes must be"):
        cache.keep_limit(0)
    monkeypatch.delenv("FEWSIGHT_CACHE_GB")
    for damage in ("", "much", "-3", "\xff"):
        (tmp_path / cache_module.LIMIT_FILE).write_text(damage, encoding="latin-1")
        assert FeatureCache(tmp_path).max_bytes == 8 * 2**30


def test_entries_that_had_to_go_before_the_work_was_done_are_counted(tmp_path: Path) -> None:
    size = sum(array.nbytes for array in state(0).arrays.values())
    roomy, small = FeatureCache(tmp_path / "roomy", 10**9), FeatureCache(tmp_path / "small", 10 * size)
    for number in range(60):
        roomy.put(key(number), state(number))
        small.put(key(number), state(number))
    assert roomy.n_crowded_out == 0
    assert small.n_crowded_out > 30
    assert FeatureCache(tmp_path / "small").n_crowded_out == 0  # of another run
