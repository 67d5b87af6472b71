"""Large graphs: a random part is laid out first, and the rest is set between its neighbours."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from beltrami.core.types import CsrMatrix, FloatMatrix, IndexVector

SAMPLE = 60_000
_SMALL = 10  # components up to this size are kept whole
_JITTER = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A random part of the nodes, the cells around them, and the graph of the cells.

    Attributes
    ----------
    rows : ndarray of shape (k,)
        The nodes drawn, ascending.
    cells : ndarray of shape (n,)
        Which of them each node of the graph belongs to, 0 to k - 1.
    weights : csr_array of shape (k, k)
        Sums of the weights between two cells; symmetric, empty diagonal.
    """

    rows: IndexVector
    cells: IndexVector
    weights: CsrMatrix


def draw_part(weights: CsrMatrix, membership: IndexVector, rng: np.random.Generator) -> Part:
    """Draw nodes at random and contract the graph to them.

    Cells grow from the drawn nodes step by step, each node joining the cell of its heaviest
    neighbour that has one. A cell is connected, so the graph of the cells has the components of
    the graph, which `membership` numbers.
    """
    n = weights.shape[0]
    sizes = np.bincount(membership)
    order = rng.permutation(n)
    order = order[np.argsort(membership[order], kind="stable")]
    rank = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    quotas = np.maximum(np.ceil(SAMPLE / n * sizes), np.minimum(sizes, _SMALL))
    rows = np.sort(order[rank < quotas[membership[order]]])
    cells = _grow_cells(weights, rows)
    member: CsrMatrix = csr_array((np.ones(n), cells, np.arange(n + 1)), shape=(n, len(rows)))
    half: CsrMatrix = csr_array(weights @ member)
    joined: CsrMatrix = csr_array(member.T @ half)
    joined.setdiag(0.0)
    joined.eliminate_zeros()
    return Part(rows, cells, csr_array((joined + joined.T) / 2))


def fill_in(
    weights: CsrMatrix, part: Part, cell_positions: FloatMatrix, rng: np.random.Generator
) -> FloatMatrix:
    """Set every node between its own cell and those of its neighbours, with a little noise.

    Its position is half that of its cell and half the weighted mean of those of its neighbours.
    """
    inside = cell_positions[part.cells]
    degrees = np.maximum(weights.sum(axis=1), np.finfo(float).tiny)
    around = np.asarray(diags_array(1 / degrees) @ (weights @ inside))
    around[np.diff(weights.indptr) == 0] = inside[np.diff(weights.indptr) == 0]
    return np.asarray((inside + around) / 2 + _JITTER * rng.standard_normal(inside.shape))


def _grow_cells(weights: CsrMatrix, rows: IndexVector) -> IndexVector:
    """Return the cell of each node, grown from those rows; all of them are reached."""
    cells = np.full(weights.shape[0], -1, dtype=np.int64)
    cells[rows] = np.arange(len(rows))
    waiting = np.flatnonzero(cells < 0)
    edges: CsrMatrix = csr_array(weights[waiting])
    while waiting.size:
        pull = np.where(cells[edges.indices] >= 0, edges.data, 0.0)
        best = np.maximum.reduceat(pull, edges.indptr[:-1])
        of = np.repeat(np.arange(len(waiting)), np.diff(edges.indptr))
        heaviest = np.flatnonzero((pull == best[of]) & (pull > 0))
        reached, first = np.unique(of[heaviest], return_index=True)
        cells[waiting[reached]] = cells[edges.indices[heaviest[first]]]
        left = np.flatnonzero(best == 0)
        waiting, edges = waiting[left], csr_array(edges[left])
    return cells
