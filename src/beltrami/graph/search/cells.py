"""Points divided into small cells around centres, and the search of the cells near a point.

A neighbour of a point lies in one of the few cells whose centres are nearest to the point. Cells
are made by a few rounds of k-means in which a point is compared with the centres near its own
cell only, so that dividing costs little more than reading the points; the search takes the
points of a cell together, as products of matrices.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.memory import require_memory
from beltrami.core.machine.threads import map_ranges, serial_blas
from beltrami.core.telling.progress import track
from beltrami.core.types import IndexMatrix, IndexVector
from beltrami.graph.search.brute import Compact, nearest_of_all

CELL_SIZE = 64
"""Points in a cell: enough for a product of matrices, few enough to look at no more than needed."""

_MOST = 4 * CELL_SIZE  # points of one cell; larger ones are divided
_ROUNDS = 2  # of k-means; a third saves a few per cent of the search
_TRAINING = 32  # points a cell from which its centre is found
_GROUP = 4  # cells whose points are searched for together
_NEAR = 64  # centres with which a round compares a point
_BLOCK = 512  # queries that are taken together
_CHUNK = 2**17  # queries between two reports of progress
_RANGE = 256  # cells whose points are read at once


@dataclass(frozen=True, slots=True, eq=False)
class Division:
    """Which cell each point lies in, (n,), and the centres of the cells, (c, d)."""

    owner: NDArray[np.int32]
    centers: Compact

    @classmethod
    def of(cls, points: Compact, rng: np.random.Generator) -> "Division":
        """Divide points by k-means of a part of them, from random points."""
        n = len(points)
        n_cells = max(1, n // CELL_SIZE)
        part = points[np.sort(rng.choice(n, min(n, n_cells * _TRAINING), replace=False))]
        seeds = np.unique(part[rng.choice(len(part), n_cells, replace=False)], axis=0)
        centers = seeds[rng.permutation(len(seeds))]
        with _serial_products(), track("dividing points", total=_ROUNDS + 2) as advance:
            owner = _first_owners(part, centers)
            for _ in range(_ROUNDS):
                centers = _means(part, owner)
                owner = _next_owners(part, _first_owners(part, centers), centers)
                advance(1)
            centers = _means(part, owner)
            owner = _first_owners(points, centers)
            advance(1)
            owner = _next_owners(points, owner, centers)
            advance(1)
        return cls(owner, centers)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Points in cells.

    Attributes
    ----------
    points : ndarray of shape (n, d), float32
        All points.
    owner : ndarray of shape (n,)
        The cell of each point.
    centers : ndarray of shape (c, d), float32
        In the midst of the cells.
    group : ndarray of shape (c,)
        Which group each cell belongs to: points of a group are searched for together.
    heads : ndarray of shape (g, d), float32
        A centre for each group, in its midst.
    members, starts : ndarray of shape (m,), of shape (c + 1,)
        Cell j is searched for the rows ``members[starts[j] : starts[j + 1]]``: all of its own, but
        of a heap of identical ones the first few.
    offsets, half_lengths : ndarray of shape (m, d), of shape (m,), float32
        Members less their centres, and half their squared lengths.
    """

    points: Compact
    owner: NDArray[np.int32]
    centers: Compact
    group: NDArray[np.int32]
    heads: Compact
    members: NDArray[np.int32]
    starts: IndexVector
    offsets: Compact
    half_lengths: NDArray[np.float32]

    @classmethod
    def of(cls, points: Compact, division: Division, k: int) -> "Cells":
        """Arrange points by the cells of a division, to be searched for `k` neighbours."""
        require_memory(
            1.5 * points.nbytes,  # the points by cells, and before them half of all to divide
            what=f"the search by cells among {len(points)} points of {points.shape[1]} columns",
            instead="Give fewer columns, for example principal components; search='exact' does "
            "without this copy, and compares all pairs.",
            share=1.0,
        )
        owner, centers = division.owner, division.centers
        members, starts = _group(owner, len(centers))
        members, starts, parts = _split_large(points, members, starts, k)
        # A dropped copy goes where its cell begins; every other row goes where it is searched for.
        owner = np.searchsorted(parts, owner).astype(np.int32)
        owner[members] = np.repeat(np.arange(len(parts), dtype=np.int32), np.diff(starts))
        centers = centers[parts]
        heads = _heads(centers)
        offsets, halves = _offsets(points, members, starts, centers)
        group = _near(centers, heads, 1)[:, 0]
        return cls(points, owner, centers, group, heads, members, starts, offsets, halves)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.centers)

    def near(self, groups: IndexVector, width: int) -> NDArray[np.int32]:
        """Return the `width` cells nearest to the heads of groups."""
        return _near(self.heads[groups], self.centers, width)

    def candidates(
        self, rows: IndexVector, k: int, *, n_listed: int, n_searched: int
    ) -> Iterator[tuple[IndexVector, IndexMatrix]]:
        """Search for the `k` points nearest to own points; yield some rows and theirs, in turn.

        Each point ranks the `n_listed` cells nearest to its group and searches the first
        `n_searched` of them. Rows come group by group, within a group cell by cell; -1 stands where
        there are too few points.
        """
        order = np.lexsort((self.owner[rows], self.group[self.owner[rows]]))
        queries = rows[order]
        group = self.group[self.owner[queries]]
        yield from self._search(self.points, queries, group, k, n_listed, n_searched)

    def candidates_of(
        self, new: Compact, k: int, *, n_listed: int, n_searched: int
    ) -> Iterator[tuple[IndexVector, IndexMatrix]]:
        """Search for the `k` points nearest to other ones, as `candidates` does for own points.

        A new point belongs to the group whose head is nearest.
        """
        group = _near(new, self.heads, 1)[:, 0]
        queries = np.argsort(group, kind="stable")
        yield from self._search(new, queries, group[queries], k, n_listed, n_searched)

    def _search(
        self,
        points: Compact,
        rows: IndexVector,
        group: NDArray[np.int32],
        k: int,
        n_listed: int,
        n_searched: int,
    ) -> Iterator[tuple[IndexVector, IndexMatrix]]:
        """Search for rows of some points, which come by groups, ascending; yield them in turn."""
        from beltrami.graph.search import _loops

        queries = rows.astype(np.int32, copy=False)  # as all that reaches the loops
        present, starts = np.unique(group, return_index=True)
        bounds, owners = _blocks(np.append(starts, len(rows)), _BLOCK)
        lists = np.arange(len(present) + 1) * n_listed
        near = self.near(present, n_listed)
        step = max(1, len(owners) * _CHUNK // max(len(rows), 1))
        for first in range(0, len(owners), step):
            here = slice(first, first + step)
            edges = bounds[first : first + step + 1]
            with _serial_products():
                ranked = _loops.rank_centers(
                    points, queries, edges, owners[here], self.centers, near.ravel(), lists,
                    n_searched,
                )  # fmt: skip
                found = _loops.search_cells(
                    points, queries, edges, owners[here], near, ranked, self.members,
                    self.starts, self.offsets, self.half_lengths, self.centers, k,
                )  # fmt: skip
            yield queries[edges[0] : edges[-1]], found


@contextmanager
def _serial_products() -> Iterator[None]:
    """Hold BLAS to one thread: the compiled loops bring their own."""
    # The library that they call must be loaded to be held.
    import scipy.linalg.cython_blas  # noqa: F401

    with serial_blas():
        yield


def _first_owners(points: Compact, centers: Compact) -> NDArray[np.int32]:
    """Return the nearest centre of each point, among those that share its nearest of a few."""
    few = centers[:: max(1, int(np.sqrt(len(centers))))]
    near, lists = _group(_near(centers, few, 1)[:, 0], len(few))
    rows, starts = _group(_near(points, few, 1)[:, 0], len(few))
    return _nearest(points, rows, *_blocks(starts, _BLOCK), centers, near, lists)


def _next_owners(points: Compact, owner: NDArray[np.int32], centers: Compact) -> NDArray[np.int32]:
    """Return the nearest centre of each point, among those near its present one."""
    rows, starts = _group(owner, len(centers))
    width = min(_NEAR, len(centers))
    near = _near(centers, centers, width)
    lists = np.arange(len(centers) + 1) * width
    return _nearest(points, rows, *_blocks(starts, _BLOCK), centers, near.ravel(), lists)


def _heads(centers: Compact) -> Compact:
    """Return centres for groups of cells: k-means of the cells' centres, which are in no order."""
    heads = centers[::_GROUP]
    for _ in range(_ROUNDS):
        heads = _means(centers, _near(centers, heads, 1)[:, 0])
    return heads


def _nearest(
    points: Compact,
    rows: NDArray[np.int32],
    bounds: IndexVector,
    owners: IndexVector,
    centers: Compact,
    near: NDArray[np.int32],
    lists: IndexVector,
) -> NDArray[np.int32]:
    """Return the nearest centre of each point among those that its block lists."""
    from beltrami.graph.search import _loops

    places = _loops.rank_centers(points, rows, bounds, owners, centers, near, lists, 1)[:, 0]
    block = np.repeat(owners, np.diff(bounds))
    nearest = np.empty(len(points), dtype=np.int32)
    nearest[rows] = near[lists[block] + places]
    return nearest


def _near(queries: Compact, base: Compact, k: int) -> NDArray[np.int32]:
    return nearest_of_all(queries, base, k)[1].astype(np.int32)


def _group(owner: NDArray[np.int32], count: int) -> tuple[NDArray[np.int32], IndexVector]:
    """Return row numbers by owner, in order within each, and where each owner's begin."""
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=count), out=starts[1:])
    return np.argsort(owner, kind="stable").astype(np.int32), starts


