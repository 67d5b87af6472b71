"""Neighbour probabilities: closed forms, one width or one perplexity for all, ways to store."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, issparse
from scipy.special import xlogy
from sklearn.metrics import pairwise_distances

from beltrami.core.errors import InvalidInputError, MemoryBudgetError
from beltrami.core.machine import memory
from beltrami.embeddings.neighborhoods import affinities
from beltrami.embeddings.neighborhoods.affinities import (
    LocalAffinity,
    WideAffinity,
    dissimilarities,
    twins_of,
)
from beltrami.embeddings.neighborhoods.probabilities import (
    StoredNeighborhood,
    calibrated_probabilities,
    require_spread,
    row_probabilities,
    sparse_probabilities,
)
from beltrami.embeddings.neighborhoods.wide import FactoredNeighborhood
from beltrami.operators.comparison import check_comparable


def cloud(n=60, p=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def apart(n=60, seed=0):
    """Dissimilarities that are no distances: one way is not the other."""
    return np.random.default_rng(seed).exponential(2.0, (n, n))


def stored(D, keep=None):
    """The off-diagonal entries of a matrix, those to keep, zeros among them."""
    n = len(D)
    keep = ~np.eye(n, dtype=bool) if keep is None else keep & ~np.eye(n, dtype=bool)
    starts = np.concatenate([[0], keep.sum(axis=1).cumsum()])
    return csr_array((D[keep], np.nonzero(keep)[1], starts), shape=D.shape)


def dense(P):
    return P.toarray() if issparse(P) else P


def perplexities(P):
    return np.exp(-xlogy(dense(P), dense(P)).sum(axis=1))


def wide(points, metric="euclidean", quantile=0.5, **options):
    return WideAffinity.of(points, metric, quantile=quantile, **options)


def local(points, metric="euclidean", perplexity=10.0):
    return LocalAffinity.of(points, metric, perplexity)


def every_affinity(points, metric="euclidean"):
    return [wide(points, metric), local(points, metric)]


def assert_is_probability(P, *, has_diagonal=False):
    P = dense(P)
    assert (P >= 0).all()
    assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    if not has_diagonal:
        assert_array_equal(np.diag(P), 0)


# --- rows ----------------------------------------------------------------------------------------


def test_rows_are_eq_1_of_the_paper():
    squares = np.random.default_rng(0).exponential(1.0, (5, 8))
    expected = np.exp(-squares) / np.exp(-squares).sum(axis=1, keepdims=True)
    assert_allclose(row_probabilities(squares.copy()), expected, rtol=1e-12)


def test_a_row_far_from_everything_keeps_its_nearest():
    squares = np.array([[np.inf, 1e8, 1e8 + 1, 1e8 + 2], [3.0, np.inf, 1e300, 3.0]])
    found = row_probabilities(squares)
    expected = np.exp([0.0, -1.0, -2.0]) / np.exp([0.0, -1.0, -2.0]).sum()
    assert_allclose(found[0], [0, *expected], rtol=1e-7)
    assert_allclose(found[1], [0.5, 0, 0, 0.5])


@pytest.mark.parametrize("perplexity", [1.5, 5.0, 29.9])
@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1.0, 1e150])
def test_every_row_has_the_perplexity_that_was_asked(perplexity, scale):
    squares = scale * np.random.default_rng(0).exponential(1.0, (20, 60))
    found = calibrated_probabilities(squares, perplexity)
    assert_is_probability(found, has_diagonal=True)
    assert_allclose(perplexities(found), perplexity, rtol=1e-6)
    order = np.argsort(squares, axis=1)
    assert (np.diff(np.take_along_axis(found, order, axis=1), axis=1) <= 0).all()  # nearer: more


def test_calibrated_rows_are_gaussian():
    """log p is a line in d^2, with a slope of the row's own."""
    squares = np.random.default_rng(0).exponential(1.0, (6, 30))
    for row, p in zip(squares, calibrated_probabilities(squares, 12.0), strict=True):
        slope, level = np.polyfit(row, np.log(p), 1)
        assert slope < 0
        assert_allclose(np.log(p), slope * row + level, atol=1e-9)


def test_the_calibration_does_not_depend_on_what_is_common_to_a_row():
    squares = np.random.default_rng(0).exponential(1.0, (6, 30))
    found = calibrated_probabilities(squares, 12.0)
    assert_allclose(calibrated_probabilities(7 * squares, 12.0), found, rtol=1e-6)
    assert_allclose(calibrated_probabilities(squares + 5, 12.0), found, rtol=1e-6)


