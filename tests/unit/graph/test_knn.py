"""Neighbour lists and edges against brute force, over metrics, kinds of data and accidents."""

from typing import Any

import numba
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array
from sklearn.base import clone
from tests.support import graph_oracles as oracles

from beltrami import Graph, HeatKernel, KnnGraph, RadiusGraph
from beltrami.core.errors import (
    ConnectedByBridgesWarning,
    DegenerateDataWarning,
    DisconnectedGraphError,
    InvalidInputError,
    MemoryBudgetError,
)
from beltrami.core.machine import memory
from beltrami.graph import assembly


def _lists(points: Any, k: int = 6, **options: Any) -> tuple[Any, Any]:
    graph = KnnGraph(k, weights="binary", connect="keep", **options).build(points)
    assert graph.neighbors is not None
    return graph.neighbors.indices, graph.neighbors.distances


def _assert_lists(points: Any, expected: Any, k: int = 6, **options: Any) -> None:
    indices, distances = _lists(points, k, **options)
    assert_array_equal(indices, expected[0])
    assert_allclose(distances, expected[1], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "angle", "manhattan"])
@pytest.mark.parametrize("d", [1, 2, 8, 9, 30])
def test_neighbours_are_those_of_brute_force(metric: str, d: int) -> None:
    points = np.random.default_rng(d).normal(size=(120, d)) + (0.1 if d > 1 else 5)
    if metric in ("cosine", "angle") and d == 1:
        points = np.abs(points)  # all directions are one: every distance is zero
        with pytest.warns(DegenerateDataWarning, match="identical"):
            _lists(points, metric=metric)
        return
    truth = oracles.distance_matrix(points, points, metric)
    _assert_lists(points, oracles.neighbors(truth, 6), metric=metric)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "angle"])
def test_sparse_points_have_the_neighbours_of_their_dense_selves(metric: str) -> None:
    rng = np.random.default_rng(0)
    dense = random_array((90, 50), density=0.2, rng=rng).toarray()
    dense[:, 0] = rng.random(90)  # no row is empty
    sparse = csr_array(dense)
    truth = oracles.distance_matrix(sparse.toarray(), sparse.toarray(), metric)
    for given in (sparse, sparse.tocsc(), sparse.astype(np.float64).tocoo()):
        _assert_lists(given, oracles.neighbors(truth, 6), metric=metric)


def test_sparse_points_under_another_metric() -> None:
    sparse = random_array((40, 9), density=0.5, rng=0).tocsr()
    truth = oracles.distance_matrix(sparse.toarray(), sparse.toarray(), "manhattan")
    _assert_lists(sparse, oracles.neighbors(truth, 4), k=4, metric="manhattan")


def test_a_callable_metric_is_called() -> None:
    points = np.random.default_rng(0).normal(size=(30, 3))
    truth = oracles.distance_matrix(points, points, "manhattan")
    expected = oracles.neighbors(truth, 4)
    _assert_lists(points, expected, k=4, metric=lambda a, b: float(np.abs(a - b).sum()))


def test_precomputed_distances_dense_and_sparse() -> None:
    points = np.random.default_rng(0).normal(size=(50, 4))
    truth = oracles.distance_matrix(points, points, "euclidean")
    expected = oracles.neighbors(truth, 6)
    _assert_lists(truth, expected, metric="precomputed")
    near = np.where(truth <= np.sort(truth, axis=1)[:, [10]], truth, 0.0)
    _assert_lists(csr_array(near), expected, metric="precomputed")


def test_stored_zeros_of_sparse_distances_are_duplicates_and_keep_their_edges() -> None:
    rows, columns = np.nonzero(~np.eye(4, dtype=bool))
    distances = np.where((rows < 2) & (columns < 2), 0.0, 1.0)
    given = csr_array((distances, (rows, columns)), shape=(4, 4))
    graph = KnnGraph(1, metric="precomputed", weights="binary", connect="keep").build(given)
    assert graph.weights[0, 1] == 1


