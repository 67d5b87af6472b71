"""New points on a finished map: each is placed by a small convex problem of its own.

Rows of neighbour probabilities towards the map's points enter; positions leave.
"""

import numpy as np

from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector

TIE = 1e-3
"""How strongly a new point is held to the mean of its neighbours."""

_STEPS = 50
_BLOCK_ENTRIES = 1 << 22
_TOLERANCE = 1e-8


def placed(
    probabilities: FloatMatrix | CsrMatrix, embedding: FloatMatrix, *, tie: float
) -> FloatMatrix:
    r"""Place new points on a map, each by Newton's method on its own part of the SNE cost.

    With the map's points fixed, a new row's divergence from its neighbour probabilities is, up to
    a constant,

    .. math:: f(y) = \log \sum_j e^{2 y \cdot y_j - \lVert y_j \rVert^2} - 2 y \cdot \bar y_p
              + c \lVert y - \bar y_p \rVert^2, \quad \bar y_p = \sum_j p_j y_j,

    convex because its Hessian is four times the covariance of :math:`y_j` under q, plus 2c. With
    c = 0 a point whose neighbours lie on the rim of the map would have its minimum at infinity.
    O(n d^2) per point and step, a few steps, in blocks of points.

    Parameters
    ----------
    probabilities : ndarray or csr_array of shape (m, n)
        Rows of P from the new points to those of the map.
    embedding : ndarray of shape (n, d)
        The map.
    tie : float
        c, above zero: how strongly a point is held to the mean of its neighbours.

    Returns
    -------
    ndarray of shape (m, d)
        Positions.
    """
    middle = embedding.mean(axis=0)
    points = np.asarray(embedding - middle, dtype=np.float64)
    means = np.asarray(probabilities @ points)
    size = max(_BLOCK_ENTRIES // len(points), 1)
    squares = (points**2).sum(axis=1)
    upper = np.triu_indices(points.shape[1])
    products = points[:, upper[0]] * points[:, upper[1]]
    rows = [
        _newton(means[start : start + size], points, squares, products, tie)
        for start in range(0, len(means), size)
    ]
    found: FloatMatrix = np.concatenate(rows) + middle if rows else means
    return found


def _newton(
    means: FloatMatrix,
    points: FloatMatrix,
    squares: FloatVector,
    products: FloatMatrix,
    tie: float,
) -> FloatMatrix:
    """Solve a block of rows; rows that are done leave it."""
    found = means.copy()
    active = np.arange(len(means))
    costs = np.full(len(means), np.inf)
    for _ in range(_STEPS):
        here, goal = found[active], means[active]
        costs[active], shares = _row_costs(here, goal, points, squares, tie)
        gradient, hessian = _derivatives(shares, here, goal, points, products, tie)
        step = -np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        slope = (step * gradient).sum(axis=1)
        there, lower = _shortened(here, step, slope, costs[active], goal, points, squares, tie)
        found[active] = there
        is_done = (-slope < _TOLERANCE) | ~lower
        active = active[~is_done]
        if not len(active):
            break
    return found


def _row_costs(
    here: FloatMatrix,
    goal: FloatMatrix,
    points: FloatMatrix,
    squares: FloatVector,
    tie: float,
) -> tuple[FloatVector, FloatMatrix]:
    """Return f at each row, and the shares q of the map's points in it."""
    logits = 2 * here @ points.T
    logits -= squares
    highest = logits.max(axis=1, keepdims=True)
    logits -= highest
    np.exp(logits, out=logits)
    totals = logits.sum(axis=1, keepdims=True)
    logits /= totals
    away = here - goal
    costs = (highest + np.log(totals)).ravel() - 2 * (here * goal).sum(axis=1)
    costs += tie * (away**2).sum(axis=1)
    return costs, logits


def _derivatives(
    shares: FloatMatrix,
    here: FloatMatrix,
    goal: FloatMatrix,
    points: FloatMatrix,
    products: FloatMatrix,
    tie: float,
) -> tuple[FloatMatrix, FloatMatrix]:
    expected = shares @ points
    gradient = 2 * (expected - goal) + 2 * tie * (here - goal)
    d = points.shape[1]
    upper = np.triu_indices(d)
    hessian = np.empty((len(here), d, d))
    second = shares @ products
    hessian[:, upper[0], upper[1]] = second
    hessian[:, upper[1], upper[0]] = second
    hessian -= expected[:, :, None] * expected[:, None, :]
    hessian *= 4
    hessian[:, np.arange(d), np.arange(d)] += 2 * tie
    return gradient, hessian


def _shortened(
    here: FloatMatrix,
    step: FloatMatrix,
    slope: FloatVector,
    costs: FloatVector,
    goal: FloatMatrix,
    points: FloatMatrix,
    squares: FloatVector,
    tie: float,
) -> tuple[FloatMatrix, np.ndarray]:
    """Halve the steps of the rows whose cost would not fall; say which rows moved at all."""
    lengths = np.ones(len(here))
    waiting = np.arange(len(here))
    for _ in range(30):
        there = here[waiting] + lengths[waiting, None] * step[waiting]
        tried, _ = _row_costs(there, goal[waiting], points, squares, tie)
        allowed = costs[waiting] + 1e-4 * lengths[waiting] * slope[waiting]
        waiting = waiting[tried > allowed]
        if not len(waiting):
            break
        lengths[waiting] /= 2
    moved = np.ones(len(here), dtype=bool)
    moved[waiting] = False
    lengths[waiting] = 0.0
    return here + lengths[:, None] * step, moved
