"""The comparison of channels on made-up cues: what is drawn, and that a cue that knows wins over one that does not."""

import argparse
import json

import numpy as np
import pytest
from experiments.domains import cues, defaults, false_alarms


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Three categories of 60 images; `spatial_pmk` knows them, the network and the others do not."""
    rng = np.random.default_rng(0)
    labels = np.repeat(list("abc"), 60)
    (tmp_path / "vectors").mkdir()
    np.savez(tmp_path / "vectors" / "neu_steel.npz", vectors=rng.random((180, 12), np.float32), labels=labels)
    monkeypatch.setattr(cues, "LEARNED", 20)
    known = cues.CueSet("neu_steel", tmp_path, tmp_path)
    folder = tmp_path / "cues" / "neu_steel"
    folder.mkdir(parents=True)
    for channel in ("spatial_pmk", "colour", "texture", "phog"):
        centres = np.eye(3)[np.unique(labels, return_inverse=True)[1]] if channel == "spatial_pmk" else 0.0
        rows = rng.random((180, 3)) + centres
        rows /= rows.sum(axis=1, keepdims=True)
        first, second = (rows[part] for part in known.parts)
        grams = (np.minimum(A[:, None], first[None]).sum(axis=2) for A in (first, second))
        np.savez(folder / f"{channel}.npz", **dict(zip(("train", "test"), grams, strict=True)), seconds=0.25)
    return tmp_path


def test_what_is_learned_from_is_even_and_never_tested(work):
    known = cues.CueSet("neu_steel", work, work)
    assert not np.intersect1d(*known.parts).size
    drawn = known.drawn(5, 3)
    np.testing.assert_array_equal(np.bincount(known.codes[0][drawn]), [5, 5, 5])
    assert set(known.drawn(2, 3)) < set(drawn)


def test_the_channel_that_knows_wins_and_time_is_summed(work, capsys):
    where = {"data": work, "work": work, "json": work / "found.json", "command": "defaults"}
    what = {"sets": ["neu_steel"], "seeds": [0, 1], "sizes": (1, 5), "choices": defaults.CHOICES, "unlabelled": (0, 13)}
    options = argparse.Namespace(**where, **what)
    defaults.work(options)
    rows = json.loads((work / "found.json").read_text())["records"]
    accuracy = {row["channels"]: row["mean"] for row in rows if (row["metric"], row["per_class"]) == ("accuracy", 5)}
    assert accuracy["spatial_pmk"] > accuracy["quick"] + 0.2
    assert accuracy["spatial_pmk + quick"] > accuracy["quick"] + 0.1
    assert next(row["seconds"] for row in rows if row["channels"] == "spatial_pmk + quick") == pytest.approx(1.0)
    assert {(row["per_class"], row["unlabelled"]) for row in rows} == {(1, 0), (1, 13), (5, 0)}
    losses = {row["unlabelled"]: row["mean"] for row in rows if (row["metric"], row["per_class"]) == ("log_loss", 1)}
    assert losses[0] != losses[13]
    assert "pretrained + spatial_pmk" in capsys.readouterr().out


def test_false_alarms_are_counted_for_the_network_and_for_several_channels(work, capsys, monkeypatch):
    monkeypatch.setattr(false_alarms, "of_sample", lambda seed: 0.05)
    options = argparse.Namespace(
        data=work,
        work=work,
        sets=["neu_steel"],
        seeds=[0, 1],
        sizes=(5, 30),
        channels=("spatial_pmk + quick",),
        json=work / "found.json",
        command="false_alarms",
    )
    false_alarms.work(options)
    rows = json.loads((work / "found.json").read_text())["records"]
    of_network = [(row["set"], row["per_class"]) for row in rows if row["channels"] == "pretrained"]
    assert of_network == [(name, size) for name in ("neu_steel", "neu_steel, two categories") for size in (5, 30)]
    (several,) = (row for row in rows if row["channels"] == "spatial_pmk + quick")  # 30 are more than there are
    assert several["per_class"] == 5
    assert len(several["values"]) == 2
    assert rows[-1]["set"] == "sample images"
    assert all(0.0 <= row["mean"] < 0.3 for row in rows)
    assert "30: none" in capsys.readouterr().out