@pytest.mark.parametrize("d", [2, 9, 40])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_ties_go_to_the_lower_row_number(d: int, metric: str) -> None:
    points = np.random.default_rng(d).integers(0, 12 if d == 2 else 2, size=(150, d)).astype(float)
    truth = oracles.distance_matrix(points, points, metric)
    # The fifth other point is tied with the ninth in many rows: more ties than spare candidates.
    assert (np.sort(truth, axis=1)[:, 5] == np.sort(truth, axis=1)[:, 9]).mean() > 0.1
    _assert_lists(points, oracles.neighbors(truth, 5), k=5, metric=metric)


def test_ties_of_sparse_counts_go_to_the_lower_row_number() -> None:
    points = np.random.default_rng(0).integers(0, 2, size=(80, 12)).astype(float)
    truth = oracles.distance_matrix(points, points, "euclidean")
    _assert_lists(csr_array(points), oracles.neighbors(truth, 5), k=5)


@pytest.mark.parametrize("d", [2, 12])
def test_more_duplicates_than_neighbours_keep_their_edges(d: int) -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(600, d))
    same = np.sort(rng.permutation(600)[:300])
    points[same] = points[same[0]]
    truth = oracles.distance_matrix(points, points, "")
    _assert_lists(points, oracles.neighbors(truth, 5), k=5)
    graph = KnnGraph(5, weights="binary", connect="keep").build(points)
    membership = graph.components()[1]
    assert len(set(membership[same])) == 1
    assert graph.weights[same[200], same[0]] == 1


@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("weights", ["self_tuning", "heat", "shared", "binary"])
def test_identical_points_warn_and_weigh_one_everywhere(d: int, weights: str) -> None:
    with pytest.warns(DegenerateDataWarning, match="identical to all its neighbours"):
        graph = KnnGraph(4, weights=weights).build(np.ones((30, d)))
    assert graph.components()[0] == 1
    assert np.isfinite(graph.weights.data).all()
    if weights != "shared":
        assert_array_equal(graph.weights.data, 1.0)


def test_two_points_are_joined_and_the_lowered_neighbours_are_announced() -> None:
    with pytest.warns(DegenerateDataWarning, match="n_neighbors=10 was lowered to 1"):
        graph = KnnGraph().build([[0.0], [1.0]])
    assert graph.n_edges == 1
    with pytest.warns(DegenerateDataWarning, match="n_neighbors=7 was lowered to 6"):
        graph = KnnGraph(7).build(np.random.default_rng(0).normal(size=(7, 12)))
    assert graph.n_edges == 21


def test_one_point_is_refused() -> None:
    for recipe in (KnnGraph(), RadiusGraph(1.0)):
        with pytest.raises(InvalidInputError, match="at least 2 points"):
            recipe.build([[0.0, 1.0]])


@pytest.mark.parametrize("d", [4, 15])
def test_a_constant_column_changes_nothing(d: int) -> None:
    points = np.random.default_rng(0).normal(size=(80, d))
    plain = _lists(points)
    _assert_lists(np.column_stack([points, np.full(80, 7.0)]), plain)


@pytest.mark.parametrize("d", [4, 15])
def test_small_differences_far_from_the_origin_are_seen(d: int) -> None:
    points = 1e6 + 1e-3 * np.random.default_rng(0).normal(size=(120, d))
    _assert_lists(points, oracles.neighbors(oracles.distance_matrix(points, points, ""), 6))


