"""`fewsight cache` shows, limits and clears what is kept between runs, and a command says when that was too small."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

from fewsight._base.types import State
from fewsight.images import FeatureCache

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _no_limit_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FEWSIGHT_CACHE_GB", raising=False)


def fill(folder: Path, n: int) -> FeatureCache:
    cache = FeatureCache(folder)
    for number in range(n):
        cache.put(FeatureCache.key_of(str(number)), State({}, {"rows": np.zeros(1_000_000)}))
    return cache


def test_it_shows_how_much_there_is_and_may_be(run: Run, tmp_path: Path) -> None:
    fill(tmp_path / "cache", 3)
    found = run("cache", "--cache-dir", tmp_path / "cache")
    assert found.exit_code == 0
    assert found.stdout == f"{tmp_path / 'cache'}: 3 entries, 22.9 MB of at most 8 GB.\n"
    assert run("cache", "--cache-dir", tmp_path / "none").stdout.endswith("0 entries, 0 MB of at most 8 GB.\n")


def test_a_limit_stays_and_entries_go(run: Run, tmp_path: Path) -> None:
    fill(tmp_path, 10)
    found = run("cache", "--limit", "0.05", "--cache-dir", tmp_path)
    assert "of at most 51.2 MB" in found.stdout
    assert FeatureCache(tmp_path).size() <= 0.05 * 2**30
    assert 0 < FeatureCache(tmp_path).n_entries() < 10
    assert run("cache", "--clear", "--cache-dir", tmp_path).stdout.endswith("0 entries, 0 MB of at most 51.2 MB.\n")
    assert FeatureCache(tmp_path).n_entries() == 0


@pytest.mark.parametrize("wrong", ["0", "-1", "nan"])
def test_a_limit_that_is_none_is_refused_in_one_sentence(wrong: str, run: Run, tmp_path: Path) -> None:
    found = run("cache", "--limit", wrong, "--cache-dir", tmp_path)
    assert found.exit_code != 0
    assert "limit must be" in found.stderr
    assert not list(tmp_path.iterdir())


def test_a_command_says_that_its_cache_was_too_small(run: Run, photos: Path, tmp_path: Path) -> None:
    FeatureCache(tmp_path / "cache").keep_limit(40_000)
    words = ("learn", photos, "--channels", "phog", "--cache-dir", tmp_path / "cache", "-o")
    assert "the cache is too small for this work: " in run(*words, tmp_path / "a.fewsight").stderr
    run("cache", "--limit", "1", "--cache-dir", tmp_path / "cache")
    assert "too small" not in run(*words, tmp_path / "b.fewsight").stderr
