import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami import Graph, KnnGraph, laplacian
from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.backend import SplitMatrix
from beltrami.graph.families import complete, disjoint_union, path, ring
from beltrami.operators.laplacian import (
    inverse_power,
    normalized_adjacency,
    spectral_bound,
    split_laplacian,
)

KNN = KnnGraph(6, connect="keep").build(np.random.default_rng(0).normal(size=(50, 3)))
LONELY = Graph.from_matrix(np.pad(complete(4).weights.toarray() * 0.3, (0, 2)))
GRAPHS = [KNN, LONELY, ring(7), disjoint_union(path(4), ring(5))]


@pytest.mark.parametrize("graph", GRAPHS)
def test_every_kind_is_its_formula(graph: Graph) -> None:
    weights = graph.weights.toarray()
    degrees = weights.sum(axis=1)
    plain = np.diag(degrees) - weights
    inverse = np.where(degrees > 0, 1 / np.where(degrees > 0, degrees, 1), 0)
    root = np.sqrt(inverse)
    assert_allclose(laplacian(graph).toarray(), plain, atol=1e-15)
    assert_allclose(
        laplacian(graph, "normalized").toarray(), root[:, None] * plain * root, atol=1e-14
    )
    assert_allclose(laplacian(graph, "random_walk").toarray(), inverse[:, None] * plain, atol=1e-14)
    for kind in ("combinatorial", "normalized"):
        split = split_laplacian(graph, kind)
        expected = laplacian(graph, kind).toarray()
        assert_allclose(np.diag(split.diagonal) - split.weights.toarray(), expected, atol=1e-15)


@pytest.mark.parametrize("graph", GRAPHS)
def test_rows_sum_to_zero_and_symmetric_kinds_are_symmetric_and_semidefinite(graph: Graph) -> None:
    ones = np.ones(graph.n_nodes)
    for kind in ("combinatorial", "random_walk"):
        assert_allclose(laplacian(graph, kind) @ ones, 0, atol=1e-13)
    for kind in ("combinatorial", "normalized"):
        matrix = laplacian(graph, kind).toarray()
        assert_array_equal(matrix, matrix.T)
        values = np.linalg.eigvalsh(matrix)
        assert values[0] > -1e-12
        assert (np.abs(values) < 1e-10).sum() == graph.components()[0]


def test_isolated_nodes_have_zero_rows_and_no_nan() -> None:
    for kind in ("combinatorial", "normalized", "random_walk"):
        matrix = laplacian(LONELY, kind).toarray()
        assert np.isfinite(matrix).all()
        assert_array_equal(matrix[4:], 0)
    assert_array_equal(normalized_adjacency(LONELY).toarray()[4:], 0)
    assert_array_equal(inverse_power(np.array([0.0, 4.0]), 0.5), [0, 0.5])


def test_normalized_adjacency_has_its_spectrum_in_the_unit_interval() -> None:
    values = np.linalg.eigvalsh(normalized_adjacency(KNN).toarray())
    assert values[0] >= -1 - 1e-12
    assert_allclose(values[-1], 1)


def test_random_walk_eigenvectors_solve_the_generalised_problem() -> None:
    values, vectors = np.linalg.eig(laplacian(KNN, "random_walk").toarray())
    left, right = laplacian(KNN) @ vectors, KNN.degrees[:, None] * vectors * values
    assert_allclose(left, right, atol=1e-10)


@pytest.mark.parametrize("kind", ["sym", None, "Normalized"])
def test_an_unknown_kind_lists_the_known_ones(kind: str) -> None:
    with pytest.raises(InvalidInputError, match="'combinatorial', 'normalized', 'random_walk'"):
        laplacian(KNN, kind)
    with pytest.raises(InvalidInputError, match="'combinatorial', 'normalized'"):
        split_laplacian(KNN, "random_walk")


def _largest(matrix: SplitMatrix) -> float:
    dense = np.diag(matrix.diagonal) - matrix.weights.toarray()
    return float(np.linalg.eigvalsh(dense)[-1])


def test_the_bound_is_sharp_where_it_is_known_to_be() -> None:
    assert spectral_bound(split_laplacian(ring(8))) == 4  # even ring: the largest eigenvalue is 4
    assert spectral_bound(split_laplacian(KNN, "normalized")) <= 2
    star = Graph.from_matrix(
        np.pad(np.ones((1, 4)), ((0, 4), (1, 0))) + np.pad(np.ones((4, 1)), ((1, 0), (0, 4)))
    )
    assert spectral_bound(split_laplacian(star)) == 5  # 1 + 4 over each edge; Gershgorin says 8


def test_the_bound_holds_for_a_tiny_laplacian_with_a_shift_that_is_large_for_it() -> None:
    tiny = split_laplacian(Graph.from_matrix(ring(8).weights * 1e-9))
    shifted = SplitMatrix(tiny.diagonal + 5e-9, tiny.weights)
    assert spectral_bound(shifted) >= _largest(shifted) * (1 - 1e-12)


def test_the_bound_holds_where_a_shift_makes_the_diagonal_one() -> None:
    """A diagonal of ones does not make a matrix a normalised Laplacian."""
    plain = split_laplacian(ring(8, 2))
    shifted = SplitMatrix(plain.diagonal - 3, plain.weights)
    assert set(shifted.diagonal) == {1.0}
    assert spectral_bound(shifted) >= _largest(shifted) > 2


def test_the_bound_of_no_edges_is_the_diagonal() -> None:
    empty = Graph.from_matrix(np.zeros((3, 3)))
    assert spectral_bound(split_laplacian(empty)) == 0
    assert spectral_bound(SplitMatrix(np.array([1.0, 3, 2]), empty.weights)) == 3
