"""The thread that learns: it never leaves anybody waiting, whatever happens to it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.apps.workbench.digit_project import CHANNELS, digit_project

from fewsight.apps.workbench.feature_supply import FeatureSupply
from fewsight.apps.workbench.model_thread import ModelThread
from fewsight.apps.workbench.project_model import ProjectModel
from fewsight.apps.workbench.verbs import Workbench
from fewsight.images import FeatureCache


class NoPages:
    def slots(self) -> list:
        return []

    def install(self, page: str, puts) -> None:
        raise AssertionError("there is no page")

    def tell(self) -> None:
        return


@pytest.fixture
def started(tmp_path: Path):
    folder, cache = tmp_path / "photos", FeatureCache(tmp_path / "cache", 2**30)
    truth = digit_project(folder, cache.folder, 40)
    heard: list = []
    bench = Workbench(folder, who="ann", on_events=lambda events, present: heard and heard[0].told(events))
    supply = FeatureSupply(bench.file, cache, lambda: None, channels=CHANNELS, seed=0)
    heard.append(ModelThread(bench, cache, supply, NoPages(), 0))
    heard[0].start()
    yield heard[0], bench, truth
    heard[0].close()
    bench.close()


def until(condition) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def test_a_failed_re_learning_is_said_and_the_model_stays(started, monkeypatch: pytest.MonkeyPatch) -> None:
    thread, bench, truth = started
    until(lambda: thread.chooses)

    def fail(self) -> None:
        raise MemoryError("not enough memory")

    monkeypatch.setattr("fewsight.active.relearning.Relearning.run", fail)
    keys = {name: bench.new_category(name) for name in sorted(set(truth.values()))}
    for image, name in list(truth.items())[:12]:
        bench.label(image, keys[name])
    until(lambda: thread.learned.state == "failed")
    assert "not enough memory" in thread.learned.failure
    assert thread.chooses
    until(lambda: thread.learned.n_labelled == 12)
    monkeypatch.undo()
    for image, name in list(truth.items())[12:20]:
        bench.label(image, keys[name])
    until(lambda: thread.learned.state == "learned" and not thread.learned.failure)
    assert any(note.kind == "relearned" for note in thread.take_notes())


def test_a_thread_that_ends_leaves_nobody_waiting(started, monkeypatch: pytest.MonkeyPatch) -> None:
    thread, bench, _ = started
    until(lambda: thread.chooses)

    def fail(self, events, present) -> None:
        raise ValueError("a mistake of ours")

    monkeypatch.setattr(ProjectModel, "follow", fail)
    bench.new_category("a")
    assert thread.wait_followed(10)
    until(lambda: thread.learned.state == "failed")
    assert thread.learned.failure == "Learning has stopped: ValueError: a mistake of ours"
    assert not thread.chooses
    assert thread.call(lambda model: 1) is None
    bench.new_category("b")
    assert thread.wait_followed(10)


def test_a_call_hears_what_went_wrong(started) -> None:
    thread, _, _ = started
    until(lambda: thread.chooses)
    with pytest.raises(KeyError):
        thread.call(lambda model: {}["nothing"])
    assert thread.call(lambda model: len(model.images)) == 40
