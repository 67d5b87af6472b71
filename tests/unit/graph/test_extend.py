from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array
from tests.support import graph_oracles as oracles

from beltrami import Graph, HeatKernel, KnnGraph
from beltrami.core.errors import InvalidInputError
from beltrami.graph.weights import SharedNeighborWeights

RNG = np.random.default_rng(0)
OLD, NEW = RNG.normal(size=(60, 3)), RNG.normal(size=(9, 3))


def _by_hand(inner: np.ndarray, outer: np.ndarray, k: int, weights: str) -> np.ndarray:
    scale_old = oracles.neighbors(inner, k)[1]
    expected = np.zeros_like(outer)
    for i, row in enumerate(outer):
        near = sorted(range(len(row)), key=lambda j: (row[j], j))[:k]
        for j in near:
            d2 = row[j] ** 2
            expected[i, j] = {
                "binary": 1.0,
                "heat": np.exp(-d2 / (scale_old**2).mean()),
                "self_tuning": (
                    np.exp(-4 * d2 / row[near[-1]] ** 2) + np.exp(-4 * d2 / scale_old[j, -1] ** 2)
                )
                / 2,
            }[weights]
    return expected


@pytest.mark.parametrize("weights", ["binary", "heat", "self_tuning"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "angle", "manhattan", "precomputed"])
def test_new_points_are_joined_to_their_nearest_by_the_same_rule(weights: str, metric: str) -> None:
    base = "euclidean" if metric == "precomputed" else metric
    inner = oracles.distance_matrix(OLD, OLD, base)
    outer = oracles.distance_matrix(NEW, OLD, base)
    old, new = (inner, outer) if metric == "precomputed" else (OLD, NEW)
    recipe = KnnGraph(5, metric=metric, weights=weights)
    attached = recipe.extend(recipe.build(old), old, new)
    assert_allclose(attached.toarray(), _by_hand(inner, outer, 5, weights), rtol=1e-9)
    assert attached.has_sorted_indices


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("new_kind", [csr_array, np.asarray])
def test_sparse_points_are_extended_by_sparse_or_dense_ones(metric: str, new_kind: Any) -> None:
    points = random_array((50, 30), density=0.3, rng=1).toarray()
    points[:, 0] = 0.5
    old, new = points[:45], points[45:]
    inner, outer = (oracles.distance_matrix(some, old, metric) for some in (old, new))
    recipe = KnnGraph(5, metric=metric)
    attached = recipe.extend(recipe.build(csr_array(old)), csr_array(old), new_kind(new))
    assert_allclose(attached.toarray(), _by_hand(inner, outer, 5, "self_tuning"), rtol=1e-9)
    dense = recipe.extend(recipe.build(old), old, csr_array(new))
    assert_allclose(dense.toarray(), attached.toarray(), rtol=1e-9)


def test_shared_weights_of_new_points_compare_lists_of_old_points() -> None:
    inner = oracles.distance_matrix(OLD, OLD, "")
    outer = oracles.distance_matrix(NEW, OLD, "")
    sets = [{i, *near.tolist()} for i, near in enumerate(oracles.neighbors(inner, 8)[0])]
    recipe = KnnGraph(5, weights=SharedNeighborWeights(8))
    attached = recipe.extend(recipe.build(OLD), OLD, NEW).toarray()
    for i, row in enumerate(outer):
        order = np.argsort(row)
        own = set(order[:8].tolist())
        for j in order[:5]:
            share = len(own & sets[j]) / len(own | sets[j])
            assert_allclose(attached[i, j], share**2 + 1e-6)
    assert (attached > 0).sum() == 45


@pytest.mark.parametrize("weights", ["binary", "self_tuning", "shared", HeatKernel(0.5)])
def test_a_new_point_identical_to_an_old_one_gets_its_edges(weights: Any) -> None:
    recipe = KnnGraph(5, weights=weights)
    graph = recipe.build(OLD)
    mixed = np.vstack([OLD[[40, 2]], NEW[:1]])
    attached = recipe.extend(graph, OLD, mixed)
    assert_array_equal(attached.toarray()[:2], graph.weights.toarray()[[40, 2]])
    assert_array_equal(attached.toarray()[2:], recipe.extend(graph, OLD, NEW[:1]).toarray())


def test_lists_are_read_and_small_sets_joined_to_all() -> None:
    recipe = KnnGraph(2)
    attached = recipe.extend(recipe.build([[0.0], [1.0], [3.0]]), [[0.0], [1.0], [3.0]], [[2.0]])
    assert attached.shape == (1, 3)
    assert attached.nnz == 2


def test_a_graph_of_given_weights_cannot_be_extended() -> None:
    with pytest.raises(InvalidInputError, match="holds no neighbour lists"):
        KnnGraph().extend(Graph.from_matrix(np.ones((3, 3))), OLD[:3], NEW)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (NEW[:, :2], "2 features and the graph was built from points with 3"),
        (np.full((1, 3), np.nan), "the new points contains NaN"),
        (NEW[0], "2-dimensional"),
    ],
)
@pytest.mark.parametrize("metric", ["euclidean", "angle", "manhattan"])
def test_unusable_new_points_are_refused(bad: np.ndarray, message: str, metric: str) -> None:
    recipe = KnnGraph(5, metric=metric)
    graph = recipe.build(OLD)
    with pytest.raises(InvalidInputError, match=message):
        recipe.extend(graph, OLD, bad)


def test_unusable_new_distances_are_refused() -> None:
    inner = oracles.distance_matrix(OLD, OLD, "")
    recipe = KnnGraph(5, metric="precomputed")
    graph = recipe.build(inner)
    for bad, message in (
        (np.ones((2, 59)), "all 60 points"),
        (-np.ones((2, 60)), "must not be negative"),
        (csr_array(np.ones((2, 60))), "sparse"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            recipe.extend(graph, inner, bad)


def test_a_new_point_without_direction_is_refused() -> None:
    for kind in (np.asarray, csr_array):
        recipe = KnnGraph(5, metric="cosine")
        graph = recipe.build(kind(OLD))
        with pytest.raises(InvalidInputError, match="the first is row 1"):
            recipe.extend(graph, kind(OLD), kind([[1.0, 0, 0], [0, 0, 0]]))
