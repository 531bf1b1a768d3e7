"""Any value for any option of any channel: it is learned with, or refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fewsight.apps.cli import app
from fewsight.apps.workbench import describe_channels

VALUES = (
    "x",
    "-1",
    "0",
    "0.5",
    "1e-9",
    "3",
    "1e300",
    "99999999999",
    "nan",
    "null",
    "true",
    "[]",
    "[1, 2]",
    '["x"]',
    "{}",
    "9" * 400,  # no float
    "[" * 3000,  # deeper than JSON is read
)
OPTIONS = [(channel.name, option) for channel in describe_channels() for option in channel.options]


COSTLY = [
    ("spatial_pmk", ["step=0.5"], "must together ask for less work, got 1,080,000 descriptors of 16 x 16 pixels"),
    ("spatial_pmk", ["patch=1000", "longest_side=5000"], "must together ask for less work"),
    ("dense_pmk", ["scales=[0.1]", "longest_side=5000"], "must together ask for less work"),
    ("vocabulary_pmk", ["scales=[" + "1," * 3000 + "1]"], "scales must be a tuple of 1 to 20 numbers"),
    ("spatial_pmk", ["n_words=10000000"], "n_words must be a whole number from 1 to 50,000"),
    ("spatial_pmk", ["longest_side=1000000"], "longest_side must be a whole number from 16 to 5,000"),
    ("harris_pmk", ["longest_side=1000000"], "longest_side must be a whole number from 16 to 5,000"),
    ("harris_pmk", ["max_points=40000"], "max_points must be a whole number from 1 to 30,000"),
    ("dense_pmk", ["finest=1e-300"], "finest must be a number from 0.001 to 1e+06"),
]


def learn(channel: str, settings: list[str], folder: Path, *rest: str) -> Result:
    sets = [part for setting in settings for part in ("--set", f"{channel}.{setting}")]
    return CliRunner().invoke(app, ["learn", str(folder), "--channels", channel, *sets, *rest])


@pytest.mark.parametrize(("channel", "settings", "sentence"), COSTLY)
def test_what_would_fill_the_memory_or_take_hours_is_refused_before_an_image_is_read(
    channel: str, settings: list[str], sentence: str, tmp_path: Path
) -> None:
    for category in ("brick", "grass"):
        (tmp_path / category).mkdir()
        (tmp_path / category / "broken.png").write_bytes(b"reading it would be an error of its own")
    result = learn(channel, settings, tmp_path, "-o", str(tmp_path / "model"))
    assert result.exit_code == 1, result.output
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("channel", "option"), OPTIONS)
def test_a_setting_is_used_or_refused_in_one_sentence(channel: str, option: str, photos: Path, tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("file,category\nbrick/0.png,brick\ngrass/0.png,grass\n")
    known = next(each.options for each in describe_channels() if each.name == channel)
    few = [setting for setting in ("n_descriptors=50", "longest_side=32") if setting.partition("=")[0] in known]
    for value in VALUES:
        setting = [*few, f"{option}={value}"]
        result = learn(channel, setting, photos, "--labels", str(table), "-o", str(tmp_path / "model"))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise AssertionError(f"{option}={value}") from result.exception
        assert result.exit_code in (0, 1), result.output
        if result.exit_code == 1:
            assert len(result.stderr.splitlines()) == 1, result.stderr
