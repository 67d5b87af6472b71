"""Means and standard deviations of columns, in blocks that stay in the cache, on all cores."""

from dataclasses import dataclass

import numpy as np

from beltrami.core.machine.threads import map_ranges
from beltrami.core.types import FloatMatrix, FloatVector

_ENTRIES = 2**18  # of a block


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Counts, means and sums of squares about the means, that can be merged.

    Merging loses no digits where a column lies far from zero. The bits depend on the order of the
    merges, and on nothing else.

    Attributes
    ----------
    count : ndarray of shape (d,)
        Numbers in each column.
    mean, squares : ndarray of shape (d,)
        Their mean, and the sum of their squared distances to it.
    """

    count: FloatVector
    mean: FloatVector
    squares: FloatVector

    @classmethod
    def none(cls, n_columns: int) -> "Moments":
        """Return those of no rows."""
        return cls(np.zeros(n_columns), np.zeros(n_columns), np.zeros(n_columns))

    @classmethod
    def of(cls, block: FloatMatrix) -> "Moments":
        """Return those of a block of finite rows, in double precision."""
        rows = block.astype(np.float64)
        center = rows.mean(axis=0)
        rows -= center
        count = np.full(rows.shape[1], float(len(rows)))
        return cls(count, center, np.einsum("ij,ij->j", rows, rows))

    @classmethod
    def of_finite(cls, block: FloatMatrix) -> "Moments":
        """Return those of the finite numbers in a block; a column may hold none."""
        is_finite = np.isfinite(block)
        if is_finite.all() and len(block):
            return cls.of(block)
        count = is_finite.sum(axis=0).astype(np.float64)
        rows = np.where(is_finite, block, 0.0).astype(np.float64)
        center = rows.sum(axis=0) / np.maximum(count, 1.0)
        rows = np.where(is_finite, rows - center, 0.0)
        return cls(count, center, np.einsum("ij,ij->j", rows, rows))

    def merge(self, other: "Moments") -> "Moments":
        """Return those of both, these rows first."""
        count = self.count + other.count
        total = np.maximum(count, 1.0)
        shift = other.mean - self.mean
        mean = self.mean + shift * (other.count / total)
        squares = self.squares + (other.squares + shift**2 * (self.count * other.count / total))
        return Moments(count, mean, squares)

    @property
    def spread(self) -> FloatVector:
        """The standard deviation of each column."""
        return np.sqrt(self.squares / np.maximum(self.count, 1.0))


def column_moments(points: FloatMatrix) -> tuple[FloatVector, FloatVector]:
    """Return the mean and the standard deviation of each column, (d,), in double precision.

    Blocks are merged in order, so that the result does not depend on the number of threads.
    """
    n, d = points.shape
    size = max(_ENTRIES // max(d, 1), 1)
    with np.errstate(over="ignore", invalid="ignore"):
        moments = Moments.none(d)
        for block in map_ranges(lambda begin, stop: Moments.of(points[begin:stop]), n, size):
            moments = moments.merge(block)
        return moments.mean, moments.spread
