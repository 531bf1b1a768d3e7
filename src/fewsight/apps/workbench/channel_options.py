"""Channels as a person meets them: their names, what they do, and their options given as text."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fewsight._base.checks import check_choice
from fewsight._base.errors import InvalidInput
from fewsight.channels import CHANNELS, Channel, make_channel
from fewsight.channels.option_fields import documented_options
from fewsight.images import FeatureCache

# Options that the command sets itself (--jobs, --seed, --cache-dir), so that they cannot contradict each other.
SET_BY_THE_COMMAND = ("cache", "n_jobs", "random_state")
AUTO = "auto"
# What AUTO stands for: structures and their layout, outlines, colours and texture; each sees what the others do not.
AUTO_CHANNELS = ("spatial_pmk", "dense_pmk", "phog", "opponent_sift", "colour", "texture")
PRETRAINED = "pretrained"  # joins AUTO_CHANNELS, and stands in for CLASSIC, where it is installed
CLASSIC = "spatial_pmk"
QUICK_CHANNELS = ("colour", "texture", "phog")  # used by default as well: what a network and visual words do not see
CHOSEN = "FEWSIGHT_CHANNELS"  # the environment variable


@dataclass(frozen=True)
class ChannelDescription:
    """A channel's name, its first line of documentation, its options with their defaults, and what each option means."""

    name: str
    summary: str
    options: dict[str, Any]
    meanings: dict[str, str]
    missing: str | None = None  # what must be installed first, and how


def describe_channels() -> list[ChannelDescription]:
    """Every channel there is, in the order of registration."""
    return [
        ChannelDescription(
            name,
            (inspect.getdoc(kind) or "").partition("\n")[0],
            options_of(kind),
            documented_options(kind),
            kind.missing(),
        )
        for name, kind in CHANNELS.items()
    ]


def options_of(kind: type[Channel]) -> dict[str, Any]:
    """The options that a person may set, with their defaults: the channel's own first, then those it shares with others."""
    parameters = inspect.signature(kind).parameters
    ordered = sorted(parameters, key=list(documented_options(kind)).index)
    return {name: parameters[name].default for name in ordered if name not in SET_BY_THE_COMMAND}


def read_settings(settings: Sequence[str]) -> dict[str, dict[str, Any]]:
    """`["spatial_pmk.n_words=200"]` as `{"spatial_pmk": {"n_words": 200}}`, with the names checked."""
    options: dict[str, dict[str, Any]] = {}
    for setting in settings:
        place, equals, text = setting.partition("=")
        channel, dot, option = place.strip().partition(".")
        if not (equals and dot):
            raise InvalidInput(f"a setting must have the form CHANNEL.OPTION=VALUE, got {setting!r}.")
        kind = CHANNELS[check_choice("a setting", "its channel", channel, CHANNELS)]
        check_choice(f"a setting of {channel}", "its option", option, options_of(kind))
        options.setdefault(channel, {})[option] = _value(text.strip())
    return options


def _value(text: str) -> Any:
    """A number, true, false, null or a list as in JSON; anything else is a word."""
    try:
        value = json.loads(text.lower() if text.lower() in ("true", "false", "null") else text)
    except (ValueError, RecursionError):
        return text
    return tuple(value) if isinstance(value, list) else value


def channel_names(names: Sequence[str] | None) -> tuple[str, ...]:
    """The channels that are meant: AUTO, which stands alone, means `auto_channels()`, and None `default_channels()`."""
    if names is None:
        return default_channels()
    if AUTO not in names:
        return tuple(names)
    if len(names) > 1:
        raise InvalidInput(f"channels: {AUTO} chooses the channels and stands alone, got {', '.join(names)}.")
    return auto_channels()


def auto_channels() -> tuple[str, ...]:
    """All that suit photographs and can be used here."""
    return (*_pretrained(), *AUTO_CHANNELS)


def default_channels() -> tuple[str, ...]:
    """$FEWSIGHT_CHANNELS, or QUICK_CHANNELS after the pretrained network or, where it is not installed, after CLASSIC."""
    chosen = chosen_channels()
    return channel_names(chosen) if chosen else (*(_pretrained() or (CLASSIC,)), *QUICK_CHANNELS)


def chosen_channels() -> list[str]:
    """What $FEWSIGHT_CHANNELS names; nothing where it is not set."""
    return [name.strip() for name in os.environ.get(CHOSEN, "").split(",") if name.strip()]


def missing_pretrained() -> str | None:
    """How to get the pretrained network, where it is not installed."""
    return CHANNELS[PRETRAINED].missing() if CHOSEN not in os.environ else None


def _pretrained() -> tuple[str, ...]:
    return (PRETRAINED,) if CHANNELS[PRETRAINED].missing() is None else ()


def make_channels(
    names: Sequence[str] | None,
    options: Mapping[str, Mapping[str, Any]],
    *,
    seed: int,
    jobs: int,
    cache: FeatureCache | None,
) -> list[Channel]:
    """The channels asked for, each with its own options; options of a channel that was not asked for are refused."""
    names = channel_names(names)
    if not names or len(set(names)) != len(names):
        raise InvalidInput(
            f"channels: at least one name, each of them once, is needed, got {', '.join(names) or 'none'}."
        )
    idle = sorted(set(options) - set(names))
    if idle:
        raise InvalidInput(f"a setting names the channel {idle[0]}, but the channels asked for are {', '.join(names)}.")
    workplace = {"random_state": seed, "n_jobs": jobs, "cache": cache}
    return [make_channel(name, **options.get(name, {}), **workplace) for name in names]


def set_places(channels: Sequence[Channel], options: Mapping[str, Mapping[str, Any]]) -> None:
    """Tell the channels of an opened model where the files lie that they need; what they learned stays as it is."""
    known = {channel.name: channel for channel in channels}
    for name, settings in options.items():
        check_choice("a setting", "its channel", name, known)
        for option, value in settings.items():
            if option not in known[name].places:
                listed = ", ".join(f"{channel.name}.{place}" for channel in channels for place in channel.places)
                raise InvalidInput(
                    f"a setting of a learned model can only say where a file lies, and it has {listed or 'none'}, "
                    f"got {name}.{option}."
                )
            setattr(known[name], option, value)
