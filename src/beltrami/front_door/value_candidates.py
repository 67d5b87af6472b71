"""The learners of values that may answer, all seen alike: values, and what held-out labels say.

A view of the data and values at some rows enter; values at all rows and at new points leave, with
exact leave-one-out residuals and with how each label moves the answer.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix, Points
from beltrami.front_door.candidates import ColumnScale, View
from beltrami.front_door.roster import kernel_of
from beltrami.graph.search import open_space
from beltrami.kernel_machines.ridge import KernelRidgePath
from beltrami.learners.leave_one_out import honest_residuals
from beltrami.learners.machines.laplacian_rls import LaplacianRLSRegressor
from beltrami.learners.model import Labeled
from beltrami.learners.regularized.estimators import GraphRegularizedRegressor
from beltrami.learners.spectral.estimators import EigenfunctionRegressor

_STRENGTHS = np.geomspace(1e-4, 1e4, 25)
_NEIGHBORS = (1, 2, 3, 5, 8, 12, 20)
_MANY_ROWS = 20_000
_BLOCK = 10_000
_FEWEST = 4
"""Labels from which leaving one out can judge."""


class ValueCandidate(ABC):
    """A learner of values that may answer.

    Attributes
    ----------
    name : str
        As in ``method=``.
    title : str
        For a person to read.
    """

    name: str
    title: str
    is_baseline = False

    @abstractmethod
    def fit(self, view: View, labeled: Labeled) -> FloatVector:
        """Learn, and return the values of all rows."""

    @abstractmethod
    def residuals(self) -> FloatVector:
        """Return the exact leave-one-out residuals of all labels."""

    @abstractmethod
    def honest(self) -> FloatVector | None:
        """Return residuals of all labels, each of what would be chosen without it, or None."""

    @abstractmethod
    def at(self, points: Points, plain: Points) -> FloatVector:
        """Return the values of new points, given as in a view."""

    @abstractmethod
    def shifts_at(self, points: Points, plain: Points, residuals: FloatVector) -> FloatMatrix:
        """Return by how much the values at new points fall without each label, (m, l)."""

    def judged(self, labeled: Labeled) -> FloatVector:
        """Return the residuals of ``labeled.sample()`` that a choice between candidates goes by."""
        honest = self.honest()
        own = self.residuals() if honest is None else honest
        return own[np.searchsorted(labeled.rows, labeled.sample().rows)]


class GraphValueCandidate(ValueCandidate):
    """A learner of values on the graph.

    Parameters
    ----------
    name, title : str
        What to call it.
    make : callable
        From a `View`, the estimator.
    """

    def __init__(self, name: str, title: str, make: Callable[[View], Any]) -> None:
        self.name, self.title, self._make = name, title, make
        self._learner: Any = None

    def fit(self, view: View, labeled: Labeled) -> FloatVector:
        """Learn on the graph, or from other labels where that was done before."""
        values = np.full(view.graph.n_nodes, np.nan)
        weights = np.ones(view.graph.n_nodes)
        values[labeled.rows], weights[labeled.rows] = labeled.targets[:, 0], labeled.weights
        if self._learner is None:
            learner = self._make(view)
            self._learner = learner.fit_on(view.points, view.graph, view.recipe, values, weights)
        else:
            self._learner.fit_labels(values, weights)
        return np.asarray(self._learner.scores_[:, 0])

    def residuals(self) -> FloatVector:
        """Return the learner's own."""
        return np.asarray(self._learner._residuals())

    def honest(self) -> FloatVector | None:
        """Return those of the strength that the learner would have chosen."""
        choices = self._learner._choices()
        return next((one.honest for one in choices if one.honest is not None), None)

    def judged(self, labeled: Labeled) -> FloatVector:
        """Return the same; of many labels those of the sample only."""
        if self.honest() is not None:
            return super().judged(labeled)
        left = self._learner._left_out()
        order = np.argsort(left.rows)
        place = order[np.searchsorted(left.rows, labeled.sample().rows, sorter=order)]
        residuals: FloatVector = (left.targets - left.scores)[place, 0]
        return residuals

    def at(self, points: Points, plain: Points) -> FloatVector:  # noqa: ARG002
        """Carry the values to new points, as the learner does."""
        scores, reached = self._learner._scores_at(points)
        return np.asarray(np.where(reached, scores[:, 0], self._learner.mean_))

    def shifts_at(
        self,
        points: Points,
        plain: Points,  # noqa: ARG002
        residuals: FloatVector,
    ) -> FloatMatrix:
        """Return the learner's own."""
        return np.asarray(self._learner._shifts_at(points, residuals))


