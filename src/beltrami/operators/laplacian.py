"""Graph Laplacians: the graph enters, a symmetric or random-walk operator leaves.

With W the weights and D the diagonal matrix of degrees, L = D - W, so that
f' L f = 1/2 sum_ij w_ij (f_i - f_j)^2 measures how much f varies along the edges.
"""

import numpy as np
from scipy.sparse import csr_array, diags_array

from beltrami.core.machine.backend import SplitMatrix
from beltrami.core.types import CsrMatrix, FloatVector
from beltrami.core.validation import check_choice
from beltrami.graph.model import Graph

KINDS = ("combinatorial", "normalized", "random_walk")


def laplacian(graph: Graph, kind: str = "combinatorial") -> CsrMatrix:
    r"""Return a Laplacian of the graph as a sparse array.

    .. math:: L = D - W, \quad L_{sym} = D^{-1/2} L D^{-1/2}, \quad L_{rw} = D^{-1} L

    An isolated node gets a zero row in every kind (D is pseudo-inverted), never a NaN, so it
    counts as a component of its own. Cost: O(nnz) time and one copy of W.

    Parameters
    ----------
    graph : Graph
        The graph.
    kind : {"combinatorial", "normalized", "random_walk"}, default="combinatorial"
        Which Laplacian. The random-walk one is not symmetric; its eigenvectors solve
        L f = lambda D f.

    Returns
    -------
    csr_array of shape (n, n)
        Rows sum to zero for "combinatorial" and "random_walk".

    Examples
    --------
    >>> from beltrami import Graph, laplacian
    >>> laplacian(Graph.from_matrix([[0, 2], [2, 0]])).toarray().tolist()
    [[2.0, -2.0], [-2.0, 2.0]]
    """
    check_choice(kind, KINDS, name="kind")
    if kind == "random_walk":
        inverse = inverse_power(graph.degrees, 1.0)
        return csr_array(diags_array(inverse) @ laplacian(graph))
    parts = split_laplacian(graph, kind)
    return csr_array(diags_array(parts.diagonal) - parts.weights)


def split_laplacian(graph: Graph, kind: str = "combinatorial") -> SplitMatrix:
    """Return a symmetric Laplacian as diagonal minus weights, the form that solvers work on.

    It is diag(d) - W, or I - D^{-1/2} W D^{-1/2} with zeros at isolated nodes.
    """
    check_choice(kind, KINDS[:2], name="kind")
    degrees = graph.degrees
    if kind == "combinatorial":
        return SplitMatrix(degrees, graph.weights)
    # Similar to I - D^{-1} W, whose rows sum to at most 2 in size: no eigenvalue is above 2.
    diagonal = (degrees > 0).astype(np.float64)
    return SplitMatrix(diagonal, normalized_adjacency(graph), known_bound=2.0)


def normalized_adjacency(graph: Graph) -> CsrMatrix:
    r"""Return :math:`S = D^{-1/2} W D^{-1/2}`, whose spectrum lies in [-1, 1].

    Isolated nodes have empty rows.
    """
    scale = inverse_power(graph.degrees, 0.5)
    scaled = graph.weights.copy()
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(scaled.indptr))
    scaled.data = scaled.data * (scale[rows] * scale[scaled.indices])  # symmetric to the last bit
    return scaled


def spectral_bound(matrix: SplitMatrix) -> float:
    r"""Return an upper bound on the eigenvalues of a Laplacian or a shifted one.

    The smallest of what is known of the matrix, Gershgorin's bound, and that of Anderson and
    Morley on the Laplacian of W, moved by the largest excess of the diagonal over the row sums:

    .. math:: \lambda_{max} \le \max_{ij \in E} (s_i + s_j) + \max_i (d_i - s_i),
              \qquad s_i = \sum_j w_{ij}.

    W must not be negative; the bound is never below zero.
    """
    weights = matrix.weights
    sums = np.asarray(weights.sum(axis=1)).ravel()
    gershgorin = float(np.max(matrix.diagonal + sums))
    rows = np.repeat(np.arange(matrix.n_rows), np.diff(weights.indptr))
    excess = float(np.max(matrix.diagonal - sums))
    along_edges = float(np.max(sums[rows] + sums[weights.indices], initial=0.0)) + excess
    return max(0.0, min(matrix.known_bound, gershgorin, along_edges))


def inverse_power(degrees: FloatVector, power: float) -> FloatVector:
    """Return degrees^-power, zero where the degree is zero: D pseudo-inverted."""
    result = np.zeros_like(degrees)
    np.power(degrees, -power, out=result, where=degrees > 0)
    return result
