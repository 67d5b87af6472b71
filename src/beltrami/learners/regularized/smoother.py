"""The inverse of a smoothness operator S, and for S = L the smoothest function through labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix
from beltrami.core.validation import check_count, check_positive
from beltrami.graph.model import Graph
from beltrami.learners.foundation import Foundation
from beltrami.learners.model import Labeled
from beltrami.operators.smoothness import heat_operator
from beltrami.solvers.linear import solve

_COLUMNS = 64
"""Right-hand sides that are solved for together."""


@dataclass(frozen=True, slots=True, eq=False)
class Smoother:
    r"""The inverse of a smoothness operator, applied and never formed.

    For S = L^q it is the pseudo-inverse on each component of the graph, whose null space are the
    functions constant there; for S = exp(tL) it is the heat flow exp(-tL), which has no null space.

    Attributes
    ----------
    foundation : Foundation
        The graph and its factorised Laplacian.
    power : int
        q, or 0 for the heat operator.
    t : float
        Time of the heat flow.
    tol : float
        Of the solver.
    """

    foundation: Foundation
    power: int
    t: float
    tol: float

    @classmethod
    def of(cls, foundation: Foundation, smoothness: Any, *, tol: float) -> "Smoother":
        """Read a smoothness: "laplacian", ("iterated", q) or ("heat", t)."""
        match smoothness:
            case "laplacian":
                return cls(foundation, 1, 0.0, tol)
            case ("iterated", power):
                return cls(foundation, check_count(power, name="q"), 0.0, tol)
            case ("heat", t):
                return cls(foundation, 0, check_positive(t, name="t"), tol)
        raise InvalidInputError(
            f"smoothness={smoothness!r} is not known; choose 'laplacian', ('iterated', q) with a "
            "whole number q, or ('heat', t) with t > 0."
        )

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.foundation.graph

    @property
    def membership(self) -> NDArray[np.int32]:
        """Component of each node."""
        return self.foundation.component

    @property
    def is_laplacian(self) -> bool:
        """Whether S = L."""
        return self.power == 1

    def apply(self, block: FloatMatrix) -> FloatMatrix:
        """Return the inverse of S times a block, (n, k); for L^q the block is centred first."""
        if self.power == 0:
            return np.asarray(heat_operator(self.graph, -self.t) @ block)
        for _ in range(self.power):
            block = self.foundation.system.solve(self._center(block), tol=self.tol).values
        return block

    def _center(self, block: FloatMatrix) -> FloatMatrix:
        """Take the mean over each component off the columns of a block."""
        sizes = np.bincount(self.membership)
        means = np.zeros((len(sizes), block.shape[1]))
        np.add.at(means, self.membership, block)
        centred: FloatMatrix = block - (means / sizes[:, None])[self.membership]
        return centred

    def columns(self, labeled: Labeled) -> FloatMatrix:
        """Return the (n, l) columns of the inverse at the labelled nodes, solved for in blocks."""
        if self.is_laplacian:
            return self.foundation.columns(labeled.rows, tol=self.tol)
        n, count = self.graph.n_nodes, len(labeled.rows)
        require_memory(
            8.0 * n * count,
            what=f"the influence of {count} labels on {n} points",
            instead="Use fewer labels here, a fixed gamma with smoothness='laplacian', or "
            "EigenfunctionRegressor, whose cost does not grow so.",
        )
        columns = np.empty((n, count))
        with track("solving for the influence of labels", total=count) as advance:
            for start in range(0, count, _COLUMNS):
                rows = labeled.rows[start : start + _COLUMNS]
                block = np.zeros((n, len(rows)))
                block[rows, np.arange(len(rows))] = 1.0
                columns[:, start : start + len(rows)] = self.apply(block)
                advance(len(rows))
        return columns


def smooth_values(smoother: Smoother, labeled: Labeled, gamma: float) -> FloatMatrix:
    r"""Return the minimiser at all nodes for S = L, by one sparse solve for all targets.

    .. math:: \min_f \frac{1}{\sum w} \sum_i w_i (f_i - y_i)^2 + \gamma f^\top L f,

    or for gamma = 0 of :math:`f^\top L f` with f fixed at the labels. Components without a label
    are left at the mean of all labels.
    """
    graph, rows = smoother.graph, labeled.rows
    mean = labeled.mean
    centred = labeled.targets - mean
    values: FloatMatrix
    if gamma == 0 and len(rows) == graph.n_nodes:
        values = np.zeros((graph.n_nodes, centred.shape[1]))
        values[rows] = centred
    elif gamma == 0:
        right = graph.weights[:, rows] @ centred
        values = solve(graph, right, fixed=rows, tol=smoother.tol).values
        values[rows] = centred
    else:
        strength = labeled.weights / (gamma * labeled.weights.sum())
        shift, right = np.zeros(graph.n_nodes), np.zeros((graph.n_nodes, centred.shape[1]))
        shift[rows], right[rows] = strength, strength[:, None] * centred
        values = solve(graph, right, shift=shift, tol=smoother.tol).values
    return np.asarray(values + mean)