def test_one_far_neighbour_does_not_blur_the_near_ones():
    """An outlier among the neighbours, however far, takes nothing."""
    near = np.random.default_rng(0).exponential(1.0, (4, 30))
    for far in (1e6, 1e12, 1e20):
        squares = np.column_stack([near, np.full(4, far)])
        found = calibrated_probabilities(squares, 10.0)
        assert_allclose(perplexities(found), 10.0, rtol=1e-5)
        assert_allclose(found[:, :-1], calibrated_probabilities(near, 10.0), atol=1e-5)


def test_duplicates_share_their_row():
    """More of them than neighbours asked for: nothing tells them apart."""
    squares = np.column_stack([np.zeros((3, 8)), np.ones((3, 4))])
    found = calibrated_probabilities(squares, 4.0)
    assert_allclose(found[:, :8], 1 / 8)
    assert_allclose(found[:, 8:], 0, atol=1e-12)
    assert_allclose(calibrated_probabilities(np.zeros((2, 6)), 3.0), 1 / 6)
    assert_allclose(calibrated_probabilities(np.full((2, 6), 5.0), 3.0), 1 / 6)


def test_long_inputs_are_the_same_in_blocks(monkeypatch):
    from beltrami.embeddings.neighborhoods import probabilities as neighborhoods

    squares = np.random.default_rng(0).exponential(1.0, (25, 30))
    whole = calibrated_probabilities(squares, 7.0)
    monkeypatch.setattr(neighborhoods, "_BLOCK", 4)
    assert_allclose(calibrated_probabilities(squares, 7.0), whole, rtol=1e-8)


def test_lists_of_neighbours_become_a_matrix():
    found = sparse_probabilities(np.array([[2, 0], [1, 2]]), np.array([[0.7, 0.3], [0.4, 0.6]]), 4)
    assert_allclose(found.toarray(), [[0.3, 0, 0.7, 0], [0, 0.4, 0.6, 0]])


# --- one width for all ----------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [1.0, 2.0])
@pytest.mark.parametrize("K", [2, 3, 10])
def test_the_width_is_the_quantile_of_all_distances(K, spread):
    X = cloud()
    found = wide(X, quantile=1 / K, spread=spread)
    D = pairwise_distances(X)
    width = np.quantile(D[~np.eye(60, dtype=bool)], 1 / K)
    assert found.width == pytest.approx(width)
    expected = np.exp(-(D**2) / (spread * width**2))
    np.fill_diagonal(expected, 0)
    assert_allclose(found.among(), expected / expected.sum(axis=1, keepdims=True), atol=1e-12)


def test_of_many_points_the_width_is_taken_on_a_sample():
    X = cloud(3200, 2)
    exact = np.quantile(pairwise_distances(X)[~np.eye(3200, dtype=bool)], 0.5)
    sampled = wide(X).width
    assert sampled != exact
    assert sampled == pytest.approx(exact, rel=0.02)
    assert sampled == wide(X).width


def test_more_duplicates_than_the_quantile_still_have_a_width():
    """Most of the distances are zero; the smallest that is not is taken."""
    X = np.repeat(np.array([[0.0], [3.0], [4.0]]), [58, 1, 1], axis=0)
    found = wide(X)
    assert found.width == pytest.approx(1.0)
    assert_is_probability(found.among())


# --- one perplexity for all -----------------------------------------------------------------------


@pytest.mark.parametrize("perplexity", [3.0, 10.0])
def test_every_point_has_its_perplexity_among_three_times_as_many(perplexity):
    found = local(cloud(200), perplexity=perplexity).among()
    assert_is_probability(found)
    assert_array_equal(np.diff(found.indptr), 3 * perplexity)
    assert_allclose(perplexities(found), perplexity, rtol=1e-6)


def test_local_rows_are_calibrated_over_the_nearest():
    X = cloud(100)
    squares = pairwise_distances(X) ** 2
    np.fill_diagonal(squares, np.inf)
    found = local(X, perplexity=8.0).among().toarray()
    for i in range(100):
        near = np.argsort(squares[i])[:24]
        expected = calibrated_probabilities(squares[i, near][None], 8.0)[0]
        assert_allclose(found[i, near], expected, atol=1e-7)


