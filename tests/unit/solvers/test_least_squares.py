"""Nested and ridge least squares: one factorisation gives what refitting would."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import null_space

from beltrami.solvers.least_squares import (
    RidgePath,
    held_out_values,
    nested_factor,
    nested_least_squares,
)

ROWS, COLUMNS, TARGETS = 30, 12, 3
ALPHAS = [1e-3, 0.3, 1.0, 40.0]


def problem(rows=ROWS, columns=COLUMNS, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rows, columns)), rng.standard_normal((rows, TARGETS))


def deficient(seed=0):
    """Column 0 fine, 1 zero, 3 a copy of 2, 6 a mix of earlier ones."""
    A, y = problem(20, 8, seed)
    A[:, 1] = 0
    A[:, 3] = 2 * A[:, 2]
    A[:, 6] = A[:, 0] - A[:, 4]
    return A, y


def fit(A, y):
    return np.linalg.lstsq(A, y)[0]


def ridge(A, y, penalties, alpha):
    """Stack the penalty under the rows, and fit: least penalty where there is a choice."""
    below = np.sqrt(alpha * penalties)[:, None] * np.eye(A.shape[1])
    return fit(np.vstack([A, below]), np.vstack([y, np.zeros((A.shape[1], y.shape[1]))]))


def left_out(fitter, A, y):
    values = np.empty_like(y)
    for row in range(len(A)):
        others = np.arange(len(A)) != row
        values[row] = A[row] @ fitter(A[others], y[others])
    return values


# --- nested fits -------------------------------------------------------------


def test_coefficients_of_every_size_are_those_of_a_fit_of_that_size():
    A, y = problem()
    factor = nested_factor(A)
    several = nested_least_squares(A, y, range(1, COLUMNS + 1))
    for size in range(1, COLUMNS + 1):
        expected = fit(A[:, :size], y)
        assert_allclose(factor.leading(size).coefficients(y), expected, atol=1e-12)
        assert_allclose(several[size - 1], expected, atol=1e-12)


def test_the_factor_is_orthonormal_and_gives_the_matrix_back():
    for A in (problem()[0], problem(8, 8)[0]):
        factor = nested_factor(A)
        assert_allclose(factor.Q.T @ factor.Q, np.eye(A.shape[1]), atol=1e-13)
        assert_allclose(factor.Q @ factor.R, A, atol=1e-13)
        assert_allclose(factor.R, np.triu(factor.R))


@pytest.mark.parametrize("A", [deficient()[0], problem(5, 9)[0], np.zeros((4, 3))])
def test_the_factor_of_dependent_columns_is_zero_where_nothing_is_added(A):
    factor = nested_factor(A)
    assert_allclose(factor.Q @ factor.R, A, atol=1e-13)
    lengths = np.linalg.norm(factor.Q, axis=0)
    ranks = [np.linalg.matrix_rank(A[:, :size]) for size in range(A.shape[1] + 1)]
    assert_allclose(lengths, np.diff(ranks), atol=1e-13)
    kept = factor.Q[:, lengths > 0.5]
    assert_allclose(kept.T @ kept, np.eye(ranks[-1]), atol=1e-13)


@pytest.mark.parametrize("case", [deficient(), problem(5, 9), problem(1, 3)])
def test_dependent_columns_get_zeros_and_predictions_are_those_of_the_shortest_fit(case):
    A, y = case
    sizes = range(1, A.shape[1] + 1)
    factor = nested_factor(A)
    for size, other in zip(sizes, nested_least_squares(A, y, sizes), strict=True):
        leading = factor.leading(size)
        for found in (leading.coefficients(y), other):
            assert np.isfinite(found).all()
            assert_allclose(A[:, :size] @ found, A[:, :size] @ fit(A[:, :size], y), atol=1e-10)
            assert not found[~leading.Q.any(axis=0)].any()


def test_columns_that_are_nearly_dependent_are_dropped_and_merely_close_ones_are_kept():
    A, y = problem(20, 3)
    for change, rank in ((1e-14, 2), (1e-6, 3)):
        A[:, 2] = A[:, 1] + change * np.linspace(-1, 1, 20)
        found = nested_factor(A).coefficients(y)
        assert (found != 0).any(axis=1).sum() == rank
        assert (nested_least_squares(A, y, [3])[0] != 0).any(axis=1).sum() == rank


def test_columns_of_any_scale_are_judged_by_their_own_length():
    A, y = problem(20, 3)
    scale = np.array([1.0, 1e-13, 1e13])
    scaled = A * scale
    for matrix in (scaled, np.insert(scaled, 3, 0.0, axis=1)):  # independent, and not
        found = nested_factor(matrix).coefficients(y)[:3]
        assert_allclose(found * scale[:, None], fit(A, y), rtol=1e-10)


def test_close_columns_beside_a_dependent_one_still_give_an_orthonormal_factor():
    A, _ = problem(20, 6)
    A = 1.0 + 1e-7 * A
    A[:, 2] = 0
    kept = np.delete(nested_factor(A).Q, 2, axis=1)
    assert_allclose(kept.T @ kept, np.eye(5), atol=1e-13)


def test_whole_and_short_numbers_are_fitted_in_full_precision():
    A = np.array([[1, 2, 2], [1, 5, 5], [1, 0, 0], [1, 1, 1]])
    y = np.array([[1.0], [2.0], [0.5], [-1.0]])
    expected = A @ fit(A, y)
    for matrix in (A, A.astype(np.float32)):
        (found,) = nested_least_squares(matrix, y, [3])
        assert found.dtype == np.float64
        assert_allclose(A @ found, expected, atol=1e-12)
        assert_allclose(A @ nested_factor(matrix).coefficients(y), expected, atol=1e-12)


def test_the_arguments_of_a_fit_are_left_alone():
    A, y = problem()
    A = np.asfortranarray(A)
    before = A.copy(), y.copy()
    nested_least_squares(A, y, [3, 5])
    list(nested_factor(A).held_out(y))
    RidgePath.of(A, np.arange(COLUMNS * 1.0)).held_out(y, 1.0)
    assert all((now == then).all() for now, then in zip((A, y), before, strict=True))


@pytest.mark.parametrize("A", [problem()[0], deficient()[0]])
def test_the_operator_turns_targets_into_coefficients(A):
    y = np.random.default_rng(5).standard_normal((len(A), 2))
    for size in (1, 4, A.shape[1]):
        factor = nested_factor(A).leading(size)
        assert factor.operator().shape == (size, len(A))
        assert_allclose(factor.operator() @ y, factor.coefficients(y), atol=1e-12)


# --- held out ----------------------------------------------------------------


@pytest.mark.parametrize("case", [problem(), deficient()])
def test_held_out_values_of_every_size_are_those_of_refits(case):
    A, y = case
    found = list(nested_factor(A).held_out(y))
    assert len(found) == A.shape[1]
    for size, held_out in enumerate(found, start=1):
        assert held_out.is_predicted.all()
        assert_allclose(held_out.values, left_out(fit, A[:, :size], y), atol=1e-10)


def test_values_yielded_earlier_do_not_change():
    A, y = problem()
    values = [held_out.values.copy() for held_out in nested_factor(A).held_out(y)]
    for one, other in zip(values, list(nested_factor(A).held_out(y)), strict=True):
        assert (one == other.values).all()


def test_a_row_that_alone_decides_a_direction_has_no_say():
    A, y = problem(10, 4)
    A[:, 2] = 0
    A[3, 2] = 5.0
    one, two, three, four = nested_factor(A).held_out(y)
    assert one.is_predicted.all()
    assert two.is_predicted.all()
    others = np.arange(10) != 3
    for size, held_out in ((3, three), (4, four)):
        assert held_out.is_predicted.tolist() == others.tolist()
        assert np.isfinite(held_out.values).all()
        assert_allclose(held_out.values[others], left_out(fit, A[:, :size], y)[others], atol=1e-10)


def test_as_many_columns_as_rows_leave_no_row_a_say():
    A, y = problem(6, 6)
    *_, last = nested_factor(A).held_out(y)
    assert not last.is_predicted.any()
    assert np.isfinite(last.values).all()


def test_leverages_a_hair_above_one_are_no_say_either():
    y = np.array([[1.0], [2.0]])
    held_out = held_out_values(y, y / 2, np.array([1 + 1e-15, 0.5]))
    assert held_out.is_predicted.tolist() == [False, True]
    assert_allclose(held_out.values[1], 2 - 1 / 0.5)


@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(2, 9),
    columns=st.integers(1, 11),
    n_copies=st.integers(0, 3),
)
def test_any_small_problem_is_solved_and_its_held_out_values_are_those_of_refits(
    seed, rows, columns, n_copies
):
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (rows, columns)).astype(float)
    for _ in range(n_copies):
        A[:, rng.integers(columns)] = A[:, rng.integers(columns)]
    y = rng.standard_normal((rows, 2))
    factor = nested_factor(A)
    assert_allclose(A @ factor.coefficients(y), A @ fit(A, y), atol=1e-9)
    for size, held_out in enumerate(factor.held_out(y), start=1):
        leading, say = A[:, :size], held_out.is_predicted
        rank = np.linalg.matrix_rank(leading)
        lost = [np.linalg.matrix_rank(np.delete(leading, row, 0)) < rank for row in range(rows)]
        assert say.tolist() == [not gone for gone in lost]
        assert_allclose(held_out.values[say], left_out(fit, leading, y)[say], atol=1e-8)


# --- ridge -------------------------------------------------------------------


def penalties(n_free, columns=COLUMNS):
    return np.r_[np.zeros(n_free), np.linspace(0.1, 2.0, columns - n_free)]


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("n_free", [0, 1, 3, COLUMNS])
def test_ridge_coefficients_and_held_out_values_are_those_of_refits(n_free, alpha):
    A, y = problem()
    s = penalties(n_free)
    path = RidgePath.of(A, s)
    assert_allclose(path.coefficients(y, alpha), ridge(A, y, s, alpha), atol=1e-10)
    held_out = path.held_out(y, alpha)
    expected = left_out(lambda rows, targets: ridge(rows, targets, s, alpha), A, y)
    assert held_out.is_predicted.all()
    assert_allclose(held_out.values, expected, atol=1e-10)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("n_free", [0, 2])
def test_ridge_copes_with_dependent_columns_and_with_more_columns_than_rows(n_free, alpha):
    for A, y in (deficient(), problem(7, 12)):
        s = penalties(n_free, A.shape[1])
        path = RidgePath.of(A, s)
        found = path.coefficients(y, alpha)
        assert_allclose(found, ridge(A, y, s, alpha), atol=1e-10)
        held_out = path.held_out(y, alpha)
        expected = left_out(lambda rows, targets, s=s: ridge(rows, targets, s, alpha), A, y)
        assert_allclose(held_out.values, expected, atol=1e-10)


@pytest.mark.parametrize("alpha", [0.0, *ALPHAS])
@pytest.mark.parametrize("n_free", [0, 2, COLUMNS])
def test_the_ridge_operator_turns_targets_into_coefficients(n_free, alpha):
    A, y = problem()
    path = RidgePath.of(A, penalties(n_free))
    operator = path.operator(alpha)
    assert operator.shape == (COLUMNS, len(A))
    assert_allclose(operator @ y, path.coefficients(y, alpha), atol=1e-12)


def test_an_endless_penalty_leaves_the_free_columns_only():
    A, y = problem()
    found = RidgePath.of(A, penalties(2)).coefficients(y, 1e14)
    assert_allclose(found[2:], 0, atol=1e-10)
    assert_allclose(found[:2], fit(A[:, :2], y), atol=1e-10)


def test_no_penalty_fits_best_and_of_the_best_has_the_least_penalty():
    A, y = problem()
    assert_allclose(RidgePath.of(A, penalties(2)).coefficients(y, 0.0), fit(A, y), atol=1e-10)
    for A, y in (deficient(), problem(5, 9)):
        s = penalties(1, A.shape[1])
        found = RidgePath.of(A, s).coefficients(y, 0.0)
        assert_allclose(A @ found, A @ fit(A, y), atol=1e-10)
        # No step that changes no prediction lowers the penalty.
        assert_allclose(null_space(A).T @ (s[:, None] * found), 0, atol=1e-10)


def test_free_columns_that_explain_everything_leave_nothing_to_penalise():
    """What projection leaves is rounding, and must not be taken for a direction."""
    A, y = problem(3, 9)
    path = RidgePath.of(A, penalties(3, 9))
    assert path.sizes.size == 0
    for alpha in (0.0, 1e-32, 1.0):
        assert_allclose(path.coefficients(y, alpha)[:3], np.linalg.solve(A[:, :3], y), rtol=1e-8)
        assert not path.coefficients(y, alpha)[3:].any()
        assert not path.held_out(y, alpha).is_predicted.any()


def test_a_row_alone_in_a_free_column_has_no_say_under_any_penalty():
    A, y = problem(10, 5)
    A[:, 1] = 0
    A[4, 1] = 2.0
    s = penalties(2, 5)
    others = np.arange(10) != 4
    for alpha in ALPHAS:
        held_out = RidgePath.of(A, s).held_out(y, alpha)
        expected = left_out(lambda rows, targets, a=alpha: ridge(rows, targets, s, a), A, y)
        assert held_out.is_predicted.tolist() == others.tolist()
        assert_allclose(held_out.values[others], expected[others], atol=1e-10)


def test_penalised_columns_near_the_free_span_are_fitted_to_rounding():
    A, y = problem(20, 3)
    A[:, 0] = 1.0
    A[:, 1:] = 1.0 + 1e-4 * A[:, 1:]
    s = np.array([0.0, 1.0, 2.0])
    path = RidgePath.of(A, s)
    assert_allclose(path.free.Q.T @ path.left, 0, atol=1e-15)
    for alpha in (1e-9, 1e-3):
        assert_allclose(A @ path.coefficients(y, alpha), A @ ridge(A, y, s, alpha), atol=1e-10)
