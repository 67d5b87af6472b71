"""The way out of a part of many points: clumps, bounds between them, and the nearest of their rows.

A clump is what a small cell of the data holds of one part. The distance of two clumps is at least
that of their centres less their radii, so that the pairs of clumps with the lowest bounds are
looked at first, and no others once the bounds exceed what was found.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.threads import map_ranges
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.graph.search.cells import CELL_SIZE
from beltrami.graph.search.distances import pair_distances
from beltrami.graph.search.euclidean import EuclideanSpace

_LISTED = 32  # pairs of clumps that a clump proposes
_COMPARED = 2**26  # pairs of rows that a round compares: some seconds
_STRANDS = 64  # of all parts together that are followed at once, at least
_SMALL = 4 * CELL_SIZE  # a part up to this size is a clump
_ENTRIES = 2**21  # of a block of bounds


class Way(NamedTuple):
    """An edge out of a part: its length, its ends, and whether no shorter one is possible."""

    length: float
    inside: int
    outside: int
    is_sure: bool


@dataclass(frozen=True, slots=True, eq=False)
class Clumps:
    """Points in clumps, each of one part.

    Attributes
    ----------
    space : EuclideanSpace
        The points.
    rows, starts : ndarray of shape (n,), of shape (m + 1,)
        Clump v holds ``rows[starts[v] : starts[v + 1]]``.
    centers, radii : ndarray of shape (m, d), of shape (m,)
        Of balls that hold the clumps.
    """

    space: EuclideanSpace
    rows: IndexVector
    starts: IndexVector
    centers: FloatMatrix
    radii: FloatVector

    @classmethod
    def of(cls, space: EuclideanSpace, parts: IndexVector) -> "Clumps":
        """Divide large parts into small cells, and the cells by the parts of their points."""
        owner = np.zeros(len(parts), dtype=np.int64)
        large = np.flatnonzero(np.bincount(parts)[parts] > _SMALL)
        if large.size:
            owner[large] = space.division.owner[large]
        keys = owner * (int(parts.max()) + 1) + parts
        rows = np.argsort(keys, kind="stable")
        _, starts, sizes = np.unique(keys[rows], return_index=True, return_counts=True)
        centers = _means(space.points, rows, np.append(starts, len(rows)))
        clump = np.repeat(np.arange(len(starts)), sizes)
        away = pair_distances(space.points, centers, rows, clump)
        radii = np.maximum.reduceat(away, starts) * (1 + 1e-9)
        return cls(space, rows, np.append(starts, len(rows)), centers, radii)

    def ways_out(self, parts: IndexVector) -> list[Way]:
        """Return the shortest way out of every part but the largest, as far as bounds can show."""
        from beltrami.graph import _loops

        part = parts[self.rows[self.starts[:-1]]]
        searching = np.flatnonzero(part != np.argmax(np.bincount(parts)))
        rights, bounds, unlisted = self._proposals(searching, part)
        lefts = np.repeat(searching, rights.shape[1])
        order = np.lexsort((bounds.ravel(), part[lefts]))
        names, firsts, counts = np.unique(part[lefts[order]], return_index=True, return_counts=True)
        limits = np.full(int(part.max()) + 1, np.inf)
        np.minimum.at(limits, part[searching], unlisted)
        # A part looks along several strands of its list at once, so that no thread is without work.
        n_strands = -(-_STRANDS // len(names))
        strand = (np.arange(len(order)) - np.repeat(firsts, counts)) % n_strands
        party = np.repeat(np.arange(len(names)), counts) * n_strands + strand
        order = order[np.argsort(party, kind="stable")]
        ends = np.cumsum(np.bincount(party, minlength=len(names) * n_strands))
        lengths, pairs, unseen = _loops.closest_pairs(
            self.space.points, self.rows, self.starts, self.centers, self.radii, lefts[order],
            rights.ravel()[order], bounds.ravel()[order], np.append(0, ends),
            np.repeat(limits[names], n_strands), _COMPARED // len(ends),
        )  # fmt: skip
        lengths, unseen = (each.reshape(-1, n_strands) for each in (lengths, unseen))
        best = lengths.argmin(axis=1) + np.arange(len(names)) * n_strands
        return [
            Way(float(length), int(i), int(j), bool(length <= least))
            for length, (i, j), least in zip(
                lengths.min(axis=1), pairs[best], unseen.min(axis=1), strict=True
            )
        ]

    def _proposals(
        self, searching: IndexVector, part: IndexVector
    ) -> tuple[IndexVector, FloatMatrix, FloatVector]:
        """Return, for each searching clump, those of other parts with the lowest bounds.

        And the bounds, infinite where the part is the same, and the least of what is not listed.
        """
        centers = self.centers - self.space.mean
        squares = np.einsum("ij,ij->i", centers, centers)
        rounding = 1e-7 * float(np.sqrt(squares.max()))  # of the products, as a length
        width = min(_LISTED, len(part))
        rights = np.empty((len(searching), width), dtype=np.int64)
        bounds = np.empty((len(searching), width))
        unlisted = np.full(len(searching), np.inf)

        def propose(begin: int, stop: int) -> None:
            here, block = slice(begin, stop), searching[begin:stop]
            lower: NDArray[np.float64] = centers[block] @ centers.T
            lower *= -2
            lower += squares[block][:, None]
            lower += squares
            np.sqrt(np.maximum(lower, 0, out=lower), out=lower)
            lower -= self.radii[block][:, None] + rounding
            lower -= self.radii
            lower[part[block][:, None] == part] = np.inf
            if width < len(part):
                order = np.argpartition(lower, width, axis=1)
                unlisted[here] = np.take_along_axis(lower, order[:, width : width + 1], 1)[:, 0]
                rights[here] = order[:, :width]
            else:
                rights[here] = np.arange(width)
            bounds[here] = np.take_along_axis(lower, rights[here], 1)

        map_ranges(propose, len(searching), max(1, _ENTRIES // len(part)))
        return rights, bounds, unlisted


def _means(points: FloatMatrix, rows: IndexVector, starts: IndexVector) -> FloatMatrix:
    """Return the means of points that stand together, in float64."""

    def means(begin: int, stop: int) -> FloatMatrix:
        first, last = starts[begin], starts[stop]
        own = points[rows[first:last]]
        sums = np.add.reduceat(own, starts[begin:stop] - first, axis=0, dtype=np.float64)
        return sums / np.diff(starts[begin : stop + 1])[:, None]

    return np.concatenate(map_ranges(means, len(starts) - 1, CELL_SIZE))
