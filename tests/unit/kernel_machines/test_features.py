"""Features: inner products that are the kernel, or tend to it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel

from beltrami.core.errors import InvalidInputError
from beltrami.kernel_machines.features import (
    CoordinateFeatures,
    FourierFeatures,
    explicit_features,
    kernel_error,
)
from beltrami.kernel_machines.gram import Gram
from beltrami.kernel_machines.kernels import resolve_kernel
from beltrami.kernel_machines.landmarks import NystromFeatures, pivoted_cholesky, spread_rows

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(60, 3))
NEW = RNG.normal(size=(9, 3))
ALL = np.arange(60)


def rbf(points=POINTS, width=1.0):
    return Gram(resolve_kernel("rbf", width=width), points)


def inner(features, rows=ALL):
    found = features.of_rows(rows)
    return found @ found.T


# --- pivoted Cholesky -------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [1, 3, 8])
def test_pivots_are_as_many_as_the_rank(rank: int) -> None:
    root = RNG.normal(size=(12, rank))
    found = pivoted_cholesky(root @ root.T, tol=1e-10)
    assert found.factor.shape == (12, rank)
    assert_allclose(found.factor @ found.factor.T, root @ root.T, atol=1e-12 * 12)


def test_the_first_pivot_is_the_largest_and_pivot_rows_are_lower_triangular() -> None:
    matrix = np.diag([1.0, 4.0, 2.0]) + 0.1
    found = pivoted_cholesky(matrix, tol=1e-12)
    assert_array_equal(found.pivots, [1, 2, 0])
    triangle = found.factor[found.pivots]
    assert_array_equal(triangle, np.tril(triangle))


def test_a_tolerance_leaves_out_what_is_nearly_known() -> None:
    matrix = np.diag([1.0, 1e-3, 1e-7])
    assert len(pivoted_cholesky(matrix, tol=1e-5).pivots) == 2


def test_duplicated_rows_are_taken_once() -> None:
    matrix = rbf_kernel(np.vstack([POINTS[:5], POINTS[:5]]))
    assert len(pivoted_cholesky(matrix, tol=1e-10).pivots) == 5


@pytest.mark.parametrize(
    "matrix",
    [
        [[1.0, 2.0], [2.0, 1.0]],
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -0.5]],
        [[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]],
    ],
)
def test_an_indefinite_matrix_is_refused(matrix) -> None:
    with pytest.raises(InvalidInputError, match=r"not positive semi-definite.*below what others"):
        pivoted_cholesky(np.array(matrix), tol=1e-10)


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), -np.eye(3)], ids=["zero", "negative"])
def test_a_matrix_without_a_positive_diagonal_is_refused(matrix) -> None:
    with pytest.raises(InvalidInputError, match=r"needs k\(x, x\) > 0 for some points"):
        pivoted_cholesky(matrix, tol=1e-10)


# --- landmarks --------------------------------------------------------------------------------


def test_all_rows_as_landmarks_give_the_kernel() -> None:
    features = NystromFeatures.of(rbf(), ALL, tol=1e-13)
    assert_allclose(inner(features), rbf().whole(), atol=1e-8)


def test_between_landmarks_the_kernel_is_exact() -> None:
    landmarks = np.array([4, 17, 30, 55])
    features = NystromFeatures.of(rbf(), landmarks, tol=1e-13)
    expected = rbf().among(landmarks, landmarks)
    assert_allclose(inner(features, landmarks), expected, atol=1e-12)


def test_features_are_the_projection_on_the_landmarks() -> None:
    landmarks, whole = ALL[:20], rbf().whole()
    features = NystromFeatures.of(rbf(), landmarks, tol=1e-13)
    inner_block = whole[np.ix_(landmarks, landmarks)]
    expected = whole[:, landmarks] @ np.linalg.solve(inner_block, whole[landmarks])
    assert_allclose(inner(features), expected, atol=1e-8)


def test_more_landmarks_are_never_worse() -> None:
    errors = [
        kernel_error(NystromFeatures.of(rbf(), ALL[:m], tol=1e-13), rbf(), ALL)
        for m in (5, 10, 20, 40, 60)
    ]
    assert np.all(np.diff(errors) < 0)
    assert errors[-1] < 1e-8


def test_landmarks_that_say_nothing_new_are_dropped() -> None:
    gram = rbf(np.vstack([POINTS, POINTS]))
    features = NystromFeatures.of(gram, np.arange(120), tol=1e-10)
    assert features.n_features == len(features.landmarks) <= 60


def test_the_first_features_are_those_of_the_first_landmarks() -> None:
    features = NystromFeatures.of(rbf(), ALL[:30], tol=1e-13)
    alone = NystromFeatures.of(rbf(), features.landmarks[:10], tol=1e-13)
    expected = np.abs(alone.of_rows(ALL))
    assert_allclose(np.abs(features.of_rows(ALL)[:, :10]), expected, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_of_the_fit_have_the_features_of_new_points(dtype) -> None:
    points = POINTS.astype(dtype)
    gram = rbf(points)
    explicit = explicit_features(gram.kernel, points, n_features=10, seed=0)
    for features in (NystromFeatures.of(gram, ALL[:10], tol=1e-6), explicit):
        rows = features.of_rows(ALL[:7])
        assert rows.dtype == dtype
        assert_allclose(rows, features.of_new(points[:7]), atol=1e-6)


# --- random waves -----------------------------------------------------------------------------


def test_random_waves_tend_to_the_kernel_as_the_root_of_their_number() -> None:
    sizes = (100, 400, 1600, 6400)
    errors = [
        np.mean(
            [
                kernel_error(FourierFeatures.of(POINTS, 0.6, m, seed), rbf(width=0.6), ALL)
                for seed in range(8)
            ]
        )
        for m in sizes
    ]
    assert_allclose(errors * np.sqrt(sizes), errors[0] * 10, rtol=0.25)


def test_random_waves_give_each_point_length_one() -> None:
    found = FourierFeatures.of(POINTS, 0.7, 40, 0).of_new(NEW)
    assert_allclose((found**2).sum(axis=1), 1.0)


@pytest.mark.parametrize(("asked", "given"), [(1, 2), (2, 2), (7, 8), (100, 100)])
def test_random_waves_come_in_pairs(asked: int, given: int) -> None:
    features = FourierFeatures.of(POINTS, 1.0, asked, 0)
    assert features.n_features == features.of_new(NEW).shape[1] == given


def test_random_waves_follow_their_seed() -> None:
    draws = [FourierFeatures.of(POINTS, 1.0, 20, seed).frequencies for seed in (3, 3, 4)]
    assert_array_equal(draws[0], draws[1])
    assert not np.allclose(draws[0], draws[2])


def test_random_waves_of_sparse_points_are_those_of_dense_ones() -> None:
    dense = FourierFeatures.of(POINTS, 1.0, 20, 0).of_new(NEW)
    sparse = FourierFeatures.of(csr_array(POINTS), 1.0, 20, 0).of_new(csr_array(NEW))
    assert_allclose(sparse, dense)


# --- coordinates ------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [np.asarray, csr_array])
@pytest.mark.parametrize("name", ["linear", "cosine"])
def test_coordinates_are_the_features_of_the_linear_and_cosine_kernels(name, container) -> None:
    gram = Gram(resolve_kernel(name, width=1.0), container(POINTS))
    features = explicit_features(gram.kernel, gram.points, n_features=99, seed=0)
    assert isinstance(features, CoordinateFeatures)
    assert features.n_features == 3
    assert_allclose(inner(features), gram.whole(), atol=1e-14)
    assert kernel_error(features, gram, ALL) < 1e-14


def test_normalised_coordinates_leave_points_and_zero_rows_as_they_were() -> None:
    points = np.vstack([NEW, np.zeros(3)])
    before = points.copy()
    found = CoordinateFeatures(points, is_cosine=True).of_new(points)
    assert_array_equal(points, before)
    assert_array_equal(found[-1], 0.0)
    assert_allclose(found @ found.T, cosine_similarity(points), atol=1e-14)


def test_a_kernel_without_explicit_features_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"no feature map.*approximation='nystrom'"):
        explicit_features(resolve_kernel("poly"), POINTS, n_features=9, seed=0)


# --- samples ----------------------------------------------------------------------------------


def test_given_rows_come_first_and_none_comes_twice() -> None:
    first = np.array([50, 3, 20])
    rows = spread_rows(60, first, 30, 0)
    assert_array_equal(rows[:3], first)
    assert len(np.unique(rows)) == len(rows) == 30
    assert_array_equal(np.unique(spread_rows(60, first, 60, 0)), ALL)


def test_of_too_many_given_rows_a_random_part_is_taken() -> None:
    first = np.arange(0, 60, 2)
    rows = spread_rows(60, first, 10, 0)
    assert len(np.unique(rows)) == 10
    assert np.isin(rows, first).all()
    assert rows.max() > 18  # not the first ten


def test_more_rows_than_there_are_means_all_of_them() -> None:
    assert_array_equal(np.unique(spread_rows(5, np.array([2]), 9, 0)), np.arange(5))


def test_the_error_of_the_kernel_is_relative() -> None:
    gram = Gram(resolve_kernel("linear"), POINTS)
    halved = CoordinateFeatures(POINTS / np.sqrt(2), is_cosine=False)
    assert_allclose(kernel_error(halved, gram, ALL), 0.5)
