"""Descent: known minima, monotone costs, preconditioners, honest ends."""

from collections import deque

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import rosen, rosen_der

from beltrami.solvers.descent import (
    _inverse_times,
    _remember,
    conjugate_descent,
    quasi_newton_descent,
)

every_descent = pytest.mark.parametrize("descent", [conjugate_descent, quasi_newton_descent])


def quadratic(n=20, condition=50.0, seed=0):
    """A bowl with axes of different widths in any direction, at height 3; its Hessian, its foot."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((n, n)))[0]
    H = turn @ np.diag(np.geomspace(1, condition, n)) @ turn.T
    foot = rng.standard_normal((n, 2))

    def cost(Y):
        gradient = H @ (Y - foot)
        return float(np.vdot(Y - foot, gradient)) / 2 + 3.0, gradient

    return cost, H, foot


def banana(Y):
    """Rosenbrock's valley, whose lowest point has the cost one."""
    return float(rosen(Y.ravel())) + 1, rosen_der(Y.ravel()).reshape(Y.shape)


class Counted:
    def __init__(self, objective):
        self.objective, self.points = objective, []

    def __call__(self, Y):
        self.points.append(Y.copy())
        return self.objective(Y)


@every_descent
def test_the_foot_of_a_bowl_is_found(descent):
    cost, _, foot = quadratic()
    found = descent(cost, np.zeros((20, 2)), n_steps=500, tol=1e-12)
    assert_allclose(found.point, foot, atol=1e-4)
    assert found.cost == pytest.approx(3.0, abs=1e-8)
    assert found.is_converged


@every_descent
def test_the_end_of_rosenbrocks_valley_is_found(descent):
    found = descent(banana, np.full((3, 2), -1.2), n_steps=2000, tol=1e-10)
    assert_allclose(found.point, 1.0, atol=1e-3)
    assert found.is_converged


def test_a_cost_of_zero_that_cannot_be_lowered_ends_it():
    found = quasi_newton_descent(
        lambda Y: (float((Y**2).sum()), 2 * Y), np.ones((2, 2)), n_steps=50
    )
    assert found.cost == 0
    assert found.is_converged
    assert len(found.costs) < 20


@every_descent
@pytest.mark.parametrize("n_steps", [1, 3, 40])
def test_costs_never_rise_and_belong_to_the_points(descent, n_steps):
    objective = Counted(banana)
    start = np.full((3, 2), -1.2)
    found = descent(objective, start, n_steps=n_steps)
    assert (np.diff(found.costs) <= 0).all()
    assert found.costs[0] == banana(start)[0]
    assert found.cost == pytest.approx(banana(found.point)[0], rel=1e-12)
    assert found.cost < found.costs[0]
    assert len(found.costs) <= n_steps + 1
    assert found.n_evaluations == len(objective.points)


@every_descent
def test_steps_that_are_used_up_are_no_convergence(descent):
    found = descent(banana, np.full((3, 2), -1.2), n_steps=3)
    assert not found.is_converged
    assert len(found.costs) == 4


@every_descent
def test_a_start_at_the_minimum_stays_there(descent):
    cost, _, foot = quadratic()
    found = descent(cost, foot.copy(), n_steps=10)
    assert_allclose(found.point, foot)
    assert found.is_converged
    assert np.isfinite(found.costs).all()


@every_descent
def test_the_start_is_left_as_it_was(descent):
    start = np.full((3, 2), -1.2)
    descent(banana, start, n_steps=5)
    assert (start == -1.2).all()


def test_conjugate_gradients_need_no_more_steps_than_there_are_different_axes():
    """Three widths, three steps, up to what the line search leaves."""
    widths = np.repeat([1.0, 5.0, 20.0], 10)[:, None]
    found = conjugate_descent(
        lambda Y: (float((widths * Y**2).sum()) / 2, widths * Y), np.ones((30, 1)), n_steps=5
    )
    assert found.cost < 1e-4 * found.costs[0]


def test_the_exact_inverse_hessian_needs_one_step():
    cost, H, foot = quadratic(condition=1e6)
    solve = np.linalg.inv(H)
    found = quasi_newton_descent(
        cost, np.zeros((20, 2)), n_steps=50, precondition=lambda g: solve @ g
    )
    assert_allclose(found.costs[1], 3.0, atol=1e-6)
    assert_allclose(found.point, foot, atol=1e-4)
    assert len(found.costs) <= 8
    plain = quasi_newton_descent(cost, np.zeros((20, 2)), n_steps=50)
    assert plain.cost > found.cost + 1e-3


def test_a_wrong_scale_of_the_preconditioner_is_made_good():
    cost, H, foot = quadratic(condition=1e6)
    for factor in (1e-3, 1e3):
        solve = factor * np.linalg.inv(H)
        found = quasi_newton_descent(
            cost, np.zeros((20, 2)), n_steps=30, precondition=lambda g, A=solve: A @ g, tol=1e-12
        )
        assert_allclose(found.point, foot, atol=1e-4)


def test_memory_makes_a_narrow_valley_shorter(monkeypatch):
    cost, _, _ = quadratic(n=40, condition=1e4)
    long = quasi_newton_descent(cost, np.zeros((40, 2)), n_steps=60, tol=0)
    monkeypatch.setattr("beltrami.solvers.descent._MEMORY", 1)
    short = quasi_newton_descent(cost, np.zeros((40, 2)), n_steps=60, tol=0)
    assert long.cost - 3 < (short.cost - 3) / 2


