"""Representatives where they stand: rows enter, who is near each and how near leave.

Nearly all rows have somebody close by. So a few cells around a row are searched first, and only
where nobody there covers it are all representatives looked at.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.threads import thread_limit
from beltrami.core.types import BoolVector, FloatVector
from beltrami.graph.search.cells import Cells, Division
from beltrami.graph.search.distances import pair_distances
from beltrami.partitions.representing.yardstick import Places

FACTOR = 1.5
"""Scales within which a representative covers a row."""

_FEWEST = 4096
"""Representatives from which cells are searched first."""
_LISTED, _SEARCHED = 32, 2
"""Cells that a row ranks, and searches."""

SEARCHED = 24
"""Cells that are searched where nobody looks at all representatives afterwards."""


@dataclass(frozen=True, eq=False)
class Arranged:
    """Representatives, arranged so that those near a row are found without looking at all.

    Attributes
    ----------
    places : ndarray of shape (m, d), float32
        Where they stand.
    division : Division or None
        Their cells; None where they are few.
    """

    places: Places
    division: Division | None

    @classmethod
    def of(cls, places: Places) -> "Arranged":
        """Divide representatives into cells where they are many."""
        if len(places) < _FEWEST:
            return cls(places, None)
        with thread_limit(1):
            return cls(places, Division.of(places, np.random.default_rng(0)))

    @cached_property
    def _cells(self) -> Cells | None:
        return None if self.division is None else Cells.of(self.places, self.division, 1)

    def near(self, rows: Places, k: int, n_searched: int) -> NDArray[np.int64]:
        """Return `k` representatives near each row, in some cells; -1 where these hold less."""
        if self._cells is None:
            return nearest_places(rows, self.places, k)[1]
        found = np.zeros((len(rows), k), dtype=np.int64)
        n_listed = min(max(_LISTED, 3 * n_searched), self._cells.n_cells)
        for block, some in self._cells.candidates_of(
            rows, k, n_listed=n_listed, n_searched=min(n_searched, n_listed)
        ):
            found[block] = some[:, :k]
        return found if k == 1 else self._in_order(rows, found)

    def _in_order(self, rows: Places, found: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what was found for each row, the nearest first, places that lack one last."""
        own = np.repeat(np.arange(len(rows), dtype=np.int64), found.shape[1])
        others = np.maximum(found.ravel(), 0)
        distances = pair_distances(rows, self.places, own, others).reshape(found.shape)
        order = np.argsort(np.where(found < 0, np.inf, distances), axis=1, kind="stable")
        return np.take_along_axis(found, order, axis=1)


@dataclass(frozen=True, eq=False)
class Standing:
    """Representatives that rows are compared with.

    Attributes
    ----------
    arranged : Arranged
        Where they stand.
    scales : ndarray of shape (m,)
        How far around them is theirs.
    """

    arranged: Arranged
    scales: FloatVector

    @classmethod
    def of(cls, places: Places, scales: FloatVector) -> "Standing":
        """Arrange representatives with their scales."""
        return cls(Arranged.of(places), scales)

    def ratios(self, rows: Places) -> tuple[FloatVector, FloatVector]:
        """Return the distance of each row to a representative over what that covers, and its scale.

        The representative is the nearest one, or another that covers the row: a ratio above one
        says that the nearest does not.
        """
        if self.arranged.division is None:
            return self._of_nearest(rows)
        near = np.maximum(self.arranged.near(rows, 1, _SEARCHED)[:, 0], 0)  # it is measured below
        ratios = self._ratios(rows, near)
        scales = self.scales[near]
        is_open = np.flatnonzero(ratios > 1.0)
        ratios[is_open], scales[is_open] = self._of_nearest(rows[is_open])
        return ratios, scales

    def covers(self, rows: Places, own: NDArray[Any]) -> BoolVector:
        """Return whether each row is covered by the representative that is named for it."""
        return np.asarray(self._distances(rows, own) <= FACTOR * self.scales[own])

    def _of_nearest(self, rows: Places) -> tuple[FloatVector, FloatVector]:
        if not len(rows):
            return np.zeros(0), np.zeros(0)
        near = nearest_places(rows, self.arranged.places, 1)[1][:, 0]
        return self._ratios(rows, near), self.scales[near]

    def _ratios(self, rows: Places, near: NDArray[Any]) -> FloatVector:
        ratios: FloatVector = self._distances(rows, near) / (FACTOR * self.scales[near])
        return ratios

    def _distances(self, rows: Places, near: NDArray[Any]) -> FloatVector:
        own = np.arange(len(rows), dtype=np.int64)
        return pair_distances(rows, self.arranged.places, own, near.astype(np.int64))


def nearest_places(queries: Places, points: Places, k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the squares of the distances to the nearest points, and which they are."""
    import faiss

    # On one thread, so that nothing depends on how many there are.
    with thread_limit(1):
        squares, nearest = faiss.knn(queries, points, k)
    return squares, nearest
