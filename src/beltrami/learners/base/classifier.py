"""Base classes of classifiers: labels of any type in, labels with a confidence out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.data.labels import Labels, checked_weights, decode_labels, encode_labels
from beltrami.data.model import UNLABELED
from beltrami.graph.fitting import checked_points
from beltrami.learners.base.learner import GraphLearner, PartialLabelLearner
from beltrami.learners.base.probabilities import (
    distribute,
    first_classes,
    fitted_temperature,
    softmax,
    without_absent,
)
from beltrami.learners.model import Labeled
from beltrami.learners.scores import labeled_accuracy


class PartialLabelClassifier(ClassifierMixin, PartialLabelLearner):
    """A classifier from labels with gaps: subclasses give scores, one column per class."""

    unlabeled: Any
    classes: Any

    def _read(self, y: Any, n_points: int, sample_weight: Any) -> Labeled:
        labels = encode_labels(y, n_points, unlabeled=self.unlabeled, classes=self.classes)
        return self._number(labels, checked_weights(sample_weight, n_points, labels.rows))

    def _number(self, labels: Labels, weights: FloatVector) -> Labeled:
        """Return the labels that count as numbers, and remember what the classes are called."""
        labeled = Labeled.of(labels.rows, labels.one_hot(), weights)
        if self.classes is None and int(labeled.targets.any(axis=0).sum()) < 2:
            raise InvalidInputError(
                "sample_weight leaves labels of one class only, and a classifier needs two to tell "
                "them apart; declare classes=[...] if that is meant."
            )
        self.classes_, self._marker = labels.classes, labels.marker
        return labeled

    def _learn(self, labeled: Labeled) -> None:
        self._score_rows(labeled)
        self._conclude(self.scores_, labeled)

    def _score_rows(self, labeled: Labeled) -> None:
        """Turn labels into the scores of all rows, and remember what they rest on."""
        self._labeled = labeled
        self._has_label = labeled.targets.any(axis=0)
        self.class_prior_ = labeled.mean
        self.reached_ = self._reach(labeled)
        self.scores_ = self._without_absent(self._scores(labeled))

    def _conclude(self, scores: FloatMatrix, labeled: Labeled) -> None:
        """Turn the scores of all rows into distributions, classes and confidence."""
        self.scores_ = scores
        self.label_distributions_ = self._distributions(self.scores_, self.reached_)
        codes = np.where(self.reached_, first_classes(self.scores_), -1)
        # A label that counts is never overwritten; the distribution says what the others predict.
        is_sure = labeled.targets.max(axis=1, initial=0.0) == 1
        codes[labeled.rows[is_sure]] = labeled.targets[is_sure].argmax(axis=1)
        self.transduction_ = decode_labels(codes, self.classes_, self._marker)
        shares = self.label_distributions_[np.arange(len(codes)), codes]
        self.confidence_ = np.where(self.reached_, shares, 0.0)

    def _without_absent(self, scores: FloatMatrix) -> FloatMatrix:
        """Put the score of a class without a label below all others, and keep it finite."""
        return without_absent(scores, np.asarray(self._has_label))

    def _distributions(self, scores: FloatMatrix, reached: BoolVector) -> FloatMatrix:
        """Return probabilities: rows that nothing reaches get the shares of the labels."""
        shares = self._probabilities(scores)
        return distribute(shares, reached, np.asarray(self._has_label), self.class_prior_)

    def _probabilities(self, scores: FloatMatrix) -> FloatMatrix:
        """Return non-negative numbers in proportion to the probabilities, in a new array."""
        return np.maximum(scores, 0.0)

    def decision_function(self, X: Any) -> FloatMatrix:
        """Return the scores of the classes at new points.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points, of the fit or new.

        Returns
        -------
        ndarray of shape (m, k), or (m,) for two classes
            For two classes half the difference of their scores, positive for ``classes_[1]``.
        """
        scores, _ = self._checked_scores(X)
        if scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0]) / 2
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the classes of points, of the fit or new.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points.

        Returns
        -------
        ndarray of shape (m,)
            Classes; the marker of unlabelled rows for a point that no label reaches.
        """
        scores, reached = self._checked_scores(X)
        codes = np.where(reached, first_classes(scores), -1)
        return decode_labels(codes, self.classes_, self._marker)

    def predict_proba(self, X: Any) -> FloatMatrix:
        """Return the probabilities of the classes at points, of the fit or new.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points.

        Returns
        -------
        ndarray of shape (m, k)
            Rows sum to one; the shares of the labels for a point that no label reaches.
        """
        return self._distributions(*self._checked_scores(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the labelled rows; unlabelled ones are never counted.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points.
        y : array-like of shape (m,)
            Their labels; rows without one are left out.
        sample_weight : array-like of shape (m,) or None, default=None
            How much each row counts.

        Returns
        -------
        float
            Share of right answers.
        """
        predicted = self.predict(X)
        return labeled_accuracy(y, predicted, sample_weight=sample_weight, unlabeled=self.unlabeled)

    def _checked_scores(self, X: Any) -> tuple[FloatMatrix, BoolVector]:
        check_is_fitted(self)
        scores, reached = self._scores_at(checked_points(self, X, reset=False))
        return self._without_absent(scores), reached


class GraphClassifier(PartialLabelClassifier, GraphLearner):
    """A classifier on a graph: subclasses give scores, one column per class."""

    def _name_classes(self, labeled: Labeled) -> None:
        self.classes_, self._marker = np.arange(labeled.targets.shape[1]), UNLABELED


class TemperedClassifier(GraphClassifier):
    """A classifier whose probabilities are a softmax, as sure as held-out scores allow."""

    def _fit_temperature(self, held_out: FloatMatrix, labeled: Labeled) -> None:
        """Choose the temperature by scores of the labelled rows that had no part in them."""
        present = labeled.targets.any(axis=0)
        self.temperature_ = fitted_temperature(
            held_out[:, present], labeled.targets[:, present], labeled.weights
        )

    def _probabilities(self, scores: FloatMatrix) -> FloatMatrix:
        return softmax(scores, self.temperature_)
