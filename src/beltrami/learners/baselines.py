"""Baselines: learners that see the labelled rows only, which a graph has to beat.

Points and some labels as numbers enter. Of classes, logits leave, one column per class; of values,
values with exact leave-one-out residuals and with how each label moves them.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from beltrami.core.machine.moments import column_moments
from beltrami.core.machine.threads import map_ranges, serial_blas
from beltrami.core.types import FloatMatrix, FloatVector, IndexMatrix, IndexVector, Points
from beltrami.graph.search import open_space
from beltrami.kernel_machines.ridge import KernelRidgePath
from beltrami.learners.leave_one_out import honest_residuals
from beltrami.learners.model import Labeled
from beltrami.learners.splits import class_folds

NEVER = -30.0
"""Logit of a class that a learner has no label of."""

FEWEST_VALUES = 4
"""Values from which leaving one out can judge."""

_MOST_STEPS = 200
_BLOCK = 10_000
_TREES, _FOLD_TREES = 100, 50
LEAST_SHARE = 1e-3
"""Share of trees below which a class has none."""
_STRENGTHS = np.geomspace(1e-4, 1e4, 25)
_NEIGHBORS = (1, 2, 3, 5, 8, 12, 20)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnScale:
    """Columns put on one scale: means taken off, divided by standard deviations.

    Attributes
    ----------
    center, spread : ndarray of shape (d,) or None
        A column that does not vary is divided by one; None for sparse data, which stay as they are.
    """

    center: FloatVector | None
    spread: FloatVector | None

    @classmethod
    def of(cls, points: Points) -> "ColumnScale":
        """Measure the columns."""
        if issparse(points):
            return cls(None, None)
        center, spread = column_moments(points)
        return cls(center, np.where(spread > 0, spread, 1.0))

    def apply(self, points: Points) -> Points:
        """Return points on that scale."""
        if self.center is None or self.spread is None:
            return points
        scaled: FloatMatrix = (points - self.center) / self.spread
        return scaled


def ridge_path(rows: Points, weights: FloatVector) -> KernelRidgePath:
    """Decompose ridge regression with an intercept on the labelled rows, for all strengths."""
    if not issparse(rows) and rows.shape[1] < rows.shape[0]:
        return KernelRidgePath.of_factor(rows, weights, intercept=True)
    products = rows @ rows.T
    kernel = np.asarray(products.toarray() if issparse(products) else products)
    return KernelRidgePath.of(kernel, weights, intercept=True)


def neighbors_among(rows: Points, metric: Any, k: int) -> IndexMatrix:
    """Return the k nearest of the other rows, for each row, (l, k)."""
    space = open_space(rows, metric)
    return space.neighbors(k, search="exact", rng=np.random.default_rng(0)).indices


class LogisticBaseline:
    """Logistic regression on the labelled rows alone, columns standardised."""

    def fit(self, points: Points, labeled: Labeled, metric: Any) -> FloatMatrix:  # noqa: ARG002
        """Fit to the labelled rows; the scale of the columns is that of all."""
        self.scale = ColumnScale.of(points)
        self.model = self._fit_rows(points[labeled.rows], labeled)
        return self.at(points)

    def held_out(self, points: Points, labeled: Labeled) -> FloatMatrix:
        """Hold labels out in folds."""
        sample = labeled.sample()
        logits = np.zeros(sample.targets.shape)
        for rest, aside in class_folds(labeled):
            model = self._fit_rows(points[rest.rows], rest)
            logits[aside] = self._logits(model, points[sample.rows[aside]])
        return logits

    def at(self, points: Points) -> FloatMatrix:
        """Return logarithms of probabilities."""
        blocks = [
            self._logits(self.model, points[start : start + _BLOCK])
            for start in range(0, points.shape[0], _BLOCK)
        ]
        return np.concatenate(blocks) if blocks else np.empty((0, self.n_classes))

    def _fit_rows(self, points: Points, labeled: Labeled) -> Any:
        from sklearn.dummy import DummyClassifier
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        self.n_classes = labeled.targets.shape[1]
        codes = labeled.targets.argmax(axis=1)
        is_single = codes.min() == codes.max()  # other classes are declared, and have no label
        model = DummyClassifier() if is_single else LogisticRegression(max_iter=_MOST_STEPS)
        with serial_blas(), warnings.catch_warnings():  # small products: threads would only wait
            # Held-out labels judge it, whether it stopped early or not.
            warnings.simplefilter("ignore", ConvergenceWarning)
            # Few labels of many classes are what this is for.
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            return model.fit(self.scale.apply(points), codes, labeled.weights)

    def _logits(self, model: Any, points: Points) -> FloatMatrix:
        logits = np.full((points.shape[0], self.n_classes), NEVER)
        logits[:, model.classes_] = np.maximum(self._log_shares(model, points), NEVER)
        return logits

    def _log_shares(self, model: Any, points: Points) -> FloatMatrix:
        """Return the logarithms of a model's probabilities; the columns' scale is in its slopes."""
        if not hasattr(model, "coef_"):
            with np.errstate(divide="ignore"):  # the logarithm of no chance
                return np.asarray(model.predict_log_proba(points))
        slopes = model.coef_.T
        if self.scale.center is not None and self.scale.spread is not None:
            slopes = (slopes / self.scale.spread[:, None]).astype(points.dtype)
            points = points - self.scale.center.astype(points.dtype)
        scores = np.asarray(points @ slopes, dtype=np.float64) + model.intercept_
        if scores.shape[1] == 1:  # one column says both of two classes
            scores = np.hstack([np.zeros_like(scores), scores])
        scores -= scores.max(axis=1, keepdims=True)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))


class ForestBaseline:
    """A random forest on the labelled rows alone: it heeds no scale, and sees single columns."""

    def fit(self, points: Points, labeled: Labeled, metric: Any) -> FloatMatrix:  # noqa: ARG002
        """Fit to the labelled rows."""
        self.n_classes = labeled.targets.shape[1]
        self.model = self._grow(points, labeled, _TREES)
        return self.at(points)

    def held_out(self, points: Points, labeled: Labeled) -> FloatMatrix:
        """Hold labels out in folds, by fewer trees."""
        sample = labeled.sample()
        logits = np.zeros(sample.targets.shape)
        for rest, aside in class_folds(labeled):
            model = self._grow(points, rest, _FOLD_TREES)
            logits[aside] = self._logits(model, points[sample.rows[aside]])
        return logits

    def at(self, points: Points) -> FloatMatrix:
        """Return logarithms of the trees' shares."""
        return self._logits(self.model, points)

    def _grow(self, points: Points, labeled: Labeled, count: int) -> Any:
        from sklearn.ensemble import RandomForestClassifier

        model = RandomForestClassifier(count, random_state=0)
        codes = labeled.targets.argmax(axis=1)
        with warnings.catch_warnings():
            # Few labels of many classes are what this is for.
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            return model.fit(points[labeled.rows], codes, labeled.weights)

    def _logits(self, model: Any, points: Points) -> FloatMatrix:
        logits = np.full((points.shape[0], self.n_classes), NEVER)

        def fill(begin: int, stop: int) -> None:
            shares = model.predict_proba(points[begin:stop])
            logits[begin:stop, model.classes_] = np.log(np.maximum(shares, LEAST_SHARE))

        map_ranges(fill, points.shape[0], _BLOCK)
        return logits


