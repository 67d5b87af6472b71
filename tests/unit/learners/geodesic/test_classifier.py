"""Nearest labels by road: closed forms on paths and rings, votes, ties, gaps, duplicates."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csr_array
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from beltrami.core.errors import InvalidInputError, MemoryBudgetError
from beltrami.core.machine import memory
from beltrami.data import two_moons
from beltrami.graph.families import complete, disjoint_union, path, ring
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph, RadiusGraph
from beltrami.learners.geodesic.classifier import GeodesicNeighborsClassifier


def on_graph(graph, labels, *, n_neighbors=1, sample_weight=None, **options):
    """Fit on a given graph; `labels` maps rows to classes."""
    y = np.full(graph.n_nodes, -1)
    y[list(labels)] = list(labels.values())
    learner = GeodesicNeighborsClassifier(n_neighbors, graph=graph, **options)
    return learner.fit(np.zeros((graph.n_nodes, 1)), y, sample_weight)


def scattered(n=60, n_labels=12, seed=0):
    """Points without ties, a few of them labelled, three classes."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2))
    truth = (points[:, 0] > 0).astype(int) + (points[:, 1] > 0.5)
    y = np.full(n, -1)
    chosen = rng.permutation(n)[:n_labels]
    y[chosen] = truth[chosen]
    return points, y


# --- closed forms -----------------------------------------------------------------------------


def test_on_a_path_each_node_takes_the_nearer_end() -> None:
    learner = on_graph(path(7), {0: 3, 6: 8})
    # Node 3 is as far from both; the label with the lower row number is the nearer one.
    assert_array_equal(learner.transduction_, [3, 3, 3, 3, 8, 8, 8])
    assert_array_equal(learner.distances_.ravel(), [0, 1, 2, 3, 2, 1, 0])
    assert_array_equal(learner.neighbors_.ravel(), [0, 0, 0, 0, 6, 6, 6])
    assert_array_equal(learner.confidence_, np.ones(7))


def test_on_a_ring_distances_go_both_ways_round() -> None:
    learner = on_graph(ring(10), {0: 0, 3: 1}, n_neighbors=2)
    nodes = np.arange(10)
    around = [np.minimum((nodes - at) % 10, (at - nodes) % 10) for at in (0, 3)]
    assert_array_equal(learner.distances_, np.sort(around, axis=0).T)
    assert_array_equal(learner.transduction_ == 0, around[0] <= around[1])


def test_an_edge_of_a_given_graph_is_as_long_as_one_over_its_weight() -> None:
    heavy = csr_array(np.diag([4.0, 4.0, 0.5], 1) + np.diag([4.0, 4.0, 0.5], -1))
    learner = on_graph(Graph.from_matrix(heavy), {0: 0, 3: 1}, n_neighbors=2)
    assert_allclose(learner.distances_[2], [0.5, 2.0])
    assert_array_equal(learner.neighbors_[2], [0, 3])


def test_the_faintest_edge_of_a_given_graph_still_joins() -> None:
    faint = coo_array(([1e-310, 1e-310], ([0, 1], [1, 0])), shape=(2, 2))
    learner = GeodesicNeighborsClassifier(graph=Graph(csr_array(faint)), classes=[0, 1])
    learner.fit(np.zeros((2, 1)), [1, -1])
    assert learner.reached_.all()
    assert_array_equal(learner.transduction_, [1, 1])
    assert np.isfinite(learner.distances_).all()


def test_an_edge_of_a_built_graph_is_as_long_as_its_points_are_apart() -> None:
    points = np.array([[0.0], [1.0], [3.0], [7.0]])
    learner = GeodesicNeighborsClassifier(2, graph=RadiusGraph(4.0))
    learner.fit(points, [0, -1, -1, 1])
    assert_allclose(learner.distances_, [[0, 7], [1, 6], [3, 4], [0, 7]])


def test_the_metric_of_the_recipe_measures_the_edges() -> None:
    points, y = scattered()
    learner = GeodesicNeighborsClassifier(12, graph=KnnGraph(59, metric="manhattan")).fit(points, y)
    labelled = np.flatnonzero(y >= 0)
    # With all pairs joined no path is shorter than the edge.
    expected = np.sort(cdist(points, points[labelled], "cityblock"), axis=1)
    assert_allclose(learner.distances_, expected, atol=1e-12)


