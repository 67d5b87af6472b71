import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm
from scipy.sparse.linalg import LinearOperator

from beltrami import Graph, KnnGraph, laplacian
from beltrami.core.errors import InvalidInputError
from beltrami.graph.families import ring
from beltrami.operators.smoothness import heat_operator

GRAPH = KnnGraph(5, connect="keep").build(np.random.default_rng(0).normal(size=(30, 2)))
BLOCK = np.random.default_rng(1).normal(size=(30, 4))


def _check(operator: LinearOperator, dense: np.ndarray) -> None:
    """All the ways in which an operator is applied give the dense product."""
    scale = np.abs(dense).max()
    before = BLOCK.copy()
    assert_allclose(operator @ BLOCK, dense @ BLOCK, atol=1e-12 * scale)
    assert_allclose(operator.matvec(BLOCK[:, 0]), dense @ BLOCK[:, 0], atol=1e-12 * scale)
    assert_allclose(operator.rmatvec(BLOCK[:, 0]), dense @ BLOCK[:, 0], atol=1e-12 * scale)
    assert operator.matvec(BLOCK[:, :1]).shape == (30, 1)
    assert_allclose(operator @ np.asfortranarray(BLOCK), dense @ BLOCK, atol=1e-12 * scale)
    single = operator @ BLOCK.astype(np.float32)
    assert operator.dtype == single.dtype == np.float64
    assert_allclose(single, dense @ BLOCK, atol=1e-5 * scale)
    assert_array_equal(BLOCK, before)


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
@pytest.mark.parametrize("t", [-30.0, -1.0, -1e-3, 0.0, 1e-3, 0.7, 2.5])
def test_heat_operator_is_the_matrix_exponential(t: float, kind: str) -> None:
    _check(heat_operator(GRAPH, t, kind=kind), expm(t * laplacian(GRAPH, kind).toarray()))


def test_long_heat_flow_tends_to_the_mean_of_each_component() -> None:
    graph = ring(12)
    signal = np.arange(12.0)
    assert_allclose(heat_operator(graph, -200.0) @ signal, 5.5, rtol=1e-12)


def test_heat_on_a_graph_without_edges_changes_nothing() -> None:
    empty = Graph.from_matrix(np.zeros((3, 3)))
    signal = np.arange(3.0)
    result = heat_operator(empty, 2.0) @ signal
    assert_array_equal(result, signal)


def test_roughness_is_a_quadratic_form_that_grows_with_frequency() -> None:
    graph, angle = ring(16), 2 * np.pi * np.arange(16) / 16
    operator = heat_operator(graph, 0.5)
    waves = [np.cos(j * angle) * np.sqrt(2 if 0 < j < 8 else 1) for j in range(9)]
    assert (np.diff([wave @ (operator @ wave) for wave in waves]) > 0).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_time_that_is_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(InvalidInputError, match="finite"):
        heat_operator(GRAPH, bad)


def test_an_exponential_that_rounding_would_drown_is_refused_with_the_largest_t() -> None:
    with pytest.raises(InvalidInputError, match=r"t=6 and eigenvalues up to 4.*t below 5"):
        heat_operator(ring(8), 6.0)
    assert_allclose(heat_operator(ring(8), 4.9) @ np.ones(8), 1.0, atol=1e-6)
