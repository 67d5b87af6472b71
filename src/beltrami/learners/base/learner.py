"""Base classes of all learners: the graph is built first, labels are read next, new points last.

A learner on a graph adds two things: what it prepares from the graph alone (`_prepare`), and how
labels become scores (`_scores`). One without a graph also has a `fit` of its own.
"""

import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, diags_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from beltrami.core.errors import DisconnectedGraphWarning, GraphDoesNotHelpWarning
from beltrami.core.types import BoolVector, FloatMatrix, Points
from beltrami.graph.fitting import (
    GraphParameters,
    attach_to_fit,
    checked_points,
    fitted_graph,
    graph_tags,
)
from beltrami.graph.model import Attachment, Graph
from beltrami.learners.diagnosis import Diagnosis, diagnosis_of
from beltrami.learners.foundation import Foundation
from beltrami.learners.model import Choice, Labeled, LeftOut
from beltrami.learners.showing import fit_in_html


class PartialLabelLearner(ABC, BaseEstimator):
    """A learner from labels with gaps, whatever it sees the data through."""

    def _repr_html_inner(self) -> str:
        """Return what scikit-learn shows in a notebook, below what the fit has found."""
        drawn: str = super()._repr_html_inner()
        return self._fit_in_html() + drawn

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Return the same for hosts that choose among several forms."""
        forms: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in forms:
            forms["text/html"] = self._fit_in_html() + forms["text/html"]
        return forms

    def _fit_in_html(self) -> str:
        """Return what the fit has found, for a notebook; nothing before there is one."""
        return fit_in_html(self) if hasattr(self, "reached_") else ""

    def _choices(self) -> tuple[Choice, ...]:
        """Return what was chosen from the data."""
        return ()

    @abstractmethod
    def _read(self, y: Any, n_points: int, sample_weight: Any) -> Labeled:
        """Turn y into numbers, and remember what is needed to turn numbers into labels."""

    @abstractmethod
    def _learn(self, labeled: Labeled) -> None:
        """Turn labels into the fitted attributes."""

    @abstractmethod
    def _scores(self, labeled: Labeled) -> FloatMatrix:
        """Return the scores of all rows, one column per target."""

    @abstractmethod
    def _reach(self, labeled: Labeled) -> BoolVector:
        """Say which rows a label reaches."""

    @abstractmethod
    def _scores_at(self, points: Points) -> tuple[FloatMatrix, BoolVector]:
        """Return the scores of new points and whether a label reaches them."""


class GraphLearner(GraphParameters, PartialLabelLearner):
    """A learner that sees the data through a neighbourhood graph."""

    graph: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Build the graph of X and learn from the labels in y.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            One row per point, labelled or not, in any order.
        y : array-like of shape (n,)
            Labels, with unlabelled rows marked.
        sample_weight : array-like of shape (n,) or None, default=None
            How much each label counts; 0 makes the row unlabelled.

        Returns
        -------
        GraphLearner
            Itself, fitted.
        """
        points = checked_points(self, X, reset=True)
        labeled = self._read(y, points.shape[0], sample_weight)
        graph, recipe = self._settled_graph(points, labeled)
        self._rest_on(points, Foundation(graph), recipe)
        self._prepare(labeled)
        self._learn(labeled)
        return self

    def fit_on(self, points: Points, foundation: Foundation, recipe: Any, labeled: Labeled) -> Self:
        """Learn from labels that are numbers already, on a graph that was built already.

        For learners that share a graph. One that rests on this graph from an earlier fit keeps what
        it worked out from the graph alone.

        Parameters
        ----------
        points : ndarray or csr_array of shape (n, d)
            Checked points.
        foundation : Foundation
            Their graph, and what follows from it alone.
        recipe : KnnGraph, RadiusGraph or None
            What made it, for new points.
        labeled : Labeled
            The labelled rows, their classes or values as numbers, and what each counts.

        Returns
        -------
        GraphLearner
            Itself, fitted; its classes are the numbers of the columns of ``labeled.targets``.
        """
        self._settle_on(points, foundation, recipe, labeled)
        self._learn(labeled)
        return self

    def _settle_on(
        self, points: Points, foundation: Foundation, recipe: Any, labeled: Labeled
    ) -> None:
        """Rest on a foundation, unless that was so before, for labels that are numbers."""
        self.n_features_in_ = points.shape[1]
        self._name_classes(labeled)
        if getattr(self, "_foundation", None) is not foundation:
            self._rest_on(points, foundation, recipe)
            self._prepare(labeled)

    def _name_classes(self, labeled: Labeled) -> None:
        """Call classes that came as numbers by these; by default there are none."""

    def _rest_on(self, points: Points, foundation: Foundation, recipe: Any) -> None:
        self.points_, self.graph_, self.recipe_ = points, foundation.graph, recipe
        self._foundation = foundation
        self.n_components_, self.component_ = foundation.n_components, foundation.component

    def fit_labels(self, y: Any, sample_weight: Any = None) -> Self:
        """Learn from other labels of the same points; the graph and what rests on it are kept.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels, with unlabelled rows marked.
        sample_weight : array-like of shape (n,) or None, default=None
            How much each label counts.

        Returns
        -------
        GraphLearner
            Itself, with the new labels.
        """
        check_is_fitted(self)
        self._learn(self._read(y, self.graph_.n_nodes, sample_weight))
        return self

    def diagnose(self) -> Diagnosis:
        """Say how far the result can be trusted, judged on the labels themselves.

        Components without a label, how pure the labels' neighbourhoods are, what was chosen and
        why, and the leave-one-out error beside that of k-NN and ridge regression on the labelled
        rows alone. Print it. Costs a solve per label for some learners.

        Returns
        -------
        Diagnosis
            The facts, printable.

        Warns
        -----
        GraphDoesNotHelpWarning
            When a plain supervised learner does clearly better on the held-out labels.
        """
        check_is_fitted(self)
        diagnosis = diagnosis_of(
            type(self).__name__,
            self.graph_,
            self.points_,
            getattr(self.recipe_, "metric", None),
            self._labeled,
            self.reached_,
            self._left_out(),
            tuple(choice.reason for choice in self._choices()),
            tuple(map(str, getattr(self, "classes_", ()))),
        )
        if diagnosis.is_beaten:
            warnings.warn(diagnosis.advice[0], GraphDoesNotHelpWarning, stacklevel=2)
        return diagnosis

    def _recipe(self) -> Any:
        """Return what makes the graph; a learner may have a default of its own."""
        return self.graph

    def _settled_graph(self, points: Points, labeled: Labeled) -> tuple[Graph, Any]:  # noqa: ARG002
        """Return the graph to learn on, which labels may choose; by default they do not."""
        return self._built_graph(points)

    def _built_graph(self, points: Points) -> tuple[Graph, Any]:
        """Return the graph of the points and the recipe that made it, None where it was given."""
        return fitted_graph(self._recipe(), points)

    def _prepare(self, labeled: Labeled) -> None:
        """Work out what depends on the graph only; by default nothing."""

    def _keep_choices(self) -> None:
        """Learn from now on with what was chosen last; by default nothing was."""

    @abstractmethod
    def _left_out(self) -> LeftOut:
        """Return the exact leave-one-out predictions."""

    def _reach(self, labeled: Labeled) -> BoolVector:
        """Say which rows share a component of the graph with a label."""
        has_label = np.zeros(self.n_components_, dtype=bool)
        has_label[self.component_[labeled.rows]] = True
        reached: BoolVector = has_label[self.component_]
        n_unreached = int((~reached).sum())
        if n_unreached:
            warnings.warn(
                f"{n_unreached} of {len(reached)} rows share no component of the graph with a "
                "label and stay unlabelled. Label one row in each of the "
                f"{int((~has_label).sum())} components without one, or use a graph with more "
                "neighbours or with bridges between components.",
                DisconnectedGraphWarning,
                stacklevel=4,
            )
        return reached

    def _scores_at(self, points: Points) -> tuple[FloatMatrix, BoolVector]:
        """Return the scores of new points and whether a label reaches them.

        By default the weighted mean over the neighbours that are reached, which is what the
        smoothest function would be there; a point of the fit gets its own scores.
        """
        return self._carry(attach_to_fit(self, points), self.scores_)

    def _carry(self, tie: Attachment, values: FloatMatrix) -> tuple[FloatMatrix, BoolVector]:
        """Return values of the fit's rows at new points, and whether a label reaches these."""
        inside = csr_array(tie.weights @ diags_array(self.reached_.astype(np.float64)))
        totals = np.asarray(inside.sum(axis=1)).ravel()
        reached = totals > 0
        carried = inside @ values / np.where(reached, totals, 1.0)[:, None]
        return self._with_twins(tie, carried, reached, values)

    def _with_twins(
        self, tie: Attachment, carried: FloatMatrix, reached: BoolVector, values: FloatMatrix
    ) -> tuple[FloatMatrix, BoolVector]:
        is_old = tie.twins >= 0
        carried[is_old] = values[tie.twins[is_old]]
        reached[is_old] = self.reached_[tie.twins[is_old]]
        return carried, reached

    def __sklearn_tags__(self) -> Any:
        return graph_tags(super().__sklearn_tags__(), self.graph)
