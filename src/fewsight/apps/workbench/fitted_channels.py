"""Fitted channels in a file, so that other processes encode images by the same codebooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fewsight._base.archive import read_archive, write_archive
from fewsight._base.types import State
from fewsight.channels import Channel, stored_channels


def write_channels(path: Path, channels: Sequence[Channel]) -> None:
    """Write fitted channels to a file, whole or not at all."""
    state = State({"n_channels": len(channels)}, {})
    for number, channel in enumerate(channels):
        state = state.join(f"channel{number}", channel.state())
    write_archive(path, state)


def read_channels(path: Path) -> list[Channel]:
    """The channels that `write_channels` wrote."""
    state = read_archive(path)
    channels = stored_channels(state)
    state.check_all_read()
    return channels
