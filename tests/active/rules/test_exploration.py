"""Ask where nothing is known yet."""

import numpy as np
import pytest

from fewsight.active import ActiveLearner, Exploration, GramPool
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier

RNG = np.random.default_rng(4)

X = RNG.normal(size=(80, 3))

NAMES = np.array(["ant", "bee", "cat"])[RNG.integers(0, 3, 80)]


def test_exploration_adds_three_ranks():
    learner = GPClassifier(RBF(scale=1.5), noise_variance=0.1).fit(X[:20], NAMES[:20])
    latent = learner.latent(X[20:])
    two = np.sort(latent.mean, axis=1)
    signs = (
        -(two[:, -1] - two[:, -2]) / np.sqrt(latent.std[:, 0] ** 2 + 0.1),
        latent.mean.mean(axis=1) - two[:, -1],
        latent.std[:, 0],
    )
    ranks = sum(np.array([(sign <= value).sum() for value in sign]) for sign in signs)
    query = Exploration().query(learner, X[20:], batch_size=1)
    assert query.indices[0] == np.argmax(ranks)
    assert query.scores[0] == pytest.approx(ranks.max() / (3 * len(ranks)))


@pytest.mark.slow
def test_exploring_finds_a_rare_category_sooner_and_costs_no_accuracy(digits, digit_gram):
    truth = digits[1]
    ways = {"exploring": ("uncertainty", True), "plain": ("uncertainty", False), "default": ("influence", True)}
    needed, right = {way: [] for way in ways}, {way: [] for way in ways}
    for seed in range(1000, 1012):
        rng = np.random.default_rng(seed)
        rare = int(rng.integers(10))
        others, own = rng.permutation(np.flatnonzero(truth != rare))[:600], np.flatnonzero(truth == rare)
        rows = np.concatenate([others, rng.permutation(own)[:6]])
        pool, names = GramPool(digit_gram[np.ix_(rows, rows)]), truth[rows]
        first = {int(label): int(np.flatnonzero(names == label)[0]) for label in np.unique(names) if label != rare}
        known = [label if first.get(label) == place else None for place, label in enumerate(names.tolist())]
        for way, (rule, explore) in ways.items():
            learner = GPClassifier("precomputed", noise_variance=0.01)
            options = {"explore": explore, "relearn_every": None, "random_state": seed}
            active = ActiveLearner(learner, rule, **options).fit(pool, known)
            asked = 0
            while rare not in active.view_.classes or active.view_.n_labelled < 60:
                asked += rare not in active.view_.classes
                query = active.query()
                active.teach(query.indices, names[query.indices])
            needed[way].append(asked)
            right[way].append(np.mean(np.array(active.predict()) == names))
    for way in ("exploring", "default"):
        assert np.mean(needed[way]) < 0.9 * np.mean(needed["plain"])
        assert np.mean(right[way]) > np.mean(right["plain"]) - 0.015
