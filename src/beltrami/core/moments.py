"""Means and standard deviations of columns, in blocks that stay in the cache, on all cores."""

import numpy as np

from beltrami.core.threads import map_ranges
from beltrami.core.types import FloatMatrix, FloatVector

_ENTRIES = 2**18  # of a block


def column_moments(points: FloatMatrix) -> tuple[FloatVector, FloatVector]:
    """Return the mean and the standard deviation of each column, (d,), in double precision.

    Blocks give means and sums of squares about them, which are merged in order: that loses no
    digits where a column lies far from zero, and does not depend on the number of threads.
    """
    n, d = points.shape

    def measure(begin: int, stop: int) -> tuple[FloatVector, FloatVector]:
        block = points[begin:stop].astype(np.float64)
        center = block.mean(axis=0)
        block -= center
        return center, np.einsum("ij,ij->j", block, block)

    size = max(_ENTRIES // max(d, 1), 1)
    mean, squares = np.zeros(d), np.zeros(d)
    with np.errstate(over="ignore", invalid="ignore"):
        blocks = map_ranges(measure, n, size)
        for number, (center, own) in enumerate(blocks):
            seen, more = number * size, min(size, n - number * size)
            shift = center - mean
            mean += shift * (more / (seen + more))
            squares += own + shift**2 * (seen * more / (seen + more))
        return mean, np.sqrt(squares / max(n, 1))
