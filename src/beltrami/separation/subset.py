"""A part of the points, spread as they are, with every point that must be in it.

Two near points share their neighbours, so their shapes agree even where they lie on different
manifolds; a graph of shapes is therefore built on points that are some way apart.
"""

import numpy as np

from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix, IndexVector

WALK_COST = 2e11
"""n^2 d over the number dropped, up to which the walk is taken: about a minute on one core."""


def sparse_subset(
    points: FloatMatrix, n_dropped: int, always: IndexVector, rng: np.random.Generator
) -> IndexVector:
    """Thin points out to about one in n_dropped + 1.

    Start anywhere, drop the nearest points that remain, go on from the next nearest, until none is
    left ([Zhu09]_, "A Sparse Subset"). The rows of `always` are added afterwards. Above
    `WALK_COST` a random sample of the same size is taken, which the same slide allows.

    Cost: O(n^2 d / n_dropped), or O(n) for the sample.
    """
    from beltrami.separation import _loops

    n, d = points.shape
    if float(n) ** 2 * d / (n_dropped + 1) > WALK_COST:
        kept = rng.choice(n, size=-(-n // (n_dropped + 1)), replace=False)
    else:
        with track("thinning out", total=1) as advance:
            contiguous = np.ascontiguousarray(points, dtype=np.float64)
            kept = _loops.walk(contiguous, int(rng.integers(n)), n_dropped)
            advance(1)
    rows: IndexVector = np.union1d(kept, always).astype(np.intp)
    return rows
