"""Graphs with binary weights whose spectra are known in closed form: every solver's first tests."""

import numpy as np
from scipy.sparse import coo_array, csr_array, eye_array, kron

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import CsrMatrix, IndexVector
from beltrami.core.validation import check_count
from beltrami.graph.model import Graph, clean_weights


def ring(n_nodes: int, n_sides: int = 1) -> Graph:
    r"""Return the cycle in which each node is joined to `n_sides` nodes on either side.

    Its Laplacian has the eigenvalues
    :math:`\sum_{r=1}^{s} (2 - 2\cos(2\pi j r / n))`, j = 0 .. n - 1.
    """
    check_count(n_sides, name="n_sides")
    if check_count(n_nodes, name="n_nodes", minimum=3) <= 2 * n_sides:
        raise InvalidInputError(
            f"a ring of {n_nodes} nodes cannot give each {n_sides} distinct neighbours on either "
            f"side; take n_nodes > {2 * n_sides}."
        )
    starts = np.tile(np.arange(n_nodes), n_sides)
    ends = (starts + np.repeat(np.arange(1, n_sides + 1), n_nodes)) % n_nodes
    return _from_pairs(starts, ends, n_nodes)


def path(n_nodes: int) -> Graph:
    r"""Return the path; its Laplacian has the eigenvalues :math:`2 - 2\cos(\pi j / n)`."""
    check_count(n_nodes, name="n_nodes", minimum=2)
    starts = np.arange(n_nodes - 1)
    return _from_pairs(starts, starts + 1, n_nodes)


def grid(n_rows: int, n_columns: int) -> Graph:
    """Return the grid; its eigenvalues are the sums of those of its two paths.

    Node (r, c) has the number r * n_columns + c.
    """
    across, down = path(n_columns).weights, path(n_rows).weights
    product = kron(down, eye_array(n_columns)) + kron(eye_array(n_rows), across)
    return Graph(clean_weights(product))


def complete(n_nodes: int) -> Graph:
    """Return the complete graph; its eigenvalues are 0, and n with multiplicity n - 1."""
    check_count(n_nodes, name="n_nodes", minimum=2)
    return Graph(clean_weights(np.ones((n_nodes, n_nodes))))


def disjoint_union(*graphs: Graph) -> Graph:
    """Return the graphs side by side; the spectrum is the union of theirs."""
    from scipy.sparse import block_diag

    stacked: CsrMatrix = csr_array(block_diag([graph.weights for graph in graphs], format="csr"))
    return Graph(stacked)


def _from_pairs(starts: IndexVector, ends: IndexVector, n: int) -> Graph:
    ones = np.ones(len(starts))
    half: CsrMatrix = csr_array(coo_array((ones, (starts, ends)), shape=(n, n)))
    return Graph(clean_weights(half + half.T))