def test_few_points_have_fewer_neighbours():
    found = local(cloud(9), perplexity=30.0).among()
    assert_is_probability(found)
    assert_array_equal(np.diff(found.indptr), 8)
    assert_allclose(perplexities(found), 4.0, rtol=1e-6)


# --- what holds for both --------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "angle", "manhattan"])
def test_rows_sum_to_one_and_nobody_is_its_own_neighbour(metric):
    for found in every_affinity(cloud(), metric):
        assert_is_probability(found.among())
        assert_is_probability(found.towards(cloud(7, seed=1)), has_diagonal=True)


def test_a_far_outlier_has_neighbours_and_is_nobodys():
    X = cloud()
    X[7] = 1e5
    for found in every_affinity(X):
        P = dense(found.among())
        assert_is_probability(P)
        assert np.delete(P[:, 7], 7).max() < 1e-12
        assert_is_probability(found.towards(X[:5] + 1e7), has_diagonal=True)


def test_duplicates_are_neighbours_of_each_other():
    X = np.vstack([cloud(30), cloud(30)])
    for found in every_affinity(X):
        P = dense(found.among())
        assert_is_probability(P)
        assert_array_equal(P.argmax(axis=1), (np.arange(60) + 30) % 60)


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_vectors_and_their_distances_have_the_same_neighbours(offset):
    X = cloud() + offset
    D, new = pairwise_distances(X - offset), cloud(5, seed=1)
    across = pairwise_distances(new, X - offset)
    for vectors, matrix in zip(every_affinity(X), every_affinity(D, "precomputed"), strict=True):
        assert_allclose(dense(vectors.among()), dense(matrix.among()), atol=1e-7)
        assert_allclose(
            dense(vectors.towards(new + offset)), dense(matrix.towards(across)), atol=1e-7
        )


@pytest.mark.parametrize("offset", [1e7, 1e9])
def test_moving_all_points_far_away_moves_no_probability(offset):
    """Times and identifiers have such offsets; the differences are exact."""
    X = np.round(cloud() * 64) / 64
    for here, there in zip(every_affinity(X), every_affinity(X + offset), strict=True):
        assert_allclose(dense(there.among()), dense(here.among()), atol=1e-6)


def test_a_large_constant_column_changes_nothing():
    X = cloud()
    tall = np.column_stack([X, np.full(60, 1e9)])
    for here, there in zip(every_affinity(X), every_affinity(tall), strict=True):
        assert_allclose(dense(there.among()), dense(here.among()), atol=1e-6)


def test_dissimilarities_may_differ_in_both_directions():
    """Each row looks along its own; the diagonal is not read."""
    D = apart()
    found = wide(D, "precomputed")
    squares = D**2 / (2 * found.width**2)
    np.fill_diagonal(squares, np.inf)
    assert_allclose(found.among(), row_probabilities(squares), atol=1e-14)
    assert np.abs(found.among() - found.among().T).max() > 0.01
    other = D.copy()
    np.fill_diagonal(other, 99.0)
    for one, two in zip(
        every_affinity(D, "precomputed"), every_affinity(other, "precomputed"), strict=True
    ):
        assert_allclose(dense(one.among()), dense(two.among()), atol=1e-14)
    P = local(D, "precomputed", 6.0).among().toarray()
    np.fill_diagonal(D, np.inf)
    for i in range(60):
        assert_array_equal(np.sort(np.argsort(D[i])[:18]), np.flatnonzero(P[i]))


def test_a_matrix_with_everything_stored_is_the_dense_one():
    D = apart()
    D[3, 9] = 0.0  # a stored zero is a dissimilarity
    for full, sparse in zip(
        every_affinity(D, "precomputed"), every_affinity(stored(D), "precomputed"), strict=True
    ):
        assert_allclose(dense(full.among()), dense(sparse.among()), atol=1e-9)
        new = apart(60, 1)[:5]
        rows = csr_array((new.ravel(), np.tile(np.arange(60), 5), np.arange(0, 301, 60)), (5, 60))
        assert_allclose(dense(full.towards(new)), dense(sparse.towards(rows)), atol=1e-9)


def test_a_stored_diagonal_is_not_read():
    D = apart()
    full = csr_array(D + 1)
    for with_it, without in zip(
        every_affinity(full, "precomputed"),
        every_affinity(stored(D + 1), "precomputed"),
        strict=True,
    ):
        assert_allclose(dense(with_it.among()), dense(without.among()), atol=1e-14)


