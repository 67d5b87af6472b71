"""New points on a finished map: each at the minimum of its own convex cost."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import logsumexp, xlogy

from beltrami.embeddings.mbed import placement
from beltrami.embeddings.mbed.objective import MbedCost
from beltrami.embeddings.mbed.placement import TIE, ClassPull, place
from beltrami.embeddings.mbed.simplex import simplex_directions
from beltrami.embeddings.mbed.terms import log_memberships
from beltrami.embeddings.neighborhoods.probabilities import StoredNeighborhood, row_probabilities
from beltrami.embeddings.repulsion.exact import ExactRepulsion
from beltrami.solvers.descent import quasi_newton_descent

every_dimension = pytest.mark.parametrize("d", [1, 2, 5])
every_tie = pytest.mark.parametrize("tie", [TIE, 0.3])


def map_of(n=60, d=2, width=1.5, seed=0):
    return width * np.random.default_rng(seed).standard_normal((n, d))


def rows_of(m=7, n=60, seed=1, sharpness=1.0):
    squares = sharpness * np.random.default_rng(seed).exponential(4.0, (m, n))
    return row_probabilities(squares)


def row_cost(y, p, Y, tie):
    """The row's divergence from q, written out, plus its tie."""
    squares = ((y - Y) ** 2).sum(axis=1)
    log_q = -squares - logsumexp(-squares)
    return (xlogy(p, p) - p * log_q).sum() + tie * ((y - p @ Y) ** 2).sum()


def row_slopes(y, p, Y, tie, step=1e-5):
    axes = np.eye(len(y)) * step
    return np.array(
        [(row_cost(y + e, p, Y, tie) - row_cost(y - e, p, Y, tie)) / (2 * step) for e in axes]
    )


@every_dimension
@every_tie
def test_a_new_point_stands_where_its_cost_is_least(d, tie):
    """The slopes vanish there, and scipy finds nothing lower from elsewhere."""
    Y, P = map_of(d=d), rows_of()
    for p, y in zip(P, place(P, Y, tie=tie), strict=True):
        assert_allclose(row_slopes(y, p, Y, tie), 0, atol=1e-6)
        peer = minimize(row_cost, Y[0], args=(p, Y, tie), options={"gtol": 1e-8})
        assert row_cost(y, p, Y, tie) <= peer.fun + 1e-9
        assert_allclose(y, peer.x, atol=1e-4)


@every_dimension
def test_the_cost_of_a_row_is_convex(d):
    """Its Hessian, four times a covariance plus the tie, has no negative eigenvalue."""
    Y, p = map_of(d=d), rows_of(1)[0]
    rng = np.random.default_rng(0)
    for y in 3 * rng.standard_normal((10, d)):
        step = 1e-4
        axes = np.eye(d) * step
        H = np.array(
            [row_slopes(y + e, p, Y, TIE) - row_slopes(y - e, p, Y, TIE) for e in axes]
        ) / (2 * step)
        assert np.linalg.eigvalsh((H + H.T) / 2).min() > 2 * TIE - 1e-4
        q = np.exp(-((y - Y) ** 2).sum(axis=1) - logsumexp(-((y - Y) ** 2).sum(axis=1)))
        expected = 4 * np.cov(Y.T, aweights=q, ddof=0).reshape(d, d) + 2 * TIE * np.eye(d)
        assert_allclose(H, expected, atol=1e-4)


def test_a_batch_is_its_points_one_by_one(monkeypatch):
    Y, P = map_of(d=3), rows_of(20, sharpness=3.0)
    together = place(P, Y, tie=TIE)
    alone = np.vstack([place(P[i : i + 1], Y, tie=TIE) for i in range(20)])
    assert_allclose(together, alone, atol=1e-9)
    monkeypatch.setattr(placement, "_BLOCK_ENTRIES", 60 * 6)  # blocks of six
    assert_allclose(place(P, Y, tie=TIE), together, atol=1e-9)


def test_a_sparse_row_is_its_dense_one():
    Y, P = map_of(), rows_of(sharpness=20.0)
    P[P < 1e-3] = 0
    P /= P.sum(axis=1, keepdims=True)
    assert_allclose(place(csr_array(P), Y, tie=TIE), place(P, Y, tie=TIE), atol=1e-12)


