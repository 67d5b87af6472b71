"""The learners that may answer, all seen alike: logits of every row, and of labels held out.

A view of the data and labels enter; logits, one column per class, leave. Learners on the graph
share it.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector, Points, Seed
from beltrami.front_door.folds import folds, typical_count
from beltrami.graph.model import Graph
from beltrami.learners.model import Labeled

NEVER = -30.0
"""Logit of a class that a learner has no label of."""

_LEAST_SHARE = 1e-4
_MANY_ROWS = 20_000
_ENOUGH = 4
"""Labels of a class, typically, from which leaving one out does not tilt the rest against it."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The data as the candidates see them.

    Attributes
    ----------
    points : ndarray or csr_array of shape (n, p)
        What the graph was built of.
    plain : ndarray or csr_array of shape (n, d)
        The same with all columns, for the baselines.
    graph : Graph
        Their graph.
    recipe : KnnGraph, RadiusGraph or None
        What made it.
    metric : object
        How distances are measured.
    n_classes : int
        Columns of all logits.
    random_state : Seed
        For learners that draw.
    """

    points: Points
    plain: Points
    graph: Graph
    recipe: Any
    metric: Any
    n_classes: int
    random_state: Seed


@dataclass(frozen=True, slots=True, eq=False)
class ColumnScale:
    """Columns put on one scale: that of all rows, labelled or not.

    Attributes
    ----------
    center, spread : ndarray of shape (d,) or None
        Means and standard deviations, one for a column that does not vary; None for sparse data,
        which stay as they are.
    """

    center: FloatVector | None
    spread: FloatVector | None

    @classmethod
    def of(cls, points: Points) -> "ColumnScale":
        """Measure the columns."""
        if issparse(points):
            return cls(None, None)
        spread = np.asarray(points.std(axis=0, dtype=np.float64))
        return cls(
            np.asarray(points.mean(axis=0, dtype=np.float64)), np.where(spread > 0, spread, 1.0)
        )

    def applied(self, points: Points) -> Points:
        """Return points on that scale."""
        if self.center is None or self.spread is None:
            return points
        scaled: FloatMatrix = (points - self.center) / self.spread
        return scaled


class Candidate(ABC):
    """A learner that may answer.

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
    def fit(self, view: View, labeled: Labeled) -> FloatMatrix:
        """Learn, and return the logits of all rows; what rests on the graph alone is kept."""

    @abstractmethod
    def held_out(self, view: View, labeled: Labeled) -> FloatMatrix:
        """Return logits of ``labeled.sample()``, each from labels without it; after `fit`."""

    @abstractmethod
    def at(self, points: Points, plain: Points) -> FloatMatrix:
        """Return the logits of new points, given as in a view."""


class GraphCandidate(Candidate):
    """A learner on the graph.

    Parameters
    ----------
    name, title : str
        What to call it.
    make : callable
        From a `View`, the estimator, which takes class numbers.
    are_shares : bool
        Whether its scores are shares of classes, of which logarithms are taken.
    has_exact : bool, default=False
        Whether its own leave-one-out is of the answer it gives, and stands in for folds, which
        would take long, once classes have some labels.
    settled : tuple of str, default=()
        Parameters that it chooses, and that are kept while labels are held out.
    settled_if_many : tuple of str, default=()
        The same, above 20,000 rows only, where to choose again takes long.
    twin : GraphCandidate or None, default=None
        A kernel machine fitted before, whose kernels serve this one too.
    """

    def __init__(
        self,
        name: str,
        title: str,
        make: Callable[[View], Any],
        *,
        are_shares: bool,
        has_exact: bool = False,
        settled: tuple[str, ...] = (),
        settled_if_many: tuple[str, ...] = (),
        twin: "GraphCandidate | None" = None,
    ) -> None:
        self.name, self.title, self._has_exact, self._twin = name, title, has_exact, twin
        self._make, self._are_shares = make, are_shares
        self._settled, self._settled_if_many = settled, settled_if_many
        self._learner: Any = None

    def fit(self, view: View, labeled: Labeled) -> FloatMatrix:
        """Learn on the graph, or from other labels where that was done before."""
        codes, weights = spread_labels(view, labeled)
        if self._learner is None or len(self._learner.classes_) != view.n_classes:
            learner = self._make(view)
            if self._twin is not None:
                learner._share_kernels(self._twin._learner)
            # One that cannot be fitted is not kept: it would be taken for fitted the next time.
            self._learner = None
            self._learner = learner.fit_on(view.points, view.graph, view.recipe, codes, weights)
        else:
            self._learner.fit_labels(codes, weights)
        return self._logits(self._learner.scores_, self._learner.label_distributions_)

    def held_out(self, view: View, labeled: Labeled) -> FloatMatrix:
        """Hold labels out, by the learner's own leave-one-out or in folds."""
        judged, learner = labeled.sample(), self._learner
        if self._has_exact and typical_count(judged) >= _ENOUGH:
            left_out = learner._left_out()
            order = np.argsort(left_out.rows)
            place = order[np.searchsorted(left_out.rows, judged.rows, sorter=order)]
            return self._logits(left_out.scores[place], left_out.scores[place])
        found = np.zeros(judged.targets.shape)
        # A copy learns from fewer labels: what the learner holds of all of them stays.
        other = copy.copy(learner)
        # What was chosen by all labels is kept while some are put aside: to choose again, fold by
        # fold, would cost far more than the rest and changes little.
        is_many = view.graph.n_nodes > _MANY_ROWS
        kept = self._settled + (self._settled_if_many if is_many else ())
        other.set_params(**{name: getattr(learner, f"{name}_") for name in kept})
        for rest, aside in folds(labeled):
            other.fit_labels(*spread_labels(view, rest))
            rows = judged.rows[aside]
            found[aside] = self._logits(other.scores_[rows], other.label_distributions_[rows])
        return found

    def at(self, points: Points, plain: Points) -> FloatMatrix:  # noqa: ARG002
        """Carry the scores to new points, as the learner does."""
        learner = self._learner
        scores, reached = learner._scores_at(points)
        scores = learner._without_absent(scores)
        return self._logits(scores, learner._distributions(scores, reached))

    def _logits(self, scores: FloatMatrix, shares: FloatMatrix) -> FloatMatrix:
        if not self._are_shares:
            return np.maximum(scores, NEVER)
        positive = np.maximum(shares, 0.0)
        totals = positive.sum(axis=1, keepdims=True)
        even = 1.0 / shares.shape[1]
        shares = np.divide(positive, totals, out=np.full_like(positive, even), where=totals > 0)
        return np.log(np.maximum(shares, _LEAST_SHARE))


def spread_labels(view: View, labeled: Labeled) -> tuple[IndexVector, FloatVector]:
    """Return class numbers and weights of all rows, -1 and 0 where there is no label.

    Returns shapes `codes` (n,), `weights` (n,).
    """
    codes = np.full(view.graph.n_nodes, -1, dtype=np.intp)
    weights = np.ones(view.graph.n_nodes)
    codes[labeled.rows] = labeled.targets.argmax(axis=1)
    weights[labeled.rows] = labeled.weights
    return codes, weights
