"""Dense points under the Euclidean distance: trees in few dimensions, faiss or cells in many.

Products run in float32 on centred data, where they are fastest; the distances that leave are
recomputed in float64 for a few more candidates than asked. A row whose k-th neighbour is not
clearly nearer than the last candidate, within the rounding of the search, is searched again in
full float64, so the lists are those of the true distances, with ties by row number.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.backend import PROCESSOR, Backend
from beltrami.core.machine.device import on_device
from beltrami.core.machine.memory import require_memory
from beltrami.core.machine.threads import map_ranges, threads_in_force
from beltrami.core.telling.progress import track
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexMatrix, IndexVector
from beltrami.graph.model import Neighbors
from beltrami.graph.search.approximate import (
    Plan,
    is_surely_good,
    plan_search,
    warn_when_poor,
    worth_it,
)
from beltrami.graph.search.brute import nearest_of_all
from beltrami.graph.search.cells import Cells, Division
from beltrami.graph.search.distances import (
    QUERY_BLOCK,
    dense_queries,
    pair_distances,
    pairs_within,
    without_self,
)
from beltrami.graph.search.grouped import GroupedSearch, Lists, search_backend

TREE_DIMENSIONS = 8
"""Up to here a k-d tree beats brute force; above, its boxes overlap too much."""

EXACT_ROWS = 20_000
"""Points from which a search by cells is tried first: below, brute force takes a second at most."""

_SLACK = 2  # candidates beyond k, against swapped near ties in float32
_WIDER = 16  # times as many candidates where a tree finds a tie
_SAMPLE = 1000  # points on which the recall of an approximate search is measured
_FAR_POINT = "a new point is farther from the others than 1e154"
_PLANNING = 500  # other points, by which it is planned how many cells to search


@dataclass(frozen=True, eq=False)
class EuclideanSpace:
    """Dense points under the Euclidean distance.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        In the user's units.
    compact : ndarray of shape (n, d), float32
        Centred and scaled to unit spread, for the search.
    mean : ndarray of shape (d,)
        What was subtracted.
    scale : float
        What it was divided by.
    """

    points: FloatMatrix
    compact: NDArray[np.float32]
    mean: FloatVector
    scale: float

    @classmethod
    def of(cls, points: FloatMatrix) -> "EuclideanSpace":
        """Centre and scale a copy of the points for the search."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean = points.mean(axis=0, dtype=np.float64)
            above, below = points.max(axis=0) - mean, mean - points.min(axis=0)
            spread = float(max(np.max(above), np.max(below)))
        if not np.isfinite(spread * spread):
            raise _too_far(f"the columns of X spread over {spread:.3g}")
        # Unit spread keeps float32 squares away from overflow and underflow, whatever the units.
        scale = spread if spread > 0 else 1.0
        require_memory(
            4.0 * points.size,
            what=f"the copy of {points.shape[0]} points of {points.shape[1]} columns to search in",
            instead="Give fewer columns, for example principal components.",
            share=1.0,
        )
        return cls(points, _compact(points, mean, scale), mean, scale)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.points.shape[0])

    @property
    def euclidean(self) -> "EuclideanSpace":
        """Dense points whose Euclidean distances order all pairs as this space does."""
        return self

    @cached_property
    def division(self) -> Division:
        """The points in cells, for the search and for bridges between far parts of the graph."""
        # The seed says where cells lie; what is found in them is measured.
        return Division.of(self.compact, np.random.default_rng(0))

    def nearest(self, queries: Any, k: int) -> tuple[IndexMatrix, FloatMatrix]:
        """Return rows and distances of the `k` points nearest to each query."""
        points = dense_queries(queries, self.points.shape[1])
        compact = _compact(points, self.mean, self.scale)
        indices, distances = self._search(points, compact, self.points, self.compact, k)
        if not np.isfinite(distances).all():
            raise _too_far(_FAR_POINT)
        return indices, distances

    def nearest_in_cells(
        self, queries: Any, k: int, cells: Cells, plan: Plan
    ) -> tuple[IndexMatrix, FloatMatrix]:
        """Return what `nearest` does, as far as a plan finds it in the cells of the points."""
        points = dense_queries(queries, self.points.shape[1])
        compact = _compact(points, self.mean, self.scale)
        indices = np.empty((len(points), k), dtype=np.int32)
        distances = np.empty((len(points), k))
        for block, candidates in cells.candidates_of(
            compact, k + _SLACK, n_listed=plan.n_listed, n_searched=plan.n_searched
        ):
            own = points[block]
            near, lengths = _rerank(own, self.points, candidates, k)
            self._scan_again(~np.isfinite(lengths[:, -1]), own, self.points, near, lengths)
            indices[block], distances[block] = near, lengths
        if not np.isfinite(distances).all():
            raise _too_far(_FAR_POINT)
        return indices, distances

    def nearest_between(
        self, rows: IndexVector, base: IndexVector, k: int
    ) -> tuple[IndexMatrix, FloatMatrix]:
        """Return, for own points `rows`, the `k` nearest among own points `base`."""
        indices, distances = self._search(
            self.points[rows], self.compact[rows], self.points[base], self.compact[base], k
        )
        return base[indices], distances

    def distances(self, rows: IndexVector, columns: IndexVector) -> FloatVector:
        """Return the distances of pairs of own points."""
        return pair_distances(self.points, self.points, rows, columns)

    def neighbors(self, k: int, *, search: str, rng: np.random.Generator) -> Neighbors:
        """Return the `k` nearest other points of each point."""
        n, d = self.points.shape
        is_large = n >= EXACT_ROWS and d > TREE_DIMENSIONS
        is_large = is_large and search_backend(n, n, d) is PROCESSOR  # a device looks at all
        if search == "approximate" or (search == "auto" and is_large):
            return self._approximate_neighbors(k, search=search, rng=rng)
        return self._exact_neighbors(k)

    def within(
        self, radius: float, queries: Any = None
    ) -> tuple[IndexVector, IndexVector, FloatVector]:
        """Return all pairs of a query, or another own point, and a point within `radius`."""
        points, centred = self.points, None
        if queries is not None:
            points = dense_queries(queries, self.points.shape[1])
            centred = points - self.mean
        rows, columns = pairs_within(self.points - self.mean, centred, radius)
        distances = pair_distances(points, self.points, rows, columns)
        keep = distances <= radius
        return rows[keep], columns[keep], distances[keep]

    def _approximate_neighbors(self, k: int, *, search: str, rng: np.random.Generator) -> Neighbors:
        """Search by cells; exactly where that is faster, or too much would be missed."""
        drawn = rng.permutation(self.n_points)[: _SAMPLE + _PLANNING]
        sample = np.sort(drawn[:_SAMPLE])
        planning = np.sort(drawn[_SAMPLE:] if len(drawn) > _SAMPLE else drawn)
        cells = Cells.of(self.compact, self.division, k + 1)
        plan = plan_search(cells, planning, self._true_neighbors(planning, k)[0])
        if search == "auto" and not worth_it(plan, cells):
            return self._exact_neighbors(k)
        plan = plan or Plan(cells.n_cells, cells.n_cells)
        # A neighbour counts as found when it is as near as the true last: ties are no misses.
        last = self._true_neighbors(sample, k)[1][:, -1:]
        is_good = is_surely_good(self._by_cells(cells, plan, sample, k)[1] <= last)
        while not is_good and plan.n_searched < cells.n_cells:
            plan = plan.harder(cells)
            is_good = is_surely_good(self._by_cells(cells, plan, sample, k)[1] <= last)
        if search == "auto" and not is_good:
            return self._exact_neighbors(k)
        indices, distances = self._by_cells(cells, plan, np.arange(self.n_points), k)
        recall = warn_when_poor(distances[sample] <= last)
        return Neighbors(indices, distances, recall=recall, n_sampled=len(sample))

    def _by_cells(
        self, cells: Cells, plan: Plan, rows: IndexVector, k: int
    ) -> tuple[IndexMatrix, FloatMatrix]:
        """Return the `k` nearest other points of the own points `rows`, which are sorted."""
        indices = np.empty((len(rows), k), dtype=np.int32)
        distances = np.empty((len(rows), k))
        is_all = len(rows) == self.n_points
        step = "searching neighbours (approximate)" if is_all else "trying a search on a sample"
        with track(step, total=len(rows)) as advance:
            for block, candidates in cells.candidates(
                rows, k + 1, n_listed=plan.n_listed, n_searched=plan.n_searched
            ):
                queries = self.points[block]
                near, lengths = _rerank(queries, self.points, candidates, k + 1)
                self._scan_again(~np.isfinite(lengths[:, -1]), queries, self.points, near, lengths)
                places = np.searchsorted(rows, block)
                _write_lists(near, lengths, block, places, indices, distances)
                advance(len(block))
        return indices, distances

    def _exact_neighbors(self, k: int) -> Neighbors:
        lists = self._search(self.points, self.compact, self.points, self.compact, k + 1)
        return Neighbors(*without_self(*lists, k))

    def _true_neighbors(self, rows: IndexVector, k: int) -> tuple[IndexMatrix, FloatMatrix]:
        """Return the `k` nearest other points of some own points, by looking at all."""
        lists = self._search(
            self.points[rows], self.compact[rows], self.points, self.compact, k + 1
        )
        return without_self(*lists, k, own=rows)

    def _search(
        self,
        queries: FloatMatrix,
        compact_queries: NDArray[np.float32],
        base: FloatMatrix,
        compact_base: NDArray[np.float32],
        k: int,
    ) -> tuple[IndexMatrix, FloatMatrix]:
        n_candidates = min(k + _SLACK, base.shape[0])
        if base.shape[1] <= TREE_DIMENSIONS:
            return self._search_tree(queries, base, k, n_candidates)
        work = partial(_exact_lists, queries, compact_queries, base, compact_base, k, n_candidates)
        backend = search_backend(len(queries), *base.shape)
        indices, distances, last = on_device(backend, work, step="searching neighbours")
        if n_candidates < base.shape[0]:
            # In units of the compact points, with |y| <= |x| + |x - y| for what could be missed.
            reach = distances[:, -1] / self.scale
            with np.errstate(over="ignore", invalid="ignore"):  # a new point may be very far
                lengths = np.linalg.norm(compact_queries, axis=1).astype(np.float64)
                rounding = _rounding(base.shape[1]) * (2 * lengths + reach) ** 2
                is_doubtful = reach**2 >= last - rounding
            self._scan_again(is_doubtful, queries, base, indices, distances)
        return indices, distances

    def _search_tree(
        self, queries: FloatMatrix, base: FloatMatrix, k: int, n_candidates: int
    ) -> tuple[IndexMatrix, FloatMatrix]:
        from scipy.spatial import KDTree

        # Splitting at midpoints, not medians, keeps the tree shallow over many equal coordinates.
        tree = KDTree(base, balanced_tree=False)
        candidates, last = _tree_candidates(tree, queries, n_candidates)
        indices, distances = _rerank(queries, base, candidates, k)
        tied = np.flatnonzero(distances[:, -1] >= last * (1 - 1e-12))
        if n_candidates == base.shape[0] or not tied.size:
            return indices, distances
        wider = min(_WIDER * n_candidates, base.shape[0])
        candidates, last = _tree_candidates(tree, queries[tied], wider)
        indices[tied], distances[tied] = _rerank(queries[tied], base, candidates, k)
        if wider < base.shape[0]:
            still = np.zeros(len(queries), dtype=np.bool_)
            still[tied] = distances[tied, -1] >= last * (1 - 1e-12)
            self._scan_again(still, queries, base, indices, distances)
        return indices, distances

    @staticmethod
    def _scan_again(
        doubtful: BoolVector,
        queries: FloatMatrix,
        base: FloatMatrix,
        indices: IndexMatrix,
        distances: FloatMatrix,
    ) -> None:
        """Overwrite the lists of doubtful rows with those of a search in full precision."""
        from beltrami.graph import _loops

        rows, k = np.flatnonzero(doubtful), indices.shape[1]
        with track("settling near ties", total=len(rows)) as advance:
            for start in range(0, len(rows), QUERY_BLOCK):
                block = rows[start : start + QUERY_BLOCK]
                limits = distances[block, -1]
                indices[block], distances[block] = _loops.scan(queries[block], base, k, limits)
                advance(len(block))


