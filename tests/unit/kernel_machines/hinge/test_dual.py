"""Hinge machines: optimality conditions, brute force, libsvm, exact leave-one-out values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from beltrami.core.errors import ConvergenceWarning, InvalidInputError
from beltrami.core.telling.progress import listen
from beltrami.kernel_machines.hinge.dual import hinge_dual, recover_bias
from beltrami.kernel_machines.hinge.left_out import hinge_left_out
from beltrami.kernel_machines.hinge.polish import polish

ROWS, CLASSES = 30, 3


def problem(rows=ROWS, classes=CLASSES, seed=0):
    """A kernel, one column of signs per class, weights."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((rows, 3))
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, rows - classes)])
    points[:, 0] += codes
    signs = 2.0 * (codes[:, None] == np.arange(classes)) - 1
    return rbf_kernel(points, gamma=0.3), signs, rng.uniform(0.5, 2.0, rows)


def objective(kernel, signs, penalty, weights, c, b):
    smooth = kernel @ c
    return weights @ np.maximum(1 - signs * (smooth + b), 0) + penalty * c @ smooth


def without(row, kernel, signs, weights):
    others = np.arange(len(kernel)) != row
    return kernel[np.ix_(others, others)], signs[others], weights[others], kernel[[row]][:, others]


# --- the hinge --------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [0.01, 0.3, 5.0])
def test_values_are_those_of_scikit_learn(penalty: float) -> None:
    kernel, signs, weights = problem()
    kernel = kernel.astype(np.float32).astype(np.float64)  # libsvm holds it in single precision
    fit = hinge_dual(kernel, signs, penalty, weights)
    for column in range(CLASSES):
        peer = SVC(kernel="precomputed", C=1 / (2 * penalty), tol=1e-10)
        peer.fit(kernel, signs[:, column], sample_weight=weights)
        expected = peer.decision_function(kernel)
        assert_allclose(fit.values(kernel)[:, column], expected, atol=1e-6)


@pytest.mark.parametrize("penalty", [1e-6, 1e-3, 0.1, 10.0])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e8])
def test_optimality_conditions_hold_and_the_gap_is_closed(penalty: float, scale: float) -> None:
    kernel, signs, weights = problem()
    penalty *= scale  # the same balance of loss and penalty
    fit = hinge_dual(scale * kernel, signs, penalty, weights)
    assert fit.violation.max() < 1e-7
    assert abs(fit.gap).max() < (1e-6 if penalty >= 1e-3 * scale else 1e-3)
    values, bounds = fit.values(scale * kernel), weights[:, None] / (2 * penalty)
    slack, sizes = 1 - signs * values, signs * fit.multipliers
    assert (sizes >= 0).all()
    assert (sizes <= bounds * (1 + 1e-9)).all()
    assert (slack[sizes == 0] < 1e-6).all()
    assert (slack[sizes > bounds * (1 - 1e-9)] > -1e-6).all()
    assert_allclose(fit.multipliers.sum(axis=0), 0, atol=1e-6 * bounds.max())


def test_no_intercept_nearby_is_better() -> None:
    kernel, signs, weights = problem()
    fit = hinge_dual(kernel, signs, 0.2, weights)
    for column in range(CLASSES):
        c, b = fit.multipliers[:, column], fit.intercepts[column]

        def at(shift, c=c, b=b, column=column):
            return objective(kernel, signs[:, column], 0.2, weights, c, b + shift)

        assert at(0.0) <= min(at(-0.01), at(0.01)) + 1e-9


def test_no_direction_leads_down() -> None:
    kernel, signs, weights = problem()
    fit, rng = hinge_dual(kernel, signs, 0.2, weights), np.random.default_rng(1)
    for column in range(CLASSES):
        c, b, sign = fit.multipliers[:, column], fit.intercepts[column], signs[:, column]
        best = objective(kernel, sign, 0.2, weights, c, b)
        for _ in range(50):
            move, shift = 0.1 * rng.standard_normal(len(c)), 0.1 * rng.standard_normal()
            moved = objective(kernel, sign, 0.2, weights, c + move, b + shift)
            assert best <= moved + 1e-9


def test_one_label_per_class_is_cut_in_the_middle() -> None:
    kernel = np.array([[1.0, 0.2], [0.2, 1.0]])
    for penalty in (1e-3, 1.0, 100.0):
        fit = hinge_dual(kernel, np.array([[1.0], [-1.0]]), penalty, np.ones(2))
        assert_allclose(fit.intercepts, 0, atol=1e-7)
        assert fit.values(kernel)[0, 0] > 0 > fit.values(kernel)[1, 0]