def test_no_rows_are_no_positions():
    assert place(np.zeros((0, 60)), map_of(), tie=TIE).shape == (0, 2)
    assert place(csr_array((0, 60)), map_of(d=3), tie=TIE).shape == (0, 3)


def test_moving_and_turning_the_map_moves_and_turns_the_new_points():
    Y, P = map_of(d=3), rows_of()
    turn = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))[0]
    there = place(P, Y, tie=TIE)
    assert_allclose(place(P, Y @ turn + 100.0, tie=TIE), there @ turn + 100.0, atol=1e-6)


def test_a_row_of_the_map_comes_back_near_its_own_position():
    """At rest, a point's own row pulls it to where it stands, up to what others ask of it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 2)) * 4
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2) / 4
    np.fill_diagonal(squares, np.inf)
    P = row_probabilities(squares)
    start = X / 2 + 0.01 * rng.standard_normal(X.shape)
    cost = MbedCost(StoredNeighborhood.of(P), ExactRepulsion())
    Y = quasi_newton_descent(cost, start, n_steps=300, tol=1e-9).point
    back = np.vstack(
        [place(np.delete(P[i], i)[None], np.delete(Y, i, axis=0), tie=TIE) for i in range(150)]
    )
    away = np.linalg.norm(back - Y, axis=1)
    size = np.sqrt(((Y - Y.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert np.median(away) < 0.1 * size
    assert np.mean(away < 0.5 * size) > 0.95


@every_dimension
def test_a_row_that_asks_for_a_corner_gets_a_finite_place(d):
    """All of its probability on the outermost point: without a tie it would stand at infinity."""
    Y = map_of(d=d)
    out = np.linalg.norm(Y - Y.mean(axis=0), axis=1).argmax()
    p = np.zeros((1, 60))
    p[0, out] = 1.0
    y = place(p, Y, tie=TIE)
    assert np.isfinite(y).all()
    assert_allclose(row_slopes(y[0], p[0], Y, TIE), 0, atol=1e-6)
    loose = place(p, Y, tie=TIE / 100)
    assert np.linalg.norm(loose - Y[out]) >= np.linalg.norm(y - Y[out]) - 1e-9


@pytest.mark.parametrize("width", [1e-6, 1e-3, 1e2, 1e4, 1e6])
def test_maps_of_every_size_give_finite_places(width):
    Y, P = map_of(width=width), rows_of(sharpness=2.0)
    P[0] = np.eye(60)[3]
    y = place(P, Y, tie=TIE)
    assert np.isfinite(y).all()
    for one, p in zip(y, P, strict=True):  # never worse than the mean of the neighbours
        assert row_cost(one, p, Y, TIE) <= row_cost(p @ Y, p, Y, TIE) * (1 + 1e-9) + 1e-9


def test_a_map_of_one_place_puts_everyone_there():
    assert_allclose(place(rows_of(), np.full((60, 2), 3.0), tie=TIE), 3.0)


def test_a_map_in_float32_is_read_in_double():
    Y = map_of().astype(np.float32)
    found = place(rows_of(), Y, tie=TIE)
    assert found.dtype == np.float64
    assert_allclose(found, place(rows_of(), Y.astype(np.float64), tie=TIE), atol=1e-6)


@pytest.mark.parametrize("weight", [0.0, 0.5, 30.0])
def test_a_guessed_class_pulls_as_its_label_term_does(weight):
    """Far from the origin, too: boundaries are fixed, the neighbours' part is not."""
    Y, P = map_of(d=3) + np.array([2.0, -1.0, 0.5]), rows_of()
    W, scale = simplex_directions(3, 3), 0.4
    T = np.random.default_rng(3).dirichlet(np.ones(3), len(P))
    pull = ClassPull(W, scale, T, np.full(len(P), weight))
    for p, t, y in zip(P, T, place(P, Y, tie=TIE, pull=pull), strict=True):

        def cost(at, p=p, t=t):
            divergence = (xlogy(t, t) - t * log_memberships(at[None], W, scale)[0]).sum()
            return row_cost(at, p, Y, TIE) + weight * divergence

        peer = minimize(cost, Y[0], options={"gtol": 1e-8})
        assert cost(y) <= peer.fun + 1e-8
        assert_allclose(y, peer.x, atol=1e-3)
