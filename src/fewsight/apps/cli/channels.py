"""`fewsight channels`: what can be compared in images, and the options of each way."""

from __future__ import annotations

from fewsight.apps.cli.console import tell

EXAMPLES = "[bold]fewsight evaluate photos --channels spatial_pmk --set spatial_pmk.n_words=200[/bold]"


def channels() -> None:
    """List the channels: the ways in which images are compared, with their options and defaults."""
    from fewsight.apps.workbench import AUTO, auto_channels, default_channels, describe_channels

    for channel in describe_channels():
        tell(f"{channel.name}: {channel.summary}")
        if channel.missing is not None:
            tell(f"  not installed: {channel.missing}")
        tell(*(f"  --set {channel.name}.{name}={_shown(default)}" for name, default in channel.options.items()))
    tell(f"{AUTO}: a set that suits photographs: {', '.join(auto_channels())}.")
    tell(f"Used unless others are named: {', '.join(default_channels())}.")


def _shown(default: object) -> str:
    """A default as `--set` would take it."""
    if default is None:
        return "null"
    return str(list(default)).replace(" ", "") if isinstance(default, tuple) else str(default)
