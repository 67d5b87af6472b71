import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.support import graph_oracles as oracles

from beltrami import HeatKernel, KnnGraph, RadiusGraph
from beltrami.core.errors import BeltramiWarning, DegenerateDataWarning, InvalidInputError
from beltrami.graph import weights as rules
from beltrami.graph.model import Neighbors
from beltrami.graph.search import open_space
from beltrami.graph.weights import (
    WEIGHT_FLOOR,
    Edges,
    SelfTuningWeights,
    SharedNeighborWeights,
    weight_rule,
)

POINTS = np.random.default_rng(0).normal(size=(60, 3))
TRUTH = oracles.distance_matrix(POINTS, POINTS, "")
LISTS, LENGTHS = oracles.neighbors(TRUTH, 5)
EDGES = oracles.adjacency(LISTS)


def _weights(rule: object) -> np.ndarray:
    return KnnGraph(5, weights=rule, connect="keep").build(POINTS).weights.toarray()


def test_binary_weights_are_one_on_edges() -> None:
    assert_array_equal(_weights("binary"), EDGES)
    assert_array_equal(_weights(HeatKernel(t=np.inf)), EDGES)


def test_heat_weights_have_four_t_in_the_exponent() -> None:
    assert_allclose(_weights(HeatKernel(t=0.3)), np.where(EDGES, np.exp(-(TRUTH**2) / 1.2), 0))


def test_automatic_heat_takes_a_quarter_of_the_mean_squared_length_listed() -> None:
    t = (LENGTHS**2).mean() / 4
    expected = np.where(EDGES, np.exp(-(TRUTH**2) / (4 * t)), 0)
    assert_allclose(_weights("heat"), expected)
    assert_allclose(_weights(HeatKernel("auto")), expected)


def test_self_tuning_averages_two_gaussians_of_own_scale() -> None:
    scale = LENGTHS[:, -1:]
    one_sided = np.exp(-4 * TRUTH**2 / scale**2)
    assert_allclose(_weights("self_tuning"), np.where(EDGES, (one_sided + one_sided.T) / 2, 0))


@pytest.mark.parametrize("n_shared", [5, 12])
def test_shared_weights_are_squared_jaccard_similarities(n_shared: int) -> None:
    wide = oracles.neighbors(TRUTH, n_shared)[0]
    sets = [{i, *near.tolist()} for i, near in enumerate(wide)]
    expected = np.zeros((60, 60))
    for i, j in np.argwhere(EDGES):
        expected[i, j] = (len(sets[i] & sets[j]) / len(sets[i] | sets[j])) ** 2 + 1e-6
    assert_allclose(_weights(SharedNeighborWeights(n_shared)), expected, rtol=1e-12)


def test_shared_looks_at_thirty_neighbours_or_at_all_there_are() -> None:
    graph = KnnGraph(5, weights="shared", connect="keep").build(POINTS)
    assert graph.neighbors is not None
    assert graph.neighbors.indices.shape == (60, 30)
    small = KnnGraph(5, weights="shared", connect="keep").build(POINTS[:12])
    # Everyone's set is everyone.
    assert_allclose(small.weights.data, 1 + 1e-6)
    with pytest.raises(InvalidInputError, match="n_shared=0"):
        KnnGraph(5, weights=SharedNeighborWeights(0)).build(POINTS)


@pytest.mark.parametrize("factor", [1e-160, 1e-3, 1e5])
@pytest.mark.parametrize("weights", ["self_tuning", "shared", "binary"])
def test_rules_without_a_width_do_not_depend_on_units(factor: float, weights: str) -> None:
    edges = Edges(np.array([0]), np.array([1]), np.array([2.0]) * factor)
    lists = Neighbors(np.array([[1, 2], [0, 2], [0, 1]]), np.array([[2.0, 3], [2, 4], [3, 4]]))
    scaled = Neighbors(lists.indices, lists.distances * factor)
    plain = weight_rule(weights).weigh(Edges(*edges_of(2.0)), lists, lists)
    assert_allclose(weight_rule(weights).weigh(edges, scaled, scaled), plain, rtol=1e-12)


