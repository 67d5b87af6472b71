"""The nearest-neighbour baseline, against scikit-learn and by two ways of searching."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.neighbors import KNeighborsClassifier

from beltrami.graph.search import open_space
from beltrami_papers.baselines.neighbors import (
    COUNTS,
    first_labelled,
    knn_errors,
    lists_pay,
    majority,
    nearest_labelled,
    neighbor_lists,
)
from beltrami_papers.thesis.chapter3.trials import label_draws


def _points(n=300, d=12, seed=0):
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 2, n)
    return rng.normal(size=(n, d)) + 0.8 * classes[:, None], classes


@pytest.mark.parametrize("metric", ["euclidean", "angle"])
@pytest.mark.parametrize("labelled", [10, 80])
def test_errors_of_two_classes_are_those_of_scikit_learn(metric, labelled):
    """An odd vote between two classes has no tie, so there is one right answer."""
    points, classes = _points()
    draws = label_draws(len(points), labelled, 3)
    found = knn_errors(open_space(points, metric), classes, draws)
    peer_metric = {"euclidean": "euclidean", "angle": "cosine"}[metric]
    for i, draw in enumerate(draws):
        rest = np.setdiff1d(np.arange(len(points)), draw)
        for column, k in enumerate(COUNTS):
            peer = KNeighborsClassifier(k, metric=peer_metric).fit(points[draw], classes[draw])
            wrong = np.mean(peer.predict(points[rest]) != classes[rest])
            assert found[i, column] == pytest.approx(100 * wrong)


def test_sparse_points_give_the_errors_of_dense_ones():
    points, classes = _points()
    points = np.maximum(points, 0) + 0.01
    draws = label_draws(len(points), 40, 2)
    dense = knn_errors(open_space(points, "angle"), classes, draws)
    sparse = knn_errors(open_space(csr_array(points), "angle"), classes, draws)
    np.testing.assert_allclose(sparse, dense)


@pytest.mark.parametrize("length", [3, 20, 299])
def test_lists_give_what_the_search_gives(length):
    """Short lists hold too few labelled points in many rows, which are then searched."""
    points, _ = _points()
    space, (draw,) = open_space(points, "euclidean"), label_draws(300, 90, 1)
    rest = np.setdiff1d(np.arange(300), draw)
    searched = nearest_labelled(space, draw, rest, 5)
    lists = neighbor_lists(space, length)
    np.testing.assert_array_equal(nearest_labelled(space, draw, rest, 5, lists=lists), searched)


def test_errors_with_lists_are_those_without():
    points, classes = _points()
    space, draws = open_space(points, "euclidean"), label_draws(300, 200, 3)
    lists = neighbor_lists(space, 30)
    assert lists_pay(200, 300, 30)
    np.testing.assert_array_equal(
        knn_errors(space, classes, draws, lists=lists), knn_errors(space, classes, draws)
    )


def test_lists_pay_only_where_they_hold_a_dozen_labelled_points():
    assert lists_pay(20000, 60000)
    assert not lists_pay(5000, 60000)


def test_first_labelled_points_keep_the_order_of_the_list():
    lists = np.array([[4, 2, 0, 1], [1, 3, 4, 2]])
    is_labelled = np.array([True, False, True, False, True])
    np.testing.assert_array_equal(first_labelled(lists, is_labelled, 2), [[4, 2], [4, 2]])
    np.testing.assert_array_equal(first_labelled(lists, is_labelled, 3), [[4, 2, 0], [4, 2, -1]])


@pytest.mark.parametrize(
    ("votes", "winner"),
    [([2, 1, 1], 1), ([2, 1, 0], 2), ([3, 1, 1, 0, 3], 3), ([0, 1, 1, 3, 3], 1), ([5], 5)],
)
def test_a_tied_vote_goes_to_the_nearest_of_the_tied(votes, winner):
    assert majority(np.array([votes])).tolist() == [winner]


def test_fewer_labelled_points_than_voters_all_vote():
    points, classes = _points()
    found = knn_errors(open_space(points, "euclidean"), classes, [np.array([0, 1, 2])])
    assert found.shape == (1, 3)
    assert found[0, 1] == found[0, 2]
