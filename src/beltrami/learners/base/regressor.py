"""Base classes of regressors: numbers with gaps in, numbers with an interval out."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector
from beltrami.data.labels import checked_weights, encode_values
from beltrami.graph.fitting import checked_points
from beltrami.learners.base.learner import GraphLearner, PartialLabelLearner
from beltrami.learners.model import Labeled
from beltrami.learners.scores import labeled_r2

_BLOCK = 4096


class PartialLabelRegressor(RegressorMixin, PartialLabelLearner):
    """A regressor from values with gaps: subclasses give one column of scores."""

    def _read(self, y: Any, n_points: int, sample_weight: Any) -> Labeled:
        values, rows = encode_values(y, n_points)
        weights = checked_weights(sample_weight, n_points, rows)
        return Labeled.of(rows, values[rows, None], weights)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R squared on the labelled rows; unlabelled ones are never counted.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points.
        y : array-like of shape (m,)
            Their values; rows with NaN are left out.
        sample_weight : array-like of shape (m,) or None, default=None
            How much each row counts.

        Returns
        -------
        float
            One for a perfect answer, zero for the mean.
        """
        return labeled_r2(y, self.predict(X), sample_weight=sample_weight)


class GraphRegressor(PartialLabelRegressor, GraphLearner):
    """A regressor on a graph: subclasses give values and how they depend on each label."""

    def _learn(self, labeled: Labeled) -> None:
        self._labeled = labeled
        self.reached_ = self._reach(labeled)
        self.mean_ = float(labeled.mean[0])
        self._conclude(self._scores(labeled), labeled)

    def _conclude(self, scores: FloatMatrix, labeled: Labeled) -> None:
        """Turn the scores of all rows into values."""
        self.scores_ = np.where(self.reached_[:, None], scores, self.mean_)
        values = np.where(self.reached_, self.scores_[:, 0], np.nan)
        # A value that counts is never overwritten; `predict` returns the learner's own.
        values[labeled.rows] = labeled.targets[:, 0]
        self.transduction_ = values

    def predict(self, X: Any) -> FloatVector:
        """Return the values of points, of the fit or new.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points.

        Returns
        -------
        ndarray of shape (m,)
            Always finite: the mean of the labels for a point that no label reaches.
        """
        check_is_fitted(self)
        scores, reached = self._scores_at(checked_points(self, X, reset=False))
        return np.where(reached, scores[:, 0], self.mean_)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> FloatMatrix:
        r"""Return intervals meant to hold the true values of a stated share of points.

        Jackknife+ [BarberCandes21]_: with :math:`r_i` the exact leave-one-out residual of label i
        and :math:`f_{-i}` the fit without it, the ends are the
        :math:`\lceil (1 - \alpha)(l + 1) \rceil`-th smallest of :math:`f_{-i}(x) + |r_i|` and the
        :math:`\lfloor \alpha (l + 1) \rfloor`-th smallest of :math:`f_{-i}(x) - |r_i|`. No fit is
        repeated. Where a parameter was chosen by leave-one-out, :math:`|r_i|` is that of the choice
        in which that residual had no part, or intervals would be too short. For labels drawn at
        random from the same points the share is about 1 - alpha; what is proven, without a choice,
        is 1 - 2 alpha.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points, of the fit or new.
        coverage : float, default=0.9
            1 - alpha, between 0 and 1. It takes at least 1 / alpha - 1 labels.

        Returns
        -------
        ndarray of shape (m, 2)
            Lower and upper ends; infinite for a point that no label reaches.
        """
        check_is_fitted(self)
        points = checked_points(self, X, reset=False)
        count = len(self._labeled.rows)
        alpha = _checked_alpha(coverage, count)
        scores, reached = self._scores_at(points)
        residuals = self._residuals()
        size = np.abs(next((c.honest for c in self._choices() if c.honest is not None), residuals))
        ends = np.empty((len(scores), 2))
        upper = int(np.ceil((1 - alpha) * (count + 1) - 1e-9)) - 1
        lower = count - 1 - upper
        shifts = self._shifts_at(points, residuals)
        half_widths = self._half_widths(points, size)
        for start in range(0, len(scores), _BLOCK):
            rows = slice(start, start + _BLOCK)
            without, reach = scores[rows] - shifts[rows], half_widths(rows)
            ends[rows, 0] = np.partition(without - reach, lower, axis=1)[:, lower]
            ends[rows, 1] = np.partition(without + reach, upper, axis=1)[:, upper]
        ends[~reached] = (-np.inf, np.inf)
        return ends

    def _residuals(self) -> FloatVector:
        left_out = self._left_out()
        residuals: FloatVector = (left_out.targets - left_out.scores)[:, 0]
        return residuals

    def _half_widths(
        self,
        points: Any,  # noqa: ARG002
        sizes: FloatVector,
    ) -> Callable[[slice], FloatMatrix]:
        """Return what gives, for some of the points, how far each label's residual reaches."""
        return lambda _: sizes[None, :]

    @abstractmethod
    def _shifts_at(self, points: Any, residuals: FloatVector) -> FloatMatrix:
        """Return the (m, l) matrix of how much the values at points fall without each label."""


def _checked_alpha(coverage: float, count: int) -> float:
    if not 0 < coverage < 1:
        raise InvalidInputError(f"coverage={coverage!r} must lie between 0 and 1, such as 0.9.")
    alpha = 1 - float(coverage)
    needed = int(np.ceil(1 / alpha - 1 - 1e-9))
    if count < needed:
        raise InvalidInputError(
            f"an interval of coverage {coverage} needs at least {needed} labels and there are "
            f"{count}. Ask for less coverage, at most {count / (count + 1):.3f}, or label more."
        )
    return alpha
