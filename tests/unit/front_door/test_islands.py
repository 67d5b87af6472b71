"""Islands: pieces of the data that only a bridge joins to a label."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from beltrami import KnnGraph, ManifoldClassifier
from beltrami.core.errors import DisconnectedGraphWarning
from beltrami.front_door.islands import island_numbers, pieces_of
from beltrami.graph.distinct import DistinctKnnGraph


def _clusters():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [3.0, 0.0], [500.0, 0.0]])
    points = np.concatenate([center + 0.3 * rng.normal(size=(40, 2)) for center in centers])
    y = np.full(120, -1)
    y[[0, 1, 2, 40, 41, 42]] = [0, 0, 0, 1, 1, 1]
    return points, y


def test_a_bridged_cluster_without_a_label_is_an_island_and_not_accepted():
    points, y = _clusters()
    recipe = KnnGraph(10, connect="mst")
    learner = ManifoldClassifier("poisson", graph=recipe, scale="none").fit(points, y)
    assert learner.n_components_ == 1
    assert learner.reached_.all()
    far = np.arange(120) >= 80
    assert ((learner.island_ >= 0) == far).all()
    assert not learner.accepted_[far].any()
    assert learner.accepted_[~far].all()
    assert any("40 rows in 1 island(s)" in line for line in learner.report_.warnings)
    assert "island" in str(learner.report_)


def test_a_label_on_the_island_makes_it_land():
    points, y = _clusters()
    learner = ManifoldClassifier(
        "poisson", graph=KnnGraph(10, connect="mst"), scale="none", classes=[0, 1, 2]
    ).fit(points, y)
    learner.update(100, 2)
    assert (learner.island_ < 0).all()
    assert learner.accepted_.all()
    assert (learner.transduction_[80:] == 2).all()


def test_rows_that_no_edge_joins_to_a_label_keep_the_marker():
    points, y = _clusters()
    learner = ManifoldClassifier("poisson", graph=KnnGraph(10, connect="keep"), scale="none")
    with pytest.warns(DisconnectedGraphWarning, match="40 of 120 rows") as said:
        learner.fit(points, y)
    assert len(said) == 1  # not once more for each candidate and fold
    assert (learner.transduction_[80:] == -1).all()
    assert (learner.confidence_[80:] == 0).all()
    assert not learner.accepted_[80:].any()
    assert (learner.predict(points[80:] + 0.01) == -1).all()
    assert learner.predict_set(points[80:82] + 0.01, coverage=0.5).all()


def test_islands_are_numbered_by_size():
    rng = np.random.default_rng(0)
    sizes, places = (30, 15, 25), (0.0, 900.0, 400.0)
    pieces = [rng.normal(size=(size, 2)) for size in sizes]
    for piece, place in zip(pieces, places, strict=True):
        piece[:, 0] += place
    points = np.concatenate(pieces)
    graph = KnnGraph(5, connect="mst").build(points)
    island = island_numbers(pieces_of(graph, points, "euclidean", 5), np.array([0]))
    assert island.max() == 1
    assert np.flatnonzero(island == 0).tolist() == list(range(45, 70))
    assert np.flatnonzero(island == 1).tolist() == list(range(30, 45))
    assert (
        island_numbers(pieces_of(graph, points, "euclidean", 5), np.array([0, 31, 50])) == -1
    ).all()


@pytest.mark.parametrize("recipe", [KnnGraph, DistinctKnnGraph])
@pytest.mark.parametrize("values", [[0.0], [0.0, 0.1]])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_a_pile_of_equal_rows_is_no_island(recipe, kind, values):
    rng = np.random.default_rng(1)
    # Twelve places along a line, at each one number twenty times, or two ten times each.
    places = np.add.outer(10 * np.arange(1, 13), values).ravel()
    line = np.repeat(places, 20 // len(values))[:, None]
    far = rng.normal(size=(30, 1)) + 9000.0
    points = kind(np.concatenate([line, far]))
    graph = recipe(5, connect="mst").build(points)
    assert graph.certificate.n_components_found > 12 or recipe is DistinctKnnGraph
    island = island_numbers(pieces_of(graph, points, "euclidean", 5), np.array([0]))
    assert (island[:240] == -1).all()
    assert (island[240:] == 0).all()  # far beyond what lies between piles


@pytest.mark.parametrize("recipe", [KnnGraph, DistinctKnnGraph])
def test_pieces_that_are_no_piles_stay_apart(recipe):
    rng = np.random.default_rng(2)
    points = np.concatenate([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 500.0])
    points[:20] = points[0]  # a pile within the first
    graph = recipe(5, connect="mst").build(points)
    island = island_numbers(pieces_of(graph, points, "euclidean", 5), np.array([30]))
    assert (island[:40] == -1).all()
    assert (island[40:] == 0).all()


@pytest.mark.parametrize("recipe", [KnnGraph, DistinctKnnGraph])
def test_piles_are_known_by_distances_alone(recipe):
    places = np.concatenate([np.repeat(np.arange(6.0), 20), 500 + np.arange(30.0)])
    distances = np.abs(np.subtract.outer(places, places))
    graph = recipe(5, connect="mst", metric="precomputed").build(distances)
    island = island_numbers(pieces_of(graph, distances, "precomputed", 5), np.array([0]))
    assert (island[:120] == -1).all()
    assert (island[120:] == 0).all()


@pytest.mark.parametrize("n_far", [1, 3])
@pytest.mark.parametrize("n_labels", [4, 20])
def test_far_rows_are_not_accepted_under_a_risk(n_far, n_labels):
    rng = np.random.default_rng(3)
    truth = np.arange(400) % 2
    points = rng.normal(size=(400, 4)) + 6 * truth[:, None]
    points[:n_far] += 1000
    y = np.full(400, -1)
    y[100 : 100 + 2 * n_labels] = truth[100 : 100 + 2 * n_labels]
    learner = ManifoldClassifier(random_state=0, risk=0.2).fit(points, y)
    assert learner.accepted_[300:].mean() > 0.9
    assert not learner.accepted_[:n_far].any()


@pytest.mark.parametrize("recipe", [KnnGraph, DistinctKnnGraph])
def test_a_far_pile_is_an_island(recipe):
    rng = np.random.default_rng(3)
    points = rng.normal(size=(400, 4))
    points[:60] = points[0] + 80
    graph = recipe(10, connect="mst").build(points)
    island = island_numbers(pieces_of(graph, points, "euclidean", 10), np.array([100]))
    assert (island[:60] == 0).all()
    assert (island[60:] == -1).all()
