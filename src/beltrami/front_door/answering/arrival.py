"""New points as they arrive: prepared, and tied to those that are known."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from beltrami.core.types import BoolVector, FloatMatrix, Points
from beltrami.graph.anchors import Tie


@dataclass(frozen=True, eq=False)
class Arrival:
    """A block of new points.

    Attributes
    ----------
    plain, points : ndarray or csr_array of shape (m, d) and (m, p)
        As in a `View`.
    tie : Tie
        How they hang on the anchors.
    is_reached : ndarray of shape (n,)
        Which anchors a label reaches.
    """

    plain: Points
    points: Points
    tie: Tie
    is_reached: BoolVector

    @cached_property
    def _inside(self) -> FloatMatrix:
        """What edges weigh, to anchors that a label reaches; zero to others, (m, w)."""
        if self.is_reached.all():
            return self.tie.weights
        return np.where(self.is_reached[self.tie.anchors], self.tie.weights, 0.0)

    @cached_property
    def reached(self) -> BoolVector:
        """Which new points join anchors that a label reaches, (m,)."""
        joined = self._inside.sum(axis=1) > 0
        is_old = self.tie.twins >= 0
        joined[is_old] = self.is_reached[self.tie.twins[is_old]]
        return np.asarray(joined)

    def carry(self, values: FloatMatrix) -> FloatMatrix:
        """Return the weighted mean of anchors' values, (m, k); a known point has its own."""
        return self._mean(self._inside, values, values)

    def extend(self, slopes: FloatMatrix, own: FloatMatrix) -> FloatMatrix:
        """Return the sum of anchors' slopes by their part in the degree; a known point has `own`.

        Nyström's formula of functions of the random walk: the slopes hold its denominators.
        """
        return self._mean(self.tie.weights, slopes, own)

    def _mean(self, weights: FloatMatrix, values: FloatMatrix, own: FloatMatrix) -> FloatMatrix:
        """Return weighted means of anchors' values; zeros without a weight, `own` for a twin."""
        from beltrami.front_door.answering import _loops

        totals = weights.sum(axis=1)
        means: FloatMatrix = _loops.gather_sums(self.tie.anchors, weights, values)
        means /= np.where(totals > 0, totals, 1.0)[:, None]
        is_old = self.tie.twins >= 0
        means[is_old] = own[self.tie.twins[is_old]]
        return means
