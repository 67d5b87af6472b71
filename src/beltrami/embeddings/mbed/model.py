"""The nouns of Mbed: what is to be embedded, what is known of it, and the stages of its path."""

from dataclasses import dataclass

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.embeddings.neighborhoods.probabilities import Neighborhood
from beltrami.embeddings.repulsion.regimes import RowError


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """What is known of some rows.

    Attributes
    ----------
    rows : ndarray of shape (l,)
        The rows that something is known of, each once, in any order.
    distributions : ndarray of shape (l, K)
        Their class probabilities; a plain label is a single one among zeros.
    weights : ndarray of shape (l,)
        How much each counts.
    """

    rows: IndexVector
    distributions: FloatMatrix
    weights: FloatVector

    def among(self, rows: IndexVector, n_points: int) -> "Targets":
        """Return what is known of some rows, numbered anew in their order."""
        place = np.full(n_points, -1, dtype=np.intp)
        place[rows] = np.arange(len(rows))
        is_there = place[self.rows] >= 0
        return Targets(
            place[self.rows[is_there]], self.distributions[is_there], self.weights[is_there]
        )

    @classmethod
    def none(cls, n_classes: int) -> "Targets":
        """Return targets of no row."""
        return cls(np.zeros(0, dtype=np.intp), np.zeros((0, n_classes)), np.zeros(0))


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What is to be embedded.

    Attributes
    ----------
    neighborhood : Neighborhood
        P.
    targets : Targets
        What is known of some rows.
    n_classes, n_components : int
        K and d.
    prior : ndarray of shape (K,) or None
        Expected shares of the classes.
    guess : ndarray of shape (n, K) or None
        Class probabilities of every row from another learner; the paper needs none.
    """

    neighborhood: Neighborhood
    targets: Targets
    n_classes: int
    n_components: int
    prior: FloatVector | None
    guess: FloatMatrix | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One stage of the path.

    Attributes
    ----------
    number : int
        Its place, counted as in the paper: 2 is the first with class terms.
    scale : float
        Lambda, the length over which memberships change.
    confidence : float
        Tau, how sure the targets were.
    cost : float
        Cost at its end.
    criterion : float
        Hotelling-Lawley trace of its classes; minus infinity when one of them is empty.
    n_steps : int
        Steps of the descent.
    embedding : ndarray of shape (n, d)
        Positions at its end.
    error : RowError or None
        What estimated sums over pairs get wrong on exact rows, in paper mode where the stage
        began, else at its end; zero where all were exact, None for a start.
    """

    number: int
    scale: float
    confidence: float
    cost: float
    criterion: float
    n_steps: int
    embedding: FloatMatrix
    error: RowError | None = None