def test_a_metric_that_rounds_below_zero_does_no_harm() -> None:
    points = np.array([[0.0], [1.0], [1.0], [2.0], [2.0]])
    recipe = KnnGraph(2, metric=lambda a, b: abs(a[0] - b[0]) - 1e-15, weights="binary")
    learner = GeodesicNeighborsClassifier(2, graph=recipe).fit(points, [0, -1, -1, 1, -1])
    assert_allclose(learner.distances_, [[0, 2], [1, 1], [1, 1], [0, 2], [0, 2]], atol=1e-12)


def test_all_pairs_joined_is_nearest_neighbours_in_space() -> None:
    points, y = scattered(n=80, n_labels=25)
    labelled = y >= 0
    for weights in ("uniform", "distance"):
        learner = GeodesicNeighborsClassifier(3, graph=KnnGraph(79), weights=weights)
        peer = KNeighborsClassifier(3, weights=weights).fit(points[labelled], y[labelled])
        learner.fit(points, y)
        expected = peer.predict_proba(points)
        assert_allclose(learner.label_distributions_, expected, atol=1e-8)


# --- votes ------------------------------------------------------------------------------------


def test_the_majority_of_the_nearest_wins() -> None:
    labels = {0: 0, 1: 0, 3: 1}
    assert on_graph(path(4), labels).transduction_[2] == 0  # a tie, by row number
    assert on_graph(path(5), {0: 0, 1: 0, 4: 1}, n_neighbors=3).transduction_[3] == 0
    assert on_graph(path(5), {0: 0, 1: 0, 4: 1}, n_neighbors=1).transduction_[3] == 1


def test_shares_are_those_of_the_votes() -> None:
    learner = on_graph(path(5), {0: 0, 1: 0, 4: 1}, n_neighbors=3)
    assert_allclose(learner.scores_[3], [2 / 3, 1 / 3], atol=1e-8)
    assert_allclose(learner.confidence_[3], 2 / 3, atol=1e-8)


@pytest.mark.parametrize("near", [0, 1])
def test_the_nearest_voter_breaks_a_tie_whatever_its_class(near: int) -> None:
    learner = on_graph(path(6), {0: 1 - near, 4: near}, n_neighbors=2)
    assert learner.transduction_[3] == near
    assert_allclose(learner.label_distributions_[3], [0.5, 0.5], atol=1e-8)


@pytest.mark.parametrize("near", [0, 1])
def test_among_tied_classes_the_first_voter_counts_and_not_the_sum_of_ranks(near: int) -> None:
    # From node 4: near at 1, far at 2 and 3, near at 4. Ranks 0 + 3 against 1 + 2.
    far = 1 - near
    learner = on_graph(path(9), {3: near, 6: far, 1: far, 8: near}, n_neighbors=4)
    assert_array_equal(learner.neighbors_[4], [3, 6, 1, 8])
    assert learner.transduction_[4] == near


def test_a_tie_does_not_overrule_a_majority() -> None:
    labels = {3: 1, 6: 0, 1: 0}
    assert on_graph(path(9), labels, n_neighbors=3).transduction_[4] == 0


def test_weights_by_distance_are_one_over_it() -> None:
    learner = on_graph(path(8), {0: 0, 1: 0, 4: 1}, n_neighbors=3, weights="distance")
    votes = np.array([1 / 3 + 1 / 2, 1])
    assert_allclose(learner.scores_[3], votes / votes.sum(), atol=1e-8)
    assert learner.transduction_[3] == 1
    votes = np.array([1 / 7 + 1 / 6, 1 / 3])
    assert_allclose(learner.scores_[7], votes / votes.sum(), atol=1e-8)


def test_with_weights_by_distance_a_label_at_zero_silences_the_others() -> None:
    learner = on_graph(path(5), {0: 0, 1: 0, 2: 1}, n_neighbors=3, weights="distance")
    assert_array_equal(learner.scores_[2], [0, 1])
    uniform = on_graph(path(5), {0: 0, 1: 0, 2: 1}, n_neighbors=3)
    assert uniform.scores_[2].argmax() == 0
    assert uniform.transduction_[2] == 1  # what was given stays


@pytest.mark.parametrize("scale", [1e-90, 1e308])
def test_weights_by_distance_know_no_unit(scale: float) -> None:
    plain, scaled = (
        on_graph(Graph(weights), {0: 0, 1: 0, 4: 1}, n_neighbors=3, weights="distance")
        for weights in (path(8).weights, path(8).weights * scale)
    )
    assert_allclose(scaled.distances_ * scale, plain.distances_, rtol=1e-12)
    assert_allclose(scaled.scores_, plain.scores_, rtol=1e-12)


