"""How long it takes to look through a folder that has not changed, beside a plain walk over it with the standard library."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from fewsight.apps.workbench.project import ProjectFile
from fewsight.apps.workbench.project.catalogue import Reading, known_files
from fewsight.apps.workbench.project.catalogue import record as keep
from fewsight.apps.workbench.scan import Scan, scan

from timing import arguments, record, side_by_side, write

BUDGET_SECONDS = 5.0


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    n_files = 2_000 if options.quick else 20_000
    with tempfile.TemporaryDirectory() as name, ProjectFile(Path(name) / "fewsight.sqlite") as project:
        folder = Path(name) / "photos"
        make(folder, n_files)
        scan(project, folder)
        rows = enumerate(known_files(project).items())
        keep(project, [Reading(p, file.stamp, f"{n:040x}", None, 4, 3, read_at_ns=2 * 10**18) for n, (p, file) in rows])
        assert scan(project, folder) == Scan(n_files)
        assert len(walk(folder)) == n_files
        ours, theirs = side_by_side(lambda: scan(project, folder), lambda: walk(folder), 5)
    line = f"{n_files:,} unchanged files scanned again"
    write([record(line, ours, theirs, "os.walk with os.stat", budget_seconds=BUDGET_SECONDS)], options.json)


def make(folder: Path, n_files: int) -> None:
    """Files of some bytes, a thousand in each folder."""
    for number in range(n_files):
        place = folder / f"{number // 1000:03}"
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"{number:06}.jpg"
        path.write_bytes(b"\xff\xd8\xff" + number.to_bytes(4, "big"))
        os.utime(path, (1_600_000_000, 1_600_000_000))


def walk(folder: Path) -> list[os.stat_result]:
    return [os.stat(os.path.join(place, name)) for place, _, names in os.walk(folder) for name in names]


if __name__ == "__main__":
    main()
