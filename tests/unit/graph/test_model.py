from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csr_array, csr_matrix

from beltrami import Graph
from beltrami.core.errors import InvalidInputError
from beltrami.graph.families import complete, disjoint_union, path, ring
from beltrami.graph.model import GraphCertificate

W = np.array([[0, 1.0, 0, 0], [1, 0, 2, 0], [0, 2, 0, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize("kind", [np.asarray, csr_array, csr_matrix, coo_array, np.ndarray.tolist])
def test_weights_are_taken_in_any_form(kind: Any) -> None:
    graph = Graph.from_matrix(kind(W))
    assert_array_equal(graph.weights.toarray(), W)
    assert isinstance(graph.weights, csr_array)
    assert graph.weights.dtype == np.float64
    assert (graph.n_nodes, graph.n_edges) == (4, 2)
    assert_array_equal(graph.degrees, [1, 3, 2, 0])
    assert graph.certificate == GraphCertificate(search="given")


def test_integers_and_bools_become_float64() -> None:
    for dtype in (np.int64, np.bool_, np.float32):
        assert Graph.from_matrix(W.astype(dtype)).weights.dtype == np.float64


def test_loops_and_stored_zeros_are_dropped_without_touching_the_original() -> None:
    given = csr_array(([5.0, 1, 1, 0, 0], ([0, 0, 1, 1, 2], [0, 1, 0, 2, 1])), shape=(3, 3))
    graph = Graph.from_matrix(given)
    assert graph.weights.nnz == 2
    assert given.nnz == 5
    assert given.data[0] == 5


def test_repeated_entries_are_summed() -> None:
    given = coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert Graph.from_matrix(given).weights.toarray().tolist() == [[0, 3], [3, 0]]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (-W, "must not be negative: 4 entries are, the lowest -2"),
        (np.triu(W), "must be symmetric: 4 entries differ.*by up to 2"),
        (W * np.where(np.arange(4) == 2, 1.001, 1), "symmetric"),
        (np.where(W == 2, np.nan, W), r"NaN or infinity \(2 entries\)"),
        (np.where(W == 2, np.inf, W), "NaN or infinity"),
        (W[:3], r"square matrix and have shape \(3, 4\)"),
        (W[0], r"square matrix and have shape \(4,\)"),
        (np.empty((0, 0)), "square"),
        ([["a", "b"], ["c", "d"]], "cannot be read"),
        ([[0, 1], [1]], "cannot be read"),
        (W * 1j, "complex"),
        (csr_array(W * 1j), "complex"),
        (csr_array(-W), "must not be negative"),
        (csr_array(np.triu(W)), "must be symmetric"),
    ],
)
def test_unusable_weights_are_refused_with_numbers(bad: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Graph.from_matrix(bad)


@pytest.mark.parametrize(("dtype", "noise"), [(np.float64, 1e-12), (np.float32, 1e-6)])
def test_asymmetry_at_rounding_level_is_averaged_out(dtype: Any, noise: float) -> None:
    given = W.copy()
    given[0, 1] += noise
    given[0, 3] = noise  # no mirror at all
    graph = Graph.from_matrix(given.astype(dtype))
    assert (graph.weights != graph.weights.T).nnz == 0
    assert_allclose(graph.weights.toarray(), (given + given.T) / 2, rtol=1e-6)


def test_the_constructor_itself_checks_what_it_is_given() -> None:
    for bad, message in ((np.eye(2), "edge to themselves"), (-np.ones((2, 2)), "negative")):
        with pytest.raises(InvalidInputError, match=message):
            Graph(csr_array(bad))


def test_a_graph_is_frozen() -> None:
    with pytest.raises(AttributeError):
        ring(4).weights = None  # type: ignore[misc,assignment]


def test_components_are_counted_and_named_by_first_appearance() -> None:
    count, membership = Graph.from_matrix(W).components()
    assert count == 2
    assert membership.tolist() == [0, 0, 0, 1]
    assert disjoint_union(path(3), complete(2), ring(4)).components()[0] == 3


def test_repr_says_size_pieces_and_source() -> None:
    assert repr(Graph.from_matrix(W)) == "Graph(4 nodes, 2 edges, 2 components; given)"
    made = GraphCertificate(search="approximate", recall=0.99512, n_sampled=1000, n_bridges=2)
    expected = "Graph(5 nodes, 5 edges, 1 component, 2 bridges; approximate, recall 0.9951)"
    assert repr(Graph(ring(5).weights, certificate=made)) == expected