def _too_far(what: str) -> InvalidInputError:
    return InvalidInputError(
        f"{what}, and squares of such distances are beyond what a computer can hold. Scale the "
        "columns first, for example with sklearn.preprocessing.StandardScaler."
    )


def _rounding(dimensions: int) -> float:
    """Bound, as a share of (|x| + |y|)^2, how far float32 products err in |x - y|^2."""
    # Sums of d products err by about sqrt(d) units in the last place; twice that, and a few more.
    return float(np.finfo(np.float32).eps * (4 + 2 * np.sqrt(dimensions)))


def _compact(points: FloatMatrix, mean: FloatVector, scale: float) -> NDArray[np.float32]:
    compact = np.empty(points.shape, dtype=np.float32)

    def fill(begin: int, stop: int) -> None:
        with np.errstate(over="ignore"):  # a new point may be very far
            compact[begin:stop] = (points[begin:stop] - mean) / scale

    map_ranges(fill, len(points), QUERY_BLOCK)
    return compact


def _write_lists(
    near: IndexMatrix,
    lengths: FloatMatrix,
    own: IndexVector,
    places: IndexVector,
    indices: IndexMatrix,
    distances: FloatMatrix,
) -> None:
    """Write lists of the points `own`, without the points themselves, to their places."""

    def write(begin: int, stop: int) -> None:
        here, there = slice(begin, stop), places[begin:stop]
        lists = without_self(near[here], lengths[here], indices.shape[1], own=own[here])
        indices[there], distances[there] = lists

    map_ranges(write, len(own), QUERY_BLOCK)