def _means(points: Compact, owner: NDArray[np.int32]) -> Compact:
    """Return the means of the cells that are not empty."""
    rows, starts = _group(owner, int(owner.max()) + 1)
    starts = np.append(starts[:-1][np.diff(starts) > 0], len(rows))

    def means(begin: int, stop: int) -> Compact:
        first, last = starts[begin], starts[stop]
        sums: Compact = np.add.reduceat(points[rows[first:last]], starts[begin:stop] - first)
        sums /= np.diff(starts[begin : stop + 1])[:, None]
        return sums

    return np.concatenate(map_ranges(means, len(starts) - 1, _RANGE))


def _offsets(
    points: Compact, members: NDArray[np.int32], starts: IndexVector, centers: Compact
) -> tuple[Compact, NDArray[np.float32]]:
    """Return points less the centres of their cells, and half their squared lengths."""
    offsets = np.empty((len(members), points.shape[1]), dtype=np.float32)
    halves = np.empty(len(members), dtype=np.float32)

    def fill(begin: int, stop: int) -> None:
        here, sizes = slice(starts[begin], starts[stop]), np.diff(starts[begin : stop + 1])
        own = offsets[here]
        np.subtract(points[members[here]], np.repeat(centers[begin:stop], sizes, axis=0), out=own)
        halves[here] = np.einsum("ij,ij->i", own, own) / 2

    map_ranges(fill, len(starts) - 1, _RANGE)
    return offsets, halves


