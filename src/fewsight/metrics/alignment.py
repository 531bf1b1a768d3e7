"""How well a Gram matrix suits two classes: the cosine between it and the ideal one, y y^T. [Holub2008, eq. 11]"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_gram, shown
from fewsight._base.errors import InvalidInput


def kernel_alignment(K: npt.ArrayLike, positive: npt.ArrayLike) -> float:
    """y^T K y / (n |K|), where y is +1 for positive examples and -1 for others and |K| is the Frobenius norm: -1 to 1.

    Parameters
    ----------
    K : kernel values of n examples with each other (n, n), symmetric, not all zero.
    positive : whether each example is of the first class (n,).
    """
    gram = check_gram("kernel_alignment", "K", K)
    chosen = np.asarray(positive)
    if chosen.shape != (len(gram),) or chosen.dtype != bool:
        raise InvalidInput(
            f"kernel_alignment: positive must be True or False for each of {len(gram)} examples, got {shown(positive)}."
        )
    norm = float(np.linalg.norm(gram))
    if norm == 0.0:
        raise InvalidInput("kernel_alignment: K must hold a number other than zero, got none.")
    y = np.where(chosen, 1.0, -1.0)
    return float(y @ gram @ y) / (len(gram) * norm)