class NearestBaseline:
    """The nearest labelled row of each class: the nearer it is, the likelier the class."""

    def fit(self, points: Points, labeled: Labeled, metric: Any) -> FloatMatrix:
        """Keep the labelled rows, and their typical distance as the unit."""
        self._rows = points[labeled.rows]
        self._codes = labeled.targets.argmax(axis=1)
        self._metric, self._n_classes = metric, labeled.targets.shape[1]
        self._unit = 1.0
        if len(self._codes) > 1:
            distances = open_space(self._rows, self._metric).nearest(self._rows, 2)[1]
            self._unit = float(np.median(np.asarray(distances)[:, 1])) or 1.0
        return self.at(points)

    @property
    def known(self) -> tuple[Points, IndexVector, float, Any, int]:
        """Labelled rows, their classes, the unit and the metric of distances, classes in all."""
        return self._rows, self._codes, self._unit, self._metric, self._n_classes

    def know(
        self, rows: Points, codes: IndexVector, unit: float, metric: Any, n_classes: int
    ) -> None:
        """Take what another one knows, to answer as it does."""
        self._rows, self._codes, self._unit = rows, codes, unit
        self._metric, self._n_classes = metric, n_classes

    def held_out(self, points: Points, labeled: Labeled) -> FloatMatrix:  # noqa: ARG002
        """Leave every row out of its own neighbours."""
        place = np.searchsorted(labeled.rows, labeled.sample().rows)
        return self._logits(self._rows, are_labelled=True)[place]

    def at(self, points: Points) -> FloatMatrix:
        """Return distances to each class, negative, in units."""
        return self._logits(points, are_labelled=False)

    def _logits(self, points: Points, *, are_labelled: bool) -> FloatMatrix:
        logits = np.full((points.shape[0], self._n_classes), NEVER)
        if self._metric == "euclidean" and not are_labelled and not issparse(points):
            nearest = nearest_of_classes(points, np.asarray(self._rows), self._codes)
            logits[:, np.unique(self._codes)] = np.maximum(-nearest / self._unit, NEVER)
            return logits
        for code in np.unique(self._codes):
            members = np.flatnonzero(self._codes == code)
            space = open_space(_at_least_two(self._rows[members]), self._metric)
            count = min(2, len(members)) if are_labelled else 1
            distances = np.asarray(space.nearest(points, count)[1], dtype=np.float64)
            nearest = distances[:, 0].copy()
            if are_labelled:
                # A row is its own nearest: the next one counts, and a single one is far from all.
                nearest[members] = distances[members, 1] if count == 2 else np.inf
            logits[:, code] = np.maximum(-nearest / self._unit, NEVER)
        return logits