def test_without_a_free_support_vector_the_intercept_is_the_middle_of_its_interval() -> None:
    """Two places, three labels at each: all multipliers at their bounds for a strong penalty."""
    place = np.repeat([0, 1], 3)
    kernel = np.array([[1.0, 0.3], [0.3, 1.0]])[np.ix_(place, place)]
    sign = np.where(place == 0, 1.0, -1.0)
    fit = hinge_dual(kernel, sign[:, None], 10.0, np.ones(6))
    assert_allclose(abs(fit.multipliers[:, 0]), 1 / 20)
    smooth = kernel @ fit.multipliers[:, 0]
    assert_allclose(smooth[0], 3 / 20 * 0.7)
    assert_allclose(fit.intercepts, 0, atol=1e-12)
    # With an uneven pair the optimal intercepts are an interval away from zero.
    kernel[3:, 3:] = 2.0
    uneven = hinge_dual(kernel, sign[:, None], 10.0, np.ones(6))
    smooth = kernel @ uneven.multipliers[:, 0]
    assert_allclose(uneven.intercepts[0], ((1 - smooth[0]) + (-1 - smooth[3])) / 2)


def test_the_intercept_is_the_mean_over_free_rows_or_the_middle_or_the_finite_end() -> None:
    sign, bounds = np.array([1.0, -1.0, 1.0]), np.ones(3)
    values = np.array([0.5, -0.7, 3.0])
    assert_allclose(recover_bias(sign, values, np.array([0.5, -0.5, 0.0]), bounds), 0.1)
    assert_allclose(recover_bias(sign, values, np.array([1.0, -1.0, 0.0]), bounds), 0.1)
    assert_allclose(recover_bias(sign, values, np.array([1.0, 0.0, 1.0]), bounds), -2.0)
    assert recover_bias(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0)) == 0.0


def test_a_column_of_one_sign_gets_that_sign() -> None:
    kernel, signs, weights = problem()
    signs = np.hstack([signs, np.ones((ROWS, 1)), -np.ones((ROWS, 1))])
    fit = hinge_dual(kernel, signs, 0.2, weights)
    assert_array_equal(fit.multipliers[:, -2:], 0)
    assert_array_equal(fit.intercepts[-2:], [1, -1])
    assert_array_equal(fit.violation[-2:], 0)
    assert_array_equal(fit.gap[-2:], 0)


def test_two_classes_are_mirrors_and_solved_once(monkeypatch) -> None:
    kernel, signs, weights = problem()
    pair = np.stack([signs[:, 0], -signs[:, 0]], axis=1)
    fit = hinge_dual(kernel, pair, 0.2, weights)
    assert_array_equal(fit.multipliers[:, 0], -fit.multipliers[:, 1])
    assert_array_equal(fit.intercepts[0], -fit.intercepts[1])
    alone = hinge_dual(kernel, pair[:, :1], 0.2, weights)
    assert_allclose(fit.values(kernel)[:, :1], alone.values(kernel), atol=1e-6)
    calls = []
    import beltrami.kernel_machines.hinge.dual as module

    inner = module._libsvm
    monkeypatch.setattr(module, "_libsvm", lambda *given: calls.append(1) or inner(*given))
    hinge_dual(kernel, pair, 0.2, weights)
    assert len(calls) == 1


def test_a_kernel_of_zeros_leaves_the_intercept_alone() -> None:
    sign = np.array([[1.0], [1.0], [-1.0]])
    fit = hinge_dual(np.zeros((3, 3)), sign, 0.5, np.ones(3))
    assert_allclose(fit.intercepts, 1.0, atol=1e-6)


def test_a_weight_of_two_is_a_row_given_twice() -> None:
    kernel, signs, _ = problem()
    weights = np.where(np.arange(ROWS) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(ROWS), weights.astype(int))
    fit = hinge_dual(kernel, signs, 0.2, weights)
    long = hinge_dual(kernel[np.ix_(twice, twice)], signs[twice], 0.2, np.ones(len(twice)))
    assert_allclose(long.values(kernel[:, twice]), fit.values(kernel), atol=1e-6)


