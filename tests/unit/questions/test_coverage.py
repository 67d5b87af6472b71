"""Covering a sample by greed: closed forms, a slow twin, and the bound that greed keeps."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from beltrami.questions.coverage import greedy_cover, settled_counts

tables = arrays(np.float64, (7, 9), elements=st.floats(0, 1, width=16))
masses = arrays(np.float64, 9, elements=st.floats(0, 100, width=16))
covers = arrays(np.float64, 9, elements=st.floats(0, 1, width=16))


def value(table, covered, weights, chosen):
    return float(np.vstack([covered, table[list(chosen)]]).max(axis=0) @ weights)


def test_groups_are_taken_by_mass_and_each_adds_its_own():
    groups = np.repeat([0, 1, 2], [2, 5, 3])
    table = (groups[:, None] == groups).astype(float)
    chosen, gains = greedy_cover(table, np.zeros(10), np.ones(10), 4)
    assert groups[chosen[:3]].tolist() == [1, 2, 0]
    assert gains.tolist() == [5, 3, 2, 0]


def test_what_labels_cover_is_not_gained_again():
    table = np.array([[1.0, 0.0], [0.0, 1.0]])
    chosen, gains = greedy_cover(table, np.array([0.75, 0.5]), np.array([4.0, 1.0]), 2)
    assert chosen.tolist() == [0, 1]
    assert gains.tolist() == [1.0, 0.5]


@given(tables, covers, masses)
def test_old_gains_as_bounds_choose_as_well_as_computing_all(table, covered, weights):
    chosen, gains = greedy_cover(table, covered, weights, 4)
    assert len(set(chosen.tolist())) == 4
    before: list[int] = []
    for place, gain in zip(chosen.tolist(), gains, strict=True):
        now = value(table, covered, weights, before)
        best = max(
            value(table, covered, weights, [*before, one]) - now
            for one in set(range(7)) - set(before)
        )
        assert gain == pytest.approx(best, abs=1e-6)
        before.append(place)


@given(tables, masses)
def test_greed_comes_within_its_bound_of_the_best_batch(table, weights):
    none = np.zeros(9)
    _, gains = greedy_cover(table, none, weights, 3)
    best = max(value(table, none, weights, three) for three in combinations(range(7), 3))
    assert gains.sum() >= (1 - 1 / np.e) * best - 1e-6


def test_a_row_is_settled_by_the_question_it_is_most_alike_to():
    table = np.array([[0.9, 0.6, 0.4, 0.8, 0.0], [0.1, 0.7, 0.3, 0.2, 0.0]])
    covered = np.array([0.0, 0.0, 0.0, 0.85, 0.0])  # the fourth is closer to a label
    assert settled_counts(table, covered, np.array([3.0, 2.0, 5.0, 9.0, 9.0])).tolist() == [8, 2]


def test_a_question_settles_itself_at_least():
    assert settled_counts(np.full((2, 3), 0.2), np.full(3, 0.3), np.ones(3)).tolist() == [1, 1]