def test_pairs_that_are_not_stored_have_no_probability():
    D, keep = apart(), np.random.default_rng(1).random((60, 60)) < 0.3
    keep[np.arange(60), (np.arange(60) + 1) % 60] = True
    for found in every_affinity(stored(D, keep), "precomputed"):
        P = dense(found.among())
        assert_is_probability(P)
        assert_array_equal(P[~keep], 0)
    P = dense(wide(stored(D, keep), "precomputed").among())
    assert (P[keep & ~np.eye(60, dtype=bool)] > 0).all()


def test_rows_of_few_stored_neighbours_use_them_all():
    """The perplexity of a row is no more than its neighbours; others keep theirs."""
    D, keep = apart(), np.ones((60, 60), dtype=bool)
    keep[5] = False
    keep[5, [1, 8, 40]] = True
    P = local(stored(D, keep), "precomputed", 10.0).among()
    assert_is_probability(P)
    expected = np.full(60, 10.0)
    expected[5] = 3.0
    assert_allclose(perplexities(P), expected, rtol=1e-4)


def test_a_far_row_of_a_sparse_matrix_keeps_its_nearest():
    D = apart()
    D[7] += 1e4
    for full, sparse in zip(
        every_affinity(D, "precomputed"), every_affinity(stored(D), "precomputed"), strict=True
    ):
        assert_is_probability(sparse.among())
        assert_allclose(dense(sparse.among()), dense(full.among()), atol=1e-9)


def test_a_kernel_wider_than_the_memory_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    with pytest.raises(MemoryBudgetError, match=r"all pairs of 60 points.*mode='practical'"):
        WideAffinity(cloud(), "euclidean", 1.0, 2.0).among()


def test_angles_are_angles():
    found = dissimilarities(np.eye(2), np.array([[1.0, 1.0], [-2.0, 0.0]]), "angle")
    assert_allclose(found, np.pi * np.array([[1 / 4, 1], [1 / 4, 1 / 2]]), atol=1e-7)


# --- what an embedding asks -----------------------------------------------------------------------


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_stored_neighbourhood_answers_as_its_matrix(is_sparse):
    P = local(cloud()).among() if is_sparse else wide(apart(), "precomputed").among()
    full = dense(P)
    found = StoredNeighborhood.of(P)
    V = cloud(60, 4, seed=2)
    assert found.n_points == 60
    assert issparse(found.mutual) == is_sparse
    assert_allclose(found.multiply(V), (full + full.T) @ V, atol=1e-13)
    assert_allclose(found.pull, 1 + full.sum(axis=0), rtol=1e-12)
    assert found.entropy == pytest.approx(np.log(perplexities(full)).sum())


def test_a_probability_of_zero_has_no_entropy():
    P = np.array([[0, 1.0, 0], [0.5, 0, 0.5], [1.0, 0, 0]])
    assert StoredNeighborhood.of(P).entropy == pytest.approx(np.log(2))
    with_zero = csr_array((np.array([1.0, 0.0, 0.5, 0.5, 1.0]), [1, 2, 0, 2, 0], [0, 2, 4, 5]))
    assert StoredNeighborhood.of(with_zero).entropy == pytest.approx(np.log(2))


def test_features_answer_as_the_matrix_they_stand_for():
    X = cloud(1500)
    affinity = wide(X)
    exact = StoredNeighborhood.of(affinity.among())
    found = FactoredNeighborhood.of(X, affinity.width)
    assert found.n_points == 1500
    assert found.error < 1e-3
    assert found.entropy == pytest.approx(exact.entropy, rel=1e-2)
    assert_allclose(found.pull, exact.pull, rtol=1e-3)
    smooth = np.column_stack([X, np.sin(X), np.ones(1500)])
    right = exact.multiply(smooth)
    off = np.linalg.norm(found.multiply(smooth) - right, axis=0)
    assert (off < 1e-3 * np.linalg.norm(right, axis=0)).all()
    assert_allclose(found.multiply(np.ones((1500, 1)))[:, 0], found.pull, rtol=1e-3)


def test_a_sparse_matrix_of_vectors_gives_the_same_features():
    X = cloud(300)
    X[np.abs(X) < 0.3] = 0
    one, two = (FactoredNeighborhood.of(points, 1.5) for points in (X, csr_array(X)))
    assert_allclose(one.pull, two.pull, rtol=1e-4)


