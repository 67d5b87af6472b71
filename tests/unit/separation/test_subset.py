"""The walk that thins points out: its path on a line, a slow twin, and what is always kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from beltrami.separation import _loops, subset
from beltrami.separation.subset import sparse_subset

NOBODY = np.empty(0, dtype=int)


def slow_walk(points, start, n_dropped):
    """The slides' words, one after the other; ties are for the lower row."""
    remaining = dict.fromkeys(range(len(points)))
    kept, current = [], start
    while True:
        kept.append(current)
        del remaining[current]
        rows = np.array(list(remaining), dtype=int)
        order = rows[np.argsort(np.sum((points[rows] - points[current]) ** 2, axis=1))]
        if len(order) <= n_dropped:
            return kept
        for row in order[:n_dropped]:
            del remaining[int(row)]
        current = int(order[n_dropped])


def thinned(points, n_dropped, always=NOBODY, seed=0):
    return sparse_subset(points, n_dropped, always, np.random.default_rng(seed))


@pytest.mark.parametrize("n_dropped", [1, 2, 5])
def test_along_equally_spaced_points_every_so_many_stay(n_dropped):
    points = np.arange(40.0)[:, None]
    kept = _loops.walk(points, 0, n_dropped)
    assert_array_equal(kept, np.arange(0, 40, n_dropped + 1))


def test_from_within_a_line_both_sides_are_thinned():
    # Unequal steps: 10 drops 11 and goes on to 9; each then drops its nearest and takes the next.
    points = np.array([[float(x)] for x in (0, 3, 6, 9, 10, 10.5)])
    assert_array_equal(_loops.walk(points, 4, 1), [4, 3, 1])


@pytest.mark.parametrize(("n", "d", "n_dropped"), [(60, 2, 3), (200, 3, 7), (50, 1, 1), (9, 2, 20)])
@pytest.mark.parametrize("seed", range(3))
def test_the_walk_is_that_of_the_slow_twin(n, d, n_dropped, seed):
    points = np.random.default_rng(seed).normal(size=(n, d))
    start = seed * 7 % n
    assert_array_equal(_loops.walk(points, start, n_dropped), slow_walk(points, start, n_dropped))


@pytest.mark.parametrize("n_dropped", [1, 4, 9, 30])
def test_one_in_so_many_stays(n_dropped):
    points = np.random.default_rng(0).normal(size=(1000, 3))
    assert len(thinned(points, n_dropped)) == -(-1000 // (n_dropped + 1))


@given(st.integers(1, 60), st.integers(1, 70), st.integers(0, 20), st.integers(0, 3))
def test_any_points_are_thinned_to_rows_that_exist_once(n, n_dropped, n_always, seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (n, 2)).astype(float)  # many twins
    always = rng.choice(n, min(n_always, n), replace=False)
    rows = thinned(points, n_dropped, always, seed)
    assert (np.diff(rows) > 0).all()
    assert np.isin(always, rows).all()
    assert rows.min() >= 0
    assert rows.max() < n
    assert len(rows) <= -(-n // (n_dropped + 1)) + len(always)
    assert rows.dtype == np.intp


def test_points_that_all_coincide_are_thinned_too():
    assert len(thinned(np.ones((100, 3)), 9)) == 10


def test_kept_points_are_spread():
    points = np.random.default_rng(0).random((2000, 2))
    rows = thinned(points, 9)
    among = np.sort(np.linalg.norm(points[rows, None] - points[rows], axis=2), axis=1)[:, 1]
    sample = np.random.default_rng(1).choice(2000, len(rows), replace=False)
    random = np.sort(np.linalg.norm(points[sample, None] - points[sample], axis=2), axis=1)[:, 1]
    assert np.median(among) > 1.3 * np.median(random)
    assert np.quantile(among, 0.05) > 3 * np.quantile(random, 0.05)


def test_the_same_seed_keeps_the_same_points():
    points = np.random.default_rng(0).normal(size=(300, 2))
    assert_array_equal(thinned(points, 5, seed=3), thinned(points, 5, seed=3))


def test_above_the_cost_of_a_walk_a_sample_of_the_same_size_is_taken(monkeypatch):
    points = np.random.default_rng(0).normal(size=(500, 2))
    walked = thinned(points, 9)

    def never(*arguments):
        raise AssertionError(arguments)

    monkeypatch.setattr(subset, "WALK_COST", 0.0)
    monkeypatch.setattr(_loops, "walk", never)
    sampled = thinned(points, 9)
    assert len(sampled) == len(walked)
    always = np.arange(100, 130)
    assert np.isin(always, thinned(points, 9, always)).all()
    assert_array_equal(thinned(points, 9, seed=1), thinned(points, 9, seed=1))
