"""Rows that are like no label: two clusters, a line, and too few labels."""

import numpy as np
import pytest

from beltrami.review import reach
from beltrami.review.reach import Reach, find_damping, likeness, spread_labels, unit_rows


@pytest.fixture
def two_clusters():
    """Functions of two pieces that hang by a thread: a constant, a step, and some waves within."""
    n = 100
    side = np.repeat([-1.0, 1.0], n // 2)
    place = np.tile(np.linspace(0, 1, n // 2), 2)
    waves = [np.cos(np.pi * j * place) * (side == s) for j in (1, 2, 3) for s in (-1, 1)]
    functions = np.column_stack([np.ones(n), side, *waves])
    values = np.array([0.0, 1e-6, *np.repeat([0.1, 0.4, 0.9], 2)])
    return functions, values


def rows_unlike(functions, values, labelled):
    return Reach.of(functions[labelled], values).misses(functions)


def test_the_cluster_without_a_label_is_unlike_all(two_clusters):
    functions, values = two_clusters
    unlike = rows_unlike(functions, values, np.arange(0, 50, 4))
    assert not unlike[:50].any()
    assert unlike[50:].all()


def test_labels_in_both_leave_nobody_out(two_clusters):
    functions, values = two_clusters
    assert not rows_unlike(functions, values, np.arange(0, 100, 8)).any()


def test_too_few_labels_say_nothing(two_clusters):
    functions, values = two_clusters
    assert Reach.of(functions[: reach.FEWEST - 1], values) is None


def test_blocks_change_nothing(two_clusters, monkeypatch):
    functions, values = two_clusters
    whole = rows_unlike(functions, values, np.arange(0, 50, 4))
    monkeypatch.setattr(reach, "_ROWS", 7)
    np.testing.assert_array_equal(rows_unlike(functions, values, np.arange(0, 50, 4)), whole)


def test_a_typical_label_is_like_as_many_others_as_asked(two_clusters):
    functions, values = two_clusters
    rows = np.arange(0, 100, 2)
    places = unit_rows(functions[rows] * find_damping(functions[rows], values))
    found = np.median(likeness(places, places).sum(axis=1)) - 1
    assert found == pytest.approx(reach.ALIKE, rel=0.2)


def test_a_row_without_length_is_like_nobody():
    assert not likeness(unit_rows(np.zeros((1, 3))), unit_rows(np.eye(3))).any()


def test_of_a_class_with_far_more_labels_than_others_some_are_heard():
    codes = np.repeat([0, 1, 2, 3], [4, 90, 4, 5])
    kept = spread_labels(np.eye(4)[codes])
    assert np.bincount(codes[kept]).tolist() == [4, 14, 4, 5]  # three times the median of 4.5
    np.testing.assert_array_equal(kept, np.unique(kept))
    assert {4, 93} <= set(kept.tolist())  # the first and the last of them


def test_of_classes_with_similar_numbers_all_labels_are_heard():
    codes = np.repeat([0, 1, 2], [8, 10, 20])
    np.testing.assert_array_equal(spread_labels(np.eye(3)[codes]), np.arange(38))
