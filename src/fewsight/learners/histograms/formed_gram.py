"""When the histogram learner forms its kernel matrix after all: in single precision, where that is small and saves time."""

from __future__ import annotations

from fewsight.gp import RoundedGram
from fewsight.gp.iterative_posterior import MANY_COLUMNS
from fewsight.gp.rounded_gram import seconds_formed
from fewsight.kernels import DistributedHistogramOperator, HistogramOperator
from fewsight.learners.folds import EXAMPLES

LEAST_ROWS = 600  # fewer are quick either way
BYTES_OF_PAIR, BYTES_OF_NUMBER = 4, 14  # of K, and of the sorted histograms
MOST_OF_HISTOGRAMS = 2  # times their memory that K may take
FORMED = 0.03  # nanoseconds for each row and number
PRODUCTS, USUAL_ITERATIONS = 3, 20  # that a system takes with K formed, and without


def formed_gram(
    operator: HistogramOperator | DistributedHistogramOperator, systems: int, products: int = 0
) -> RoundedGram | None:
    """K of all pairs in single precision, where it saves time on so many systems and on products with so many columns besides."""
    if not isinstance(operator, HistogramOperator) or operator.hellinger:
        return None
    worth = worth_forming(operator.n, operator.n_numbers, systems, products)
    return RoundedGram(operator.rounded()) if worth else None


def worth_forming(n: int, n_numbers: int, systems: int, products: int = 0) -> bool:
    """Whether forming K of n rows with this many numbers is expected to save time, and takes no more than twice their memory."""
    if n < LEAST_ROWS or BYTES_OF_PAIR * n * n > MOST_OF_HISTOGRAMS * BYTES_OF_NUMBER * n_numbers:
        return False
    product = 1e-9 * MANY_COLUMNS * n_numbers
    formed = (
        seconds_formed(n, 1e-9 * FORMED * n * n_numbers, products, systems, EXAMPLES) + PRODUCTS * systems * product
    )
    return formed < (products + USUAL_ITERATIONS * systems) * product
