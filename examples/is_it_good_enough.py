"""
Is it good enough?
==================

Before you rely on it, measure it on your own labelled images: draw training and test images several times over, and
look at what went wrong. ``fewsight evaluate FOLDER --per-class 2,5 --report report.html`` does this on the command
line.
"""

import tempfile
from pathlib import Path

from fewsight import (
    Colour,
    GPClassifier,
    NearestNeighbourClassifier,
    Protocol,
    Texture,
    evaluate,
    sample_set,
    write_report,
)

tiles = sample_set()

# %%
# A ``Protocol`` is how images are drawn: here 2 and 5 training images per category, 8 for testing, three times over.
# Nothing is ever learned from a test image.

protocol = Protocol(per_class=(2, 5), test_per_class=8, repeats=3)
evaluation = evaluate(
    tiles,
    protocol,
    channels={"colour": Colour(), "texture": Texture()},
    learners={"gp": GPClassifier(), "nn": NearestNeighbourClassifier()},
)
for row in evaluation.table():
    print("".join(f"{cell:18}" for cell in row[:6]))

# %%
# Accuracy is the mean of the categories, ± the standard deviation of the repeats. Log loss and calibration error
# judge the probabilities: a calibration error of 0.1 means that percentages are off by ten points on average.
#
# **What it has never seen.** With ``hold_out=2`` two categories are left out of training in every draw.
# ``unknown_auroc`` is how often, given one known and one unknown image, the unknown one scores stranger; 50 % is
# guessing. ``false_alarm_rate`` is the share of known images that are called unknown, ``found_rate`` the share of
# unknown ones.

strange = evaluate(
    tiles,
    Protocol(per_class=(5,), test_per_class=8, repeats=3, hold_out=2),
    channels={"colour": Colour()},
    learners={"gp": GPClassifier()},
)
for record in strange.records():
    if record["metric"] in ("unknown_auroc", "false_alarm_rate", "found_rate"):
        print(f"{record['metric']:17} {record['mean']:.0%}")

# %%
# The report shows learning curves, confusions and the most confident mistakes as one HTML file that needs nothing
# else.

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "report.html"
    write_report(evaluation, tiles, path)
    print(f"report of {path.stat().st_size / 1e3:.0f} kB")
