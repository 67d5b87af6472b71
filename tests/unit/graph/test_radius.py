from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from tests.support import graph_oracles as oracles

from beltrami import HeatKernel, RadiusGraph
from beltrami.core.errors import (
    ConnectedByBridgesWarning,
    DisconnectedGraphError,
    InvalidInputError,
)

RNG = np.random.default_rng(0)


def _pairs(points: np.ndarray, radius: float, metric: str) -> np.ndarray:
    truth = oracles.distance_matrix(points, points, metric)
    return (truth <= radius) & ~np.eye(len(points), dtype=bool)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize(
    ("metric", "radius"), [("euclidean", 2.5), ("cosine", 0.4), ("angle", 0.9), ("manhattan", 4.0)]
)
@pytest.mark.parametrize("d", [3, 20])
def test_edges_are_all_pairs_within_the_radius(
    metric: str, radius: float, d: int, kind: Any
) -> None:
    points = RNG.normal(size=(60, d)) + 1
    expected = _pairs(points, radius, metric)
    assert expected.sum() > 0 or d == 20
    graph = RadiusGraph(radius, metric=metric).build(kind(points))
    assert_array_equal(graph.weights.toarray(), expected)


@pytest.mark.parametrize("d", [3, 20])
def test_small_radii_far_from_the_origin_are_right(d: int) -> None:
    points = 1e6 + 1e-3 * np.random.default_rng(1).normal(size=(100, d))
    radius = float(np.median(oracles.distance_matrix(points, points, "")))
    graph = RadiusGraph(radius).build(points)
    assert_array_equal(graph.weights.toarray(), _pairs(points, radius, ""))


def test_points_exactly_at_the_radius_and_duplicates_are_joined_and_others_isolated() -> None:
    graph = RadiusGraph(1.0).build([[0.0], [1.0], [1.0], [9.0]])
    assert_array_equal(
        graph.weights.toarray(), [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    )
    assert graph.degrees[3] == 0
    assert graph.certificate.n_components_found == 2


def test_no_edge_at_all_is_a_graph_of_isolated_points() -> None:
    for weights in ("binary", "heat"):
        graph = RadiusGraph(0.1, weights=weights).build(np.arange(4.0)[:, None])
        assert (graph.n_edges, graph.components()[0]) == (0, 4)


def test_opposite_directions_are_within_every_large_radius() -> None:
    points = np.array([[1.0, 0], [-1.0, 0]])
    assert RadiusGraph(2.0, metric="cosine").build(points).n_edges == 1
    assert RadiusGraph(4.0, metric="angle").build(points).n_edges == 1


def test_precomputed_distances_dense_and_sparse_with_stored_zeros() -> None:
    truth = np.array([[0, 0, 3.0], [0, 0, 1], [3, 1, 0]])
    rows, columns = np.nonzero(~np.eye(3, dtype=bool))
    stored = csr_array((truth[rows, columns], (rows, columns)), shape=(3, 3))
    for given in (truth, stored):
        graph = RadiusGraph(2.0, metric="precomputed").build(given)
        assert_array_equal(graph.weights.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_components_can_be_bridged_or_refused() -> None:
    points = [[0.0], [1.0], [4.0]]
    with pytest.warns(ConnectedByBridgesWarning, match="1 bridge"):
        graph = RadiusGraph(1.0, connect="mst").build(points)
    assert graph.weights[1, 2] == 1
    with pytest.raises(DisconnectedGraphError, match=r"RadiusGraph\(.*2 components"):
        RadiusGraph(1.0, connect="raise").build(points)


@pytest.mark.parametrize("bad", [0, -1, np.inf, "1", None])
def test_a_wrong_radius_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidInputError, match="radius="):
        RadiusGraph(bad).build([[0.0], [1.0]])


def test_bridges_have_no_part_in_the_automatic_width() -> None:
    points = [[0.0], [1.0], [4.0]]
    with pytest.warns(ConnectedByBridgesWarning):
        graph = RadiusGraph(1.0, weights="heat", connect="mst").build(points)
    assert_allclose([graph.weights[0, 1], graph.weights[1, 2]], np.exp([-1.0, -9.0]))


@pytest.mark.parametrize("weights", ["binary", "heat", HeatKernel(0.7)])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "angle", "manhattan", "precomputed"])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_new_points_are_weighed_like_old_ones(weights: Any, metric: str, kind: Any) -> None:
    rng = np.random.default_rng(3)
    old, new = rng.normal(size=(40, 4)) + 1, rng.normal(size=(7, 4)) + 1
    base = "euclidean" if metric == "precomputed" else metric
    inner = oracles.distance_matrix(old, old, base)
    outer = oracles.distance_matrix(new, old, base)
    radius = float(np.quantile(inner, 0.4))
    if metric == "precomputed":
        if kind is csr_array:
            return
        old, new = inner, outer
    recipe = RadiusGraph(radius, metric=metric, weights=weights)
    attached = recipe.extend(recipe.build(kind(old)), kind(old), kind(new))
    near = inner[(inner <= radius) & ~np.eye(40, dtype=bool)]
    t = (
        {"binary": np.inf, "heat": (near**2).mean() / 4}.get(weights, 0.7)
        if isinstance(weights, str)
        else 0.7
    )
    expected = np.where(outer <= radius, np.exp(-(outer**2) / (4 * t)), 0)
    assert_allclose(attached.toarray(), expected, rtol=1e-9)


def test_a_new_point_identical_to_an_old_one_gets_its_edges_and_a_far_one_none() -> None:
    old = np.random.default_rng(0).normal(size=(30, 2))
    recipe = RadiusGraph(0.8, weights=HeatKernel(0.5))
    graph = recipe.build(old)
    attached = recipe.extend(graph, old.tolist(), [*old[[7, 3]].tolist(), [50.0, 50.0]])
    assert_array_equal(attached.toarray()[:2], graph.weights.toarray()[[7, 3]])
    assert attached.toarray()[2].sum() == 0


def test_new_points_are_weighed_with_the_width_of_sparse_distances() -> None:
    given = csr_array(np.array([[0, 1.0, 0], [1, 0, 2], [0, 0, 0]]))  # one pair stored once
    recipe = RadiusGraph(5.0, metric="precomputed", weights="heat")
    attached = recipe.extend(recipe.build(given), given, [[1.0, 9.0, 2.0]])
    t = (1 + 4) / 2 / 4
    assert_allclose(attached.toarray(), [[np.exp(-1 / (4 * t)), 0, np.exp(-4 / (4 * t))]])
