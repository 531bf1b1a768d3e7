"""
Your own embeddings
===================

You have vectors already, from DINOv2, CLIP or anything else: a matrix with a row per image. Then ``GPClassifier``
needs no images at all. Here the rows are the 64 grey values of scikit-learn's digits.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from fewsight import RBF, GPClassifier

X, y = load_digits(return_X_y=True)
X = X / np.linalg.norm(X, axis=1, keepdims=True)  # as is usual for embeddings: unit length
rng = np.random.default_rng(0)
order = rng.permutation(len(X))

# %%
# Three examples of each digit, and a Gaussian kernel. ``RBF.as_wide_as`` takes a width that suits the rows; the noise
# is chosen by training examples that are left out, in closed form.

train = np.concatenate([order[y[order] == digit][:3] for digit in range(10)])
test = np.setdiff1d(order, train)

gp = GPClassifier(RBF.as_wide_as(X[train])).fit(X[train], y[train])
print(f"{gp.score(X[test], y[test]):.1%} right from {len(train)} labels")

# %%
# What others do with embeddings is logistic regression. Log loss is small where probabilities are honest; guessing
# has 2.3.

lr = LogisticRegression(max_iter=1000).fit(X[train], y[train])
for name, model in (("GPClassifier", gp), ("logistic regression", lr)):
    loss = log_loss(y[test], model.predict_proba(X[test]))
    print(f"{name:20}  accuracy {model.score(X[test], y[test]):.1%}   log loss {loss:.2f}")

# %%
# More labels come in later: ``add`` takes them without fitting again, also labels of a category that is new.

more = test[:200]
gp.add(X[more], y[more]).recalibrate()
rest = test[200:]
print(f"{gp.score(X[rest], y[rest]):.1%} right from {len(train) + len(more)} labels")

# %%
# On the command line the same vectors are the channel ``vectors``, from a table with a row per image: ``fewsight
# learn photos --channels vectors --set vectors.table=vectors.npz -o model.fewsight``. A network in an ONNX file is
# the channel ``embedding``. The other way round, ``Pretrained().vectors(images)`` and
# ``Embedding("network.onnx").vectors(images)`` give you the vectors of images in one line.
