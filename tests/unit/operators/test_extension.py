import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from scipy.sparse import csr_array

from beltrami import KnnGraph, laplacian
from beltrami.core.errors import InvalidInputError
from beltrami.graph.families import ring
from beltrami.operators.extension import extend_eigenvectors


@pytest.mark.parametrize("kind", ["combinatorial", "random_walk"])
@pytest.mark.parametrize("n", [12, 30])
def test_an_old_node_of_a_ring_gets_its_own_value_back(n: int, kind: str) -> None:
    graph = ring(n, 2)
    mass = np.eye(n) if kind == "combinatorial" else np.diag(graph.degrees)
    values, vectors = eigh(laplacian(graph).toarray(), mass)
    extended = extend_eigenvectors(graph.weights, vectors, values, kind=kind)
    # Where the denominator is not cut off, the eigenvalue equation holds exactly.
    scale = 4 if kind == "combinatorial" else 1
    safe = np.abs(scale - values) > 0.05 * scale
    assert safe.sum() > n // 2
    assert_allclose(extended[:, safe], vectors[:, safe], atol=1e-12)


@pytest.mark.parametrize("kind", ["combinatorial", "random_walk"])
def test_old_nodes_of_any_graph_get_low_eigenvectors_back(kind: str) -> None:
    graph = KnnGraph(6).build(np.random.default_rng(0).normal(size=(80, 2)))
    mass = np.eye(80) if kind == "combinatorial" else np.diag(graph.degrees)
    values, vectors = eigh(laplacian(graph).toarray(), mass)
    extended = extend_eigenvectors(graph.weights, vectors[:, :5], values[:5], kind=kind)
    assert_allclose(extended, vectors[:, :5], atol=1e-10)


@pytest.mark.parametrize("kind", ["combinatorial", "random_walk"])
def test_the_constant_stays_constant_and_everything_stays_finite(kind: str) -> None:
    rng = np.random.default_rng(0)
    weights = csr_array(rng.random((20, 9)) * (rng.random((20, 9)) < 0.4))
    values = np.concatenate([[0.0], weights.sum(axis=1)[:8]])  # hits denominators of zero
    vectors = np.column_stack([np.ones(9), rng.normal(size=(9, 8))])
    extended = extend_eigenvectors(weights, vectors, values, kind=kind)
    assert np.isfinite(extended).all()
    reached = weights.sum(axis=1) > 0
    assert_allclose(extended[reached, 0], 1)
    assert np.abs(extended).max() <= 20 * np.abs(vectors).max() * (1 + 1e-12)


def test_a_point_with_no_weight_to_any_old_one_gets_zeros() -> None:
    weights = csr_array(np.array([[0.0, 0.0], [1.0, 1.0]]))
    extended = extend_eigenvectors(weights, np.ones((2, 1)), np.zeros(1), kind="random_walk")
    assert_array_equal(extended, [[0], [1]])


def test_another_kind_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="'combinatorial', 'random_walk'"):
        extend_eigenvectors(ring(4).weights, np.ones((4, 1)), np.zeros(1), kind="normalized")