def test_lbfgs_is_as_good_as_scipys():
    from scipy.optimize import minimize

    cost, _, _ = quadratic(n=40, condition=1e4)

    def flat(v):
        value, gradient = cost(v.reshape(40, 2))
        return value, gradient.ravel()

    peer = minimize(flat, np.zeros(80), jac=True, method="L-BFGS-B", options={"maxiter": 60})
    ours = quasi_newton_descent(cost, np.zeros((40, 2)), n_steps=60, tol=0)
    assert ours.cost - 3 < 10 * (peer.fun - 3) + 1e-6


def test_every_step_is_told():
    told = []
    found = quasi_newton_descent(banana, np.full((3, 2), -1.2), n_steps=12, on_step=told.append)
    assert_allclose(told, found.costs[1:])


def test_a_small_gain_over_five_steps_ends_it():
    cost, _, _ = quadratic(condition=1e4)
    loose, tight = (
        quasi_newton_descent(cost, np.zeros((20, 2)), n_steps=500, tol=tol) for tol in (0.5, 1e-9)
    )
    assert loose.is_converged
    assert len(loose.costs) < len(tight.costs)
    assert loose.costs[-6] - loose.cost < 0.5 * loose.cost
    assert tight.cost < loose.cost


def test_a_gradient_with_errors_ends_it_without_rising():
    """The gradient of an estimate points somewhere up; the line search says so."""
    cost, _, _ = quadratic()

    def estimated(Y):
        value, gradient = cost(Y)
        noise = np.random.default_rng(int(1e6 * abs(Y).sum()) % 2**32).standard_normal(Y.shape)
        return value, gradient + 0.5 * noise

    found = quasi_newton_descent(estimated, np.zeros((20, 2)), n_steps=400)
    assert found.is_converged
    assert len(found.costs) < 400
    assert (np.diff(found.costs) <= 0).all()
    assert found.cost < found.costs[0]


def test_a_cost_with_noise_ends_it():
    rng = np.random.default_rng(0)
    cost, _, _ = quadratic()

    def noisy(Y):
        value, gradient = cost(Y)
        return value + 1e-3 * rng.standard_normal(), gradient

    found = quasi_newton_descent(noisy, np.zeros((20, 2)), n_steps=400)
    assert found.is_converged
    assert found.cost < 3.1


def test_a_step_into_nothing_is_taken_back():
    """Beyond x = 1 the cost is not defined."""

    def walled(Y):
        x = float(Y[0, 0])
        return (np.nan if x >= 1 else -np.log(1 - x) - 5 * x), np.array([[1 / (1 - x) - 5]])

    found = quasi_newton_descent(walled, np.array([[-3.0]]), n_steps=60, tol=1e-12)
    assert_allclose(found.point, 0.8, atol=1e-4)


def test_a_cost_of_minus_infinity_is_no_gain():
    """Such a cost is an overflow somewhere, never a minimum."""

    def walled(Y):
        x = float(Y[0, 0])
        return (-np.inf if x >= 1 else -np.log(1 - x) - 5 * x), np.array([[1 / (1 - x) - 5]])

    found = quasi_newton_descent(walled, np.array([[-3.0]]), n_steps=60, tol=1e-12)
    assert_allclose(found.point, 0.8, atol=1e-4)


@pytest.mark.parametrize("has_guess", [False, True])
def test_the_two_loops_are_the_update_of_bfgs(has_guess):
    """H <- (I - rho s y') H (I - rho y s') + rho s s', from a guess right along the last step."""
    rng = np.random.default_rng(0)
    _, A, _ = quadratic(n=6)
    guess = np.diag(rng.uniform(0.5, 2, 6)) if has_guess else np.eye(6)
    pairs = deque(maxlen=5)
    moves = rng.standard_normal((4, 6, 1))
    for move in moves:
        _remember(pairs, move, A @ move)
    change = A @ moves[-1]
    H = guess * float(np.vdot(moves[-1], change) / np.vdot(change, guess @ change))
    for s in moves:
        rho = 1 / float(np.vdot(s, A @ s))
        left = np.eye(6) - rho * s @ (A @ s).T
        H = left @ H @ left.T + rho * s @ s.T
    gradient = rng.standard_normal((6, 1))
    apply = (lambda g: guess @ g) if has_guess else None
    assert_allclose(_inverse_times(gradient, pairs, apply), H @ gradient, rtol=1e-9)


def test_a_step_along_which_the_cost_curves_down_is_not_remembered():
    pairs = deque(maxlen=5)
    move = np.ones((3, 1))
    _remember(pairs, move, -move)
    _remember(pairs, move, 0 * move)
    assert not pairs
    _remember(pairs, move, 2 * move)
    assert len(pairs) == 1


def test_a_memory_that_misleads_is_dropped():
    """A cost that curves down gives no usable memory; descent goes on all the same."""

    def ridge(Y):
        return float(np.cos(Y).sum()), -np.sin(Y)

    found = quasi_newton_descent(ridge, np.full((4, 1), 0.3), n_steps=60, tol=1e-12)
    assert_allclose(found.cost, -4.0, atol=1e-6)
    assert (np.diff(found.costs) <= 0).all()
