"""How alike rows are, seen by the lowest eigenvectors at the scale of the groups we can afford.

A graph, its basis and the labelled rows enter; what leaves is a table of likeness between the rows
we might ask about and a sample of the rows they would speak for. Its size does not grow with n.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector
from beltrami.graph.model import Graph
from beltrami.solvers.model import Basis

FEWEST_GROUPS = 20
"""Groups the rows are seen in, at least: with fewer, the first batch cannot tell classes apart."""
_VECTORS_PER_GROUP = 3
_SAMPLE = 8000
POOL = 2000
"""Rows that are weighed as questions, unless more are to be chosen."""
_ENTRIES = _SAMPLE * POOL  # of the table of likeness
_ISLANDS = 2000
_TRIFLE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Islands:
    """The connected components of a graph, and which are too small to be looked into.

    Attributes
    ----------
    of_row : ndarray of shape (n,)
        Component of each row.
    sizes : ndarray of shape (c,)
        Rows of each.
    is_small : ndarray of shape (c,)
        Whether it has fewer rows than a mean group; it then counts as one group.
    """

    of_row: NDArray[np.int32]
    sizes: IndexVector
    is_small: BoolVector

    @classmethod
    def of(cls, graph: Graph, n_groups: int) -> "Islands":
        """Find them."""
        _, of_row = graph.components()
        sizes = np.bincount(of_row)
        return cls(of_row, sizes, sizes * n_groups < graph.n_nodes)


@dataclass(frozen=True, slots=True, eq=False)
class RowVectors:
    """Unit vectors of some rows: two rows are alike as the cosine of theirs says.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        The rows.
    vectors : ndarray of shape (m, q)
        Of length one; zero on small islands and where the basis sees nothing.
    islands : ndarray of shape (m,)
        Component of each.
    """

    rows: IndexVector
    vectors: FloatMatrix
    islands: IndexVector

    def part(self, rows: slice) -> "RowVectors":
        """Return some of the rows only."""
        return RowVectors(self.rows[rows], self.vectors[rows], self.islands[rows])

    def likeness(self, other: "RowVectors") -> FloatMatrix:
        """Return the table from these rows to the others, 0 to 1.

        Half of it is sharing a component, the other half the cosine where that is positive: the
        first label of an island is worth half its rows, whatever it looks like inside.
        """
        table = (0.5 * self.vectors) @ other.vectors.T
        unseen = ~other.vectors.any(axis=1)
        table[np.ix_(~self.vectors.any(axis=1), unseen)] = 0.5  # nothing tells them apart
        np.clip(table, 0.0, 0.5, out=table)
        table += 0.5
        if not self._is_one_island_with(other):
            table *= self.islands[:, None] == other.islands
        return np.asarray(table)

    def _is_one_island_with(self, other: "RowVectors") -> bool:
        both = np.concatenate([self.islands, other.islands])
        return not len(both) or bool((both == both[0]).all())


def row_vectors(rows: IndexVector, basis: Basis, islands: Islands, n_groups: int) -> RowVectors:
    r"""Return the vectors of some rows at the scale of `n_groups` groups.

    Eigenvector a is weighed by :math:`\sqrt{\lambda_q / (\lambda_a + \lambda_q)}`, q the number
    of groups, and rows are scaled to length one: as spectral clustering into q groups has it, with
    a soft end of the spectrum.
    """
    q = min(n_groups, len(basis.values))
    values = np.maximum(basis.values[: _VECTORS_PER_GROUP * q], 0.0)
    scale = max(float(values[q - 1]), _TRIFLE)
    vectors = basis.vectors[rows, : len(values)] * np.sqrt(scale / (values + scale))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    island = islands.of_row[rows]
    is_seen = lengths[:, 0] > _TRIFLE * float(lengths.max(initial=0.0))
    is_seen &= ~islands.is_small[island]
    np.divide(vectors, lengths, out=vectors, where=is_seen[:, None])
    vectors[~is_seen] = 0.0
    return RowVectors(rows, vectors.astype(np.float32), island)


def sampled_rows(
    islands: Islands,
    rng: np.random.Generator,
    n_pool: int = POOL,
    *,
    masses: FloatVector | None = None,
) -> tuple[IndexVector, FloatVector]:
    """Return rows that stand for all, and how many each stands for.

    Rows of the larger components are drawn at random, all of them where they are few; of the
    small ones, the 2000 largest, one row each stands for the whole.

    - `n_pool`: rows they will be compared with; at most 8000 are drawn, and fewer for a larger
      pool.
    - `masses`: (n,), how many rows each stands for already; None means itself.
    """
    n_rows = max(1, _ENTRIES // max(n_pool, POOL))
    large = np.flatnonzero(~islands.is_small[islands.of_row])
    rows = large if len(large) <= n_rows else np.sort(rng.choice(large, n_rows, replace=False))
    small = _largest_small(islands)
    first = np.unique(islands.of_row, return_index=True)[1][small]
    if masses is None:
        spread, sizes = np.full(len(rows), len(large) / max(len(rows), 1)), islands.sizes[small]
    else:
        spread = masses[rows] * (masses[large].sum() / max(masses[rows].sum(), 1.0))
        sizes = np.bincount(islands.of_row, masses)[small]
    return np.concatenate([rows, first]), np.concatenate([spread, sizes])


def pooled_rows(
    allowed: IndexVector,
    islands: Islands,
    degrees: FloatVector,
    rng: np.random.Generator,
    n_rows: int = POOL,
) -> IndexVector:
    """Return the rows that are weighed as questions, each once, the best connected first.

    These win where questions are equal. Of a small component the best connected row is taken.

    - `degrees`: (n,), of all rows.
    - `n_rows`: rows to draw; all that may be asked where they are no more.
    """
    if len(allowed) <= n_rows:
        return np.asarray(allowed[np.argsort(-degrees[allowed], kind="stable")])
    island = islands.of_row[allowed]
    order = np.lexsort((-degrees[allowed], island))
    first = order[np.unique(island[order], return_index=True)[1]]
    best = allowed[first[np.isin(island[first], _largest_small(islands))]]
    large = allowed[~islands.is_small[island]]
    drawn = rng.choice(large, min(n_rows, len(large)), replace=False)
    pool = np.union1d(best, drawn)
    if len(pool) < n_rows:
        rest = np.setdiff1d(allowed, pool)
        pool = np.union1d(pool, rng.choice(rest, n_rows - len(pool), replace=False))
    return np.asarray(pool[np.argsort(-degrees[pool], kind="stable")])


def _largest_small(islands: Islands) -> IndexVector:
    small = np.flatnonzero(islands.is_small)
    return np.asarray(small[np.argsort(-islands.sizes[small], kind="stable")][:_ISLANDS])
