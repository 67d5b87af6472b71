import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import adjusted_rand_score

from beltrami import KnnGraph, RadiusGraph, SpectralClustering, load_dataset, two_moons
from beltrami.core.errors import InvalidInputError
from beltrami.embeddings.clustering import cut_report
from beltrami.graph.families import complete, disjoint_union, path, ring


@pytest.mark.parametrize("objective", ["ncut", "ratio"])
def test_two_moons_are_told_apart_and_new_points_follow(objective):
    moons = two_moons(600, noise=0.05, random_state=0)
    clusters = SpectralClustering(2, graph=KnnGraph(10), objective=objective, random_state=0).fit(
        moons.points
    )
    assert adjusted_rand_score(moons.targets, clusters.labels_) == 1.0
    new = two_moons(200, noise=0.05, random_state=1)
    assert adjusted_rand_score(new.targets, clusters.predict(new.points)) == 1.0
    assert (clusters.predict(moons.points) == clusters.labels_).all()


@pytest.mark.parametrize("objective", ["ncut", "ratio"])
def test_components_are_clusters(objective):
    union = disjoint_union(ring(20), complete(7), path(12))
    clusters = SpectralClustering(3, graph=union, objective=objective, random_state=0)
    labels = clusters.fit(np.zeros((39, 1))).labels_
    truth = np.repeat([0, 1, 2], [20, 7, 12])
    assert adjusted_rand_score(truth, labels) == 1.0
    assert_allclose(clusters.cut_.conductances, 0)
    assert clusters.cut_.objective == 0
    assert clusters.cut_.cheeger_lower == 0


def test_cut_of_a_ring_in_halves_matches_the_hand_count():
    labels = np.repeat([0, 1], 10)
    report = cut_report(ring(20), labels)
    assert_allclose(report.conductances, [2 / 20, 2 / 20])
    assert_allclose(report.objective, 2 / 20 + 2 / 20)
    assert_allclose(cut_report(ring(20), labels, "ratio").objective, 2 / 10 + 2 / 10)


@pytest.mark.parametrize("graph", [ring(30), path(25), complete(12)])
def test_best_sweep_cut_lies_between_the_cheeger_bounds(graph):
    """On these graphs the best two-way cut is known: halves."""
    n = graph.n_nodes
    labels = (np.arange(n) >= n // 2).astype(int)
    report = cut_report(graph, labels)
    best = report.conductances.max()
    assert report.cheeger_lower - 1e-12 <= best <= report.cheeger_upper + 1e-12


def test_clusters_of_digits_agree_with_the_classes_better_than_k_means():
    digits = load_dataset("digits")
    labels = SpectralClustering(10, random_state=0).fit_predict(digits.points)
    assert adjusted_rand_score(digits.targets, labels) > 0.70


def test_one_cluster_is_everything():
    points = np.random.default_rng(0).random((30, 2))
    assert set(SpectralClustering(1).fit_predict(points)) == {0}


def test_more_clusters_than_points_are_refused():
    with pytest.raises(InvalidInputError, match="n_clusters=9"):
        SpectralClustering(9).fit(np.random.default_rng(0).random((5, 2)))


def test_unknown_objective_lists_the_known():
    with pytest.raises(InvalidInputError, match="'ncut', 'ratio'"):
        SpectralClustering(2, objective="mincut").fit(np.random.default_rng(0).random((9, 2)))


def test_same_seed_same_clusters():
    points = load_dataset("iris").points
    first = SpectralClustering(3, random_state=4).fit_predict(points)
    assert (first == SpectralClustering(3, random_state=4).fit_predict(points)).all()


def test_a_new_point_out_of_reach_has_no_cluster():
    moons = two_moons(300, random_state=0)
    clusters = SpectralClustering(2, graph=RadiusGraph(0.4), random_state=0).fit(moons.points)
    found = clusters.predict([[50.0, 50.0], moons.points[0]])
    assert found.tolist() == [-1, clusters.labels_[0]]