@given(seed=st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    kernel, signs, weights = problem(seed=seed % 7)
    order = np.random.default_rng(seed).permutation(ROWS)
    fit = hinge_dual(kernel, signs, 0.2, weights)
    moved = hinge_dual(kernel[np.ix_(order, order)], signs[order], 0.2, weights[order])
    assert_allclose(moved.values(kernel[:, order]), fit.values(kernel), atol=1e-6)


@pytest.mark.parametrize("penalty", [0.0, -1.0, np.nan])
def test_a_penalty_is_positive(penalty: float) -> None:
    kernel, signs, weights = problem()
    with pytest.raises(InvalidInputError, match=r"penalty=.*above zero"):
        hinge_dual(kernel, signs, penalty, weights)


def test_a_machine_that_stops_early_says_by_how_much(monkeypatch) -> None:
    kernel, signs, weights = problem()
    monkeypatch.setattr("beltrami.kernel_machines.hinge.dual._MOST_STEPS", 3)
    monkeypatch.setattr("beltrami.kernel_machines.hinge.dual._STEPS_PER_ROW", 0)
    monkeypatch.setattr(
        "beltrami.kernel_machines.hinge.dual.polish", lambda _k, _s, found, *_: found
    )
    with pytest.warns(ConvergenceWarning, match=r"broken by [0-9.]+, where 1e-07 was asked for"):
        hinge_dual(kernel, signs, 0.01, weights)


@pytest.mark.parametrize("penalty", [1e-6, 1e-2, 1.0])
def test_the_finish_repairs_multipliers_that_are_a_little_wrong(penalty: float) -> None:
    kernel, signs, weights = problem()
    bounds = weights / (2 * penalty)
    sign = signs[:, 0]
    best = hinge_dual(kernel, signs[:, :1], penalty, weights, tol=1e-11)
    rng = np.random.default_rng(0)
    wrong = best.multipliers[:, 0] + 1e-3 * rng.standard_normal(ROWS)
    wrong = sign * np.clip(sign * wrong, 0, bounds)
    found = polish(kernel, sign, wrong, bounds, 1e-10)
    bias = recover_bias(sign, kernel @ found, found, bounds)
    assert_allclose(kernel @ found + bias, best.values(kernel)[:, 0], atol=1e-7)


@pytest.mark.parametrize("penalty", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_finish_alone_gets_there_from_nothing(penalty: float, seed: int) -> None:
    kernel, signs, weights = problem(seed=seed)
    sign, bounds = signs[:, 0], weights / (2 * penalty)
    found = polish(kernel, sign, np.zeros(ROWS), bounds, 1e-10)
    bias = recover_bias(sign, kernel @ found, found, bounds)
    best = hinge_dual(kernel, signs[:, :1], penalty, weights, tol=1e-9)
    assert_allclose(kernel @ found + bias, best.values(kernel)[:, 0], atol=1e-7)


@pytest.mark.parametrize("rank", [1, 3, 10])
@pytest.mark.parametrize("penalty", [1e-6, 1e-3, 10.0])
def test_kernels_of_low_rank_and_labels_that_no_function_fits_are_solved(rank, penalty) -> None:
    """libsvm does not end here; a kernel bent by a strong penalty on roughness looks like this."""
    rng = np.random.default_rng(rank)
    factor = rng.standard_normal((40, rank))
    kernel, signs = factor @ factor.T, np.where(rng.random((40, 2)) < 0.4, 1.0, -1.0)
    fit = hinge_dual(kernel, signs, penalty, np.ones(40))
    assert fit.violation.max() < 1e-7
    assert abs(fit.gap).max() < 1e-6


# --- leaving one out --------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [0.02, 0.3, 20.0])
@pytest.mark.parametrize("classes", [2, 3])
def test_left_out_values_are_those_of_fits_without_the_row(penalty: float, classes: int) -> None:
    kernel, signs, weights = problem(16, classes)
    fit = hinge_dual(kernel, signs, penalty, weights)
    found = hinge_left_out(kernel, signs, penalty, weights, fit)
    for row in range(len(kernel)):
        inner, some, fewer, tie = without(row, kernel, signs, weights)
        expected = hinge_dual(inner, some, penalty, fewer).values(tie)[0]
        assert_allclose(found[row], expected, atol=1e-6)


def test_left_out_values_hold_where_the_intercept_has_an_interval() -> None:
    """On a line, with both supports at their bounds, a far row is an end of the interval."""
    points = np.array([[1.0], [-1.0], [-70.0]])
    kernel, weights, signs = points @ points.T, np.ones(3), np.array([[1.0], [-1.0], [-1.0]])
    fit = hinge_dual(kernel, signs, 50.0, weights)
    assert_allclose(fit.multipliers[:, 0], [0.01, -0.01, 0.0], atol=1e-12)
    assert_allclose(fit.intercepts, (-0.98 + 0.4) / 2)
    found = hinge_left_out(kernel, signs, 50.0, weights, fit)
    assert_allclose(found[2], -1.4, atol=1e-9)
    for row in range(3):
        inner, some, fewer, tie = without(row, kernel, signs, weights)
        expected = hinge_dual(inner, some, 50.0, fewer).values(tie)[0]
        assert_allclose(found[row], expected, atol=1e-6)


def test_rows_that_support_nothing_are_not_fitted_again() -> None:
    kernel, signs, weights = problem(200, 2)
    fit = hinge_dual(kernel, signs, 0.05, weights)
    supports = int((fit.multipliers != 0).any(axis=1).sum())
    seen = []
    with listen(seen.append):
        hinge_left_out(kernel, signs, 0.05, weights, fit)
    assert len(seen) == supports < len(kernel)
