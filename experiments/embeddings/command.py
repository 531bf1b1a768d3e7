"""What the commands on embeddings share: options, the channel, and the file of results."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.common.command import base_arguments, commit_of_tree
from fewsight._base.archive import write_text
from fewsight.channels import Channel, make_channel
from fewsight.evaluation.provenance import package_version, settings_of, versions
from fewsight.evaluation.results import Summary, json_text
from fewsight.images import FeatureCache

CHANNEL = "pretrained"
OVERLAP = (
    "The network was trained on ImageNet, whose classes overlap those of Caltech-101: these figures are not to be held against "
    "those of kernels that never saw another photograph."
)


def arguments(name: str, description: str | None, *, of: str = "draws") -> argparse.ArgumentParser:
    """The options of every command here."""
    folder = "the folder of Caltech-101's category folders, or the one that holds it as caltech101"
    parser = base_arguments(name, description, folder=folder, seeds="0-9", of=of, paper="embeddings")
    results = Path(f"experiments/results/embeddings/{name}.json")
    parser.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    parser.add_argument("--n-jobs", type=int, default=-1, help="images worked on at the same time; -1: all processors")
    return parser


def channel_of(options: argparse.Namespace, **settings: Any) -> Channel:
    """The channel `pretrained` with its cache."""
    return make_channel(CHANNEL, cache=FeatureCache(), n_jobs=options.n_jobs, **settings)


def summary_of(values: Sequence[float]) -> dict[str, Any]:
    """Mean, deviation, standard error and the values themselves."""
    found = Summary.of(tuple(values))
    return {"mean": found.mean, "std": found.std, "standard_error": found.standard_error, "values": list(values)}


def write_results(
    options: argparse.Namespace, records: Sequence[Mapping[str, Any]], protocol: Mapping[str, Any], **more: Any
) -> None:
    """The file of results, with what is needed to repeat it."""
    content = {
        "protocol": {
            **protocol,
            "note": OVERLAP,
            "seeds": list(options.seeds),
            "repeats": len(options.seeds),
            "command": options.command,
            "commit": commit_of_tree(),
            "channels": {CHANNEL: settings_of(make_channel(CHANNEL))},
            "fewsight": package_version(),
            "versions": versions(),
        },
        "records": list(records),
        **more,
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    write_text(options.json, json_text(content))
