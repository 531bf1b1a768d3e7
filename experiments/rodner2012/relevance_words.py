"""A thousand relevance weights on Caltech-101 bags of words, as they are and with half the words exchanged between images.

python -m experiments.rodner2012.relevance_words DATA --work FOLDER
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from experiments.common.command import run
from experiments.rodner2012.results import kept, paired, record, write_results
from experiments.rodner2012.thousand import LEARNED, TOLERANCE, learned, of_weights
from experiments.rodner2012.words import Bags, store_of, word_arguments
from fewsight._base.progress import silent, track

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from histogram_data import shuffled

WORDS = ("as they are", "half exchanged")
METRICS = ("accuracy", "roc_auc")


def weighted_words(bags: Bags, words: str, seed: int) -> dict[str, float]:
    """Mean accuracy per class and mean area under the curve of plain and weighted kernel on test images."""
    rng = np.random.default_rng(seed)
    n_words = bags.train.shape[1]
    n_noise = n_words // 2 if words == "half exchanged" else 0
    chosen = rng.permutation(n_words)  # those that are exchanged come first
    train, test = (shuffled(part[:, chosen], n_noise, rng) for part in (bags.train, bags.test))
    names, classes = np.unique(bags.labels, return_inverse=True)
    truth = np.searchsorted(names, bags.test_labels)
    informative = np.arange(n_words) >= n_noise
    cell: dict[str, float] = {}
    for way, options in (("plain", {}), ("weighted", LEARNED), ("oracle", {"relevance": informative.astype(float)})):
        with silent(), threadpool_limits(1):
            found, posterior = learned(train, classes.astype(np.intp), **options)
        means = posterior.exact_mean(test)
        right = means.argmax(axis=1) == truth
        cell[f"accuracy_{way}"] = float(np.mean([right[truth == c].mean() for c in np.unique(truth)]))
        cell[f"roc_auc_{way}"] = float(np.mean([roc_auc_score(truth == c, means[:, c]) for c in np.unique(truth)]))
        if found.relevance is not None and n_noise:
            cell |= of_weights(found.operator.weights, informative)
    return cell


def work(options: argparse.Namespace) -> None:
    """Both kinds of words for every draw, and the file of results."""
    store, records, compared = store_of(options), [], []
    for words in WORDS:
        cells = [
            kept(
                options.work,
                "relevance_words",
                {"words": words, "seed": place.seed, "per_class": place.per_class, "count": options.words, **LEARNED},
                lambda place=place, words=words: weighted_words(store.load(place), words, place.seed),
            )
            for place in track(options.places, f"words {words}", len(options.places))
        ]
        head: dict[str, Any] = {"channels": "words", "learner": "histogram_gp", "combine": "none", "words": words}
        for name in cells[0]:
            metric, _, way = name.rpartition("_")
            known = metric in METRICS
            more = {"kernel": way, "per_class": options.sizes[0]} if known else {"per_class": options.sizes[0]}
            records.append(record({**head, **more}, metric if known else name, [cell[name] for cell in cells]))
        for metric in METRICS:
            ours, theirs = ([cell[f"{metric}_{way}"] for cell in cells] for way in ("weighted", "plain"))
            compared.append({"words": words, "metric": metric, **paired(ours, theirs)})
            print(json.dumps(compared[-1]))
    protocol = {"channel": store.draws.settings["words"], "learned": LEARNED, "tolerance": TOLERANCE}
    write_results(options, records, comparisons=compared, protocol=protocol)


def _main() -> None:
    parser = word_arguments("relevance_words", __doc__)
    results = Path("experiments/results/rodner2012/relevance_words.json")
    parser.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    run(parser, work)


if __name__ == "__main__":
    _main()
