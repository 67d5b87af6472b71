"""Exact neighbours on a device: every query against every point, groups of points at first.

Compact points and those in the user's units enter; what leaves are the lists of the `k` nearest by
(distance, row), and how near a point may be that is not in them. The steps are arithmetic on blocks
of any backend, and the distances are summed in the order of the processor's loop, so that both give
the same numbers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.backend import Backend
from beltrami.core.machine.device import backend_for
from beltrami.core.telling.progress import Advance
from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix
from beltrami.graph.search.distances import QUERY_BLOCK

_GROUP = 128  # points whose nearest alone is kept at first
_LEAST_QUERIES = 64  # of a block that is halved again and again where memory does not suffice
_MEMBER_ENTRIES = 2**27  # coordinates of members of chosen groups that are held at once

Lists = tuple[IndexMatrix, FloatMatrix, FloatVector]
"""Rows, distances, and the squared compact distance of the last candidate."""


def search_backend(n_queries: int, n_points: int, n_columns: int) -> Backend:
    """Return what looks at all pairs of a query and a point."""
    # Points in float64 and float32, and a block of queries against some of them.
    n_bytes = 12.0 * (n_queries + n_points) * n_columns + 2.0**30
    return backend_for(2.0 * n_queries * n_points * n_columns, n_bytes)


class GroupedSearch:
    """Points on a device, ready for blocks of queries.

    Parameters
    ----------
    base : ndarray of shape (n, d)
        In the user's units.
    compact : ndarray of shape (n, d), float32
        The same, centred and scaled.
    backend : Backend
        The device.
    """

    def __init__(self, base: FloatMatrix, compact: NDArray[np.float32], backend: Backend) -> None:
        n_missing = -len(compact) % _GROUP  # of the last group: filled by points that are nowhere
        halves = np.einsum("ij,ij->i", compact, compact) / 2
        self._backend = backend
        self._base = backend.block(base, np.float64)
        self._compact = backend.block(np.pad(compact, ((0, n_missing), (0, 0))), np.float32)
        away = np.pad(np.zeros(len(compact)), (0, n_missing), constant_values=np.inf)
        self._nowhere = backend.vector(away, np.float32)
        self._halves = backend.vector(np.pad(halves, (0, n_missing)) + away, np.float32)

    def search(
        self,
        queries: FloatMatrix,
        compact: NDArray[np.float32],
        k: int,
        n_candidates: int,
        advance: Advance,
    ) -> Lists:
        """Return the `k` nearest of each query, the best of some candidates by float32.

        Where the memory of the device does not suffice, half as many queries are tried at once.
        """
        size, start, parts = QUERY_BLOCK, 0, []
        while start < len(queries):
            rows = slice(start, min(start + size, len(queries)))
            try:
                parts.append(self._block(queries[rows], compact[rows], k, n_candidates))
            except self._backend.memory_errors:
                if rows.stop - start <= _LEAST_QUERIES:
                    raise
                size = (rows.stop - start) // 2
                continue
            advance(rows.stop - start)
            start = rows.stop
        indices, distances, last = (np.concatenate([part[i] for part in parts]) for i in range(3))
        return indices, distances, last

    def _block(
        self, queries: FloatMatrix, compact: NDArray[np.float32], k: int, n_candidates: int
    ) -> Lists:
        backend = self._backend
        candidates, last = self._candidates(backend.block(compact, np.float32), n_candidates)
        # By row number first, so that ties by column are ties by row.
        candidates, _ = backend.smallest(candidates, n_candidates)
        exact = backend.block(queries, np.float64)
        totals = backend.vector(np.zeros((len(queries), n_candidates)), np.float64)
        for column in range(queries.shape[1]):
            difference = exact[:, column, None] - self._base[:, column][candidates]
            totals += difference * difference
        squares, places = backend.smallest(totals, n_candidates)
        rows = backend.vector(np.arange(len(queries)), np.int64)[:, None]
        indices = backend.host(candidates[rows, places]).astype(np.int32)
        distances = np.sqrt(backend.host(squares))  # a device's own root may err in the last bit
        _order_ties(indices, distances)
        return indices[:, :k], distances[:, :k], backend.host(last).astype(np.float64)

    def _candidates(self, queries: Any, k: int) -> tuple[Any, Any]:
        """Return rows of the `k` nearest by float32, in any order, and the square of the last.

        They lie in the k groups with the nearest points.
        """
        backend, n_groups = self._backend, len(self._halves) // _GROUP
        minima = backend.group_minima(queries, self._compact, self._halves, _GROUP)
        _, groups = backend.smallest(minima, min(k, n_groups))
        rows = backend.empty((len(queries), k), np.int64)
        last = backend.empty((len(queries),), np.float32)
        inside = backend.vector(np.arange(_GROUP), np.int64)
        per_query = groups.shape[1] * _GROUP * queries.shape[1]
        step = max(_MEMBER_ENTRIES // per_query, 1)
        for start in range(0, len(queries), step):
            some = slice(start, start + step)
            members = (groups[some, :, None] * _GROUP + inside).reshape(len(groups[some]), -1)
            gaps = self._compact[members]
            gaps -= queries[some, None, :]
            gaps *= gaps
            squares = gaps.sum(2) + self._nowhere[members]
            found, places = backend.smallest(squares, k)
            own = backend.vector(np.arange(len(members)), np.int64)[:, None]
            rows[some], last[some] = members[own, places], found[:, -1]
        return rows, last


def _order_ties(indices: IndexMatrix, distances: FloatMatrix) -> None:
    """Put equal distances, whose squares were not equal, in the order of rows, in place."""
    is_wrong = (distances[:, 1:] == distances[:, :-1]) & (indices[:, 1:] < indices[:, :-1])
    lists = np.flatnonzero(is_wrong.any(axis=1))
    order = np.lexsort((indices[lists], distances[lists]), axis=1)
    indices[lists] = np.take_along_axis(indices[lists], order, axis=1)
    distances[lists] = np.take_along_axis(distances[lists], order, axis=1)
