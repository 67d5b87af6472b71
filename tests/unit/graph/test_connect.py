"""Bridges against Kruskal's algorithm on all pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from tests.support import graph_oracles as oracles

from beltrami import KnnGraph, RadiusGraph
from beltrami.core.errors import ConnectedByBridgesWarning, InvalidInputError
from beltrami.graph.connect import shortest_bridges
from beltrami.graph.search import open_space


def _check(points: np.ndarray, membership: np.ndarray, metric: str = "euclidean") -> None:
    truth = oracles.distance_matrix(points, points, metric)
    bridges = shortest_bridges(open_space(points, metric), membership.astype(np.int32))
    assert len(bridges.rows) == membership.max()
    assert_allclose(bridges.distances, truth[bridges.rows, bridges.columns], rtol=1e-12)
    assert_allclose(bridges.distances.sum(), oracles.spanning_weight(truth, membership), rtol=1e-12)
    ends = membership[bridges.rows], membership[bridges.columns]
    links = coo_array((np.ones(len(ends[0])), ends), shape=(membership.max() + 1,) * 2)
    assert connected_components(links, directed=False)[0] == 1


@pytest.mark.parametrize("d", [2, 10])
@pytest.mark.parametrize("n_parts", [2, 5, 60])
@pytest.mark.parametrize("metric", ["euclidean", "angle", "manhattan"])
def test_bridges_are_the_minimum_spanning_tree_of_components(
    d: int, n_parts: int, metric: str
) -> None:
    rng = np.random.default_rng(n_parts)
    membership = rng.permutation(np.arange(60) % n_parts)
    _check(rng.normal(size=(60, d)), membership, metric)


@pytest.mark.parametrize("seed", range(4))
def test_bridges_of_equal_length_make_a_tree_of_least_length(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, size=(50, 2)).astype(float)
    _check(points, rng.permutation(np.arange(50) % 17))


def test_large_components_are_searched_one_by_one() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(230, 2)) + 8 * np.repeat(
        np.eye(3, 2) * [[1], [1], [0]], [80, 80, 70], 0
    )
    _check(points, np.repeat(np.arange(3), [80, 80, 70]))


def test_points_on_a_line_are_joined_to_their_next() -> None:
    points = np.arange(40.0)[:, None] ** 1.1
    with pytest.warns(ConnectedByBridgesWarning, match="40 components; 39 bridge"):
        graph = RadiusGraph(0.5, connect="mst").build(points)
    rows, columns = graph.weights.nonzero()
    assert set(np.abs(rows - columns)) == {1}
    assert graph.n_edges == 39


def test_precomputed_distances_are_bridged() -> None:
    points = np.random.default_rng(0).normal(size=(40, 2))
    truth = oracles.distance_matrix(points, points, "")
    with pytest.warns(ConnectedByBridgesWarning):
        given = KnnGraph(1, metric="precomputed", weights="binary").build(truth)
    with pytest.warns(ConnectedByBridgesWarning):
        built = KnnGraph(1, weights="binary").build(points)
    assert (given.weights != built.weights).nnz == 0


def test_a_bridge_is_weighed_by_the_rule_of_the_graph() -> None:
    points = [[0.0], [1.0], [3.0], [4.0]]
    with pytest.warns(ConnectedByBridgesWarning):
        graph = KnnGraph(1, weights="heat").build(points)
    # t is a quarter of the mean squared edge, 1; the bridge has length 2.
    assert_allclose([graph.weights[0, 1], graph.weights[1, 2]], np.exp([-1.0, -4.0]))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_points_are_bridged_like_dense_ones(metric: str) -> None:
    points = np.random.default_rng(0).random((40, 12)) ** 4
    with pytest.warns(ConnectedByBridgesWarning):
        sparse = KnnGraph(1, metric=metric, weights="binary").build(csr_array(points))
    with pytest.warns(ConnectedByBridgesWarning):
        dense = KnnGraph(1, metric=metric, weights="binary").build(points)
    assert (sparse.weights != dense.weights).nnz == 0


def test_a_metric_that_names_nobody_outside_is_refused_and_no_endless_search() -> None:
    class Blind:
        n_points = 4

        def nearest_between(self, rows: np.ndarray, base: np.ndarray, k: int) -> tuple:
            return np.repeat(rows[:, None], k, axis=1), np.zeros((len(rows), k))

    with pytest.raises(InvalidInputError, match="2 components cannot be bridged"):
        shortest_bridges(Blind(), np.array([0, 0, 1, 1], dtype=np.int32))  # type: ignore[arg-type]