class RidgeCandidate(ValueCandidate):
    """Ridge regression on the labelled rows alone, columns standardised.

    The strength is the one with the lowest leave-one-out loss; one decomposition serves all.
    """

    name, title, is_baseline = "ridge", "ridge regression, labels alone", True

    def fit(self, view: View, labeled: Labeled) -> FloatVector:
        """Fit to the labelled rows; the scale of the columns is that of all."""
        points = view.plain
        self._scale = ColumnScale.of(points)
        self._rows, self._labeled = self._scale.applied(points[labeled.rows]), labeled
        self._path = self._decomposed(labeled.weights)
        size = float(_squares(self._rows).mean())
        strengths = _STRENGTHS * max(size, 1e-300)
        self._honest, self._strength = None, float(strengths[len(strengths) // 2])
        if len(labeled.rows) >= _FEWEST:
            left = np.stack([self._left(strength) for strength in strengths])
            self._strength = float(strengths[_best(left, labeled)])
            self._honest = honest_residuals(left, labeled)
        multipliers, self._constants = self._path.multipliers(labeled.targets, self._strength)
        self._slopes = self._rows.T @ multipliers
        return self.at(points, points)

    def _decomposed(self, weights: FloatVector) -> KernelRidgePath:
        rows = self._rows
        if not issparse(rows) and rows.shape[1] < rows.shape[0]:
            return KernelRidgePath.of_factor(rows, weights, intercept=True)
        products = rows @ rows.T
        kernel = np.asarray(products.toarray() if issparse(products) else products)
        return KernelRidgePath.of(kernel, weights, intercept=True)

    def _left(self, strength: float) -> FloatVector:
        targets = self._labeled.targets
        residuals: FloatVector = (targets - self._path.held_out(targets, strength).values)[:, 0]
        return residuals

    def residuals(self) -> FloatVector:
        """Return those at the strength that was chosen."""
        return self._left(self._strength)

    def honest(self) -> FloatVector | None:
        """Return those of the strength chosen by the others."""
        return self._honest

    def at(self, points: Points, plain: Points) -> FloatVector:  # noqa: ARG002
        """Return the plane's values."""
        found = np.empty(plain.shape[0])
        for start in range(0, plain.shape[0], _BLOCK):
            rows = slice(start, start + _BLOCK)
            values = self._scale.applied(plain[rows]) @ self._slopes
            found[rows] = values[:, 0] + self._constants[0]
        return found

    def shifts_at(
        self,
        points: Points,  # noqa: ARG002
        plain: Points,
        residuals: FloatVector,
    ) -> FloatMatrix:
        """Without label i the fit is that to the same labels with y_i moved by its residual."""
        multipliers, constants = self._path.multipliers(np.diag(residuals), self._strength)
        return np.asarray(self._scale.applied(plain) @ (self._rows.T @ multipliers) + constants)


class NeighborValueCandidate(ValueCandidate):
    """The mean of the nearest labelled rows, as many as leave-one-out chooses."""

    name, title, is_baseline = "neighbors", "nearest labelled rows, labels alone", True

    def fit(self, view: View, labeled: Labeled) -> FloatVector:
        """Keep the labelled rows, and choose how many are asked."""
        self._rows, self._labeled, self._metric = view.plain[labeled.rows], labeled, view.metric
        count = len(labeled.rows)
        self._k, self._honest, self._left = 1, None, np.zeros(count)
        if count > 1:
            sizes = [k for k in _NEIGHBORS if k < count]
            others = self._others(sizes[-1])
            targets = labeled.targets[:, 0]
            left = np.stack([targets - self._mean(others[:, :k]) for k in sizes])
            best = _best(left, labeled) if count >= _FEWEST else 0
            self._k, self._left = sizes[best], left[best]
            self._honest = honest_residuals(left, labeled) if count >= _FEWEST else None
        return self.at(view.plain, view.plain)

    def _others(self, k: int) -> IndexMatrix:
        """Return the nearest labelled rows of each labelled row, without itself."""
        found = self._nearest(self._rows, k + 1)
        own = np.arange(len(found))[:, None]
        # Among equal rows a row need not be its own first.
        order = np.argsort(found == own, axis=1, kind="stable")
        return np.take_along_axis(found, order, axis=1)[:, :k]

    def _nearest(self, points: Points, k: int) -> IndexMatrix:
        rows = self._rows if self._rows.shape[0] > 1 else self._rows[[0, 0]]
        found = np.asarray(open_space(rows, self._metric).nearest(points, k)[0])
        return np.minimum(found, len(self._labeled.rows) - 1)

    def _mean(self, lists: IndexMatrix) -> FloatVector:
        weights = self._labeled.weights[lists]
        values: FloatVector = (weights * self._labeled.targets[:, 0][lists]).sum(axis=1)
        return np.asarray(values / weights.sum(axis=1))

    def residuals(self) -> FloatVector:
        """Return those of the number that was chosen."""
        return np.asarray(self._left)

    def honest(self) -> FloatVector | None:
        """Return those of the number chosen by the others."""
        return self._honest

    def at(self, points: Points, plain: Points) -> FloatVector:  # noqa: ARG002
        """Return weighted means."""
        return self._mean(self._nearest(plain, self._k))

    def shifts_at(
        self,
        points: Points,  # noqa: ARG002
        plain: Points,
        residuals: FloatVector,
    ) -> FloatMatrix:
        """Without one of the k nearest the next one is asked."""
        lists = self._nearest(plain, min(self._k + 1, len(residuals)))
        own = self._mean(lists[:, : self._k])
        shifts = np.zeros((len(lists), len(residuals)))
        for column in range(self._k):
            rest = np.delete(lists, column, axis=1)
            if rest.shape[1]:
                shifts[np.arange(len(lists)), lists[:, column]] = own - self._mean(rest)
        return shifts


def _squares(points: Points) -> FloatVector:
    own = points.multiply(points) if issparse(points) else points**2
    return np.asarray(own.sum(axis=1)).ravel()


def _best(left: FloatMatrix, labeled: Labeled) -> int:
    return int(np.argmin(left**2 @ labeled.weights))


def value_candidates() -> tuple[ValueCandidate, ...]:
    """Return every candidate, unfitted, the baselines first and the costliest last."""
    return (
        RidgeCandidate(),
        NeighborValueCandidate(),
        GraphValueCandidate("regularized", "graph regularisation", _regularized),
        GraphValueCandidate("eigenfunctions", "spectral ridge on eigenfunctions", _eigenfunctions),
        GraphValueCandidate("laplacian_rls", "Laplacian regularised least squares", _laplacian_rls),
    )


def _regularized(view: View) -> Any:
    gamma = "auto" if view.graph.n_nodes <= _MANY_ROWS else 0.0
    return GraphRegularizedRegressor(smoothness=("iterated", 2), gamma=gamma)


def _eigenfunctions(view: View) -> Any:
    return EigenfunctionRegressor(random_state=view.random_state)


def _laplacian_rls(view: View) -> Any:
    return LaplacianRLSRegressor(kernel=kernel_of(view), random_state=view.random_state)
