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
        settings = {name: f"  --set {channel.name}.{name}={_shown(value)}" for name, value in channel.options.items()}
        width = max(map(len, settings.values()), default=0)
        tell(*(f"{setting:{width}}  {channel.meanings[name]}".rstrip() for name, setting in settings.items()))
    tell(f"{AUTO}: all that suit photographs: {', '.join(auto_channels())}.")
    tell(f"Used unless others are named: {', '.join(default_channels())}.")


def _shown(default: object) -> str:
    """A default as `--set` would take it."""
    if default is None:
        return "null"
    return str(list(default)).replace(" ", "") if isinstance(default, tuple) else str(default)
