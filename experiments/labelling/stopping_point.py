"""A simulated person labels by keys, in a real browser, until the page says that more labels would hardly help; then sorts.

    python -m experiments.labelling.stopping_point DATA/caltech101 --work WORK --seeds 0-9

Each run draws 20 categories of Caltech-101 and at most 50 images of each, which lie in one flat folder. Of each run are kept:
labels given, what the page claimed about the rest, and how many files of the rest lie in the right folder. Runs that are in the
work folder are not run again; results go to `--json`.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import time
from pathlib import Path
from typing import Any

from experiments.labelling.person import Person, browser_page, program, state_of

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
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    first, _, last = options.seeds.partition("-")
    found = [one(options, seed) for seed in range(int(first), int(last or first) + 1)]
    print_table(found)
    if options.json:
        options.json.write_text(json.dumps({"command": command_line(options), "runs": found}, indent=1) + "\n")


def command_line(options: argparse.Namespace) -> str:
    return (
        f"python -m experiments.labelling.stopping_point DATA/caltech101 --work WORK --seeds {options.seeds} "
        f"--channels {options.channels} --most {options.most}"
    )


def one(options: argparse.Namespace, seed: int) -> dict[str, Any]:
    """One run, or what is kept of it."""
    place = options.work / f"seed{seed}_{options.channels.replace(',', '_')}_{options.most}"
    kept = place / "run.json"
    if kept.exists():
        record: dict[str, Any] = json.loads(kept.read_text())
        return record
    shutil.rmtree(place, ignore_errors=True)
    truth = draw(options.data, place / "photos", seed)
    began = time.monotonic()
    with program(place / "photos", options.work, "--channels", options.channels) as address, browser_page() as page:
        page.goto(address)
        page.wait_for_selector("#sight img")
        person = Person(page, truth)
        advised = False
        for _ in range(options.most):
            if not person.answer():
                break
            advised = bool(state_of(page)["advice"])
            if advised:
                break
        person.settle()
        progress = page.evaluate("fetch('/api/progress').then((response) => response.json())")
        n_labelled = state_of(page)["n_labelled"]
        labelled = page.evaluate(_LABELLED)
        plan = page.evaluate(_POST, ["/api/sort/plan", {"name": "sorted"}])
        page.evaluate(_POST, ["/api/sort/apply", {"plan": plan["id"]}])
    record = {
        "seed": seed,
        "n_images": len(truth),
        "n_labels": n_labelled,
        "advised": advised,
        "claimed": progress["accuracy_checks"],
        "left_out": progress["accuracy_left_out"],
        "sentence": progress["sentence"],
        **right_in(place / "sorted", truth, set(labelled)),
        "seconds": round(time.monotonic() - began),
    }
    kept.write_text(json.dumps(record, indent=1) + "\n")
    print(record, flush=True)
    return record


_LABELLED = """async () => {
    const files = [];
    for (let start = 0; start !== null;) {
        const found = await fetch(`/api/labels?start=${start}`).then((response) => response.json());
        files.push(...found.items.map((item) => item.file));
        start = found.next;
    }
    return files;
}"""


def draw(data: Path, target: Path, seed: int) -> dict[str, str]:
    """A flat folder of links under numbers, and the truth about it."""
    rng = random.Random(seed)
    names = sorted(path.name for path in data.iterdir() if path.is_dir() and path.name not in LEFT_OUT)
    chosen = sorted(rng.sample(names, N_CATEGORIES))
    files = [(path, name) for name in chosen for path in some_of(data / name, rng)]
    rng.shuffle(files)
    target.mkdir(parents=True)
    truth = {}
    for number, (path, name) in enumerate(files, start=1):
        shown = f"image_{number:04d}{path.suffix}"
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
    print(
        "seed  labels  advised  claimed (90 % interval)   right of the rest   right of those put into a category's folder"
    )
    for run in runs:
        claim = run["claimed"]
        shown = "-" if claim is None else f"{claim['estimate']:.1%} ({claim['low']:.1%} to {claim['high']:.1%})"
        of_rest, of_decided = run["n_right"] / run["n_rest"], run["n_right"] / max(run["n_decided"], 1)
        print(
            f"{run['seed']:4}  {run['n_labels']:6}  {run['advised']!s:7}  {shown:24}  {of_rest:17.1%}   {of_decided:.1%}"
        )


if __name__ == "__main__":
    main()
