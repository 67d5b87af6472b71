"""Links along one's own shape: distances as the twin says, neighbours as brute force says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from beltrami import dollar_sign
from beltrami.graph.search import open_space
from beltrami.separation import _loops
from beltrami.separation.hellinger import hellinger_squared
from beltrami.separation.links import (
    CANDIDATES,
    Links,
    linked_graph,
    links_to,
    mahalanobis_squared_reference,
)
from beltrami.separation.model import LocalShapes
from beltrami.separation.shapes import local_spectra, neighbors_of
from beltrami.separation.subset import sparse_subset


def cloud_with_shapes(n, d, *, q=6, noise=0.02, seed=0):
    points = np.random.default_rng(seed).normal(size=(n, d))
    lists = neighbors_of(open_space(points, "euclidean"), points, np.arange(n), q)[0]
    return points, local_spectra(points, lists).smooth(noise)


def dollar_with_shapes(n=1500, noise=0.01):
    """Nodes of a dollar sign as the method makes them, with their shapes."""
    points = dollar_sign(n, noise=noise, random_state=0).points
    rows = sparse_subset(points, 7, np.arange(0), np.random.default_rng(0))
    lists = neighbors_of(open_space(points, "euclidean"), points, rows, 16)[0]
    spectra = local_spectra(points, lists)
    return points[rows], spectra.smooth(spectra.noise(0.01))


def mahalanobis(points, shapes, nodes, candidates):
    found = np.empty(candidates.shape)
    shape = shapes.directions, shapes.variances, shapes.noise
    _loops.mahalanobis_squared(points, *shape, nodes, candidates, found)
    return found


def some_candidates(n, count, m):
    rng = np.random.default_rng(1)
    return np.array([rng.choice(n, count, replace=False) for _ in range(m)])


@pytest.mark.parametrize("d", [1, 2, 7, 40])
def test_mahalanobis_distances_are_those_of_the_slow_twin(d):
    points, shapes = cloud_with_shapes(30, d)
    nodes = np.random.default_rng(9).normal(size=(50, d))
    candidates = some_candidates(50, 12, 30)
    fast = mahalanobis(points, shapes, nodes, candidates)
    slow = mahalanobis_squared_reference(points, shapes, nodes, candidates)
    assert_allclose(fast, slow, rtol=1e-10)


@pytest.mark.parametrize("d", [2, 7])
def test_links_are_the_candidates_of_least_mahalanobis_distance(d):
    points, shapes = cloud_with_shapes(30, d)
    candidates = some_candidates(30, 12, 30)
    links = links_to(points, shapes, candidates, points, shapes, 5)
    lengths = mahalanobis_squared_reference(points, shapes, points, candidates)
    for row in range(30):
        best = candidates[row][np.argsort(lengths[row])[:5]]
        assert_array_equal(links.nodes[row], best)
        exact = hellinger_squared(shapes, np.full(5, row), shapes, best)
        assert_allclose(links.hellinger[row], exact, atol=1e-12)


def test_links_may_go_to_other_points_than_they_come_from():
    points, shapes = cloud_with_shapes(20, 3)
    nodes, node_shapes = cloud_with_shapes(35, 3, seed=5)
    candidates = some_candidates(35, 35, 20)
    links = links_to(points, shapes, candidates, nodes, node_shapes, 4)
    covariances = [shapes.covariance(row) for row in range(20)]
    for row, covariance in enumerate(covariances):
        lengths = cdist(points[row : row + 1], nodes, "mahalanobis", VI=np.linalg.inv(covariance))
        assert_array_equal(links.nodes[row], np.argsort(lengths[0])[:4])


def test_weights_fall_with_the_hellinger_distance():
    squares = np.array([[0.0, 0.04, 1.0]])
    weights = Links(np.zeros((1, 3), dtype=int), squares).weights(0.2)
    assert_allclose(weights, np.exp([[0.0, -0.5, -12.5]]))


@pytest.mark.parametrize("bandwidth", [1e-300, 1e-12, 1e12, 1e300])
def test_weights_of_absurd_bandwidths_are_numbers(bandwidth):
    squares = np.array([[0.0, 0.5, 1.0]])
    with np.errstate(all="raise", under="ignore"):
        weights = Links(np.zeros((1, 3), dtype=int), squares).weights(bandwidth)
    assert_array_equal(weights, [[1, 1, 1]] if bandwidth > 1 else [[1, 0, 0]])


@pytest.mark.parametrize(("d", "bandwidth"), [(2, 0.2), (5, 0.7)])
def test_edges_join_points_when_either_asks_and_weigh_by_their_shapes(d, bandwidth):
    points, shapes = cloud_with_shapes(60, d)
    graph, saturation = linked_graph(points, shapes, 4, bandwidth)
    lengths = mahalanobis_squared_reference(points, shapes, points, np.tile(np.arange(60), (60, 1)))
    euclidean = cdist(points, points)
    np.fill_diagonal(euclidean, np.inf)
    asked = np.zeros((60, 60), dtype=bool)
    for row in range(60):
        near = np.argsort(euclidean[row])[: 4 * CANDIDATES]
        asked[row, near[np.argsort(lengths[row, near])[:4]]] = True
    weights = graph.weights.toarray()
    assert_array_equal(weights, weights.T)
    assert_array_equal(weights > 0, asked | asked.T)
    rows, columns = np.nonzero(weights)
    squares = hellinger_squared(shapes, rows, shapes, columns)
    assert_allclose(weights[rows, columns], np.exp(-squares / (2 * bandwidth**2)), rtol=1e-9)
    rows, columns = np.nonzero(asked)
    exact = hellinger_squared(shapes, rows, shapes, columns)
    assert saturation == pytest.approx(np.mean(exact > 0.99))


def test_equal_shapes_are_joined_with_weight_one_and_nothing_is_saturated():
    points = np.random.default_rng(0).normal(size=(20, 3))
    axes = np.tile(np.eye(3)[:1], (20, 1, 1))
    shapes = LocalShapes(axes, np.ones((20, 1)), np.full(20, 0.1))
    graph, saturation = linked_graph(points, shapes, 3, 0.2)
    assert_allclose(graph.weights.data, 1)
    assert saturation == 0


def test_shapes_with_nothing_in_common_saturate():
    points, shapes = cloud_with_shapes(80, 60, q=5, noise=1e-6)
    assert linked_graph(points, shapes, 4, 0.2)[1] > 0.9


@pytest.mark.parametrize(("square", "share"), [(0.95, 0), (0.985, 0), (0.995, 4 / 6)])
def test_saturation_is_the_share_of_links_above_0_99(square, share):
    # Orthogonal lines in noise e are at H^2 = 1 - 2 sqrt(e) / (1 + e): solved for the root of e.
    a = 1 - square
    noise = ((1 - np.sqrt(1 - a**2)) / a) ** 2
    axes = np.eye(2)[[0, 0, 1]][:, None]
    shapes = LocalShapes(axes, np.ones((3, 1)), np.full(3, noise))
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert linked_graph(points, shapes, 6, 0.2)[1] == pytest.approx(share)


def test_saturated_edges_stay_in_the_graph():
    points, shapes = cloud_with_shapes(80, 60, q=5, noise=1e-6)
    graph, _ = linked_graph(points, shapes, 4, 0.2)
    assert (np.diff(graph.weights.indptr) > 0).all()


@pytest.mark.parametrize("n", [3, 4, 8])
def test_few_points_link_to_all_others(n):
    points, shapes = cloud_with_shapes(n, 2, q=2)
    graph, _ = linked_graph(points, shapes, 6, 10.0)
    assert graph.weights.nnz == n * (n - 1)


def test_twins_never_link_to_themselves():
    points, shapes = cloud_with_shapes(30, 2)
    points[:20] = points[0]
    graph, _ = linked_graph(points, shapes, 4, 0.2)
    assert not graph.weights.diagonal().any()


def test_pruned_candidates_hold_the_links_within_their_own_radius():
    """A Mahalanobis neighbour inside the circle of the candidates is always found."""
    points, shapes = dollar_with_shapes()
    s, kappa = len(points), 8
    everyone = np.tile(np.arange(s), (s, 1))
    lengths = mahalanobis_squared_reference(points, shapes, points, everyone)
    euclidean = cdist(points, points)
    np.fill_diagonal(euclidean, np.inf)
    graph, _ = linked_graph(points, shapes, kappa, 0.2)
    radius = np.sort(euclidean, axis=1)[:, CANDIDATES * kappa - 1]
    lengths[euclidean > radius[:, None] * (1 + 1e-12)] = np.inf
    exhaustive = np.argsort(lengths, axis=1)[:, :kappa]
    joined = graph.weights.toarray() > 0
    assert joined[np.arange(s)[:, None], exhaustive].all()


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_an_unpruned_search_finds_the_same_links(noise):
    """On the dollar sign all Mahalanobis neighbours are among the Euclidean candidates."""
    points, shapes = dollar_with_shapes(noise=noise)
    s, kappa = len(points), 8
    lengths = mahalanobis_squared_reference(points, shapes, points, np.tile(np.arange(s), (s, 1)))
    np.fill_diagonal(lengths, np.inf)
    unpruned = np.argsort(lengths, axis=1)[:, :kappa]
    order = np.argsort(cdist(points, points), axis=1)[:, 1 : 1 + CANDIDATES * kappa]
    kept = (unpruned[:, :, None] == order[:, None, :]).any(axis=2)
    assert kept.mean() > 0.95
