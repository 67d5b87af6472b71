"""Hinge machines: optimality conditions, brute force, libsvm, and conjugate gradients as Newton."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad, minimize_scalar
from scipy.sparse.linalg import aslinearoperator
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from beltrami.core.errors import ConvergenceWarning, InvalidInputError
from beltrami.core.progress import listen
from beltrami.graph.recipes import KnnGraph
from beltrami.kernel_machines.hinge.dual import hinge_dual, hinge_left_out, recovered_bias
from beltrami.kernel_machines.hinge.gradients import squared_hinge_cg
from beltrami.kernel_machines.hinge.newton import squared_hinge_left_out, squared_hinge_newton
from beltrami.kernel_machines.hinge.steps import exact_steps, polished
from beltrami.operators.laplacian import laplacian

ROWS, CLASSES = 30, 3


def problem(rows=ROWS, classes=CLASSES, seed=0):
    """A kernel, one column of signs per class, weights."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((rows, 3))
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, rows - classes)])
    points[:, 0] += codes
    signs = 2.0 * (codes[:, None] == np.arange(classes)) - 1
    return rbf_kernel(points, gamma=0.3), signs, rng.uniform(0.5, 2.0, rows)


def objective(kernel, signs, penalty, weights, c, b, *, power):
    smooth = kernel @ c
    return weights @ np.maximum(1 - signs * (smooth + b), 0) ** power + penalty * c @ smooth


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
            return objective(kernel, signs[:, column], 0.2, weights, c, b + shift, power=1)

        assert at(0.0) <= min(at(-0.01), at(0.01)) + 1e-9


@pytest.mark.parametrize(("solver", "power"), [(hinge_dual, 1), (squared_hinge_newton, 2)])
def test_no_direction_leads_down(solver, power: int) -> None:
    kernel, signs, weights = problem()
    fit, rng = solver(kernel, signs, 0.2, weights), np.random.default_rng(1)
    for column in range(CLASSES):
        c, b, sign = fit.multipliers[:, column], fit.intercepts[column], signs[:, column]
        best = objective(kernel, sign, 0.2, weights, c, b, power=power)
        for _ in range(50):
            move, shift = 0.1 * rng.standard_normal(len(c)), 0.1 * rng.standard_normal()
            moved = objective(kernel, sign, 0.2, weights, c + move, b + shift, power=power)
            assert best <= moved + 1e-9


@pytest.mark.parametrize("solver", [hinge_dual, squared_hinge_newton])
def test_one_label_per_class_is_cut_in_the_middle(solver) -> None:
    kernel = np.array([[1.0, 0.2], [0.2, 1.0]])
    for penalty in (1e-3, 1.0, 100.0):
        fit = solver(kernel, np.array([[1.0], [-1.0]]), penalty, np.ones(2))
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
    assert_allclose(recovered_bias(sign, values, np.array([0.5, -0.5, 0.0]), bounds), 0.1)
    assert_allclose(recovered_bias(sign, values, np.array([1.0, -1.0, 0.0]), bounds), 0.1)
    assert_allclose(recovered_bias(sign, values, np.array([1.0, 0.0, 1.0]), bounds), -2.0)
    assert recovered_bias(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0)) == 0.0


@pytest.mark.parametrize("solver", [hinge_dual, squared_hinge_newton])
def test_a_column_of_one_sign_gets_that_sign(solver) -> None:
    kernel, signs, weights = problem()
    signs = np.hstack([signs, np.ones((ROWS, 1)), -np.ones((ROWS, 1))])
    fit = solver(kernel, signs, 0.2, weights)
    assert_array_equal(fit.multipliers[:, -2:], 0)
    assert_array_equal(fit.intercepts[-2:], [1, -1])
    assert_array_equal(fit.violation[-2:], 0)
    assert_array_equal(fit.gap[-2:], 0)