def test_a_label_of_more_weight_has_more_votes() -> None:
    labels, weights = {0: 0, 1: 0, 4: 1}, np.ones(5)
    weights[4] = 3
    learner = on_graph(path(5), labels, n_neighbors=3, sample_weight=weights)
    assert_allclose(learner.scores_[3], [0.4, 0.6], atol=1e-8)


def test_a_label_of_no_weight_is_as_if_it_were_not_there() -> None:
    points, y = scattered()
    dropped = np.flatnonzero(y >= 0)[:3]
    weights, without = np.ones(len(y)), y.copy()
    weights[dropped], without[dropped] = 0, -1
    learner = GeodesicNeighborsClassifier(2, graph=KnnGraph(6))
    with_zero = clone(learner).fit(points, y, weights)
    absent = clone(learner).fit(points, without)
    assert_array_equal(with_zero.scores_, absent.scores_)
    assert_array_equal(with_zero.neighbors_, absent.neighbors_)
    assert_array_equal(with_zero.transduction_[dropped], y[dropped])


def test_where_fewer_labels_reach_than_are_asked_these_vote() -> None:
    graph = disjoint_union(path(4), path(3))
    learner = on_graph(graph, {0: 0, 3: 1, 6: 1}, n_neighbors=5)
    assert_array_equal(learner.neighbors_[1], [0, 3, -1, -1, -1])
    assert_array_equal(learner.distances_[1], [1, 2, np.inf, np.inf, np.inf])
    assert_array_equal(learner.scores_[4], [0, 1])
    assert_array_equal(learner.transduction_, [0, 0, 1, 1, 1, 1, 1])
    with_distance = on_graph(graph, {0: 0, 3: 1, 6: 1}, n_neighbors=5, weights="distance")
    assert_allclose(with_distance.scores_[1], [2 / 3, 1 / 3], atol=1e-8)


def test_a_class_without_a_label_never_wins() -> None:
    learner = on_graph(complete(6), {0: 1, 1: 2}, n_neighbors=2, classes=[0, 1, 2])
    assert_array_equal(learner.classes_, [0, 1, 2])
    assert_array_equal(learner.label_distributions_[:, 0], np.zeros(6))
    assert set(learner.transduction_) == {1, 2}


# --- pieces, labels, duplicates ---------------------------------------------------------------


def test_rows_that_no_label_reaches_keep_the_marker() -> None:
    learner = on_graph(disjoint_union(path(3), path(2)), {0: 0, 2: 1})
    assert_array_equal(learner.reached_, [True, True, True, False, False])
    assert_array_equal(learner.transduction_, [0, 0, 1, -1, -1])
    assert_array_equal(learner.confidence_[3:], [0, 0])
    assert_array_equal(learner.neighbors_[3:], [[-1], [-1]])
    assert_array_equal(learner.distances_[3:], [[np.inf], [np.inf]])
    assert_allclose(learner.label_distributions_[3:], learner.class_prior_[None].repeat(2, 0))


def test_labels_may_be_texts() -> None:
    y = np.array(["left", "", "", "", "right"])
    learner = GeodesicNeighborsClassifier(graph=path(5)).fit(np.zeros((5, 1)), y)
    assert learner.transduction_.tolist() == ["left", "left", "left", "right", "right"]


def doubles():
    """Three distinct places, the first four rows at the same one, under different labels."""
    points = np.array([[0.0], [0.0], [0.0], [0.0], [1.0], [2.0]])
    return points, np.array([2, 0, 1, -1, -1, 0])


def test_a_labelled_row_is_nearest_to_itself_among_its_duplicates() -> None:
    points, y = doubles()
    learner = GeodesicNeighborsClassifier(1, graph=RadiusGraph(1.0)).fit(points, y)
    assert_array_equal(learner.neighbors_.ravel(), [0, 1, 2, 0, 0, 5])
    assert_array_equal(learner.distances_.ravel(), [0, 0, 0, 0, 1, 0])
    assert_array_equal(learner.transduction_, [2, 0, 1, 2, 2, 0])
    assert_array_equal(learner.confidence_, np.ones(6))


