"""The ways of combining that are compared, and what each is."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.simple_mkl import SimpleMKL

from experiments.common.cells import Way
from fewsight.learners import GPClassifier, KernelCombination

FOUR = ("dense_pmk", "spatial_pmk", "geometric_blur", "geometric_blur_distortion")  # the paper's four kinds of kernel
MEANING = {
    "none": "one channel alone; noise by left-out training examples",
    "average": "the plain average of all channels; noise by left-out training examples, as `fewsight evaluate --combine average`",
    "average_left_out": "the same by KernelCombination, the learner of auto",
    "evidence": "unpenalised evidence of weights and noise, mean zero [Kapoor2010, section 6]",
    "l1": "evidence with an L1 penalty, mean zero [Kapoor2010, section 6]",
    "l2": "evidence with a squared L2 penalty, mean zero [Kapoor2010, section 6]",
    "auto": "the default of KernelCombination: penalty towards the average, its strength, mean and noise by left-out examples",
}
PAPER = {"free_mean": False, "noise_variance": "evidence"}


def single(channels: Sequence[str]) -> list[Way]:
    """Each channel alone."""
    return [
        Way(GPClassifier("precomputed", prototypes=False), (name,), {"learner": "gp", "combine": "none"}, average=False)
        for name in channels
    ]


def combined(channels: Sequence[str], l1: float | str, l2: float | str) -> dict[str, Way]:
    """All channels together, by the name of the way."""
    learners = {
        "average": GPClassifier("precomputed", prototypes=False),
        "average_left_out": KernelCombination("precomputed", penalty="none", free_mean=False),
        "evidence": KernelCombination("precomputed", penalty="none", **PAPER),
        "l1": KernelCombination("precomputed", penalty="l1", strength=l1, **PAPER),
        "l2": KernelCombination("precomputed", penalty="l2", strength=l2, **PAPER),
    }
    ways = {
        name: Way(learner, tuple(channels), {"learner": "gp", "combine": name}, average=name == "average_left_out")
        for name, learner in learners.items()
    }
    return {**ways, "auto": automatic(channels)}


def automatic(channels: Sequence[str]) -> Way:
    """With nothing set."""
    return Way(KernelCombination("precomputed"), tuple(channels), {"learner": "gp", "combine": "auto"})


def scopes(channels: Sequence[str], strength: float) -> dict[str, Way]:
    """Weights that all classes share against weights of their own, all else alike."""
    return {
        scope: Way(
            KernelCombination("precomputed", penalty="even", strength=strength, scope=scope, free_mean=True),
            tuple(channels),
            {"learner": "gp", "combine": "even", "scope": scope},
            one_thread=True,
        )
        for scope in ("global", "classwise")
    }


def peer(channels: Sequence[str]) -> Way:
    """Support vector machines that learn the weights class by class."""
    return Way(SimpleMKL(), tuple(channels), {"learner": "simple_mkl", "combine": "simple_mkl"}, one_thread=True)
