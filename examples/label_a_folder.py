"""
Label a folder
==============

A folder of photographs that nobody has sorted, and no Python: ``fewsight label photos`` opens a page in the browser that
asks about one image after the other. One key answers, saves and shows the next one; the page learns as you go and says how
good it is by now. Here the same project is used from the command line, so that this script can run by itself: labels come
from a table in place of the keys.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from fewsight import sample_set

scratch = tempfile.TemporaryDirectory()
here = Path(scratch.name)


def fewsight(*words: str) -> None:
    """Run a command of the program and print what it says."""
    print("$ fewsight", *words)
    done = subprocess.run([sys.executable, "-m", "fewsight.apps.cli", *words], cwd=here, capture_output=True, text=True)
    print(done.stdout + done.stderr)


# %%
# The folder: 55 tiles of photographs that come with fewsight, under names that say nothing.

tiles = sample_set()
photos, names = here / "photos", {}
photos.mkdir()
places = np.random.default_rng(0).permutation(len(tiles))[:55]
for number, place in enumerate(places):
    plt.imsave(photos / f"{number:02}.png", tiles.images[place].pixels())
    names[f"{number:02}.png"] = str(tiles.labels[place])

# %%
# Labels for half of them. On the page you would press a key for each; ``fewsight import`` takes them from a table, from
# folders or from somebody else's project. All of it is kept in ``photos/fewsight.sqlite``, where it can be undone.

with (here / "labels.csv").open("w", newline="") as stream:
    table = csv.writer(stream)
    table.writerow(["file", "category"])
    table.writerows(list(names.items())[:30])
fewsight("import", "photos", "labels.csv")
fewsight("status", "photos")

# %%
# A model is learned from these labels. It says how often it is right on images that were left out, and which labels look wrong.
# (Two channels suit these tiles; without ``--channels`` it takes those that suit photographs of objects.)

fewsight("learn", "photos", "-o", "tiles.fewsight", "--channels", "colour,texture", "--no-cache")

# %%
# Sorting shows its plan first. Images without a label go where the model says, to ``_unsure`` where it is not sure, and to
# ``_unknown`` where it has seen nothing like them. Nothing is moved: these are copies, and ``--undo`` takes them back.

fewsight("sort", "photos", "sorted", "--model", "tiles.fewsight", "--yes", "--no-cache")
guessed = {path.name: path.parent.name for path in sorted(here.glob("sorted/*/*.png")) if path.name in list(names)[30:]}
right = sum(names[name] == folder for name, folder in guessed.items())
aside = sum(folder in ("_unsure", "_unknown") for folder in guessed.values())
print(f"of {len(guessed)} images without a label, {right} are in the right folder and {aside} were put aside")
fewsight("sort", "photos", "--undo")
scratch.cleanup()
