"""The baselines: learners that see the labelled rows only, which the graph has to beat.

A view of the data and labels enter; logits leave.
"""

import warnings
from typing import Any

import numpy as np

from beltrami.core.threads import serial_blas
from beltrami.core.types import FloatMatrix, Points
from beltrami.front_door.candidates import NEVER, Candidate, ColumnScale, View
from beltrami.front_door.folds import folds
from beltrami.graph.search import open_space
from beltrami.learners.model import Labeled

_MOST_STEPS = 200
_BLOCK = 10_000


class LogisticCandidate(Candidate):
    """Logistic regression on the labelled rows alone, columns standardised."""

    name, title, is_baseline = "logistic", "logistic regression, labels alone", True

    def fit(self, view: View, labeled: Labeled) -> FloatMatrix:
        """Fit to the labelled rows; the scale of the columns is that of all."""
        points = view.plain
        self._scale = ColumnScale.of(points)
        self._model = self._fitted(points[labeled.rows], labeled)
        return self.at(points, points)

    def held_out(self, view: View, labeled: Labeled) -> FloatMatrix:
        """Hold labels out in folds."""
        judged = labeled.sample()
        found = np.zeros(judged.targets.shape)
        for rest, aside in folds(labeled):
            model = self._fitted(view.plain[rest.rows], rest)
            found[aside] = self._said(model, view.plain[judged.rows[aside]])
        return found

    def at(self, points: Points, plain: Points) -> FloatMatrix:  # noqa: ARG002
        """Return logarithms of probabilities."""
        blocks = [
            self._said(self._model, plain[start : start + _BLOCK])
            for start in range(0, plain.shape[0], _BLOCK)
        ]
        return np.concatenate(blocks) if blocks else np.empty((0, self._n_classes))

    def _fitted(self, points: Points, labeled: Labeled) -> Any:
        from sklearn.dummy import DummyClassifier
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        self._n_classes = labeled.targets.shape[1]
        codes = labeled.targets.argmax(axis=1)
        is_single = codes.min() == codes.max()  # other classes are declared, and have no label
        model = DummyClassifier() if is_single else LogisticRegression(max_iter=_MOST_STEPS)
        with serial_blas(), warnings.catch_warnings():  # small products: threads would only wait
            # That it stopped early is no news here: it is judged anyway.
            warnings.simplefilter("ignore", ConvergenceWarning)
            # Few labels of many classes are what this is for.
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            return model.fit(self._scale.applied(points), codes, labeled.weights)

    def _said(self, model: Any, points: Points) -> FloatMatrix:
        found = np.full((points.shape[0], self._n_classes), NEVER)
        with np.errstate(divide="ignore"):  # the logarithm of no chance
            said = model.predict_log_proba(self._scale.applied(points))
        found[:, model.classes_] = np.maximum(said, NEVER)
        return found


class NeighborCandidate(Candidate):
    """The nearest labelled row of each class: the nearer it is, the likelier the class."""

    name, title, is_baseline = "neighbors", "nearest labelled row, labels alone", True

    def fit(self, view: View, labeled: Labeled) -> FloatMatrix:
        """Keep the labelled rows, and their typical distance as the unit."""
        self._rows = view.plain[labeled.rows]
        self._codes = labeled.targets.argmax(axis=1)
        self._metric, self._n_classes = view.metric, view.n_classes
        self._unit = 1.0
        if len(self._codes) > 1:
            nearest = self._distances(self._rows, 2)[:, 1]
            self._unit = float(np.median(nearest)) or 1.0
        return self.at(view.plain, view.plain)

    def held_out(self, view: View, labeled: Labeled) -> FloatMatrix:  # noqa: ARG002
        """Leave every row out of its own neighbours."""
        place = np.searchsorted(labeled.rows, labeled.sample().rows)
        return self._nearest(self._rows, is_own=True)[place]

    def at(self, points: Points, plain: Points) -> FloatMatrix:  # noqa: ARG002
        """Return distances to each class, negative, in units."""
        return self._nearest(plain, is_own=False)

    def _distances(self, points: Points, k: int) -> FloatMatrix:
        return np.asarray(open_space(self._rows, self._metric).nearest(points, k)[1])

    def _nearest(self, points: Points, *, is_own: bool) -> FloatMatrix:
        found = np.full((points.shape[0], self._n_classes), NEVER)
        for code in np.unique(self._codes):
            own = np.flatnonzero(self._codes == code)
            space = open_space(_two_rows(self._rows[own]), self._metric)
            count = min(2, len(own)) if is_own else 1
            distances = np.asarray(space.nearest(points, count)[1], dtype=np.float64)
            nearest = distances[:, 0].copy()
            if is_own:
                # A row is its own nearest: the next one counts, and a single one is far from all.
                nearest[own] = distances[own, 1] if count == 2 else np.inf
            found[:, code] = np.maximum(-nearest / self._unit, NEVER)
        return found


def _two_rows(points: Points) -> Points:
    """Return at least two rows: a space of one has no neighbours."""
    return points if points.shape[0] > 1 else points[[0, 0]]