def test_clusters_too_far_apart_for_float32_have_the_right_neighbours() -> None:
    """Products in float32 of points at 1 and -1 cannot tell distances of 1e-6 apart."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 12)) + 1e6 * np.repeat([[1.0], [-1.0]], 100, axis=0)
    _assert_lists(points, oracles.neighbors(oracles.distance_matrix(points, points, ""), 6))


def test_one_far_outlier_spoils_no_neighbours() -> None:
    points = np.random.default_rng(0).normal(size=(200, 12))
    points[17] = 1e9
    _assert_lists(points, oracles.neighbors(oracles.distance_matrix(points, points, ""), 6))


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_directions_do_not_depend_on_units_even_extreme_ones(scale: float, kind: Any) -> None:
    points = np.random.default_rng(0).normal(size=(60, 12))
    plain = _lists(points, metric="angle")
    indices, distances = _lists(kind(points * scale), metric="angle")
    assert_array_equal(indices, plain[0])
    assert_allclose(distances, plain[1], rtol=1e-9)


@pytest.mark.parametrize("d", [3, 20])
def test_float32_points_have_the_exact_neighbours_of_their_values(d: int) -> None:
    points = (100 + np.random.default_rng(0).normal(size=(120, d))).astype(np.float32)
    truth = oracles.distance_matrix(points, points, "")
    _assert_lists(points, oracles.neighbors(truth, 6))


def test_a_frame_is_its_values() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=list("abc"))
    _assert_lists(frame, _lists(frame.to_numpy()))


@pytest.mark.parametrize("mutual", [False, True])
def test_union_and_mutual_edges_are_those_of_the_lists(mutual: bool) -> None:
    points = np.random.default_rng(0).normal(size=(60, 2))
    expected = oracles.adjacency(
        oracles.neighbors(oracles.distance_matrix(points, points, ""), 4)[0], mutual=mutual
    )
    symmetry = "mutual" if mutual else "union"
    graph = KnnGraph(4, weights="binary", symmetry=symmetry, connect="keep").build(points)
    assert_array_equal(graph.weights.toarray(), expected)


@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("weights", ["binary", "self_tuning", "heat", "shared"])
def test_permuting_the_rows_permutes_the_graph(d: int, weights: str) -> None:
    points = np.random.default_rng(0).normal(size=(70, d))
    order = np.random.default_rng(1).permutation(70)
    recipe = KnnGraph(5, weights=weights, connect="keep")
    expected = recipe.build(points).weights.toarray()[np.ix_(order, order)]
    assert_allclose(recipe.build(points[order]).weights.toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("d", [3, 20])
def test_the_number_of_threads_changes_nothing_and_is_put_back(d: int, metric: str) -> None:
    points = np.random.default_rng(0).normal(size=(200, d))
    before = numba.get_num_threads()
    one = KnnGraph(5, metric=metric, n_jobs=1).build(points)
    two = KnnGraph(5, metric=metric, n_jobs=2).build(points)
    assert numba.get_num_threads() == before
    assert (one.weights != two.weights).nnz == 0


def test_an_all_zero_row_has_no_direction_and_is_named() -> None:
    points = np.ones((6, 12))
    points[4] = 0
    for given in (points, csr_array(points)):
        with pytest.raises(InvalidInputError, match="the first is row 4"):
            KnnGraph(2, metric="cosine").build(given)


@pytest.mark.parametrize(
    ("option", "listed"),
    [
        ({"metric": "euclidian"}, "'euclidean', 'cosine', 'angle', 'precomputed'"),
        ({"metric": 3}, "a name or a callable"),
        ({"weights": "gaussian"}, "'binary', 'heat', 'self_tuning', 'shared'"),
        ({"weights": HeatKernel}, "'binary', 'heat', 'self_tuning', 'shared'"),
        ({"search": "fast"}, "'auto', 'exact', 'approximate'"),
        ({"symmetry": "both"}, "'union', 'mutual'"),
        ({"connect": "yes"}, "'mst', 'keep', 'raise'"),
        ({"n_neighbors": 0}, "at least 1"),
        ({"n_neighbors": 2.5}, "integer"),
    ],
)
def test_a_wrong_option_lists_the_right_ones(option: dict[str, Any], listed: str) -> None:
    with pytest.raises(InvalidInputError, match=listed):
        KnnGraph(**option).build(np.random.default_rng(0).normal(size=(20, 3)))


def test_components_can_be_kept_bridged_or_refused() -> None:
    points = [[0.0], [1.0], [5.0], [6.0]]
    kept = KnnGraph(1, weights="binary", connect="keep").build(points)
    assert kept.components()[0] == kept.certificate.n_components_found == 2
    with pytest.warns(ConnectedByBridgesWarning, match="2 components; 1 bridge.*length 4"):
        joined = KnnGraph(1, weights="binary").build(points)
    assert joined.weights[1, 2] == 1
    assert (joined.certificate.n_bridges, joined.n_edges) == (1, 3)
    assert "1 component, 1 bridge;" in repr(joined)
    with pytest.raises(DisconnectedGraphError, match=r"KnnGraph\(.*2 components.*with 2 point"):
        KnnGraph(1, weights="binary", connect="raise").build(points)


def test_sparse_distances_cannot_be_bridged_and_say_so() -> None:
    near = csr_array(np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(InvalidInputError, match=r"do not say how far.*connect='keep'"):
        KnnGraph(1, metric="precomputed", weights="binary").build(near)
    assert KnnGraph(1, metric="precomputed", connect="keep").build(near).components()[0] == 2


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.ones((3, 2)), "square matrix"),
        (-np.ones((3, 3)), "must not be negative, and 9 are"),
        (np.full((3, 3), np.nan), "NaN"),
        (np.triu(np.ones((3, 3))), "symmetric"),
        (csr_array(-np.eye(3)[::-1]), "must not be negative"),
        (csr_array(np.full((3, 3), np.inf)), "infinity"),
        (csr_array(np.eye(3, k=1) + np.eye(3, k=-1)), "fewer than 2 other points"),
    ],
)
def test_unusable_distances_are_refused(bad: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        KnnGraph(2, metric="precomputed").build(bad)


def test_recipes_have_parameters_clones_and_nested_names() -> None:
    recipe = KnnGraph(7, weights=HeatKernel(2.0))
    copy = clone(recipe)
    assert copy is not recipe
    assert copy.weights is not recipe.weights
    assert copy.get_params()["weights__t"] == 2.0
    copy.set_params(n_neighbors=3, weights__t="auto")
    assert (copy.n_neighbors, copy.weights.t, recipe.weights.t) == (3, "auto", 2.0)
    assert clone(RadiusGraph(0.5, weights=HeatKernel(1.0))).radius == 0.5


def test_building_does_not_change_the_recipe_or_the_points() -> None:
    points = np.random.default_rng(0).normal(size=(30, 12))
    recipe, before = KnnGraph(4), points.copy()
    parameters = recipe.get_params()
    assert isinstance(recipe.build(points), Graph)
    assert recipe.get_params() == parameters
    assert vars(recipe).keys() == parameters.keys()
    assert_array_equal(points, before)


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("scale", [1e155, 1e200, 1e307])
def test_points_whose_squared_distances_overflow_are_refused(d: int, scale: float) -> None:
    points = scale * np.random.default_rng(0).uniform(-1, 1, size=(60, d))
    with pytest.raises(InvalidInputError, match=r"squares of such distances .* Scale the columns"):
        KnnGraph(5).build(points)


@pytest.mark.parametrize("d", [2, 20])
def test_a_new_point_however_far_is_attached_or_refused(d: int) -> None:
    points = np.random.default_rng(0).normal(size=(60, d))
    recipe = KnnGraph(5, connect="keep")
    graph = recipe.build(points)
    for far in (1e20, 1e100, 1e152):
        assert np.isfinite(recipe.extend(graph, points, np.full((1, d), far)).data).all()
    for far in (1e155, 1e200, 1e308):
        with pytest.raises(InvalidInputError, match=r"a new point is farther .* Scale the columns"):
            recipe.extend(graph, points, np.full((1, d), far))


@pytest.mark.parametrize("at_least", [1, 2])
def test_edges_are_sorted_range_by_range_as_all_at_once(
    at_least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 50, (2, 900))
    distances = rng.random(900)
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    keys, first, counts = np.unique(low * 50 + high, return_index=True, return_counts=True)
    keep = counts >= at_least
    for size in (assembly._ENDS, 7, 1):
        monkeypatch.setattr(assembly, "_ENDS", size)
        edges = assembly.unique_edges(rows, columns, distances, at_least)
        assert_array_equal(edges.rows * 50 + edges.columns, keys[keep])
        assert_array_equal(edges.distances, distances[first[keep]])


def test_a_sparse_search_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    points = random_array((200, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    monkeypatch.setattr(memory, "available_bytes", lambda: 12 * points.nnz)
    with pytest.raises(MemoryBudgetError, match=f"200 sparse points with {points.nnz} entries"):
        KnnGraph(3, connect="keep").build(points)
