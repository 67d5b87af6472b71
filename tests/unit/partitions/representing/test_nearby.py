"""Who stands near a row."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from beltrami.partitions.representing.nearby import FACTOR, SEARCHED, Arranged, Standing


def drawn(m: int, d: int, n_rows: int = 1500):
    """Return representatives on curved clusters, and rows beside them."""
    rng = np.random.default_rng(0)
    turns = rng.uniform(0, 6, size=(m + n_rows, 1)) + np.arange(d) / 2
    places = 3 * np.sin(turns) + 0.3 * rng.normal(size=(m + n_rows, d))
    places[:, 0] += 6 * rng.integers(3, size=m + n_rows)
    return places[:m].astype(np.float32), places[m:].astype(np.float32)


def test_few_are_all_looked_at():
    places, rows = drawn(500, 6)
    found = Arranged.of(places)
    assert found.division is None
    expected = np.argsort(cdist(rows, places), axis=1)[:, :3]
    assert (found.near(rows, 3, SEARCHED) == expected).mean() > 0.999


@pytest.mark.parametrize("k", [1, 3])
def test_cells_find_what_looking_at_all_does(k):
    places, rows = drawn(6000, 12)
    found = Arranged.of(places)
    assert found.division is not None
    distances = cdist(rows, places)
    expected = np.argsort(distances, axis=1)[:, :k]
    near = found.near(rows, k, SEARCHED)
    hits = np.mean([np.isin(some, true).mean() for some, true in zip(near, expected, strict=True)])
    assert hits >= 0.98
    rising = np.take_along_axis(distances, near, axis=1)
    assert (np.diff(rising, axis=1) >= -1e-5).all()


def test_who_is_found_does_not_depend_on_the_rows_beside():
    places, rows = drawn(6000, 12)
    found = Arranged.of(places)
    whole = found.near(rows, 3, SEARCHED)
    parts = [found.near(rows[start : start + 100], 3, SEARCHED) for start in range(0, 1500, 100)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_a_row_is_covered_within_one_and_a_half_scales_and_no_farther():
    standing = Standing.of(np.zeros((1, 2), np.float32), np.array([2.0]))
    rows = np.array([[0, 0], [0, 2 * FACTOR], [0, 2 * FACTOR + 0.01]], np.float32)
    assert standing.covers(rows, np.zeros(3, np.int64)).tolist() == [True, True, False]


def test_where_there_is_no_scale_only_equal_rows_are_covered():
    standing = Standing.of(np.zeros((1, 2), np.float32), np.zeros(1))
    rows = np.array([[0, 0], [0, 1e-6]], np.float32)
    assert standing.covers(rows, np.zeros(2, np.int64)).tolist() == [True, False]