def _tree_candidates(tree: Any, queries: FloatMatrix, k: int) -> tuple[IndexMatrix, FloatVector]:
    """Return the `k` nearest by a tree, and the distance of the last."""
    candidates, last = [], []
    with track("searching neighbours", total=len(queries)) as advance:
        for start in range(0, len(queries), 8 * QUERY_BLOCK):
            block = queries[start : start + 8 * QUERY_BLOCK]
            distances, indices = tree.query(
                block, k=np.arange(1, k + 1), workers=threads_in_force()
            )
            # Where squares overflow the tree finds nothing, and names a row that does not exist.
            candidates.append(np.minimum(indices, tree.n - 1))
            last.append(distances[:, -1])
            advance(len(block))
    return np.concatenate(candidates).astype(np.int64, copy=False), np.concatenate(last)


def _exact_lists(
    queries: FloatMatrix,
    compact_queries: NDArray[np.float32],
    base: FloatMatrix,
    compact_base: NDArray[np.float32],
    k: int,
    n_candidates: int,
    backend: Backend,
) -> Lists:
    """Return the `k` nearest by true distances among the candidates of a search in float32.

    And the squared compact distance of the last candidate: how near others may be.
    """
    if backend is not PROCESSOR:
        points = GroupedSearch(base, compact_base, backend)
        with track("searching neighbours", total=len(queries)) as advance:
            return points.search(queries, compact_queries, k, n_candidates, advance)
    candidates, last = _flat_candidates(compact_queries, compact_base, n_candidates)
    return *_rerank(queries, base, candidates, k), last


def _flat_candidates(
    queries: NDArray[np.float32], base: NDArray[np.float32], k: int
) -> tuple[IndexMatrix, FloatVector]:
    """Return the `k` nearest by brute force, and the squared distance of the last."""
    candidates, last = [], []
    with track("searching neighbours", total=len(queries)) as advance:
        for start in range(0, len(queries), QUERY_BLOCK):
            block = queries[start : start + QUERY_BLOCK]
            squares, indices = nearest_of_all(block, base, k)
            candidates.append(indices)
            last.append(squares[:, -1].astype(np.float64))
            advance(len(block))
    return np.concatenate(candidates), np.concatenate(last)


def _rerank(
    queries: FloatMatrix, base: FloatMatrix, candidates: IndexMatrix, k: int
) -> tuple[IndexMatrix, FloatMatrix]:
    from beltrami.graph import _loops

    # One type of numbers reaches the loop, so that it is compiled once.
    numbers = candidates.astype(np.int32, copy=False)
    indices, distances = _loops.rerank(queries, base, numbers, k)
    return indices, distances
