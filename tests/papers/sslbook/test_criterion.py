"""The quadratic criterion on graphs of all pairs, its classes shared out by rank."""

import numpy as np

from beltrami_papers.mbed.problems import per_class_draws
from beltrami_papers.preparation import LabelledDraws
from beltrami_papers.sslbook.criterion import (
    classes_by_rank,
    graph_of_all_pairs,
    neighbors_graph,
    teach_by_rank,
)
from beltrami_papers.sslbook.problems import BookProblem


def _problem():
    rng = np.random.default_rng(0)
    classes = np.arange(60) % 2
    points = rng.normal(size=(60, 3)) + 4 * np.eye(2, 3)[classes]
    draws = per_class_draws(classes, per_class=3, n_splits=1)
    return BookProblem.of("made", {10: LabelledDraws("made", points, classes, draws)})


def test_two_classes_by_rank_are_cut_where_their_shares_are_those_of_the_labels():
    function = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.0, 1.0, 1.0, 1.0])
    labels = np.array([-1, -1, -1, -1, -1, -1, 0, 0, 1])
    classes = classes_by_rank(np.column_stack([function, 1 - function]), labels)
    assert classes.tolist() == [0, 0, 0, 0, 1, 1, 0, 0, 1]


def test_shares_that_are_no_whole_numbers_add_up_all_the_same():
    labels = np.array([-1, -1, -1, -1, 0, 1, 2])
    classes = classes_by_rank(np.eye(3)[[0, 0, 0, 0, 0, 1, 2]], labels)
    assert sorted(np.bincount(classes[:4], minlength=3)) == [1, 1, 2]


def test_all_pairs_have_gaussian_weights_of_their_median_distance():
    problem = _problem()
    graph = graph_of_all_pairs(problem, 0.5)
    i, j = 3, 17
    far = np.linalg.norm(problem.points[:, None] - problem.points, axis=2)
    median = np.median(far[np.triu_indices(60, 1)])
    assert graph.weights[i, j] == np.exp(-0.5 * (far[i, j] / (0.5 * median)) ** 2)
    assert graph_of_all_pairs(problem, 0.5) is graph


def test_the_criterion_by_rank_tells_two_clouds_apart_on_either_graph():
    problem = _problem()
    labels = problem.draws[10].labels(0)
    for graph in (graph_of_all_pairs(problem, 0.5), neighbors_graph(problem, 5)):
        found = teach_by_rank(problem, labels, graph)
        assert np.mean(found != problem.classes) < 0.07
        assert (found[labels >= 0] == labels[labels >= 0]).all()
