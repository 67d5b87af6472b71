"""New points as they arrive: prepared, and tied to those that are known."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, diags_array

from beltrami.core.types import BoolVector, CsrMatrix, FloatMatrix, FloatVector, Points
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
    def _inside(self) -> CsrMatrix:
        """The edges to anchors that a label reaches."""
        if self.is_reached.all():
            return self.tie.weights
        return csr_array(self.tie.weights @ diags_array(self.is_reached.astype(np.float64)))

    @cached_property
    def _degrees(self) -> FloatVector:
        return np.asarray(self.tie.weights.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def reached(self) -> BoolVector:
        """Which new points join anchors that a label reaches, (m,)."""
        joined = np.asarray(self._inside.sum(axis=1)).ravel() > 0
        is_old = self.tie.twins >= 0
        joined[is_old] = self.is_reached[self.tie.twins[is_old]]
        return np.asarray(joined)

    def carry(self, values: FloatMatrix) -> FloatMatrix:
        """Return the weighted mean of anchors' values, (m, k); a known point has its own."""
        totals = np.asarray(self._inside.sum(axis=1)).ravel()
        carried = self._inside @ values / np.where(totals > 0, totals, 1.0)[:, None]
        return self._with_twins(np.asarray(carried, dtype=np.float64), values)

    def extend(self, slopes: FloatMatrix, own: FloatMatrix) -> FloatMatrix:
        """Return the sum of anchors' slopes by their part in the degree; a known point has `own`.

        Nyström's formula of functions of the random walk: the slopes hold its denominators.
        """
        degrees = self._degrees[:, None]
        extended = np.zeros((len(degrees), slopes.shape[1]))
        np.divide(self.tie.weights @ slopes, degrees, out=extended, where=degrees > 0)
        return self._with_twins(extended, own)

    def _with_twins(self, carried: FloatMatrix, own: FloatMatrix) -> FloatMatrix:
        is_old = self.tie.twins >= 0
        carried[is_old] = own[self.tie.twins[is_old]]
        return carried