def test_a_label_crowded_out_by_duplicates_displaces_the_last_of_them() -> None:
    points, y = doubles()
    learner = GeodesicNeighborsClassifier(2, graph=RadiusGraph(1.0)).fit(points, y)
    assert_array_equal(learner.neighbors_[:4], [[0, 1], [1, 0], [2, 0], [0, 1]])


def test_duplicates_of_other_labels_share_the_vote() -> None:
    points, y = doubles()
    for weights in ("uniform", "distance"):
        learner = GeodesicNeighborsClassifier(3, graph=RadiusGraph(1.0), weights=weights)
        learner.fit(points, y)
        assert_allclose(learner.scores_[3], [1 / 3, 1 / 3, 1 / 3], atol=1e-8)
        assert_array_equal(learner.neighbors_[:4], [[0, 1, 2], [1, 0, 2], [2, 0, 1], [0, 1, 2]])
        assert learner.scores_[:4].argmax(axis=1).tolist() == [2, 0, 1, 2]


def test_paths_run_through_duplicates() -> None:
    points = np.array([[0.0], [1.0], [1.0], [2.0]])
    graph = KnnGraph(1, connect="keep", weights="binary")
    learner = GeodesicNeighborsClassifier(2, graph=graph).fit(points, [0, -1, -1, 1])
    assert_array_equal(learner.distances_, [[0, 2], [1, 1], [1, 1], [0, 2]])


# --- leave-one-out ----------------------------------------------------------------------------


@pytest.mark.parametrize("n_neighbors", [1, 2, 5, 20])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_leave_one_out_is_a_refit_without_the_label(n_neighbors: int, weights: str) -> None:
    points, y = scattered(n=50)
    points[7] = points[3]  # duplicates, both labelled
    y[[3, 7]] = [0, 1]
    sample_weight = np.random.default_rng(1).uniform(0.5, 2, size=50)
    graph = KnnGraph(4, connect="keep").build(points)
    recipe = KnnGraph(4, connect="keep")
    learner = GeodesicNeighborsClassifier(
        n_neighbors, graph=recipe, weights=weights, classes=[0, 1, 2]
    )
    learner.fit(points, y, sample_weight)
    assert_array_equal(learner.graph_.weights.indptr, graph.weights.indptr)
    left_out = learner._left_out()
    assert_array_equal(left_out.rows, np.flatnonzero(y >= 0))
    counted = sample_weight[left_out.rows]
    assert_allclose(left_out.weights, counted / counted.mean(), rtol=1e-14)
    for row, scores in zip(left_out.rows, left_out.scores, strict=True):
        without = y.copy()
        without[row] = -1
        again = clone(learner).fit(points, without, sample_weight)
        assert again.reached_[row]
        assert_allclose(scores, again.scores_[row], rtol=1e-13, atol=1e-13)


def test_a_label_that_no_other_reaches_is_left_out_to_the_mean_of_the_others() -> None:
    learner = on_graph(disjoint_union(path(3), path(2)), {0: 0, 2: 0, 4: 1})
    left_out = learner._left_out()
    assert_allclose(left_out.scores, [[1, 0], [1, 0], [1, 0]])
    assert_allclose(left_out.error, 1 / 3)


def test_leave_one_out_of_a_single_label_is_the_mean() -> None:
    learner = on_graph(path(3), {1: 0}, classes=[0, 1], n_neighbors=3)
    assert_array_equal(learner._left_out().scores, [[1.0, 0.0]])


# --- rows, types, new points ------------------------------------------------------------------


def test_the_order_of_rows_does_not_matter() -> None:
    points, y = scattered()
    order = np.random.default_rng(5).permutation(len(y))
    learner = GeodesicNeighborsClassifier(3, graph=KnnGraph(5), weights="distance")
    plain, shuffled = clone(learner).fit(points, y), clone(learner).fit(points[order], y[order])
    assert_allclose(shuffled.scores_, plain.scores_[order], atol=1e-12)
    assert_array_equal(order[shuffled.neighbors_], plain.neighbors_[order])
    assert_array_equal(shuffled.transduction_, plain.transduction_[order])


def test_sparse_points_and_float32_give_the_same_answers() -> None:
    points, y = scattered()
    points = points.astype(np.float32)
    learner = GeodesicNeighborsClassifier(2, graph=KnnGraph(5))
    plain = clone(learner).fit(points.astype(np.float64), y)
    for same in (points, csr_array(points.astype(np.float64)), csr_array(points)):
        again = clone(learner).fit(same, y)
        assert_array_equal(again.neighbors_, plain.neighbors_)
        assert_allclose(again.distances_, plain.distances_, rtol=1e-5)
        assert again.distances_.dtype == np.float64


