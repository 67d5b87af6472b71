"""Each compiled loop against its twin, in both precisions and at odd widths."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array, random_array

from beltrami.graph import _loops

DTYPES = [np.float32, np.float64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 5, 16, 33])
def test_pair_distances_are_taken_in_float64_whatever_the_precision(
    dtype: type[np.floating], width: int
) -> None:
    rng = np.random.default_rng(width)
    # Far from the origin, where float32 differences would lose every digit but one.
    left, right = (1e3 + rng.normal(size=(2, 30, width))).astype(dtype)
    rows, columns = rng.integers(0, 30, size=(2, 50))
    assert_allclose(
        _loops.pair_distances(left, right, rows, columns),
        _loops.pair_distances_reference(left, right, rows, columns),
        rtol=1e-14,
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_rerank_is_its_twin_and_puts_missing_candidates_last(dtype: type[np.floating]) -> None:
    rng = np.random.default_rng(0)
    points = rng.integers(0, 3, size=(40, 3)).astype(dtype)  # many ties
    candidates = np.array([rng.permutation(40)[:9] for _ in range(40)])
    candidates[::4, 2] = -1
    indices, distances = _loops.rerank(points, points, candidates, 9)
    expected, lengths = _loops.rerank_reference(points, points, candidates, 9)
    assert_array_equal(indices, expected)
    assert_allclose(distances, lengths, rtol=1e-14)
    assert (indices[::4, -1] == -1).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [2, 16, 37])
def test_scan_is_its_twin_on_ties_and_duplicates(dtype: type[np.floating], width: int) -> None:
    rng = np.random.default_rng(width)
    base = rng.integers(0, 2, size=(60, width)).astype(dtype)
    base[::3] = base[0]
    queries = base[rng.permutation(60)[:25]]
    expected, lengths = _loops.scan_reference(queries, base, 7)
    for limits in (np.full(25, np.inf), lengths[:, -1]):
        indices, distances = _loops.scan(queries, base, 7, limits)
        assert_array_equal(indices, expected)
        assert_allclose(distances, lengths, rtol=1e-14)


def test_sparse_kernels_are_their_twins() -> None:
    rng = np.random.default_rng(0)
    left = random_array((20, 40), density=0.2, rng=rng).tocsr()
    right = random_array((30, 40), density=0.2, rng=rng).tocsr()
    left.sort_indices()
    right.sort_indices()
    rows, columns = rng.integers(0, 20, 80), rng.integers(0, 30, 80)
    arrays = (left.indptr, left.indices, left.data, right.indptr, right.indices, right.data)
    assert_allclose(
        _loops.sparse_pair_distances(*arrays, rows, columns),
        _loops.sparse_pair_distances_reference(left, right, rows, columns),
        rtol=1e-13,
    )
    bias, posts = rng.normal(size=30), csc_array(right)
    found, scores = _loops.sparse_top(
        *arrays[:3],
        posts.indptr,
        posts.indices,
        posts.data,
        bias,
        6,
        numba.config.NUMBA_NUM_THREADS,
    )
    expected, best = _loops.sparse_top_reference(left, right, bias, 6)
    assert_array_equal(found, expected)
    assert_allclose(scores, best, rtol=1e-13)


def test_sparse_top_breaks_ties_by_row() -> None:
    base = csc_array(np.ones((9, 2)))
    query = csc_array(np.ones((1, 2))).tocsr()
    threads = numba.config.NUMBA_NUM_THREADS
    arrays = query.indptr, query.indices, query.data, base.indptr, base.indices, base.data
    assert_array_equal(_loops.sparse_top(*arrays, np.zeros(9), 4, threads)[0], [[0, 1, 2, 3]])


def test_shared_share_is_its_twin() -> None:
    rng = np.random.default_rng(0)
    left = np.sort([rng.permutation(25)[:6] for _ in range(15)], axis=1)
    right = np.sort([rng.permutation(25)[:9] for _ in range(15)], axis=1)
    rows, columns = rng.integers(0, 15, size=(2, 60))
    expected = _loops.shared_share_reference(left, right, rows, columns)
    assert_allclose(_loops.shared_share(left, right, rows, columns), expected, rtol=1e-15)
    assert 0 < expected.max() < 1