def test_many_vectors_are_a_product_of_features(monkeypatch):
    monkeypatch.setattr(affinities, "_MOST_DENSE", 200)
    X = cloud(300)
    for spread in (1.0, 2.0):
        affinity = wide(X, spread=spread)
        found = affinity.neighborhood()
        assert isinstance(found, FactoredNeighborhood)
        assert_allclose(found.pull, StoredNeighborhood.of(affinity.among()).pull, rtol=1e-3)
    assert isinstance(wide(X, "manhattan").neighborhood(), StoredNeighborhood)
    assert isinstance(wide(pairwise_distances(X), "precomputed").neighborhood(), StoredNeighborhood)


def test_a_kernel_too_narrow_for_features_is_refused(monkeypatch):
    from beltrami.embeddings.neighborhoods import wide as wide_neighborhoods

    monkeypatch.setattr(wide_neighborhoods, "_LANDMARKS", (20, 40))
    with pytest.raises(
        InvalidInputError, match=r"40 landmarks .* \d+\.\d% .*400 points.*practical"
    ):
        FactoredNeighborhood.of(cloud(400), 0.3)


def test_a_kernel_that_reaches_nobody_is_refused(monkeypatch):
    from beltrami.embeddings.neighborhoods import wide as wide_neighborhoods

    monkeypatch.setattr(wide_neighborhoods, "_LANDMARKS", (20, 40))
    with pytest.raises(InvalidInputError, match=r"error of \d"):
        FactoredNeighborhood.of(cloud(400), 0.003)


# --- identical points -----------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "angle"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_point_of_the_fit_is_recognised(metric, dtype):
    X = cloud(200).astype(dtype)
    assert_array_equal(twins_of(X, metric, X[[5, 3, 199]]), [5, 3, 199])
    near = (X[:3] + 1e-3).astype(dtype)
    assert_array_equal(twins_of(X, metric, near), -1)


def test_a_sparse_point_of_the_fit_is_recognised():
    X = cloud(50)
    X[np.abs(X) < 0.5] = 0
    assert_array_equal(twins_of(csr_array(X), "euclidean", csr_array(X[[7, 2]])), [7, 2])


def test_a_dissimilarity_of_zero_is_the_same_point():
    new = np.array([[1.0, 0.0, 2.0], [1.0, 1.0, 1.0], [0.0, 3.0, 0.0]])
    assert_array_equal(twins_of(np.ones((3, 3)), "precomputed", new), [1, -1, 0])
    rows = csr_array((np.array([2.0, 0.0, 1.0, 0.0]), [0, 2, 1, 0], [0, 2, 3, 4]), shape=(3, 3))
    assert_array_equal(twins_of(np.ones((3, 3)), "precomputed", rows), [2, -1, 0])


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_dissimilarities_that_are_all_equal_are_refused(metric):
    points = np.eye(9) if metric == "euclidean" else np.full((9, 9), 1.5)
    for make in (wide, local):
        with pytest.raises(InvalidInputError, match=r"between the 9 points are equal \(1\.[45]"):
            make(points, metric)
    require_spread(1.0, 1.1, 9)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (apart()[:, :50], r"square matrix .*\(60, 50\)"),
        (apart() - 0.5, r"\d+ dissimilarities are negative, the smallest -0\.4"),
        (-stored(apart()), "3540 dissimilarities are negative"),
        (stored(apart(), np.arange(60)[:, None] % 59 > 0), r"2 row\(s\) .*the first is row 0"),
        (csr_array(np.eye(4)), r"4 row\(s\) of the sparse matrix hold no neighbour"),
    ],
    ids=["shape", "negative", "negative sparse", "empty rows", "diagonal only"],
)
def test_matrices_that_hold_no_dissimilarities_are_refused(matrix, message):
    with pytest.raises(InvalidInputError, match=message):
        check_comparable(matrix, "precomputed")


def test_a_new_row_without_neighbours_is_refused():
    for found in every_affinity(stored(apart()), "precomputed"):
        with pytest.raises(InvalidInputError, match=r"1 row\(s\) .*row 0"):
            found.towards(csr_array((1, 60)))


def test_matrices_of_dissimilarities_are_accepted():
    for matrix in (apart(), stored(apart()), np.zeros((3, 3)), stored(np.zeros((3, 3)))):
        check_comparable(matrix, "precomputed")
