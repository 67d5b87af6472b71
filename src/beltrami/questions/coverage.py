r"""Choose rows that stand for the others: greedy cover of a sample by rows of a pool.

With likeness s, masses m and the likeness c of each row to its closest label, the questions Q are
chosen one by one, each time the one that adds most to

.. math:: \sum_i m_i \max\bigl(c_i, \max_{k \in Q} s_{ki}\bigr).

The sum is submodular, so greed comes within 1 - 1/e of the best batch, and a second question on
the same group adds little: batches are diverse without a rule for it.
"""

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector


def greedy_cover(
    likeness: FloatMatrix, covered: FloatVector, masses: FloatVector, n: int
) -> tuple[IndexVector, FloatVector]:
    """Return the places in the pool of the best rows in order, and what each of them added.

    Gains only fall as rows are chosen, so an old gain is a bound, and few are computed anew.

    - `likeness`: (pool, sample); `covered`, `masses`: (sample,).
    """
    current = np.asarray(covered, dtype=likeness.dtype)
    weights = np.asarray(masses, dtype=np.float64)
    bounds = np.array([_gain(line, current, weights) for line in likeness])
    chosen, gains = np.empty(n, dtype=np.intp), np.empty(n)
    for step in range(n):
        while True:
            best = int(np.argmax(bounds))
            bounds[best] = gain = _gain(likeness[best], current, weights)
            if gain >= bounds.max():
                break
        chosen[step], gains[step], bounds[best] = best, gain, -np.inf
        current = np.maximum(current, likeness[best])
    return chosen, gains


def _gain(line: FloatVector, current: FloatVector, masses: FloatVector) -> float:
    return float(np.maximum(line - current, 0.0) @ masses)


def settled_counts(likeness: FloatMatrix, covered: FloatVector, masses: FloatVector) -> IndexVector:
    """Return how many rows are more alike to each chosen row than to any other or to a label.

    - `likeness`: (n, sample), from the chosen rows; `covered`, `masses`: (sample,).
    """
    closest, columns = likeness.argmax(axis=0), np.arange(likeness.shape[1])
    top = likeness[closest, columns]
    is_closer = top > covered
    counts = np.bincount(closest[is_closer], masses[is_closer], minlength=len(likeness))
    return np.maximum(np.rint(counts), 1).astype(np.int64)
