"""
Thousands of images
===================

``GPClassifier`` keeps a kernel matrix of all training images, which grows with the square of their number.
``HistogramGPClassifier`` never forms one: with channels that compare histograms it learns from a hundred thousand
images in memory proportional to the non-zeros. ``fewsight learn`` switches to it by itself when images are many.
"""

import time

import numpy as np

from fewsight import GPClassifier, HistogramGPClassifier, HistogramIntersection

# %%
# Histograms of four made-up categories: each row is a bag of 200 visual words, as a codebook of 300 words gives it.

rng = np.random.default_rng(0)
n_words, n = 300, 2000
y = rng.integers(0, 4, n)
shared = rng.dirichlet(np.full(n_words, 0.5))
own = rng.dirichlet(np.full(n_words, 0.5), size=4)
X = np.stack([rng.multinomial(200, 0.9 * shared + 0.1 * own[k]) for k in y]) / 200.0
train, test = np.arange(800), np.arange(800, n)

# %%
# The same kernel, with and without its matrix.

for model in (GPClassifier(HistogramIntersection()), HistogramGPClassifier()):
    start = time.perf_counter()
    model.fit(X[train], y[train])
    seconds = time.perf_counter() - start
    print(f"{type(model).__name__:22} {model.score(X[test], y[test]):.1%} right, {seconds:.1f} s to fit")

# %%
# The times include loading compiled loops, and at 800 rows the matrix is still small: the point is what happens
# beyond. A prediction takes constant time, however many images were learned from, and more examples are taken in from
# where training stands.

more = np.arange(800, 1400)
model.partial_fit(X[more], y[more])
rest = np.arange(1400, n)
print(f"{model.score(X[rest], y[rest]):.1%} right with {len(train) + len(more):,} rows")
print(f"a kernel matrix of 100,000 such images takes {100_000**2 * 8 / 1e9:.0f} GB,")
print(f"their rows, at 15 bytes a non-zero, {(X > 0).sum() / n * 100_000 * 15 / 1e9:.1f} GB")
