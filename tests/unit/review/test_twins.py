"""Twins: equal and nearly equal rows whose labels differ, and none besides."""

import numpy as np
import pytest

from beltrami.graph.model import Neighbors
from beltrami.review.twins import find_twins

K = 5


def neighbors_of(points, **more):
    """Return the lists of the K nearest by all distances."""
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    order = np.argsort(apart, axis=1, kind="stable")[:, :K]
    return Neighbors(order, np.take_along_axis(apart, order, axis=1), **more)


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(60, 6))


def listed(neighbors, labels):
    rows = np.array(sorted(labels))
    found = find_twins(neighbors, rows, np.array([labels[row] for row in rows.tolist()]))
    return [group.tolist() for group in found]


def test_equal_rows_of_different_classes_are_twins_and_of_one_class_are_not(points):
    points[9] = points[4]
    points[30] = points[20]
    labels = {4: 0, 9: 1, 20: 1, 30: 1, 50: 0}
    assert listed(neighbors_of(points), labels) == [[4, 9]]


def test_nearly_equal_rows_are_twins_and_neighbours_are_not(points):
    points[9] = points[4] + 1e-3
    lists = neighbors_of(points)
    nearest = int(lists.indices[30, 0])
    assert listed(lists, {4: 0, 9: 1, 30: 0, nearest: 1}) == [[4, 9]]


def test_a_pile_of_equal_rows_is_one_group_however_large(points):
    points[10:30] = points[10]
    assert listed(neighbors_of(points), {10: 0, 21: 1, 29: 0, 40: 1}) == [[10, 21, 29]]


def test_a_chain_of_nearly_equal_rows_without_labels_joins_nothing(points):
    points[10:20] = points[10]
    points[10:20, 0] += 1e-4 * np.arange(10)
    points[20] = points[19]
    points[20, 0] += 1e-4
    lists = neighbors_of(points)
    assert listed(lists, {10: 0, 20: 1}) == []


def test_lists_of_different_rows_know_their_equals(points):
    points[33] = points[12] + 1e-3
    here = np.delete(np.arange(60), [9, 40])
    lists, first = neighbors_of(points[here]), np.arange(60)
    indices, distances = np.zeros((60, K), dtype=np.intp), np.zeros((60, K))
    indices[here], distances[here] = here[lists.indices], lists.distances
    for copy, original in ((9, 4), (40, 33)):
        indices[copy], distances[copy], first[copy] = (
            indices[original],
            distances[original],
            original,
        )
    different = Neighbors(indices, distances, first_equals=first)
    assert listed(different, {4: 0, 9: 1, 12: 0, 40: 1}) == [[4, 9], [12, 40]]


def test_no_labels_have_no_twins(points):
    nothing = np.zeros(0, dtype=np.intp)
    assert find_twins(neighbors_of(points), nothing, nothing) == []
