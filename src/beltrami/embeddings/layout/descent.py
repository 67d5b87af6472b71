r"""The descent of a map of a graph, from a start to its last positions.

The map is that of a reader who must tell the edges of the graph from random pairs by their
distance d on the map, and calls a pair an edge with the odds :math:`1 : c (1 + d^2)`. Positions
maximise the logarithm of the likelihood of one edge and M random pairs per node,

.. math:: \sum_i \Big( \sum_j a_{ij} \log \frac{1}{1 + c (1 + d_{ij}^2)}
          + M \, \mathrm{mean}_k \log \frac{c (1 + d_{ik}^2)}{1 + c (1 + d_{ik}^2)} \Big),

with :math:`\sum_j a_{ij} = 1`. With a large c and few random pairs it is near UMAP, with a small c
and many near t-SNE. The descent goes from the first, which orders groups well, to the second, which
opens them up.
"""

from dataclasses import dataclass

import numpy as np

from beltrami.core.telling.progress import track
from beltrami.core.types import CsrMatrix, FloatMatrix, IndexMatrix, IndexVector
from beltrami.embeddings.layout import _loops

_FIRST_ODDS, _LAST_ODDS = 1.0, 0.1  # c
_FIRST_PAIRS, _LAST_PAIRS = 0.5, 20.0  # M
_OPENED = 0.6  # share of the epochs after which c and M stay
_DRAWS, _FEW_DRAWS = 256, 64  # random pairs per node in an epoch of `descend`, of `refine`
_MOMENTUM = 0.8
_LONGEST_STEP = 4.0  # in units of 1 / sqrt(c), the reach of an edge
_CALM = 0.3  # first step of `refine`, where `descend` has one


@dataclass(frozen=True, slots=True, eq=False)
class Forces:
    """What acts on the points of a map, whose rows lie component by component.

    Attributes
    ----------
    attraction : csr_array of shape (n, n)
        How strongly each node is drawn to its neighbours, float32; rows sum to one.
    blocks : ndarray of shape (b, 4)
        Runs of rows: first, last, and the first row and size of their component.
    """

    attraction: CsrMatrix
    blocks: IndexMatrix

    @classmethod
    def of(cls, attraction: CsrMatrix, sizes: IndexVector) -> "Forces":
        """Cut components, whose sizes are given in the order of the rows, into blocks."""
        firsts = np.cumsum(sizes) - sizes
        counts = -(-sizes // _loops.BLOCK)
        first, size = np.repeat(firsts, counts), np.repeat(sizes, counts)
        rank = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        start = first + _loops.BLOCK * rank
        stop = np.minimum(start + _loops.BLOCK, first + size)
        return cls(attraction, np.column_stack([start, stop, first, size]).astype(np.int64))


def descend(forces: Forces, start: FloatMatrix, *, n_epochs: int, seed: int) -> FloatMatrix:
    """Return the map that the forces make of a start whose edges have a length of order one.

    Every epoch moves all points at once, from the positions of the epoch before, with momentum, a
    step that decays to zero and a bound on its length.
    """
    positions = np.ascontiguousarray(start, dtype=np.float32)
    speed = np.zeros_like(positions)
    before = _FIRST_ODDS
    with track("drawing the map", total=n_epochs) as advance:
        for epoch in range(n_epochs):
            share = min(1.0, epoch / (_OPENED * n_epochs))
            c = _FIRST_ODDS ** (1 - share) * _LAST_ODDS**share
            pairs = _FIRST_PAIRS ** (1 - share) * _LAST_PAIRS**share
            positions *= np.float32(np.sqrt(before / c))  # the reach of an edge grows
            force = _force(forces, positions, c, pairs, draw=(seed, epoch, _DRAWS))
            speed *= np.float32(_MOMENTUM)
            speed += np.float32((1 + c) / c * (1 - epoch / n_epochs)) * force
            positions += _shorten(speed, _LONGEST_STEP / np.sqrt(c))
            before = c
            advance(1)
    return positions


def refine(forces: Forces, positions: FloatMatrix, *, n_epochs: int, seed: int) -> FloatMatrix:
    """Return a map on the scale of `descend` after a few calm epochs of the last forces."""
    positions = np.array(positions, dtype=np.float32, order="C")
    c = _LAST_ODDS
    with track("fitting in the rest", total=n_epochs) as advance:
        for epoch in range(n_epochs):
            force = _force(forces, positions, c, _LAST_PAIRS, draw=(seed, epoch, _FEW_DRAWS))
            force *= np.float32(_CALM * (1 + c) / c * (1 - epoch / n_epochs))
            positions += _shorten(force, 1 / np.sqrt(c))
            advance(1)
    return positions


def _force(
    forces: Forces, positions: FloatMatrix, c: float, pairs: float, *, draw: tuple[int, int, int]
) -> FloatMatrix:
    edges = forces.attraction
    force: FloatMatrix = _loops.pushes(positions, forces.blocks, *draw, c)
    force *= np.float32(pairs)
    force += _loops.pulls(positions, edges.indptr, edges.indices, edges.data, c)
    return force


def _shorten(steps: FloatMatrix, longest: float) -> FloatMatrix:
    """Shorten, in place, the steps that are longer than `longest`."""
    lengths = np.sqrt(np.einsum("ij,ij->i", steps, steps))
    steps *= np.minimum(1, np.float32(longest) / np.maximum(lengths, np.float32(1e-9)))[:, None]
    return steps
