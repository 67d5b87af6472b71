"""The nouns of the learners: labels as numbers, what they predict of each other, a choice made."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector

_MOST_LEFT_OUT = 1000
"""Labels up to which all are left out in turn, where each costs a solve."""


@dataclass(frozen=True, slots=True, eq=False)
class Labeled:
    """The labelled rows as numbers.

    Attributes
    ----------
    rows : ndarray of shape (l,)
        Which rows they are.
    targets : ndarray of shape (l, k)
        One column per class, zeros with a single one; or one column of values.
    weights : ndarray of shape (l,)
        How much each counts; positive.
    """

    rows: IndexVector
    targets: FloatMatrix
    weights: FloatVector

    @classmethod
    def of(cls, rows: IndexVector, targets: FloatMatrix, weights: FloatVector) -> "Labeled":
        """Drop the labels that count nothing."""
        return cls(rows, targets, weights).take(weights > 0)

    def take(self, labels: NDArray[np.bool_] | IndexVector) -> "Labeled":
        """Return some of the labels: a mask over them, or their places."""
        return Labeled(self.rows[labels], self.targets[labels], self.weights[labels])

    def with_signs(self) -> "Labeled":
        """Return the same labels, with targets +1 for a row's class and -1 for the others."""
        return Labeled(self.rows, 2 * self.targets - 1, self.weights)

    def sample(self) -> "Labeled":
        """Return all of up to 1000 labels, of more a random thousand, always the same."""
        if len(self.rows) <= _MOST_LEFT_OUT:
            return self
        return self.take(np.random.default_rng(0).permutation(len(self.rows))[:_MOST_LEFT_OUT])

    @property
    def mean(self) -> FloatVector:
        """Weighted mean of the targets: the class shares, or the mean value."""
        mean: FloatVector = self.weights @ self.targets / self.weights.sum()
        return mean


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """What each labelled row is predicted to be by the other labels, the graph unchanged.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        The labelled rows this was worked out for: all, or a sample of many.
    targets : ndarray of shape (m, k)
        What they are.
    scores : ndarray of shape (m, k)
        What the others say.
    weights : ndarray of shape (m,)
        How much each counts.
    """

    rows: IndexVector
    targets: FloatMatrix
    scores: FloatMatrix
    weights: FloatVector

    @property
    def error(self) -> float:
        """Weighted share of rows whose class the others get wrong."""
        wrong = self.scores.argmax(axis=1) != self.targets.argmax(axis=1)
        return float(np.average(wrong, weights=self.weights))


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A parameter chosen by leave-one-out, with what else was tried.

    Attributes
    ----------
    name : str
        The parameter.
    value : float
        What was chosen.
    tried : ndarray of shape (c,)
        All candidates.
    losses : ndarray of shape (c,)
        Their leave-one-out losses.
    reason : str
        Why, for a person to read.
    honest : ndarray of shape (l,) or None, default=None
        For values: held-out residuals, each of the candidate chosen without it.
    """

    name: str
    value: float
    tried: NDArray[np.float64]
    losses: NDArray[np.float64]
    reason: str
    honest: FloatVector | None = None
