"""A simulated person labels by keys, in a real browser, until the page says that more labels would hardly help; then sorts.

    python -m experiments.labelling.stopping_point DATA/caltech101 --work WORK --seeds 0-9

Each run draws 20 categories of Caltech-101 and at most 50 images of each, which lie in one flat folder. Of each run are kept:
labels given, what the page claimed about the rest, how many images of the rest it takes for the right category, and how many of
their files lie in the right folder. Runs that are in the work folder are not run again, and one that was paused (`--seconds`)
goes on where it was, as a person does who opens the page again; results of all runs that are done go to `--json`. The simulated
person gives several answers a second, so it begins when all images have features; for a slower one they come while the first
answers are given.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import time
from pathlib import Path
from typing import Any

from experiments.common.command import commit_of_tree
from experiments.labelling.person import Person, browser_page, program, state_of
from fewsight._base.replacement import write_text
from fewsight.evaluation.provenance import package_version
from fewsight.evaluation.results import json_text

N_CATEGORIES, PER_CATEGORY = 20, 50
LEFT_OUT = ("BACKGROUND_Google", "Faces_easy")  # no category, and one that Faces holds
MOST_LABELS = 500
_POST = """([path, body]) => fetch(path, {
    method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body),
}).then((response) => response.json())"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder caltech101")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seeds", default="0-9")
    parser.add_argument("--channels", default="pretrained")
    parser.add_argument("--most", type=int, default=MOST_LABELS, help="labels after which the person gives up")
    parser.add_argument("--seconds", type=float, default=math.inf, help="pause after this time; the next call goes on")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    first, _, last = options.seeds.partition("-")
    end = time.monotonic() + options.seconds
    runs = [one(options, seed, end) for seed in range(int(first), int(last or first) + 1)]
    found = [run for run in runs if run is not None]
    print_table(found)
    if options.json and found:
        protocol = {"seeds": [run["seed"] for run in found], "commit": commit_of_tree(), "fewsight": package_version()}
        protocol |= {"categories": N_CATEGORIES, "per_category": PER_CATEGORY, "command": command_line(options)}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        write_text(options.json, json_text({"protocol": protocol, "summary": summary(found), "runs": found}))


def summary(runs: list[dict[str, Any]]) -> dict[str, float]:
    """Means over the runs; how often the interval that the page gave holds the truth about the rest."""
    right = [run["n_taken_right"] / run["n_rest"] for run in runs]
    claims = [(run["claimed"], share) for run, share in zip(runs, right, strict=True) if run["claimed"] is not None]
    return {
        "runs": len(runs),
        "advised": sum(run["advised"] for run in runs),
        "labels": statistics.fmean(run["n_labels"] for run in runs),
        "right": statistics.fmean(right),
        "claimed": statistics.fmean(claim["estimate"] for claim, _ in claims) if claims else math.nan,
        "intervals": len(claims),
        "intervals_that_hold_the_truth": sum(claim["low"] <= share <= claim["high"] for claim, share in claims),
    }


def command_line(options: argparse.Namespace) -> str:
    return (
        f"python -m experiments.labelling.stopping_point DATA/caltech101 --work WORK --seeds {options.seeds} "
        f"--channels {options.channels} --most {options.most}"
    )