@pytest.mark.parametrize("solver", [hinge_dual, squared_hinge_newton])
def test_two_classes_are_mirrors_and_solved_once(solver, monkeypatch) -> None:
    kernel, signs, weights = problem()
    pair = np.stack([signs[:, 0], -signs[:, 0]], axis=1)
    fit = solver(kernel, pair, 0.2, weights)
    assert_array_equal(fit.multipliers[:, 0], -fit.multipliers[:, 1])
    assert_array_equal(fit.intercepts[0], -fit.intercepts[1])
    alone = solver(kernel, pair[:, :1], 0.2, weights)
    assert_allclose(fit.values(kernel)[:, :1], alone.values(kernel), atol=1e-6)
    calls = []
    import beltrami.kernel_machines.hinge.dual as module

    inner = module._libsvm
    monkeypatch.setattr(module, "_libsvm", lambda *given: calls.append(1) or inner(*given))
    hinge_dual(kernel, pair, 0.2, weights)
    assert len(calls) == 1


@pytest.mark.parametrize("solver", [hinge_dual, squared_hinge_newton])
def test_a_kernel_of_zeros_leaves_the_intercept_alone(solver) -> None:
    sign = np.array([[1.0], [1.0], [-1.0]])
    fit = solver(np.zeros((3, 3)), sign, 0.5, np.ones(3))
    assert_allclose(fit.intercepts, 1.0 if solver is hinge_dual else 1 / 3, atol=1e-6)


@pytest.mark.parametrize("solver", [hinge_dual, squared_hinge_newton])
def test_a_weight_of_two_is_a_row_given_twice(solver) -> None:
    kernel, signs, _ = problem()
    weights = np.where(np.arange(ROWS) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(ROWS), weights.astype(int))
    fit = solver(kernel, signs, 0.2, weights)
    long = solver(kernel[np.ix_(twice, twice)], signs[twice], 0.2, np.ones(len(twice)))
    assert_allclose(long.values(kernel[:, twice]), fit.values(kernel), atol=1e-6)


