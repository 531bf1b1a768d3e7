"""Options of channels, given as text."""

from __future__ import annotations

from typing import Any

import pytest

from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench import describe_channels, read_settings
from fewsight.channels import CHANNELS


def test_every_channel_is_described_in_one_line_with_its_options() -> None:
    described = {channel.name: channel for channel in describe_channels()}
    assert set(described) == set(CHANNELS)
    for channel in described.values():
        assert channel.summary
        assert "\n" not in channel.summary
        assert {"cache", "n_jobs", "random_state"} & set(channel.options) == set()
    assert described["spatial_pmk"].options["n_words"] == 400


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("200", 200),
        ("0.5", 0.5),
        ("1e-3", 1e-3),
        ("[16,32]", (16, 32)),
        ("true", True),
        ("False", False),
        ("none", "none"),
    ],
)
def test_a_value_is_read_as_what_it_looks_like(text: str, value: Any) -> None:
    found = read_settings([f"spatial_pmk.n_words={text}"])["spatial_pmk"]["n_words"]
    assert found == value
    assert type(found) is type(value)


def test_settings_of_one_channel_are_gathered_and_the_last_word_counts() -> None:
    settings = ["spatial_pmk.n_words=1", " spatial_pmk.step = 4", "spatial_pmk.n_words=2"]
    assert read_settings(settings) == {"spatial_pmk": {"n_words": 2, "step": 4}}


@pytest.mark.parametrize(
    "text", ["", "n_words=3", "spatial_pmk.n_words", "spatial_pmk=3", "=", "x.y=1", "spatial_pmk.y=1"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="a setting"):
        read_settings([text])


def test_a_value_nested_deeper_than_json_is_read_is_a_word() -> None:
    assert read_settings([f"spatial_pmk.scales={'[' * 5000}"]) == {"spatial_pmk": {"scales": "[" * 5000}}
