"""Approximate search for data too large for brute force, planned so that it is good enough.

The true neighbours of a sample of points say how many cells must be searched until nearly all of
them are found; below 0.99 the missing edges distort the spectrum of the graph. Where that takes as
long as to look at everything, there is no plan.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from beltrami.core.errors import RecallWarning
from beltrami.core.types import BoolVector, FloatMatrix, IndexMatrix, IndexVector
from beltrami.graph.search.cells import CELL_SIZE, Cells

RECALL_TARGET = 0.99

_SURE = 0.992
"""What nearly all samples must show of the recall of all points: the target with a margin."""

_PLANNED = 0.994
"""Of the neighbours of the points that a search is planned with: others miss a few more."""

_ERRORS = 1.645
"""Standard errors by which the recall of all points is below that of a sample once in twenty."""

PAIR_COST = 2.5
"""Time for a pair of points in a search by cells, where one in brute force has 1."""

_LISTED_COST = 0.5
"""Time to compare a point with a centre, where one with a point of a cell has 1."""

_NARROWEST = 256  # cells that a point ranks; doubled while that saves time
_ENTRIES = 2**23  # of an array that ranks a part of the sample


@dataclass(frozen=True, slots=True)
class Plan:
    """How hard to search: cells that a point ranks, and how many of them it searches."""

    n_listed: int
    n_searched: int

    def pairs(self, cells: Cells) -> float:
        """Return about how many comparisons a point takes."""
        searched = self.n_searched * len(cells.members) / cells.n_cells
        return _LISTED_COST * self.n_listed + searched

    def harder(self, cells: Cells) -> "Plan":
        """Return the plan with an eighth more cells."""
        wider, more = (count + -(-count // 8) for count in (self.n_listed, self.n_searched))
        return Plan(min(wider, cells.n_cells), min(more, cells.n_cells))


def plan_search(cells: Cells, sample: IndexVector, truth: IndexMatrix) -> Plan | None:
    """Return the cheapest plan that finds enough of the sample's neighbours, None if none is cheap.

    `truth` holds the neighbours of the points `sample`. A neighbour is found if its cell is among
    those that the point lists, and ranks high enough by the distance of its centre.
    """
    best, width = None, min(_NARROWEST, cells.n_cells)
    while True:
        n_searched = _cells_needed(cells, sample, truth, width)
        plan = Plan(width, n_searched) if n_searched else None
        if plan and (best is None or plan.pairs(cells) < best.pairs(cells)):
            best = plan
        if width == cells.n_cells or (best is not None and plan != best):
            return best
        width = min(2 * width, cells.n_cells)


def _cells_needed(cells: Cells, sample: IndexVector, truth: IndexMatrix, width: int) -> int | None:
    """Return how many of `width` listed cells a point must search; None where all do not do."""
    wanted, listed = cells.owner[truth], cells.near(cells.group[cells.owner[sample]], width)
    found = np.zeros(width + 1, dtype=np.int64)  # neighbours by the rank of their cells
    step = max(1, _ENTRIES // (width * max(cells.points.shape[1], truth.shape[1])))
    for start in range(0, len(sample), step):
        here = slice(start, start + step)
        near = listed[here]
        squares = _squares(cells, sample[here], near)
        rank = np.empty_like(near)
        order = np.argsort(squares, axis=1, kind="stable")
        np.put_along_axis(rank, order, np.arange(width, dtype=np.int32)[None], axis=1)
        same = near[:, None, :] == wanted[here, :, None]
        ranks = np.where(same.any(axis=2), np.take_along_axis(rank, same.argmax(axis=2), 1), width)
        found += np.bincount(ranks.ravel(), minlength=width + 1)
    share = np.cumsum(found[:width]) / truth.size
    enough = np.flatnonzero(share >= _PLANNED)
    return int(enough[0]) + 1 if enough.size else None


def _squares(cells: Cells, rows: IndexVector, near: IndexMatrix) -> FloatMatrix:
    difference = cells.centers[near]
    difference -= cells.points[rows][:, None, :]
    squares: FloatMatrix = np.einsum("ijk,ijk->ij", difference, difference)
    return squares


def worth_it(plan: Plan | None, cells: Cells) -> bool:
    """Say whether a plan takes less time than brute force."""
    # To divide the points takes about as long as to compare each with a cell.
    return plan is not None and PAIR_COST * (plan.pairs(cells) + CELL_SIZE) < len(cells.points)


def is_surely_good(found: BoolVector) -> bool:
    """Say whether all points have a recall of 0.992, by the neighbours found of some, (m, k)."""
    shares = found.mean(axis=1)
    error = shares.std() / np.sqrt(len(shares))
    return bool(shares.mean() - _ERRORS * error >= _SURE)


def warn_when_poor(found: BoolVector) -> float:
    """Return the share of neighbours found; warn where that is below the target."""
    recall = float(np.mean(found))
    if recall < RECALL_TARGET:
        warnings.warn(
            f"approximate search found {recall:.3f} of the true neighbours on {len(found)} sampled "
            f"points, below {RECALL_TARGET}; the graph's spectrum may be distorted. Use "
            "search='exact'.",
            RecallWarning,
            stacklevel=2,
        )
    return recall
