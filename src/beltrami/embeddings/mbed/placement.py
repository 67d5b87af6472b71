"""New points on a finished map: each is placed by a small convex problem of its own."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from beltrami.core.types import BoolVector, CsrMatrix, FloatMatrix, FloatVector, IndexVector
from beltrami.embeddings.mbed.terms import log_memberships

TIE = 1e-3
"""How strongly a new point is held to the mean of its neighbours."""

_STEPS = 50
_BLOCK_ENTRIES = 1 << 22
_TOLERANCE = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class ClassPull:
    """A label term for new points: what is guessed of their classes.

    Attributes
    ----------
    directions : ndarray of shape (K, d)
        Class directions.
    scale : float
        Lambda.
    targets : ndarray of shape (m, K)
        Guessed class distributions of the new points.
    weights : ndarray of shape (m,)
        What they count.
    """

    directions: FloatMatrix
    scale: float
    targets: FloatMatrix
    weights: FloatVector

    def rows(self, rows: IndexVector) -> "ClassPull":
        """Return the pull on some of the points."""
        return ClassPull(self.directions, self.scale, self.targets[rows], self.weights[rows])


def place(
    probabilities: FloatMatrix | CsrMatrix,
    embedding: FloatMatrix,
    *,
    tie: float,
    pull: ClassPull | None = None,
) -> FloatMatrix:
    r"""Place new points on a map, each by Newton's method on its own part of the cost.

    With the map's points fixed, a new row's divergence from its neighbour probabilities is, up to
    a constant,

    .. math:: f(y) = \log \sum_j e^{2 y \cdot y_j - \lVert y_j \rVert^2} - 2 y \cdot \bar y_p
              + c \lVert y - \bar y_p \rVert^2, \quad \bar y_p = \sum_j p_j y_j,

    convex because its Hessian is four times the covariance of :math:`y_j` under q, plus 2c. With
    c = 0 a point whose neighbours lie on the rim of the map would have its minimum at infinity.
    A label term :math:`\omega KL(t \| m(y))` is convex in y, too; the margin term is not, and is
    left out. O(n d^2) per point and step, a few steps, in blocks of points.

    The rows of `probabilities`, (m, n), go from the new points to those of the map; `tie` is c.
    """
    fixed = _Map.of(embedding, tie)
    goals = np.asarray(probabilities @ fixed.points)
    size = max(_BLOCK_ENTRIES // len(fixed.points), 1)
    blocks = []
    for start in range(0, len(goals), size):
        rows = np.arange(start, min(start + size, len(goals)))
        blocks.append(fixed.solve_rows(goals[rows], None if pull is None else pull.rows(rows)))
    positions: FloatMatrix = np.concatenate(blocks) + fixed.middle if blocks else goals
    return positions


class _Derivatives(NamedTuple):
    """Cost, gradient and Hessian of a block of rows."""

    costs: FloatVector
    gradient: FloatMatrix
    hessian: FloatMatrix


@dataclass(frozen=True, slots=True, eq=False)
class _Map:
    """The points of a map around its middle, with what every new row needs of them."""

    points: FloatMatrix
    middle: FloatVector
    squares: FloatVector
    products: FloatMatrix  # of every two coordinates, upper triangle
    tie: float

    @classmethod
    def of(cls, embedding: FloatMatrix, tie: float) -> "_Map":
        middle = embedding.mean(axis=0)
        points = np.asarray(embedding - middle, dtype=np.float64)
        upper = np.triu_indices(points.shape[1])
        products = points[:, upper[0]] * points[:, upper[1]]
        return cls(points, middle, (points**2).sum(axis=1), products, tie)

    def solve_rows(self, goals: FloatMatrix, pull: ClassPull | None) -> FloatMatrix:
        """Minimise f for a block of rows, from their goals; rows that are done leave it."""
        positions, active = goals.copy(), np.arange(len(goals))
        for _ in range(_STEPS):
            here, goal = positions[active], goals[active]
            rows_pull = None if pull is None else pull.rows(active)
            there = self._derivatives(here, goal, rows_pull)
            step = -np.linalg.solve(there.hessian, there.gradient[:, :, None])[:, :, 0]
            slope = (step * there.gradient).sum(axis=1)
            positions[active], moved = self._line_search(
                here, step, slope, there.costs, goal, rows_pull
            )
            active = active[(-slope >= _TOLERANCE) & moved]
            if not len(active):
                break
        return positions

    def _costs(
        self, here: FloatMatrix, goal: FloatMatrix, pull: ClassPull | None
    ) -> tuple[FloatVector, FloatMatrix]:
        """Return f at each row, and the shares q of the map's points in it."""
        logits = 2 * here @ self.points.T
        logits -= self.squares
        highest = logits.max(axis=1, keepdims=True)
        logits -= highest
        np.exp(logits, out=logits)
        totals = logits.sum(axis=1, keepdims=True)
        logits /= totals
        costs = (highest + np.log(totals)).ravel() - 2 * (here * goal).sum(axis=1)
        costs += self.tie * ((here - goal) ** 2).sum(axis=1)
        if pull is not None:
            logs = log_memberships(here + self.middle, pull.directions, pull.scale)
            costs -= pull.weights * (pull.targets * logs).sum(axis=1)
        return costs, logits

    def _derivatives(
        self, here: FloatMatrix, goal: FloatMatrix, pull: ClassPull | None
    ) -> _Derivatives:
        costs, shares = self._costs(here, goal, pull)
        expected = shares @ self.points
        gradient = 2 * (expected - goal) + 2 * self.tie * (here - goal)
        d = self.points.shape[1]
        upper, second = np.triu_indices(d), shares @ self.products
        hessian = np.empty((len(here), d, d))
        hessian[:, upper[0], upper[1]] = second
        hessian[:, upper[1], upper[0]] = second
        hessian -= expected[:, :, None] * expected[:, None, :]
        hessian *= 4
        hessian[:, np.arange(d), np.arange(d)] += 2 * self.tie
        if pull is not None:
            memberships = np.exp(log_memberships(here + self.middle, pull.directions, pull.scale))
            W, weights = pull.directions / pull.scale, pull.weights[:, None]
            gradient += weights * (memberships - pull.targets) @ W
            mean = memberships @ W
            spread = np.einsum("ik,kd,ke->ide", memberships, W, W, optimize=True)
            hessian += weights[:, :, None] * (spread - mean[:, :, None] * mean[:, None, :])
        return _Derivatives(costs, gradient, hessian)

    def _line_search(
        self,
        here: FloatMatrix,
        step: FloatMatrix,
        slope: FloatVector,
        costs: FloatVector,
        goal: FloatMatrix,
        pull: ClassPull | None,
    ) -> tuple[FloatMatrix, BoolVector]:
        """Halve the steps of the rows whose cost would not fall; say which rows moved at all."""
        lengths, waiting = np.ones(len(here)), np.arange(len(here))
        for _ in range(30):
            there = here[waiting] + lengths[waiting, None] * step[waiting]
            rows_pull = None if pull is None else pull.rows(waiting)
            new_costs, _ = self._costs(there, goal[waiting], rows_pull)
            allowed = costs[waiting] + 1e-4 * lengths[waiting] * slope[waiting]
            waiting = waiting[new_costs > allowed]
            if not len(waiting):
                break
            lengths[waiting] /= 2
        moved = np.ones(len(here), dtype=bool)
        moved[waiting] = False
        lengths[waiting] = 0.0
        return here + lengths[:, None] * step, moved