def one(options: argparse.Namespace, seed: int, end: float) -> dict[str, Any] | None:
    """One run, or what is kept of it; None if it was paused."""
    place = options.work / f"seed{seed}_{options.channels.replace(',', '_')}_{options.most}"
    kept = place / "run.json"
    if kept.exists():
        record: dict[str, Any] = json.loads(kept.read_text())
        return record
    if time.monotonic() > end:
        return None
    truth = draw(options.data, place / "photos", seed)
    with program(place / "photos", options.work, "--channels", options.channels) as address, browser_page() as page:
        page.goto(address)
        page.wait_for_selector("#sight img")
        person = Person(page, truth)
        person.read_keys()
        state = state_of(page)
        while state["n_read"] < state["n_files"] or state["n_known"] < state["n_images"]:
            if time.monotonic() > end:
                print(f"seed {seed}: paused with features of {state['n_known']} images", flush=True)
                return None
            time.sleep(0.5)
            state = state_of(page)
        while not state["advice"] and state["n_labelled"] < options.most and person.answer():
            state = state_of(page)
            if time.monotonic() > end:
                person.settle()
                print(f"seed {seed}: paused at {state['n_labelled']} labels", flush=True)
                return None
        person.settle()
        page.wait_for_function(_ALL_KNOWN, timeout=PATIENCE, polling=500)
        progress = page.evaluate("fetch('/api/progress').then((response) => response.json())")
        taken = page.evaluate(_TAKEN)
        labelled = {file for file, category, is_label in taken if is_label}
        plan = page.evaluate(_POST, ["/api/sort/plan", {"name": "sorted"}])
        page.evaluate(_POST, ["/api/sort/apply", {"plan": plan["id"]}])
    record = {
        "seed": seed,
        "n_images": len(truth),
        "n_labels": len(labelled),  # the state of the last look may be some answers old
        "advised": bool(state["advice"]),
        "claimed": progress["accuracy_checks"],
        "left_out": progress["accuracy_left_out"],
        "sentence": progress["sentence"],
        "n_taken_right": sum(truth[file] == category for file, category, is_label in taken if not is_label),
        **right_in(place / "sorted", truth, labelled),
    }
    kept.write_text(json.dumps(record, indent=1) + "\n")
    print(record, flush=True)
    return record


PATIENCE = 600_000  # milliseconds
# The model sees every image and knows every answer.
_ALL_KNOWN = """async () => {
    const state = await fetch("/api/state").then((response) => response.json());
    return state.n_known === state.n_images && state.n_read === state.n_files && state.model === "learned" && !state.n_behind;
}"""
# Of every image its file, the category that it is taken for, and whether a person said so.
_TAKEN = """async () => {
    const [found, names] = [[], {}];
    for (let start = 0; start !== null;) {
        const page = await fetch(`/api/results?start=${start}`).then((response) => response.json());
        for (const [id, name] of page.groups) names[id] = name;
        found.push(...page.items.map((item) => [item.file, names[item.category] ?? null, item.labelled]));
        start = page.next;
    }
    return found;
}"""


def draw(data: Path, target: Path, seed: int) -> dict[str, str]:
    """A flat folder of links under numbers, and the truth about it."""
    rng = random.Random(seed)
    names = sorted(path.name for path in data.iterdir() if path.is_dir() and path.name not in LEFT_OUT)
    chosen = sorted(rng.sample(names, N_CATEGORIES))
    files = [(path, name) for name in chosen for path in some_of(data / name, rng)]
    rng.shuffle(files)
    target.mkdir(parents=True, exist_ok=True)
    truth = {}
    for number, (path, name) in enumerate(files, start=1):
        shown = f"image_{number:04d}{path.suffix}"
        if not (target / shown).is_symlink():
            (target / shown).symlink_to(path.absolute())
        truth[shown] = name
    return truth


def some_of(folder: Path, rng: random.Random) -> list[Path]:
    files = sorted(folder.glob("*.jpg"))
    return sorted(rng.sample(files, min(PER_CATEGORY, len(files))))


def right_in(target: Path, truth: dict[str, str], labelled: set[str]) -> dict[str, Any]:
    """How many files that nobody labelled lie in the folder of their category, among all and among those in any such folder."""
    found = {path.name: path.parent.name for path in target.rglob("*") if path.is_file()}
    rest = [name for name in truth if name not in labelled]
    decided = [name for name in rest if not found.get(name, "_").startswith("_")]
    right = sum(found[name] == truth[name] for name in decided)
    return {"n_rest": len(rest), "n_decided": len(decided), "n_right": right}


def print_table(runs: list[dict[str, Any]]) -> None:
    print("seed  labels  advised  claimed (90 % interval)   right   inside   in its folder   wrong folder")
    for run in runs:
        claim, n = run["claimed"], run["n_rest"]
        right = run["n_taken_right"] / n
        shown = "-" if claim is None else f"{claim['estimate']:.1%} ({claim['low']:.1%} to {claim['high']:.1%})"
        inside = claim is not None and claim["low"] <= right <= claim["high"]
        print(
            f"{run['seed']:4}  {run['n_labels']:6}  {run['advised']!s:7}  {shown:24}  {right:6.1%}  {inside!s:6}  "
            f"{run['n_right'] / n:13.1%}  {(run['n_decided'] - run['n_right']) / n:12.1%}"
        )


if __name__ == "__main__":
    main()
