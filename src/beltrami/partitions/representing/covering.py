"""Who stands for whom: representatives with their scales enter, rows that none covers leave.

A row is covered where a representative lies within `FACTOR` scales of that one. The scale
of a drawn row is the distance to its tenth neighbour among those drawn, but at most the median of
these neighbours' own: a lonely row does not stand for all that is far away. A row that is added
later has the scale of whichever was its nearest then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.partitions.model import Partition
from beltrami.partitions.reading.layout import Layout
from beltrami.partitions.reading.survey import batch_rows
from beltrami.partitions.representing.nearby import FACTOR, Standing, nearest_places
from beltrami.partitions.representing.yardstick import Places, Yardstick

_NEIGHBORS = 10
_POOL = 4096
"""Uncovered rows of a partition among which some are chosen: those that are worst covered."""
_LEAST_SCALE = 1e-3
"""Part of the median scale below which no scale is, where rows are equal."""


def local_scales(places: Places) -> FloatVector:
    """Return the scale of each drawn row."""
    n = len(places)
    k = min(_NEIGHBORS, n - 1)
    if k < 1:
        return np.zeros(n)
    squares, neighbors = nearest_places(places, places, k + 1)
    own = np.sqrt(np.maximum(squares[:, k].astype(np.float64), 0.0))
    around = np.median(own[neighbors[:, 1:]], axis=1)
    scales = np.minimum(own, around)
    floor = _LEAST_SCALE * float(np.median(scales))
    rounding = 1e-3 * float(np.sqrt(np.mean(places.astype(np.float64) ** 2)))
    raised: FloatVector = np.maximum(scales, max(floor, 1e-3 * rounding))
    return raised


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Uncovered rows that may become representatives.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Their places in the partition.
    points : ndarray of shape (m, d)
        Their features.
    ratios : ndarray of shape (m,)
        Distance to the nearest representative over what would be covered.
    scales : ndarray of shape (m,)
        Scale of that one.
    """

    rows: NDArray[np.int64]
    points: FloatMatrix
    ratios: FloatVector
    scales: FloatVector

    def take(self, places: Any) -> "Candidates":
        """Return some of them."""
        return Candidates(
            self.rows[places], self.points[places], self.ratios[places], self.scales[places]
        )

    def worst(self, n: int) -> "Candidates":
        """Return those that are worst covered, the first of equal ones."""
        if len(self.rows) <= n:
            return self
        return self.take(np.sort(np.argsort(-self.ratios, kind="stable")[:n]))

    @classmethod
    def joined(cls, parts: Sequence["Candidates"]) -> "Candidates":
        """Return those of several, in their order."""
        return cls(
            np.concatenate([one.rows for one in parts]),
            np.concatenate([one.points for one in parts]),
            np.concatenate([one.ratios for one in parts]),
            np.concatenate([one.scales for one in parts]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """What is not covered of a partition.

    Attributes
    ----------
    n_rows : int
        Rows of the partition.
    rows : ndarray of shape (u,)
        Places of those that are not covered.
    ratios, scales : ndarray of shape (u,)
        As of `Candidates`.
    largest : float
        Largest ratio of all rows.
    largest_covered : float
        Of those that are covered: later looks do not see them again.
    candidates : Candidates
        Some of the uncovered rows, thinned.
    """

    n_rows: int
    rows: NDArray[np.int64]
    ratios: NDArray[np.float32]
    scales: NDArray[np.float32]
    largest: float
    largest_covered: float
    candidates: Candidates


@dataclass(frozen=True, slots=True, eq=False)
class CoverTask:
    """What a worker needs to know to find the rows that nobody stands for.

    Attributes
    ----------
    layout : Layout
        How partitions are read.
    fill : ndarray of shape (d,)
        What stands where a number is missing.
    yardstick : Yardstick
        How far rows are apart.
    standing : Standing
        The representatives that were added since the last look.
    most : int
        Candidates of a partition.
    """

    layout: Layout
    fill: FloatVector
    yardstick: Yardstick
    standing: Standing
    most: int

    def __call__(self, partition: Partition, before: Gaps | None = None) -> Gaps:
        """Look at the rows of a partition, or at those that were not covered before."""
        layout, start, largest = self.layout, 0, 0.0
        covered = 0.0 if before is None else before.largest_covered
        features = layout.features
        none = np.zeros(0)
        pool = Candidates(none.astype(np.int64), np.zeros((0, layout.n_columns)), none, none)
        found: list[tuple[Any, Any, Any]] = []
        for batch in partition.batches(features, batch_rows(layout.n_columns)):
            rows, ratios, scales = self._open(before, start, batch.num_rows)
            chosen = batch if len(rows) == batch.num_rows else batch.take(rows - start)
            start += batch.num_rows
            if not rows.size:
                continue
            points = layout.points(chosen, self.fill)
            ratios, scales = self._nearer(points, ratios, scales)
            largest = max(largest, float(ratios.max()))
            is_open = ratios > 1.0
            covered = max(covered, float(ratios[~is_open].max(initial=0.0)))
            found.append((rows[is_open], ratios[is_open], scales[is_open]))
            own = Candidates(rows[is_open], points[is_open], ratios[is_open], scales[is_open])
            pool = Candidates.joined([pool, own]).worst(_POOL) if len(own.rows) else pool
        rows, ratios, scales = (
            np.concatenate([none, *(one[i] for one in found)]) for i in range(3)
        )
        return Gaps(
            start,
            rows.astype(np.int64),
            ratios.astype(np.float32),
            scales.astype(np.float32),
            max(largest, covered),
            covered,
            pool.take(thin(self.yardstick.place(pool.points), pool, self.most)),
        )

    def _open(
        self, before: Gaps | None, start: int, n_rows: int
    ) -> tuple[NDArray[np.int64], FloatVector, FloatVector]:
        """Return the rows of a batch to be looked at, with what is known of them."""
        if before is None:
            return np.arange(start, start + n_rows), np.full(n_rows, np.inf), np.zeros(n_rows)
        low, high = np.searchsorted(before.rows, [start, start + n_rows])
        ratios, scales = before.ratios[low:high], before.scales[low:high]
        return before.rows[low:high], ratios.astype(np.float64), scales.astype(np.float64)

    def _nearer(
        self, points: FloatMatrix, ratios: FloatVector, scales: FloatVector
    ) -> tuple[FloatVector, FloatVector]:
        """Return ratios and scales with the representatives of this look."""
        ratio, own = self.standing.ratios(self.yardstick.place(points))
        is_nearer = ratio < ratios
        return np.where(is_nearer, ratio, ratios), np.where(is_nearer, own, scales)


def thin(places: Places, candidates: Candidates, most: int) -> NDArray[np.intp]:
    """Return a few candidates that cover the others, the worst covered first.

    Greedy: whoever is taken covers all within `FACTOR` of its scale.
    """
    order = np.argsort(-candidates.ratios, kind="stable")
    reach = (FACTOR * candidates.scales) ** 2
    is_open = np.ones(len(order), dtype=bool)
    taken: list[int] = []
    for one in order:
        if len(taken) == most:
            break
        if not is_open[one]:
            continue
        taken.append(int(one))
        left = np.flatnonzero(is_open)
        apart = places[left].astype(np.float64) - places[one]
        is_open[left[np.einsum("ij,ij->i", apart, apart) <= reach[one]]] = False
        is_open[one] = False
    return np.array(taken, dtype=np.intp)
