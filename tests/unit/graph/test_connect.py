"""Bridges against Kruskal's algorithm on all pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from tests.support import graph_oracles as oracles

from beltrami import KnnGraph, RadiusGraph
from beltrami.core.errors import ConnectedByBridgesWarning, InvalidInputError
from beltrami.graph import _loops, clumps, connect
from beltrami.graph.connect import shortest_bridges
from beltrami.graph.search import open_space


def _check(points: np.ndarray, membership: np.ndarray, metric: str = "euclidean") -> None:
    truth = oracles.distance_matrix(points, points, metric)
    bridges = shortest_bridges(open_space(points, metric), membership.astype(np.int32))
    assert len(bridges.rows) == membership.max()
    assert_allclose(bridges.distances, truth[bridges.rows, bridges.columns], rtol=1e-12, atol=1e-15)
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
        euclidean = None

        def nearest_between(self, rows: np.ndarray, base: np.ndarray, k: int) -> tuple:
            return np.repeat(rows[:, None], k, axis=1), np.zeros((len(rows), k))

    with pytest.raises(InvalidInputError, match="2 components cannot be bridged"):
        shortest_bridges(Blind(), np.array([0, 0, 1, 1], dtype=np.int32))  # type: ignore[arg-type]


@pytest.mark.parametrize("n_parts", [2, 5, 17])
def test_a_few_components_are_joined_as_round_by_round(
    n_parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(n_parts)
    parts = rng.permutation(np.repeat(np.arange(n_parts), 70)).astype(np.int32)
    points = 9 * rng.normal(size=(n_parts, 4))[parts] + rng.normal(size=(len(parts), 4))
    space = open_space(points, "euclidean")
    at_once = shortest_bridges(space, parts)
    monkeypatch.setattr(connect, "_FEW", 0)
    by_rounds = shortest_bridges(space, parts)
    assert _ends(at_once) == _ends(by_rounds)
    assert at_once.n_rough == 0


def _ends(bridges: connect.Bridges) -> set[tuple[int, ...]]:
    return {tuple(sorted(pair)) for pair in zip(bridges.rows, bridges.columns, strict=True)}


# Large data: the ways out are searched by clumps.


@pytest.fixture
def by_clumps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "_EXACT_PAIRS", 0)


@pytest.mark.usefixtures("by_clumps")
@pytest.mark.parametrize("d", [2, 3, 12])
@pytest.mark.parametrize("n_parts", [2, 9, 300])
@pytest.mark.parametrize("metric", ["euclidean", "angle"])
def test_bridges_that_are_said_to_be_shortest_are(d: int, n_parts: int, metric: str) -> None:
    rng = np.random.default_rng(n_parts)
    centers = 4 * rng.normal(size=(n_parts, d))
    membership = rng.permutation(np.arange(1200) % n_parts).astype(np.int32)
    points = centers[membership] + 0.1 * rng.normal(size=(1200, d))
    points += 20 * (metric == "euclidean")  # angles would lose their digits
    bridges = shortest_bridges(open_space(points, metric), membership)
    if bridges.n_rough == 0:
        _check(points, membership, metric)
    # Hundreds of parts on a circle have more close pairs than are listed.
    assert bridges.n_rough == 0 or (metric == "angle" and n_parts == 300)


@pytest.mark.usefixtures("by_clumps")
def test_bridges_between_duplicates_and_interleaved_parts_are_shortest() -> None:
    rng = np.random.default_rng(0)
    points = rng.integers(0, 4, size=(900, 4)).astype(float)
    _check(points, rng.permutation(np.arange(900) % 37))
    _check(np.ones((900, 4)), rng.permutation(np.arange(900) % 5))


@pytest.mark.usefixtures("by_clumps")
def test_where_the_bounds_do_not_tell_the_bridge_is_called_rough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = np.random.default_rng(0).normal(size=(2000, 30))
    points[1000:, 0] += 500
    monkeypatch.setattr(clumps, "_COMPARED", 100_000)
    with pytest.warns(ConnectedByBridgesWarning, match=r"\(1 may not be the very shortest\)"):
        graph = KnnGraph(5).build(points)
    made = graph.certificate
    assert (made.n_components_found, made.n_bridges, made.n_rough_bridges) == (2, 1, 1)
    truth = oracles.distance_matrix(points[:1000], points[1000:], "euclidean")
    bridge = graph.weights[:1000, 1000:].tocoo()
    assert truth.min() <= truth[bridge.coords][0] < np.quantile(truth, 0.01)


def test_the_loop_over_pairs_of_clumps_is_its_twin() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 17))
    points[150:] += 3
    parts = (np.arange(300) // 50).astype(np.int64)
    made = clumps.Clumps.of(open_space(points, "euclidean"), parts)  # type: ignore[arg-type]
    lefts, rights = (side.ravel() for side in np.indices((len(made.radii),) * 2))
    apart = parts[made.rows[made.starts[lefts]]] != parts[made.rows[made.starts[rights]]]
    lefts, rights = lefts[apart], rights[apart]
    gaps = np.linalg.norm(made.centers[lefts] - made.centers[rights], axis=1)
    bounds = gaps - made.radii[lefts] - made.radii[rights]
    order = np.argsort(bounds)
    half = len(order) // 2
    order = np.concatenate([np.sort(order[::2]), np.sort(order[1::2])])
    order = np.concatenate([part[np.argsort(bounds[part])] for part in np.split(order, [half])])
    firsts = np.array([0, half, len(order)])
    lengths, ends, unseen = _loops.closest_pairs(
        points, made.rows, made.starts, made.centers, made.radii, lefts[order], rights[order],
        bounds[order], firsts, np.full(2, np.inf), 10**6,
    )  # fmt: skip
    expected = _loops.closest_pairs_reference(
        points, made.rows, made.starts, lefts[order], rights[order], firsts
    )
    assert (lengths <= unseen).all()
    assert_allclose(lengths, expected, rtol=1e-12)
    assert_allclose(np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1), lengths)


# Large data without dense coordinates: some points of each part stand for all.


def test_delegates_are_some_of_each_part_and_few_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "_EXACT_PAIRS", 100.0**2)
    parts = np.random.default_rng(0).permutation(np.repeat(np.arange(7), [1, 2, 3, 50, 90, 800, 9]))
    asked = connect._delegates(parts)
    assert (np.diff(asked) > 0).all()
    counts = np.bincount(parts[asked])
    assert_array_equal(counts[[0, 1, 2, 6]], [1, 2, 3, 9])
    assert len(set(counts[3:6].tolist())) == 1
    assert 80 < len(asked) <= 100
    assert len(connect._delegates(np.arange(300))) == 300  # one of each, however many they are


def test_sparse_parts_too_large_for_all_pairs_are_joined_by_some_of_their_points(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    points = rng.random((3000, 20)) * (rng.random((3000, 20)) < 0.5)
    parts = rng.permutation(np.repeat(np.arange(6), [1400, 900, 600, 80, 18, 2])).astype(np.int32)
    points[:, 0] += 30 * parts  # in a row, farther apart than they are wide
    space = open_space(csr_array(points), "euclidean")
    exact = shortest_bridges(space, parts)
    assert exact.n_rough == 0
    compared = []
    known = type(space).nearest_between
    monkeypatch.setattr(
        type(space),
        "nearest_between",
        lambda own, rows, base, k: (
            compared.append(len(rows) * len(base)) or known(own, rows, base, k)
        ),
    )
    monkeypatch.setattr(connect, "_EXACT_PAIRS", 400.0**2)
    rough = shortest_bridges(space, parts)
    assert rough.n_rough == len(rough.rows) == 5
    assert max(compared) <= 400**2
    # They join the parts as the shortest do, and are little longer.
    joined = [
        {frozenset(pair) for pair in zip(parts[b.rows], parts[b.columns], strict=True)}
        for b in (exact, rough)
    ]
    assert joined[0] == joined[1]
    assert exact.distances.sum() <= rough.distances.sum() < 1.05 * exact.distances.sum()
    truth = np.linalg.norm(points[rough.rows] - points[rough.columns], axis=1)
    assert_allclose(rough.distances, truth, rtol=1e-12)
