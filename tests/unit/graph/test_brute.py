"""Brute force: each of its ways finds the same as all distances, sorted."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami.graph.search import brute

RNG = np.random.default_rng(0)
BASE = RNG.normal(size=(40_000, 11)).astype(np.float32)
QUERIES = RNG.normal(size=(60, 11)).astype(np.float32)


@pytest.mark.parametrize("n_points", [400, 16_384, 40_000])
@pytest.mark.parametrize("k", [1, 7, 300])
def test_the_nearest_of_all_are_those_of_sorted_distances(n_points: int, k: int) -> None:
    squares, rows = brute.nearest_of_all(QUERIES, BASE[:n_points], k)
    exact = BASE[:n_points].astype(np.float64)
    truth = np.array([((exact - query) ** 2).sum(axis=1) for query in QUERIES.astype(np.float64)])
    nearest = np.argsort(truth, axis=1, kind="stable")[:, :k]
    assert_allclose(squares, np.take_along_axis(truth, nearest, axis=1), rtol=1e-4, atol=1e-5)
    assert np.mean(rows == nearest) > 0.999  # near ties may swap in float32


def test_groups_are_looked_into_only_where_that_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    known = brute._nearest_by_groups
    monkeypatch.setattr(
        brute, "_nearest_by_groups", lambda *each: asked.append(len(each[1])) or known(*each)
    )
    for n_points in (4096 * 7 - 1, 4096 * 7):
        brute.nearest_of_all(QUERIES[:2], BASE[:n_points], 7)
    assert asked == [4096 * 7]


def test_no_query_has_no_neighbours() -> None:
    squares, rows = brute.nearest_of_all(QUERIES[:0], BASE, 3)
    assert squares.shape == rows.shape == (0, 3)


def test_identical_points_are_all_found() -> None:
    base = np.repeat(BASE[:500], 80, axis=0)
    squares, rows = brute.nearest_of_all(BASE[:5], base, 5)
    assert_allclose(squares, 0, atol=1e-6)
    assert_array_equal(rows // 80, np.repeat(np.arange(5)[:, None], 5, axis=1))
