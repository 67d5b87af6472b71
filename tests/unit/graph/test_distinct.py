"""Neighbours that differ, where many points are equal."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_moons

from beltrami import KnnGraph, ManifoldClassifier
from beltrami.core.errors import DegenerateDataWarning
from beltrami.core.store import Parcel
from beltrami.graph.distinct import DistinctKnnGraph, EqualPoints
from beltrami.graph.model import Neighbors
from beltrami.graph.storing import pack_graph, unpack_graph


def _codes(n: int = 400, *, columns: int = 3, levels: int = 4, seed: int = 0) -> np.ndarray:
    """Return rows of codes, few of which differ, the lower ones more often."""
    rng = np.random.default_rng(seed)
    return np.floor(levels * rng.random((n, columns)) ** 1.5)


def distinct_graph_reference(points: np.ndarray, k: int, symmetry: str) -> np.ndarray:
    """Twin of `DistinctKnnGraph` with self-tuning weights, row by row, written to be believed."""
    n, different = len(points), np.unique(points, axis=0)
    groups = [np.flatnonzero((points == one).all(axis=1)) for one in different]
    groups.sort(key=lambda rows: rows[0])
    first = np.array([rows[0] for rows in groups])
    apart = cdist(points[first], points[first])
    count = min(k, int(np.sqrt(len(first))))
    order = [[h for h in np.lexsort((first, row)) if h != g][:k] for g, row in enumerate(apart)]
    scale = [apart[g, order[g][-1]] for g in range(len(first))]
    weights, listed = np.zeros((n, n)), np.zeros((n, n), dtype=bool)
    for g, rows in enumerate(groups):
        for h in order[g][:count]:
            near, far = (np.exp(-4 * (apart[g, h] / scale[one]) ** 2) for one in (g, h))
            for place, row in enumerate(rows):
                other = groups[h][place % len(groups[h])]
                weights[row, other] = weights[other, row] = (near + far) / 2
                listed[row, other] = True
    if symmetry == "mutual":
        weights *= listed & listed.T
    for rows in groups:
        base = next(b for b in range(2, n + 2) if b**5 >= len(rows))
        for step in (base**power for power in range(5) if base**power < len(rows)):
            for place, row in enumerate(rows):
                other = rows[(place + step) % len(rows)]
                weights[row, other] = weights[other, row] = 1.0
    return weights


@pytest.mark.parametrize("symmetry", ["union", "mutual"])
@pytest.mark.parametrize(("n", "columns"), [(400, 3), (300, 2), (150, 3)])
def test_the_graph_is_its_twin(n, columns, symmetry):
    points = _codes(n, columns=columns)
    graph = DistinctKnnGraph(10, symmetry=symmetry, connect="keep").build(points)
    expected = distinct_graph_reference(points, 10, symmetry)
    assert_allclose(graph.weights.toarray(), expected, rtol=1e-9)
    assert graph.neighbors.first_equals is not None


def test_an_edge_weighs_what_it_weighs_in_the_graph_of_different_points():
    """Shared neighbours, too, are counted among points that differ."""
    different = np.random.default_rng(0).normal(size=(120, 3))
    group = np.repeat(np.arange(120), 1 + np.arange(120) % 13)
    expected = KnnGraph(10, weights="tuned_shared").build(different).weights
    found = DistinctKnnGraph(10, weights="tuned_shared").build(different[group]).weights.tocoo()
    ends = group[found.coords[0]], group[found.coords[1]]
    differ = ends[0] != ends[1]
    assert_allclose(found.data[differ], np.asarray(expected[ends]).ravel()[differ], rtol=1e-9)
    assert_allclose(found.data[~differ], 1.0, rtol=1e-5)
    assert len(np.unique(np.stack(ends)[:, differ], axis=1).T) == expected.nnz


def test_piles_that_are_joined_to_others_are_no_reason_to_warn():
    points = np.repeat(np.arange(12.0)[:, None], 40, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DistinctKnnGraph(10).build(points)
    with pytest.warns(DegenerateDataWarning, match="identical to all its neighbours"):
        DistinctKnnGraph(10).build(np.zeros((40, 2)))


def test_points_that_differ_have_the_graph_of_all_neighbours_to_the_bit():
    points = np.random.default_rng(0).normal(size=(300, 4))
    points[:12] = points[12:24]  # some copies are no reason yet
    options = {"metric": "euclidean", "weights": "tuned_shared", "random_state": 0}
    ours, plain = (recipe(10, **options).build(points) for recipe in (DistinctKnnGraph, KnnGraph))
    assert ours.certificate == plain.certificate
    for name in ("data", "indices", "indptr"):
        assert_array_equal(getattr(ours.weights, name), getattr(plain.weights, name))
    for name in ("indices", "distances", "first_equals"):
        assert_array_equal(getattr(ours.neighbors, name), getattr(plain.neighbors, name))


def test_too_few_different_points_have_the_graph_of_all_neighbours():
    points = np.repeat(np.arange(10.0)[:, None], 20, axis=0)
    options = {"weights": "self_tuning", "connect": "keep"}
    with pytest.warns(DegenerateDataWarning, match="identical"):
        ours = DistinctKnnGraph(10, **options).build(points)
    with pytest.warns(DegenerateDataWarning, match="identical"):
        plain = KnnGraph(10, **options).build(points)
    assert abs(ours.weights - plain.weights).max() == 0
    assert ours.neighbors.first_equals is None


def test_a_row_of_piles_is_a_path_of_one_piece():
    points = np.repeat(np.arange(12.0)[:, None], 30, axis=0)
    with pytest.warns(DegenerateDataWarning, match="identical"):
        assert KnnGraph(10, connect="keep").build(points).components()[0] == 12
    graph = DistinctKnnGraph(10, connect="keep").build(points)
    assert graph.components()[0] == 1
    rows, columns = graph.weights.nonzero()
    assert np.abs(points[rows, 0] - points[columns, 0]).max() <= 3  # of isqrt(12) = 3 neighbours


def test_neighbours_and_their_number_do_not_depend_on_how_often_points_are_repeated():
    few, many = (np.repeat(_codes(200), times, axis=0) for times in (12, 24))
    lists = [DistinctKnnGraph().build(points).neighbors for points in (few, many)]
    assert lists[0].distances.min() > 0
    assert_array_equal(lists[0].distances[::12], lists[1].distances[::24])
    assert_array_equal(lists[0].indices[::12] // 12, lists[1].indices[::24] // 24)


def test_edges_are_few_however_many_points_are_equal():
    points = np.repeat(np.arange(20.0)[:, None], 1000, axis=0)
    graph = DistinctKnnGraph(10).build(points)
    assert graph.n_edges <= 2 * 10 * len(points)
    assert np.diff(graph.weights.indptr).max() <= 4 * 10


@pytest.mark.parametrize("size", [2, 3, 11, 32, 33, 1000, 5000])
def test_copies_are_a_few_steps_apart_and_tied_to_ten_at_most(size):
    rows, columns = EqualPoints(np.zeros(size, dtype=np.intp)).around()
    ties = csr_array((np.ones(len(rows)), (rows, columns)), shape=(size, size))
    reached, n_steps = np.arange(size) == 0, 0
    while not reached.all():
        reached = reached | ((ties + ties.T) @ reached > 0)
        n_steps += 1
    base = next(b for b in range(2, size + 2) if b**5 >= size)
    assert n_steps <= 5 * base
    assert np.diff((ties + ties.T).indptr).max() <= 10
    assert (rows != columns).all()


@pytest.mark.parametrize("metric", ["angle", "cosine", "manhattan"])
def test_points_at_distance_zero_are_equal_in_any_metric(metric):
    points = 1 + _codes(seed=1)
    graph = DistinctKnnGraph(10, metric=metric).build(points)
    assert graph.neighbors.distances.min() > 0
    assert len(np.unique(graph.neighbors.first_equals)) <= 64


def test_sparse_points_and_distances_have_the_graph_of_their_points():
    points = _codes()
    expected = DistinctKnnGraph(10, weights="tuned_shared").build(points).weights.toarray()
    sparse = DistinctKnnGraph(10, weights="tuned_shared").build(csr_array(points))
    assert_allclose(sparse.weights.toarray(), expected, rtol=1e-9)
    recipe = DistinctKnnGraph(10, weights="tuned_shared", metric="precomputed")
    assert_allclose(recipe.build(cdist(points, points)).weights.toarray(), expected, rtol=1e-9)


def test_groups_that_an_inexact_search_left_apart_are_made_one():
    lists = Neighbors(np.array([[1], [0], [3], [2], [0]]), np.array([[0.0], [0], [0], [0], [1]]))
    parts = EqualPoints.of(lists)
    assert_array_equal(parts.group, [0, 0, 1, 1, 2])
    whole = parts.merge(Neighbors(np.array([[1], [0], [0]]), np.array([[0.0], [0], [1]])))
    assert_array_equal(whole.group, [0, 0, 0, 0, 1])


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_new_points_are_joined_to_different_points_and_equal_ones_to_their_twins(metric):
    points = _codes()
    new = np.concatenate([points[[7, 30]], points[:5] + 0.25])
    old = points if metric == "euclidean" else cdist(points, points)
    others = new if metric == "euclidean" else cdist(new, points)
    recipe = DistinctKnnGraph(10, metric=metric, weights="tuned_shared")
    graph = recipe.build(old)
    tie = recipe.attach(graph, old, others)
    twins = [np.flatnonzero((points == one).all(axis=1))[0] for one in points[[7, 30]]]
    assert_array_equal(tie.twins, [*twins, -1, -1, -1, -1, -1])
    assert_allclose(tie.weights[[0]].toarray(), graph.weights[[twins[0]]].toarray())
    n_different = len(np.unique(points, axis=0))
    for row in range(2, 7):
        joined = tie.weights[[row]].indices
        assert len(joined) == min(10, int(np.sqrt(n_different)))
        assert len(np.unique(points[joined], axis=0)) == len(joined)


def test_new_points_of_points_that_differ_are_joined_as_ever():
    points, new = np.split(np.random.default_rng(0).normal(size=(50, 3)), [40])
    ties = [
        recipe.attach(recipe.build(points), points, new).weights
        for recipe in (DistinctKnnGraph(10), KnnGraph(10))
    ]
    assert (ties[0] != ties[1]).nnz == 0


def test_distances_of_which_only_some_are_given_have_the_graph_of_all_neighbours():
    points = np.repeat(np.arange(30.0)[:, None], 12, axis=0)
    distances = cdist(points, points)
    listed = KnnGraph(14, connect="keep").build(points).neighbors
    rows = np.repeat(np.arange(len(points)), 14)
    ends = rows, listed.indices.ravel()
    given = csr_array((np.maximum(distances[ends], 0), ends), shape=distances.shape)
    options = {"metric": "precomputed", "connect": "keep"}
    ours, plain = (recipe(10, **options).build(given) for recipe in (DistinctKnnGraph, KnnGraph))
    assert (ours.weights != plain.weights).nnz == 0


def test_a_graph_of_different_points_is_stored_and_comes_back():
    graph = DistinctKnnGraph(10).build(_codes())
    again = unpack_graph(pack_graph(graph))
    parts, expected = (Parcel.of(one.neighbors).parts for one in (again, graph))
    assert parts.keys() == expected.keys()
    for name, one in expected.items():
        assert_array_equal(parts[name], one)
    recipe = DistinctKnnGraph(7, metric="angle", random_state=3)
    assert clone(recipe).get_params() == recipe.get_params()


def test_rounded_moons_are_told_apart_by_one_label_each_at_the_front_door():
    """Of 2000 points 76 differ; the graph of all neighbours has 69 % right with the first seed."""
    for seed in (0, 2):
        points, targets = make_moons(2000, noise=0.05, random_state=seed)
        rng = np.random.default_rng(seed)
        y = np.full(2000, -1)
        for one in (0, 1):
            y[rng.choice(np.flatnonzero(targets == one))] = one
        learner = ManifoldClassifier("poisson", scale="none").fit(np.round(5 * points), y)
        assert (learner.transduction_ == targets).mean() > 0.99
        assert (learner.island_ < 0).all()