def test_precomputed_distances_give_the_same_answers() -> None:
    points, y = scattered()
    away = cdist(points, points)
    plain = GeodesicNeighborsClassifier(2, graph=KnnGraph(5)).fit(points, y)
    known = GeodesicNeighborsClassifier(2, graph=KnnGraph(5, metric="precomputed")).fit(away, y)
    assert_array_equal(known.neighbors_, plain.neighbors_)
    assert_allclose(known.distances_, plain.distances_, rtol=1e-12)
    assert_array_equal(known.predict(away), known.scores_.argmax(axis=1))


def test_new_points_take_the_mean_of_their_neighbours_votes() -> None:
    points = np.arange(8.0)[:, None]
    y = np.array([0, -1, -1, -1, -1, -1, -1, 1])
    learner = GeodesicNeighborsClassifier(graph=KnnGraph(2, weights="binary")).fit(points, y)
    assert_array_equal(learner.predict([[1.4], [5.6]]), [0, 1])
    assert_allclose(learner.predict_proba([[3.4], [3.0], [7.0]]), [[0.5, 0.5], [1, 0], [0, 1]])
    assert_allclose(learner.decision_function([[1.4], [3.4]]), [-0.5, 0])


def test_new_points_that_no_label_reaches_keep_the_marker() -> None:
    points = np.array([[0.0], [1.0], [50.0], [51.0]])
    learner = GeodesicNeighborsClassifier(graph=RadiusGraph(2.0)).fit(points, [0, 1, -1, -1])
    assert_array_equal(learner.predict([[-0.5], [50.5], [99.0]]), [0, -1, -1])


def test_a_given_graph_says_nothing_about_new_points() -> None:
    with pytest.raises(InvalidInputError, match="says nothing about new points"):
        on_graph(path(4), {0: 0, 3: 1}).predict([[0.0]])


def test_other_labels_keep_the_graph() -> None:
    points, y = scattered()
    learner = GeodesicNeighborsClassifier(2, graph=KnnGraph(5)).fit(points, y)
    graph, swapped = learner.graph_, np.where(y >= 0, 2 - y, -1)
    swapped[0] = 1
    learner.set_params(n_neighbors=3).fit_labels(swapped)
    assert learner.graph_ is graph
    fresh = GeodesicNeighborsClassifier(3, graph=KnnGraph(5)).fit(points, swapped)
    assert_array_equal(learner.scores_, fresh.scores_)
    assert_array_equal(learner.neighbors_, fresh.neighbors_)


# --- what is refused, and what it is for ------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0 must be at least 1"),
        ({"n_neighbors": 1.5}, "n_neighbors=1.5 must be an integer"),
        ({"n_neighbors": True}, "n_neighbors=True must be an integer"),
        ({"weights": "heavy"}, "weights='heavy' is not known; choose one of 'uniform', 'distance'"),
        ({"graph": "knn"}, "is not a graph"),
    ],
)
def test_bad_parameters_are_refused_with_a_reason(options, message: str) -> None:
    points, y = scattered()
    with pytest.raises(InvalidInputError, match=message):
        GeodesicNeighborsClassifier(**options).fit(points, y)


def test_lists_that_do_not_fit_into_memory_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 4000)
    with pytest.raises(MemoryBudgetError, match="a list of 10 labels for each of 7 points"):
        on_graph(path(7), {0: 0, 6: 1}, n_neighbors=10)


def test_on_two_moons_the_way_by_road_beats_the_straight_line() -> None:
    moons = two_moons(400, random_state=3)
    rng = np.random.default_rng(3)
    y = np.full(400, -1)
    for label in (0, 1):
        y[rng.choice(np.flatnonzero(moons.targets == label), 2, replace=False)] = label
    labelled = y >= 0
    learner = GeodesicNeighborsClassifier(graph=KnnGraph(8, connect="keep")).fit(moons.points, y)
    straight = KNeighborsClassifier(1).fit(moons.points[labelled], y[labelled])
    ours = (learner.transduction_ == moons.targets)[~labelled].mean()
    theirs = (straight.predict(moons.points) == moons.targets)[~labelled].mean()
    assert ours > 0.97
    assert ours > theirs + 0.05
