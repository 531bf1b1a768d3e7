"""
Learn categories in Python
==========================

A classifier for images, from eight examples of each category: what it says, how sure it is, and whether it has seen
anything like it before. The images are the sample set that comes with fewsight: small tiles of eleven photographs.
"""

import tempfile
from pathlib import Path

import numpy as np

from fewsight import Colour, GPClassifier, Texture, load, sample_set, save

tiles = sample_set()
print(len(tiles), "images of", sorted(set(tiles.labels)))

# %%
# Images of your own come from a folder with one folder per category, ``image_set_from_class_folders("birds/")``, or
# are simply a list of paths and a list of labels.
#
# Eight tiles of each category are enough to learn from. Two categories are held back: the classifier will never hear
# of galaxies and grass.

labels = np.array(tiles.labels)
rng = np.random.default_rng(0)
held_back = ["galaxies", "grass"]
known = sorted(set(labels) - set(held_back))
shuffled = {name: rng.permutation(np.flatnonzero(labels == name)) for name in sorted(set(labels))}
train = np.concatenate([shuffled[name][:8] for name in known])
test = np.concatenate([shuffled[name][8:20] for name in known])

# %%
# A *channel* is one way of looking at an image: colours, textures, outlines; ``fewsight channels`` lists all. With
# ``weights="evidence"`` how much each channel counts is learned too. ``GPClassifier`` has the methods of every
# scikit-learn classifier.

gp = GPClassifier([Colour(), Texture()], weights="evidence")
gp.fit([tiles.images[i] for i in train], labels[train])

test_images = [tiles.images[i] for i in test]
print(f"{gp.score(test_images, labels[test]):.0%} of {len(test)} new images are right")

# %%
# Probabilities are calibrated with training images that were left out, so no images have to be set aside for it. When
# it says 90 %, about nine of ten should be right.

probabilities = gp.predict_proba(test_images)
right = gp.predict(test_images) == labels[test]
sure = probabilities.max(axis=1) > 0.9
print(f"sure (over 90 %): {sure.sum()} images, {right[sure].mean():.0%} of them right")
print(f"not sure:         {(~sure).sum()} images, {right[~sure].mean():.0%} of them right")

# %%
# "Which category" and "have I seen anything like this" are two questions. An image of a category that was never
# learned must get one of the known names, but it should be called unknown.

for name in held_back:
    images = [tiles.images[i] for i in shuffled[name][:12]]
    print(f"{name}, never learned: {gp.is_unknown(images).sum()} of 12 called unknown")
print(f"known categories: {gp.is_unknown(test_images).sum()} of {len(test)} called unknown")

# %%
# Galaxies look like nothing else here, and are noticed. Grass looks much like gravel to these two channels, and
# passes for it: the mark is a hint, as good as the channels. ``fewsight evaluate --hold-out 2`` measures how good
# that is on images of your own.

# %%
# A model file holds numbers and text, no code. It opens on another machine without the training images.

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "tiles.fewsight"
    save(gp, path)
    print(f"{path.stat().st_size / 1000:.0f} kB")
    again = load(path)
print("the same answers:", bool((again.predict(test_images) == gp.predict(test_images)).all()))