@pytest.mark.parametrize("solver", [hinge_dual, squared_hinge_newton])
@given(seed=st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(solver, seed: int) -> None:
    kernel, signs, weights = problem(seed=seed % 7)
    order = np.random.default_rng(seed).permutation(ROWS)
    fit = solver(kernel, signs, 0.2, weights)
    moved = solver(kernel[np.ix_(order, order)], signs[order], 0.2, weights[order])
    assert_allclose(moved.values(kernel[:, order]), fit.values(kernel), atol=1e-6)


@pytest.mark.parametrize("solver", [hinge_dual, squared_hinge_newton])
@pytest.mark.parametrize("penalty", [0.0, -1.0, np.nan])
def test_a_penalty_is_positive(solver, penalty: float) -> None:
    kernel, signs, weights = problem()
    with pytest.raises(InvalidInputError, match=r"penalty=.*above zero"):
        solver(kernel, signs, penalty, weights)


def test_a_machine_that_stops_early_says_by_how_much(monkeypatch) -> None:
    kernel, signs, weights = problem()
    monkeypatch.setattr("beltrami.kernel_machines.hinge.dual._MOST_STEPS", 3)
    monkeypatch.setattr("beltrami.kernel_machines.hinge.dual._STEPS_PER_ROW", 0)
    monkeypatch.setattr(
        "beltrami.kernel_machines.hinge.dual.polished", lambda _k, _s, found, *_: found
    )
    with pytest.warns(ConvergenceWarning, match=r"broken by [0-9.]+, where 1e-07 was asked for"):
        hinge_dual(kernel, signs, 0.01, weights)


def test_newton_that_is_stopped_says_so(monkeypatch) -> None:
    kernel, signs, weights = problem()
    monkeypatch.setattr("beltrami.kernel_machines.hinge.newton._MOST_NEWTON", 1)
    with pytest.warns(ConvergenceWarning, match="broken by"):
        squared_hinge_newton(kernel, signs, 1e-3, weights)


@pytest.mark.parametrize("penalty", [1e-6, 1e-2, 1.0])
def test_the_finish_repairs_multipliers_that_are_a_little_wrong(penalty: float) -> None:
    kernel, signs, weights = problem()
    bounds = weights / (2 * penalty)
    sign = signs[:, 0]
    best = hinge_dual(kernel, signs[:, :1], penalty, weights, tol=1e-11)
    rng = np.random.default_rng(0)
    wrong = best.multipliers[:, 0] + 1e-3 * rng.standard_normal(ROWS)
    wrong = sign * np.clip(sign * wrong, 0, bounds)
    found = polished(kernel, sign, wrong, bounds, 1e-10)
    bias = recovered_bias(sign, kernel @ found, found, bounds)
    assert_allclose(kernel @ found + bias, best.values(kernel)[:, 0], atol=1e-7)


@pytest.mark.parametrize("penalty", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_finish_alone_gets_there_from_nothing(penalty: float, seed: int) -> None:
    kernel, signs, weights = problem(seed=seed)
    sign, bounds = signs[:, 0], weights / (2 * penalty)
    found = polished(kernel, sign, np.zeros(ROWS), bounds, 1e-10)
    bias = recovered_bias(sign, kernel @ found, found, bounds)
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
    squared = squared_hinge_newton(kernel, signs, penalty, np.ones(40))
    assert squared.violation.max() < 1e-6
    assert abs(squared.gap).max() < 1e-6


def test_newton_comes_back_from_where_no_row_is_inside_the_margin(monkeypatch) -> None:
    """It happens by rounding, rarely; a first step fifty times too long makes it sure."""
    points = np.array([[-3.0], [-1.0], [1.0], [3.0]])
    given = (points @ points.T, np.sign(points), 1e-3, np.ones(4))
    expected = squared_hinge_newton(*given)
    lengths = iter([50.0])
    monkeypatch.setattr(
        "beltrami.kernel_machines.hinge.newton.exact_steps",
        lambda *line: exact_steps(*line) * next(lengths, 1.0),
    )
    found = squared_hinge_newton(*given)
    assert next(lengths, None) is None  # the long step was taken
    assert_allclose(found.values(given[0]), expected.values(given[0]), atol=1e-9)


def test_newton_survives_a_kernel_that_is_indefinite_by_rounding() -> None:
    kernel = np.ones((6, 6)) - 1e-9 * np.eye(6)
    signs = np.array([[1.0], [1.0], [1.0], [1.0], [-1.0], [-1.0]])
    with pytest.warns(ConvergenceWarning, match="broken by"):
        fit = squared_hinge_newton(kernel, signs, 1e-9, np.ones(6))
    assert np.isfinite(fit.values(kernel)).all()


# --- leaving one out --------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [0.02, 0.3, 20.0])
@pytest.mark.parametrize("classes", [2, 3])
def test_left_out_values_are_those_of_fits_without_the_row(penalty: float, classes: int) -> None:
    kernel, signs, weights = problem(16, classes)
    machines = ((hinge_dual, hinge_left_out), (squared_hinge_newton, squared_hinge_left_out))
    for solver, left_out in machines:
        found = left_out(kernel, signs, penalty, weights, solver(kernel, signs, penalty, weights))
        for row in range(len(kernel)):
            inner, some, fewer, tie = without(row, kernel, signs, weights)
            expected = solver(inner, some, penalty, fewer).values(tie)[0]
            assert_allclose(found[row], expected, atol=1e-6 if solver is hinge_dual else 1e-8)


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


# --- the squared hinge ------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [1e-4, 0.1, 10.0])
def test_the_gradient_of_the_squared_hinge_is_zero_at_newtons_solution(penalty: float) -> None:
    kernel, signs, weights = problem()
    fit = squared_hinge_newton(kernel, signs, penalty, weights)
    assert fit.violation.max() < 1e-8
    assert abs(fit.gap).max() < 1e-7
    for column in range(CLASSES):
        at = np.append(fit.multipliers[:, column], fit.intercepts[column])
        for entry in range(ROWS + 1):
            step = np.zeros(ROWS + 1)
            step[entry] = 1e-5
            high, low = (
                objective(kernel, signs[:, column], penalty, weights, end[:-1], end[-1], power=2)
                for end in (at + step, at - step)
            )
            assert abs(high - low) / 2e-5 < 1e-6


@given(seed=st.integers(0, 10**6))
def test_exact_steps_are_minima_along_the_line(seed: int) -> None:
    rng = np.random.default_rng(seed)
    margins, slopes = rng.standard_normal((12, 3)), rng.standard_normal((12, 3))
    margins[rng.random((12, 3)) < 0.1] = 0.0
    slopes[rng.random((12, 3)) < 0.1] = 0.0
    weights, linear, square = rng.uniform(0.1, 2, 12), rng.normal(size=3), rng.uniform(0.01, 2, 3)
    steps = exact_steps(margins, slopes, weights, linear, square)
    for column in range(3):

        def along(t, column=column):
            loss = weights @ np.maximum(margins[:, column] - t * slopes[:, column], 0) ** 2
            return loss + 2 * linear[column] * t + square[column] * t**2

        found = minimize_scalar(along, bounds=(0, 500), method="bounded", options={"xatol": 1e-10})
        assert along(steps[column]) <= found.fun + 1e-9


# --- conjugate gradients ----------------------------------------------------------------------


def manifold_problem(n=60, labels=14, classes=3, seed=0):
    """All rows: kernel, Laplacian; labelled rows, signs, weights."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, classes, n)
    codes[:classes] = np.arange(classes)
    points = rng.standard_normal((n, 3)) + 1.5 * np.eye(3)[codes % 3]
    rows = np.concatenate([np.arange(classes), classes + rng.permutation(n - classes)])[:labels]
    signs = 2.0 * (codes[rows][:, None] == np.arange(classes)) - 1
    smoothness = laplacian(KnnGraph(5).build(points))
    return rbf_kernel(points, gamma=0.3), smoothness, rows, signs, rng.uniform(0.5, 2, labels)


def deformed(kernel, smoothness, ratio):
    n = len(kernel)
    return kernel @ np.linalg.inv(np.eye(n) + ratio * smoothness.toarray() @ kernel)


@pytest.mark.parametrize(("ambient", "intrinsic"), [(0.05, 0.02), (0.5, 0.0), (0.01, 1.0)])
def test_conjugate_gradients_end_where_newton_ends_on_the_deformed_kernel(
    ambient: float, intrinsic: float
) -> None:
    kernel, smoothness, rows, signs, weights = manifold_problem()
    fit = squared_hinge_cg(
        kernel,
        smoothness,
        rows,
        signs,
        ambient,
        intrinsic,
        weights,
        stability=None,
        tol=1e-10,
        max_iter=2000,
    )
    assert fit.stopped == ("gradient",) * 3
    bent = deformed(kernel, smoothness, intrinsic / ambient)
    peer = squared_hinge_newton(bent[np.ix_(rows, rows)], signs, ambient, weights)
    values = kernel @ fit.coefficients + fit.intercepts
    assert_allclose(values, peer.values(bent[:, rows]), atol=1e-6)
    assert_allclose(fit.intercepts, peer.intercepts, atol=1e-6)


def test_the_gradient_expression_is_that_of_the_objective() -> None:
    """K (lambda1 a + lambda2 S K a + J' W_E (f - y)) and 1' W_E (f - y), twice."""
    kernel, smoothness, rows, signs, weights = manifold_problem(20, 8)
    S, sign = smoothness.toarray(), signs[:, 0]

    def value(at):
        smooth = kernel @ at[:-1]
        slack = np.maximum(1 - sign * (smooth[rows] + at[-1]), 0)
        return weights @ slack**2 + 0.3 * at[:-1] @ smooth + 0.7 * smooth @ S @ smooth

    def gradient(at):
        smooth = kernel @ at[:-1]
        inner = 0.3 * at[:-1] + 0.7 * S @ smooth
        residual = -weights * sign * np.maximum(1 - sign * (smooth[rows] + at[-1]), 0)
        inner[rows] += residual
        return 2 * np.append(kernel @ inner, residual.sum())

    at = np.random.default_rng(0).standard_normal(21)
    assert check_grad(value, gradient, at) < 1e-4 * np.linalg.norm(gradient(at))
    fit = squared_hinge_cg(
        kernel, smoothness, rows, signs, 0.3, 0.7, weights, stability=None, tol=1e-9, max_iter=999
    )
    for column in range(3):
        sign = signs[:, column]
        end = np.append(fit.coefficients[:, column], fit.intercepts[column])
        assert np.linalg.norm(gradient(end)) < 1e-6
        assert_allclose(check_grad(value, gradient, end), 0, atol=1e-5)


def test_the_smoothness_may_be_a_function_an_operator_or_a_matrix() -> None:
    kernel, smoothness, rows, signs, weights = manifold_problem()
    given = (smoothness, aslinearoperator(smoothness), lambda block: smoothness @ block)
    fits = [squared_hinge_cg(kernel, S, rows, signs, 0.05, 0.02, weights) for S in given]
    for fit in fits[1:]:
        assert_allclose(fit.coefficients, fits[0].coefficients, atol=1e-9)


def test_decisions_settle_before_the_minimum_and_are_the_same() -> None:
    kernel, smoothness, rows, signs, weights = manifold_problem(300, 30)
    given = (kernel, smoothness, rows, signs, 0.01, 0.01, weights)
    stable = squared_hinge_cg(*given)
    assert stable.stopped == ("stable",) * 3
    assert (stable.iterations % 9 == 0).all()  # looks every sqrt(300) / 2
    full = squared_hinge_cg(*given, stability=None, tol=1e-8, max_iter=5000)
    assert (full.iterations > stable.iterations).all()
    sides = [np.sign(kernel @ fit.coefficients + fit.intercepts) for fit in (stable, full)]
    assert (sides[0] == sides[1]).mean() > 0.95


def test_columns_in_a_block_are_as_alone_and_one_sign_is_not_iterated() -> None:
    kernel, smoothness, rows, signs, weights = manifold_problem()
    signs = np.hstack([np.ones((len(rows), 1)), signs])
    options = {"stability": None, "tol": 1e-3, "max_iter": 500}
    block = squared_hinge_cg(kernel, smoothness, rows, signs, 0.05, 0.02, weights, **options)
    assert block.stopped[0] == "one sign"
    assert block.iterations[0] == 0
    assert block.intercepts[0] == 1
    assert_array_equal(block.coefficients[:, 0], 0)
    assert len(set(block.iterations)) > 2  # each its own stop
    for column in (1, 2, 3):
        alone = squared_hinge_cg(
            kernel, smoothness, rows, signs[:, [column]], 0.05, 0.02, weights, **options
        )
        assert alone.iterations[0] == block.iterations[column]
        assert_allclose(alone.coefficients[:, 0], block.coefficients[:, column], atol=1e-9)


def test_single_precision_is_near_double() -> None:
    kernel, smoothness, rows, signs, weights = manifold_problem()
    fits = [
        squared_hinge_cg(K, smoothness, rows, signs, 0.05, 0.02, weights, tol=1e-4)
        for K in (kernel, kernel.astype(np.float32))
    ]
    assert_allclose(fits[1].coefficients, fits[0].coefficients, atol=1e-2)


def test_a_limit_of_iterations_is_told_and_progress_is_shown() -> None:
    kernel, smoothness, rows, signs, weights = manifold_problem()
    seen = []
    with (
        pytest.warns(ConvergenceWarning, match="limit of 3 iterations in 3 of 3"),
        listen(seen.append),
    ):
        fit = squared_hinge_cg(
            kernel, smoothness, rows, signs, 0.05, 0.02, weights, stability=None, max_iter=3
        )
    assert fit.stopped == ("limit",) * 3
    assert_array_equal(fit.iterations, 3)
    assert [event.done for event in seen] == [1, 2, 3]


def test_all_rows_labelled_have_no_decision_to_wait_for() -> None:
    kernel, smoothness, rows, signs, weights = manifold_problem(14, 14)
    fit = squared_hinge_cg(kernel, smoothness, rows, signs, 0.05, 0.02, weights)
    assert np.isfinite(fit.coefficients).all()
