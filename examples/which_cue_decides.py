"""
Which cue decides
=================

Several channels see different things in an image. How much each counts is learned from the training images alone, for
all categories together or for each category by itself.
"""

import matplotlib.pyplot as plt
import numpy as np

from fewsight import Colour, GPClassifier, KernelCombination, Phog, Texture, sample_set, weights_heatmap

tiles = sample_set()
labels = np.array(tiles.labels)
rng = np.random.default_rng(1)
shuffled = {name: rng.permutation(np.flatnonzero(labels == name)) for name in sorted(set(labels))}
train = np.concatenate([places[:6] for places in shuffled.values()])
test = np.concatenate([places[6:16] for places in shuffled.values()])
images, test_images = [tiles.images[i] for i in train], [tiles.images[i] for i in test]

# %%
# Each channel alone, all of them with equal weights, and with learned weights.

channels = [Colour(), Texture(), Phog()]
for channel in channels:
    print(f"{channel.name:8} {GPClassifier(channel).fit(images, labels[train]).score(test_images, labels[test]):.1%}")
for weights in ("average", "evidence"):
    gp = GPClassifier(channels, weights=weights).fit(images, labels[train])
    shares = ", ".join(f"{c.name} {w:.0%}" for c, w in zip(channels, gp.weights_ / gp.weights_.sum(), strict=True))
    print(f"{weights:8} {gp.score(test_images, labels[test]):.1%}  ({shares})")

# %%
# ``KernelCombination`` with ``scope="classwise"`` learns weights for each category, and a picture of them says which
# cue a category is recognised by.

each = KernelCombination(channels, scope="classwise").fit(images, labels[train])
print("weights:", each.weights_.shape, "(categories, channels)")
weights_heatmap(each.weights_, each.classes_, [channel.name for channel in channels])
plt.show()
