"""Sets of classes that hold the true one as often as asked, by leaving labels out.

Held-out probabilities of the labelled rows enter; a threshold, and sets for all rows, leave. Pure
functions.
"""

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.core.validation import check_choice

SCORES = ("share", "lead", "sum")
_ROUNDING = 1e-9


def strangeness(probabilities: Any, score: str = "share") -> FloatMatrix:
    r"""Return how strange each class would be at each row, high for strange, (m, k).

    - `score`: "share" is :math:`1 - p_c`; "lead" is how far the best other class is ahead,
      :math:`(1 + \max_{b \ne c} p_b - p_c) / 2`; "sum" adds up all classes that are at least as
      probable, :math:`\sum_{p_b \ge p_c} p_b`, equal ones together.
    """
    check_choice(score, SCORES, name="score")
    p = _check_probabilities(probabilities)
    if score == "share":
        return np.asarray(1 - p)
    if score == "lead":
        return np.asarray((1 + _best_other(p) - p) / 2)
    order = np.argsort(-p, axis=1, kind="stable")
    falling = np.take_along_axis(p, order, axis=1)
    sums = np.cumsum(falling, axis=1)
    for column in range(p.shape[1] - 2, -1, -1):  # equal classes share the last one's sum
        equal = falling[:, column] == falling[:, column + 1]
        sums[equal, column] = sums[equal, column + 1]
    strange = np.empty_like(sums)
    np.put_along_axis(strange, order, np.minimum(sums, 1.0), axis=1)
    return strange


def _best_other(p: FloatMatrix) -> FloatMatrix:
    """Return the largest probability of the other classes, for each class."""
    if p.shape[1] == 1:
        return np.zeros_like(p)
    top = np.argmax(p, axis=1)
    second, first = np.partition(p, p.shape[1] - 2, axis=1)[:, -2:].T
    best = np.repeat(first[:, None], p.shape[1], axis=1)
    best[np.arange(len(p)), top] = second
    return best


def conformal_threshold(strange: Any, coverage: float) -> float:
    r"""Return the strangeness that at most a share 1 - coverage of new rows exceed.

    .. math:: q = s_{(r)}, \qquad r = \lceil (l + 1)\, \text{coverage} \rceil,

    the r-th smallest of l scores of labelled rows, each worked out without the row's own label. A
    row from the same source exceeds q with a chance of at most 1 - coverage, if its score
    is drawn like theirs: the labels are a random sample, and one label more or less hardly changes
    the learner. With fewer than coverage / (1 - coverage) labels there is no such score and the
    threshold is infinite.

    - `coverage`: share of the sets that shall hold the true class, between 0 and 1.
    """
    share = _check_coverage(coverage)
    scores = np.sort(np.asarray(strange, dtype=np.float64).ravel())
    if np.isnan(scores).any():
        raise InvalidInputError(
            f"{int(np.isnan(scores).sum())} of {len(scores)} held-out scores are NaN; leave out "
            "the rows that the other labels say nothing of."
        )
    rank = math.ceil((len(scores) + 1) * share - _ROUNDING)
    return float(scores[rank - 1]) if rank <= len(scores) else math.inf


def prediction_sets(
    probabilities: Any, threshold: float, score: str = "share", *, never_empty: bool = False
) -> NDArray[np.bool_]:
    """Return for each row the classes that are not too strange.

    - `probabilities`: (m, k), from the same learner as the held-out ones.
    - `never_empty`: give an empty set its most probable class. A set is empty where no class is as
      probable as the true ones of the labels mostly were; to fill it can only raise the coverage.
    """
    strange = strangeness(probabilities, score)
    inside: NDArray[np.bool_] = strange <= threshold + _ROUNDING
    if never_empty:
        inside[np.arange(len(inside)), strange.argmin(axis=1)] = True
    return inside


def held_out_strangeness(held_out: Any, codes: Any, score: str = "share") -> FloatVector:
    """Return the strangeness of the given class of each labelled row, (l,)."""
    columns = np.asarray(codes, dtype=np.intp)
    strange = strangeness(held_out, score)
    if columns.shape != (len(strange),):
        raise InvalidInputError(
            f"codes has shape {columns.shape} and there are {len(strange)} held-out rows; give one "
            "class per row."
        )
    return np.asarray(strange[np.arange(len(columns)), columns])


def _check_probabilities(probabilities: Any) -> FloatMatrix:
    matrix = np.asarray(probabilities, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] == 0 or not np.isfinite(matrix).all():
        raise InvalidInputError(
            f"the probabilities have shape {matrix.shape} or hold NaN or infinity; give one finite "
            "row per point and one column per class."
        )
    return matrix


def _check_coverage(coverage: Any) -> float:
    is_number = isinstance(coverage, numbers.Real) and not isinstance(coverage, bool)
    if is_number and 0 < float(coverage) < 1:
        return float(coverage)
    raise InvalidInputError(f"coverage={coverage!r} must be a number between 0 and 1, such as 0.9.")