def nearest_of_classes(points: FloatMatrix, rows: FloatMatrix, codes: IndexVector) -> FloatMatrix:
    """Return the distance of each point to the nearest row of each class that occurs, (n, c)."""
    order = np.argsort(codes, kind="stable")
    firsts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    center = rows.mean(axis=0, dtype=np.float64)  # less to cancel
    others = rows[order] - center
    squares = (others**2).sum(axis=1)
    nearest = np.empty((len(points), len(firsts)))
    for start in range(0, len(points), _BLOCK):
        block = points[start : start + _BLOCK] - center
        table = squares - 2 * (block @ others.T)
        least = np.minimum.reduceat(table, firsts, axis=1) + (block**2).sum(axis=1)[:, None]
        nearest[start : start + _BLOCK] = np.sqrt(np.maximum(least, 0.0))
    return nearest


def _at_least_two(rows: Points) -> Points:
    """Return a single row twice: a space of one has no neighbours."""
    return rows if rows.shape[0] > 1 else rows[[0, 0]]


class RidgeBaseline:
    """Ridge regression on the labelled rows alone, columns standardised.

    The strength is the one with the lowest leave-one-out loss; one decomposition serves all.
    """

    def fit(self, points: Points, labeled: Labeled, metric: Any) -> FloatVector:  # noqa: ARG002
        """Fit to the labelled rows; the scale of the columns is that of all."""
        self._scale = ColumnScale.of(points)
        self._rows, self._labeled = self._scale.apply(points[labeled.rows]), labeled
        self._path = ridge_path(self._rows, labeled.weights)
        strengths = _STRENGTHS * max(float(_squares(self._rows).mean()), 1e-300)
        self._honest, self._strength = None, float(strengths[len(strengths) // 2])
        if len(labeled.rows) >= FEWEST_VALUES:
            tried = np.stack([self._residuals_at(strength) for strength in strengths])
            self._strength = float(strengths[_best(tried, labeled)])
            self._honest = honest_residuals(tried, labeled)
        multipliers, self._constants = self._path.multipliers(labeled.targets, self._strength)
        self._slopes = self._rows.T @ multipliers
        return self.at(points)

    def _residuals_at(self, strength: float) -> FloatVector:
        targets = self._labeled.targets
        residuals: FloatVector = (targets - self._path.held_out(targets, strength).values)[:, 0]
        return residuals

    def residuals(self) -> FloatVector:
        """Return those at the strength that was chosen."""
        return self._residuals_at(self._strength)

    def honest(self) -> FloatVector | None:
        """Return those of the strength chosen by the others."""
        return self._honest

    def at(self, points: Points) -> FloatVector:
        """Return the plane's values."""
        values = np.empty(points.shape[0])
        for start in range(0, points.shape[0], _BLOCK):
            rows = slice(start, start + _BLOCK)
            values[rows] = (self._scale.apply(points[rows]) @ self._slopes)[:, 0] + self._constants[
                0
            ]
        return values

    def shifts_at(self, points: Points, residuals: FloatVector) -> FloatMatrix:
        """Without label i the fit is that to the same labels with y_i moved by its residual."""
        multipliers, constants = self._path.multipliers(np.diag(residuals), self._strength)
        return np.asarray(self._scale.apply(points) @ (self._rows.T @ multipliers) + constants)


class NearestValueBaseline:
    """The mean of the nearest labelled rows, as many as leave-one-out chooses."""

    def fit(self, points: Points, labeled: Labeled, metric: Any) -> FloatVector:
        """Keep the labelled rows, and choose how many are asked."""
        self._rows, self._labeled, self._metric = points[labeled.rows], labeled, metric
        count = len(labeled.rows)
        self._k, self._honest, self._residuals = 1, None, np.zeros(count)
        if count > 1:
            sizes = [k for k in _NEIGHBORS if k < count]
            others = neighbors_among(self._rows, self._metric, sizes[-1])
            targets = labeled.targets[:, 0]
            tried = np.stack([targets - self._mean(others[:, :k]) for k in sizes])
            best = _best(tried, labeled) if count >= FEWEST_VALUES else 0
            self._k, self._residuals = sizes[best], tried[best]
            self._honest = honest_residuals(tried, labeled) if count >= FEWEST_VALUES else None
        return self.at(points)

    def _nearest(self, points: Points, k: int) -> IndexMatrix:
        space = open_space(_at_least_two(self._rows), self._metric)
        return np.minimum(np.asarray(space.nearest(points, k)[0]), len(self._labeled.rows) - 1)

    def _mean(self, lists: IndexMatrix) -> FloatVector:
        weights = self._labeled.weights[lists]
        values: FloatVector = (weights * self._labeled.targets[:, 0][lists]).sum(axis=1)
        return np.asarray(values / weights.sum(axis=1))

    def residuals(self) -> FloatVector:
        """Return those of the number that was chosen."""
        return self._residuals

    def honest(self) -> FloatVector | None:
        """Return those of the number chosen by the others."""
        return self._honest

    def at(self, points: Points) -> FloatVector:
        """Return weighted means."""
        return self._mean(self._nearest(points, self._k))

    def shifts_at(self, points: Points, residuals: FloatVector) -> FloatMatrix:
        """Without one of the k nearest the next one is asked."""
        lists = self._nearest(points, min(self._k + 1, len(residuals)))
        values = self._mean(lists[:, : self._k])
        shifts = np.zeros((len(lists), len(residuals)))
        for column in range(self._k):
            rest = np.delete(lists, column, axis=1)
            if rest.shape[1]:
                shifts[np.arange(len(lists)), lists[:, column]] = values - self._mean(rest)
        return shifts


def _squares(points: Points) -> FloatVector:
    """Return the squared length of each row."""
    squares = points.multiply(points) if issparse(points) else points**2
    return np.asarray(squares.sum(axis=1)).ravel()


def _best(residuals: FloatMatrix, labeled: Labeled) -> int:
    """Return which of the rows of residuals has the lowest weighted sum of squares."""
    return int(np.argmin(residuals**2 @ labeled.weights))
