"""The pencil L f = lambda M f of a graph, its pieces, and the ladder of ever coarser ones.

A graph's weights and the masses of its nodes enter. Nodes that share a strong edge are put together
two by two, again and again; the Galerkin pencil of their indicators is the pencil of a smaller
graph, whose lowest eigenvectors, carried back, are where the solver begins.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, triu
from scipy.sparse.csgraph import connected_components

from beltrami.core.machine.backend import SplitMatrix
from beltrami.core.machine.threads import map_ranges
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector
from beltrami.solvers.eigen.problem import EigenProblem
from beltrami.solvers.nullspace import NullSpace

_LIGHT = 8 * float(np.finfo(np.float32).eps)  # of a node's degree: lost in float32 products
_STALLED = 0.9  # of the nodes left by a step of pairing: it no longer pays
_RANGE = 65536  # nodes contracted or arranged at once


@dataclass(frozen=True, slots=True, eq=False)
class Pencil:
    """Find f with L f = lambda M f; M^{1/2} f are the vectors of a symmetric problem.

    Attributes
    ----------
    weights : csr_array of shape (n, n)
        W: symmetric, float64, empty diagonal.
    mass : ndarray of shape (n,)
        The diagonal of M, positive.
    """

    weights: CsrMatrix
    mass: FloatVector

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.mass.size)

    @property
    def degrees(self) -> FloatVector:
        """Weighted degrees."""
        return np.asarray(self.weights.sum(axis=1), dtype=np.float64).ravel()

    def null(self) -> NullSpace:
        """Return the null vectors of the symmetric problem, one per connected component."""
        _, membership = connected_components(self.weights, directed=False)
        return NullSpace.of(membership, np.sqrt(self.mass))

    def strong(self) -> "Pencil":
        """Return the pencil without the edges that float32 cannot tell from rounding.

        An edge is that light where its weight is below 8 rounding units of both degrees. What hangs
        together without them is a piece; the eigenvectors that tell pieces apart are, to that
        accuracy, constant on each.
        """
        weights, degrees = self.weights, self.degrees
        if not weights.nnz or weights.data.min() >= _LIGHT * degrees.max():
            return self
        rows = np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(weights.indptr))
        lighter = np.minimum(degrees[rows], degrees[weights.indices])
        if (weights.data >= _LIGHT * lighter).all():
            return self
        kept = weights.copy()
        kept.data[weights.data < _LIGHT * lighter] = 0.0
        kept.eliminate_zeros()
        return Pencil(kept, self.mass)

    def without(self, other: "Pencil") -> "Pencil":
        """Return the pencil of the edges that another does not have."""
        rest: CsrMatrix = csr_array(self.weights - other.weights)
        rest.eliminate_zeros()
        return Pencil(rest, self.mass)

    def scale(self, factor: float) -> "Pencil":
        """Return the pencil whose eigenvalues are `factor` times these."""
        weights = self.weights.copy()
        weights.data = weights.data * factor
        return Pencil(weights, self.mass)

    def form(self, vectors: FloatMatrix) -> NDArray[np.float64]:
        """Return V' M^{-1/2} L M^{-1/2} V, summed over the differences along the edges."""
        functions = vectors / np.sqrt(self.mass)[:, None]
        edges = triu(self.weights).tocoo()
        first, second = edges.coords
        steps = np.sqrt(edges.data)[:, None] * (functions[first] - functions[second])
        form: NDArray[np.float64] = steps.T @ steps
        return form

    def contract(self, groups: NDArray[np.int32], count: int) -> "Pencil":
        """Return the Galerkin pencil P'LP, P'MP of the indicators P of groups of nodes."""
        from beltrami.solvers.eigen import _loops

        weights = self.weights
        members = np.argsort(groups, kind="stable")
        starts = _offsets(np.bincount(groups, minlength=count))

        def rows(begin: int, stop: int) -> tuple[NDArray[np.int64], ...]:
            lengths, columns, values = _loops.contract(
                weights.indptr, weights.indices, weights.data, groups, starts, members, begin, stop
            )
            return lengths, columns, values

        parts = map_ranges(rows, count, _RANGE)
        lengths, columns, values = (
            np.concatenate([part[k] for part in parts]) for k in range(3)
        )  # fmt: skip
        smaller = csr_array((values, columns, _offsets(lengths)), shape=(count, count))
        mass: FloatVector = np.bincount(groups, weights=self.mass, minlength=count).astype(float)
        return Pencil(smaller, mass)

    def problem(self, null: NullSpace) -> EigenProblem:
        """Return the symmetric problem M^{-1/2} L M^{-1/2}."""
        roots = np.sqrt(self.mass)
        scaled = self.weights.copy()
        rows = np.repeat(np.arange(self.n_nodes), np.diff(scaled.indptr))
        scaled.data = scaled.data / (roots[rows] * roots[scaled.indices])
        matrix = SplitMatrix(self.degrees / self.mass, scaled)
        return EigenProblem(matrix, null, self.bound())

    def bound(self) -> float:
        r"""Return an upper bound on the eigenvalues, that of Anderson and Morley with masses.

        .. math:: \lambda_{max} \le \max_{ij \in E} (d_i / m_i + d_j / m_j)

        The nonzero eigenvalues are those of B M^{-1} B' W on the edges, whose rows sum to that in
        size.
        """
        rates, weights = self.degrees / self.mass, self.weights
        if rates.max() == rates.min():
            return 2 * float(rates.max())
        joined = np.flatnonzero(np.diff(weights.indptr))
        if not joined.size:
            return 0.0
        highest = np.maximum.reduceat(rates[weights.indices], weights.indptr[joined])
        return float((rates[joined] + highest).max())


@dataclass(frozen=True, slots=True, eq=False)
class Rung:
    """A pencil of the ladder, and the node of the next coarser one that each node belongs to."""

    pencil: Pencil
    parents: NDArray[np.int32] | None  # None at the top


def ladder(pencil: Pencil, smallest: int) -> list[Rung]:
    """Return ever coarser pencils, the finest first, each about a quarter of the one before.

    Coarsening ends at `smallest` nodes, or where it no longer pays.
    """
    rungs = []
    while pencil.n_nodes > smallest:
        parents, coarse = _quarter(pencil)
        if coarse.n_nodes < smallest or coarse.n_nodes > _STALLED * pencil.n_nodes:
            break
        rungs.append(Rung(pencil, parents))
        pencil = coarse
    return [*rungs, Rung(pencil, None)]


def _quarter(pencil: Pencil) -> tuple[NDArray[np.int32], Pencil]:
    """Pair the nodes up twice."""
    from beltrami.solvers.eigen import _loops

    parents = np.arange(pencil.n_nodes, dtype=np.int32)
    for _ in range(2):
        weights = pencil.weights
        groups, count = _loops.pair_up(weights.indptr, weights.indices, weights.data, pencil.mass)
        parents = groups[parents]
        pencil = pencil.contract(groups, count)
    return parents, pencil


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)])