def edges_of(distance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.array([0]), np.array([1]), np.array([distance])


def test_a_scale_of_zero_gives_one_to_duplicates_and_nothing_to_others() -> None:
    lists = Neighbors(np.array([[1], [0], [3], [2]]), np.array([[0.0], [0.0], [2.0], [2.0]]))
    rows, columns = np.array([0, 0, 2]), np.array([1, 2, 3])
    edges = Edges(rows, columns, np.array([0.0, 2.0, 2.0]))
    weights = SelfTuningWeights().weigh(edges, lists, lists)
    assert_allclose(weights, [1, np.exp(-4) / 2, np.exp(-4)])


def test_weights_that_vanish_are_floored_once_with_one_warning() -> None:
    points = [[0.0], [1.0], [2.0]]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        graph = KnnGraph(1, weights=HeatKernel(1e-4)).build(points)
    assert [str(w.message)[:12] for w in seen if w.category is DegenerateDataWarning] == [
        "2 of 2 edges"
    ]
    assert_array_equal(graph.weights.data, WEIGHT_FLOOR)


def test_the_advice_on_vanishing_weights_fits_the_rule_and_the_warning_points_here() -> None:
    with pytest.warns(DegenerateDataWarning, match="use weights='self_tuning'") as seen:
        KnnGraph(1, weights=HeatKernel(1e-4)).build([[0.0], [1.0], [2.0]])
    assert {warning.filename for warning in seen} == {__file__}


def test_a_bridge_between_far_clusters_is_faint_but_felt() -> None:
    with pytest.warns(BeltramiWarning) as seen:
        graph = KnnGraph(1).build([[0.0], [1.0], [50.0], [51.0]])
    assert [str(warning.message)[:14] for warning in seen] == ["the graph fell"]
    assert seen[0].filename == __file__
    assert graph.certificate.n_bridges == 1
    assert_allclose(graph.weights[1, 2], 1e-6 * graph.weights[0, 1])


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, "wide", None])
def test_a_wrong_t_is_refused(bad: object) -> None:
    with pytest.raises(InvalidInputError, match="t="):
        _weights(HeatKernel(bad))  # type: ignore[arg-type]


@pytest.mark.parametrize("weights", ["self_tuning", "shared"])
def test_rules_that_need_lists_refuse_a_radius_graph(weights: str) -> None:
    with pytest.raises(InvalidInputError, match=r"needs neighbour lists.*KnnGraph"):
        RadiusGraph(2.0, weights=weights).build(POINTS)


def test_a_rule_of_ones_own_is_taken_as_it_is() -> None:
    class Halves:
        def reach(self, n_neighbors: int) -> int:
            return n_neighbors

        def weigh(self, edges: Edges, left: object, right: object) -> np.ndarray:
            return np.full(len(edges.rows), 0.5)

    assert_array_equal(_weights(Halves()), EDGES / 2)


@pytest.mark.parametrize("weights", ["self_tuning", "shared", "tuned_shared", "heat"])
def test_an_edge_weighs_the_same_alone_and_among_others_whatever_the_ranges(
    weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    lists = open_space(POINTS, "euclidean").neighbors(30, search="exact", rng=rng)
    rows, columns = rng.integers(0, 60, (2, 200))
    distances = np.linalg.norm(POINTS[rows] - POINTS[columns], axis=1)
    rule = weight_rule(weights)
    whole = rule.weigh(Edges(rows, columns, distances), lists, lists)
    some = [3, 77, 150]
    alone = rule.weigh(Edges(rows[some], columns[some], distances[some]), lists, lists)
    assert_array_equal(alone, whole[some])
    none = rule.weigh(Edges(rows[:0], columns[:0], distances[:0]), lists, lists)
    assert len(none) == 0
    monkeypatch.setattr(rules, "_EDGES", 7)
    assert_array_equal(rule.weigh(Edges(rows, columns, distances), lists, lists), whole)