def _blocks(starts: IndexVector, most: int) -> tuple[IndexVector, IndexVector]:
    """Cut cells into equal blocks of at most `most` rows; return their bounds and their cells."""
    sizes = np.diff(starts)
    pieces = np.maximum(1, -(-sizes // most))
    owners = np.repeat(np.arange(len(sizes)), pieces)
    which = np.arange(len(owners)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    bounds = starts[:-1][owners] + which * sizes[owners] // pieces[owners]
    return np.append(bounds, starts[-1]), owners


def _split_large(
    points: Compact, members: NDArray[np.int32], starts: IndexVector, k: int
) -> tuple[NDArray[np.int32], IndexVector, IndexVector]:
    """Leave the first `k` of identical points in large cells, and cut what is still large.

    Returns rows by cell, where each cell begins, and of which former cell it is a part.
    """
    kept = np.ones(len(members), dtype=np.bool_)
    for cell in np.flatnonzero(np.diff(starts) > _MOST):
        here = slice(starts[cell], starts[cell + 1])
        kept[here] = _copies_before(points[members[here]]) < k
    searched = np.concatenate([[0], np.cumsum(kept)])[starts]
    return members[kept], *_blocks(searched, _MOST)


def _copies_before(points: Compact) -> IndexVector:
    """Return, for each row, how many earlier rows are identical."""
    _, kind = np.unique(points + np.float32(0), axis=0, return_inverse=True)  # -0 is 0
    order = np.argsort(kind, kind="stable")
    counts = np.bincount(kind)
    before = np.empty(len(points), dtype=np.int64)
    before[order] = np.arange(len(points)) - np.repeat(np.cumsum(counts) - counts, counts)
    return before
