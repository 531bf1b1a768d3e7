"""
Which image next?
=================

Many images, time for few labels: let the program ask. It names the example whose label should help most, says why,
learns the answer at once and estimates how often it is right.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from fewsight import RBF, ActiveLearner, GPClassifier, simulate

X, truth = load_digits(return_X_y=True)
X, truth = X[:600], truth[:600]

# %%
# No label is known at the start. ``query`` says what to ask about; here the truth answers in place of a person.

active = ActiveLearner(GPClassifier(RBF(scale=30.0))).fit(X)
for n in range(50):
    query = active.query()
    if n in (0, 1, 20, 40):
        print(f"question {n + 1}: example {query.indices[0]}, {query.reasons[0]}")
    active.teach(query.indices, truth[query.indices])

# %%
# Every fifth question is a random check, from which the accuracy of the rest is estimated. The interval is honest
# about how few checks there are; the last sentence is the advice to stop or to go on.

print(active.status())
rest = [i for i, label in enumerate(active.labels_) if label is None]
decisions = np.array(active.predict())
print(f"in truth {np.mean(decisions[rest] == truth[rest]):.0%} of the rest are right")

# %%
# One's own mistakes: ``suspicious`` lists labels by how much all other labels speak against them, the most surprising
# first. Here one label is made wrong.

wrong = int(np.flatnonzero([label == 7 for label in active.labels_])[0])
active.correct(wrong, 4)
rank = 1 + active.suspicious().indices.tolist().index(wrong)
print(f"the wrong label is number {rank} of {active.status().n_labelled} in suspicious()")
active.undo()

# %%
# Is it worth it? ``simulate`` plays asking and random picks from the same starts.

for rule in ("uncertainty", "random"):
    records = simulate(GPClassifier(RBF(scale=30.0)), X, truth, rule, n_queries=60, start=1, seeds=range(2))
    labels = sorted({record["labels"] for record in records})
    curve = [np.mean([r["accuracy"] for r in records if r["labels"] == n]) for n in labels]
    plt.plot(labels, curve, label=rule)
    print(f"{rule:12} {curve[-1]:.1%} right with {labels[-1]} labels")
plt.xlabel("labels")
plt.ylabel("accuracy")
plt.legend()
plt.title("Digits: asking and picking at random")
plt.show()
