"""The noun of this layer: an undirected weighted graph with the evidence for its quality.

A recipe builds it from points, or a user hands over weights; operators and solvers know the data
only through it. It is checked once, here, and trusted above.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components

from beltrami.core.errors import InvalidInputError
from beltrami.core.markup import fact_table, paragraph
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector, IndexMatrix, IndexVector

_SYMMETRY_RTOL = 1e-8  # of the largest weight; larger differences are not rounding
_SINGLE_RTOL = 1e-5  # of weights that come in float32


@dataclass(frozen=True, slots=True, eq=False)
class Neighbors:
    """The nearest other points of each point, nearest first, ties by row number.

    Attributes
    ----------
    indices : ndarray of shape (n, k)
        Row numbers.
    distances : ndarray of shape (n, k)
        Distances in the metric asked for, float64.
    recall : float
        Share of true neighbours found, measured on a sample; 1.0 where the search was exact.
    n_sampled : int
        Rows on which the recall was measured; 0 where the search was exact.
    first_equals : ndarray of shape (n,) or None
        Where lists name points that differ: the first of the points that are equal to each, itself
        where it is the first; lists name only those. None where lists name equal points, too.
    """

    indices: IndexMatrix
    distances: FloatMatrix
    recall: float = 1.0
    n_sampled: int = 0
    first_equals: IndexVector | None = None

    def first(self, k: int) -> "Neighbors":
        """Return the `k` nearest of them only."""
        return replace(self, indices=self.indices[:, :k], distances=self.distances[:, :k])


@dataclass(frozen=True, slots=True)
class GraphCertificate:
    """How a graph came to be, and how far it can be trusted.

    Attributes
    ----------
    search : str
        "exact", "approximate" or "given".
    recall : float
        Share of true neighbours found, on `n_sampled` rows; 1.0 for an exact search.
    n_sampled : int
        Rows on which the recall was measured.
    n_components_found : int or None
        Connected components before any bridge was added; None for a given graph.
    n_bridges : int
        Edges added by ``connect="mst"``.
    n_rough_bridges : int
        Those of them of which it is not sure that none is shorter; zero up to many thousand points.
    """

    search: str = "given"
    recall: float = 1.0
    n_sampled: int = 0
    n_components_found: int | None = None
    n_bridges: int = 0
    n_rough_bridges: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Attachment:
    """New points tied to the points of a graph.

    Attributes
    ----------
    weights : csr_array of shape (m, n)
        w(new_i, x_j).
    twins : ndarray of shape (m,)
        The old point that is identical to a new one, the first of several; -1 where there is none.
    """

    weights: CsrMatrix
    twins: IndexVector


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected weighted graph: all that the layers above may know of the data.

    Attributes
    ----------
    weights : csr_array of shape (n, n)
        W: symmetric, non-negative, float64, empty diagonal.
    neighbors : Neighbors or None
        The lists the graph was made from, kept to attach new points.
    certificate : GraphCertificate
        Where it came from and how good it is.

    Examples
    --------
    >>> from beltrami import Graph
    >>> graph = Graph.from_matrix([[0, 1, 0], [1, 0, 2], [0, 2, 0]])
    >>> graph.n_nodes, graph.n_edges, graph.degrees.tolist()
    (3, 2, [1.0, 3.0, 2.0])
    """

    weights: CsrMatrix
    neighbors: Neighbors | None = None
    certificate: GraphCertificate = field(default_factory=GraphCertificate)

    def __post_init__(self) -> None:
        _require_square(self.weights)
        _require_nonnegative(self.weights)
        _require_symmetric(self.weights)
        _require_no_loops(self.weights)

    @classmethod
    def from_matrix(cls, weights: Any) -> "Graph":
        """Take a user's own symmetric weights.

        Parameters
        ----------
        weights : sparse or array-like of shape (n, n)
            Non-negative and symmetric; differences from the mirror at rounding level are
            averaged out. Entries on the diagonal are dropped: a loop has no effect on a Laplacian.

        Returns
        -------
        Graph
            The graph with these weights.

        Raises
        ------
        InvalidInputError
            When the matrix is not square, not finite, negative somewhere or not symmetric.
        """
        return cls(_symmetrize(clean_weights(weights), single=_is_single(weights)))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.weights.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of undirected edges."""
        return int(self.weights.nnz) // 2

    @property
    def degrees(self) -> FloatVector:
        """Weighted degrees, d_i = sum_j w_ij."""
        return self._degrees.copy()

    @cached_property
    def _degrees(self) -> FloatVector:
        return np.asarray(self.weights.sum(axis=1), dtype=np.float64)

    def components(self) -> tuple[int, NDArray[np.int32]]:
        """Count the connected components and name the component of each node.

        Returns
        -------
        count : int
            Number of components.
        membership : ndarray of shape (n,)
            Component of each node, 0 to count - 1, numbered by first appearance.
        """
        count, membership = self._components
        return count, membership.copy()

    @cached_property
    def _components(self) -> tuple[int, NDArray[np.int32]]:
        count, membership = connected_components(self.weights, directed=False)
        return int(count), membership

    def __repr__(self) -> str:
        search, recall = self.certificate.search, self.certificate.recall
        source = f"{search}, recall {recall:.4f}" if self.certificate.n_sampled else search
        count, n_bridges = self.components()[0], self.certificate.n_bridges
        bridges = f", {_number_of(n_bridges, 'bridge')}" if n_bridges else ""
        return (
            f"Graph({self.n_nodes} nodes, {self.n_edges} edges, {_number_of(count, 'component')}"
            f"{bridges}; {source})"
        )

    def _repr_html_(self) -> str:
        """Return the same as a table, for a notebook."""
        made, (count, _) = self.certificate, self.components()
        found = "given" if made.search == "given" else f"{made.search} search"
        if made.n_sampled:
            found += f", recall {made.recall:.4f} on {_number_of(made.n_sampled, 'row')}"
        joined = f", joined by {_number_of(made.n_bridges, 'bridge')}" if made.n_bridges else ""
        pieces = made.n_components_found if made.n_bridges else count
        facts = {
            "rows": f"{self.n_nodes:,}",
            "edges": f"{self.n_edges:,}, {2 * self.n_edges / max(self.n_nodes, 1):.1f} at a row",
            "components": f"{pieces:,}{joined}",
            "neighbours": found,
        }
        return paragraph("Graph") + fact_table(facts)


def _number_of(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("s" if count != 1 else "")


def clean_weights(weights: Any) -> CsrMatrix:
    """Return weights as a float64 CSR array with sorted rows, no loops and no stored zeros."""
    if getattr(getattr(weights, "dtype", None), "kind", "") == "c":
        raise InvalidInputError("graph weights must be real numbers, not complex ones.")
    if not issparse(weights):
        try:
            weights = np.asarray(weights, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"graph weights must be a square matrix of numbers and cannot be read ({error})."
            ) from error
        if weights.ndim != 2:
            raise InvalidInputError(
                f"graph weights must be a square matrix and have shape {weights.shape}."
            )
    matrix: CsrMatrix = csr_array(weights, dtype=np.float64, copy=True)
    _require_square(matrix)
    matrix.sum_duplicates()
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    matrix.data[rows == matrix.indices] = 0.0
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def _is_single(weights: Any) -> bool:
    return getattr(weights, "dtype", None) == np.float32


def _symmetrize(weights: CsrMatrix, *, single: bool) -> CsrMatrix:
    """Average W with its mirror where they differ at rounding level only; else leave it."""
    gap = abs(weights - weights.T)
    gap.eliminate_zeros()
    worst = float(gap.max()) if gap.nnz else 0.0
    rtol = _SINGLE_RTOL if single else _SYMMETRY_RTOL
    if 0 < worst <= rtol * float(abs(weights).max()):
        return clean_weights((weights + weights.T) / 2)
    return weights


def _require_no_loops(weights: CsrMatrix) -> None:
    if weights.diagonal().any():
        raise InvalidInputError(
            f"{np.count_nonzero(weights.diagonal())} node(s) have an edge to themselves, which has "
            "no place in a Laplacian. Use Graph.from_matrix, which drops such entries."
        )


def _require_square(weights: CsrMatrix) -> None:
    rows, columns = weights.shape
    if rows != columns or rows == 0:
        raise InvalidInputError(
            f"graph weights must be a square matrix and have shape ({rows}, {columns}). For points "
            "use KnnGraph().build(X)."
        )


def _require_nonnegative(weights: CsrMatrix) -> None:
    if weights.nnz == 0:
        return
    if not np.isfinite(weights.data).all():
        bad = int((~np.isfinite(weights.data)).sum())
        raise InvalidInputError(f"graph weights contain NaN or infinity ({bad} entries).")
    if weights.data.min() < 0:
        bad = int((weights.data < 0).sum())
        raise InvalidInputError(
            f"graph weights must not be negative: {bad} entries are, the lowest "
            f"{weights.data.min():.3g}. A negative weight makes the Laplacian indefinite; use "
            "similarities, not signed correlations (abs() or clip them)."
        )


def _require_symmetric(weights: CsrMatrix) -> None:
    if weights.nnz == 0:
        return
    mirror: CsrMatrix = csr_array(weights.T)
    if weights.has_sorted_indices and all(
        np.array_equal(getattr(weights, part), getattr(mirror, part))
        for part in ("indptr", "indices", "data")
    ):
        return
    gap = abs(weights - mirror)
    worst = float(gap.max()) if gap.nnz else 0.0
    if worst > _SYMMETRY_RTOL * float(weights.data.max()):
        bad = int((gap.data > 0).sum())
        raise InvalidInputError(
            f"graph weights must be symmetric: {bad} entries differ from their mirror, by up to "
            f"{worst:.3g}. For a directed graph pass (W + W.T) / 2 or W.maximum(W.T)."
        )
