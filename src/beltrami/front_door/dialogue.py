"""The talk with the person who labels: what to ask, what looks wrong, why, and how sure."""

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from beltrami.core.errors import InvalidInputError, TooFewLabelsWarning
from beltrami.core.types import BoolVector, FloatVector, IndexVector, Points, Seed
from beltrami.data.labels import checked_weights, labeled_mask
from beltrami.front_door.committee import Answer
from beltrami.front_door.replies import Explanation, SuspectLabels
from beltrami.front_door.rows import checked_rows
from beltrami.graph.fitting import checked_points
from beltrami.learners.base import GraphClassifier
from beltrami.questions import Question, choose_questions
from beltrami.review.audit import Certificate
from beltrami.review.issues import find_label_issues
from beltrami.review.support import support_of
from beltrami.review.trail import Trail
from beltrami.solvers.eigen import eigenbasis
from beltrami.solvers.model import Basis

_VECTORS = 150
_FEWER_VECTORS = 30
_FINE, _ROUGH = 1e-3, 0.05
_MANY_ROWS = 100_000
"""Eigenvectors that questions are chosen by, and fewer and rougher ones above so many rows."""


class LabellingDialogue(GraphClassifier):
    """What a classifier adds to answering: it asks, doubts, explains and vouches."""

    random_state: Seed
    accepted_: BoolVector
    island_: IndexVector
    names_: NDArray[Any]
    _answer: Answer
    _given: NDArray[Any]
    _given_weights: FloatVector | None
    _basis: Basis | None
    _asked: IndexVector
    _trail: Trail

    def start(self, X: Any) -> Self:
        """Look at the data without any label, so that `query` can say what to label first.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            The data.

        Returns
        -------
        ManifoldClassifier
            Itself; `query` and `update` work, `predict` needs labels of two classes.
        """
        for name in [name for name in vars(self) if name[0] == "_" or name[-1] == "_"]:
            delattr(self, name)  # what an earlier fit learned
        points: Points = checked_points(self, X, reset=True)
        self._rest_on(points, *self._built_graph(points))
        self._remember(X, None, None)
        return self

    def update(self, indices: Any, labels: Any) -> Self:
        """Add, change or remove labels of some rows; the graph is kept.

        Parameters
        ----------
        indices : int or array-like of int
            Row numbers.
        labels : object or array-like
            Their labels; None takes a label away. A new label counts as much as the others do on
            average.

        Returns
        -------
        ManifoldClassifier
            Itself, having learned; labels of fewer than two classes are kept for later.

        Warns
        -----
        TooFewLabelsWarning
            When there is nothing to learn from yet.
        """
        check_is_fitted(self, "graph_")
        rows, values = checked_rows(indices, labels, len(self._given))
        given, weights = self._changed(rows, values)
        n_known = len({value for value in given if value is not None})
        if n_known < (2 if self.classes is None else 1):
            self._given, self._given_weights = given, weights
            warnings.warn(
                f"there are labels of {n_known} class(es) so far and a classifier needs two; "
                "they are kept, and nothing was learned.",
                TooFewLabelsWarning,
                stacklevel=2,
            )
            return self
        self.fit_labels(given, weights)
        return self

    def _changed(
        self, rows: IndexVector, values: list[Any]
    ) -> tuple[NDArray[Any], FloatVector | None]:
        """Return all labels, None for gaps, and their weights, with those of some rows replaced."""
        new = np.full(len(values), None, dtype=object)
        for place, value in enumerate(values):
            new[place] = value
        typed, has_label = labeled_mask(new, len(values), self.unlabeled)
        given, weights = self._given.copy(), self._given_weights
        for row, value, is_label in zip(rows, typed.tolist(), has_label, strict=True):
            given[row] = value if is_label else None
        if weights is not None:
            weights = weights.copy()
            weights[rows] = weights[weights > 0].mean()
        return given, weights

    def query(
        self,
        n: int = 10,
        strategy: str = "auto",
        *,
        candidates: Any = None,
        return_reasons: bool = False,
    ) -> Any:
        """Say which rows to label next, the most useful first.

        Parameters
        ----------
        n : int, default=10
            How many rows.
        strategy : {"auto", "cover", "uncertain", "random"}, default="auto"
            Rows that stand for many others without a label, weighed by doubt; without doubt; the
            least sure; at random.
        candidates : array-like of int or None, default=None
            Rows that may be asked; None means all without a label.
        return_reasons : bool, default=False
            Whether to return the reasons too.

        Returns
        -------
        rows : ndarray of shape (m,)
            Row numbers; ``names_[rows]`` are their names.
        questions : tuple of Question
            With reasons and the number of rows each would settle; only if asked for.
        """
        questions = self._questions(n, strategy, candidates)
        rows = np.array([question.row for question in questions], dtype=np.intp)
        if strategy != "random":
            self._asked = np.union1d(self._asked, rows)
        return (rows, questions) if return_reasons else rows

    def _questions(self, n: int, strategy: str, candidates: Any) -> tuple[Question, ...]:
        check_is_fitted(self, "graph_")
        labelled = np.flatnonzero([value is not None for value in self._given])
        has_learned = hasattr(self, "classes_")
        reached = self.reached_ & (self.island_ < 0) if has_learned else None
        return choose_questions(
            self.graph_,
            n=n,
            strategy=strategy,
            distributions=self.label_distributions_ if has_learned else None,
            labelled=labelled,
            reached=reached,
            piece=self.island_ if has_learned else None,  # without the bridges of the graph
            basis=self._slow_functions(),
            candidates=candidates,
            classes=list(map(str, self.classes_)) if has_learned else None,
            rng=self.random_state,
        )

    def _slow_functions(self) -> Basis:
        """Return eigenvectors of the graph, computed once."""
        graph = self.graph_
        if self._basis is None:
            wanted, tol = _VECTORS, _FINE
            if graph.n_nodes > _MANY_ROWS:
                wanted, tol = _FEWER_VECTORS, _ROUGH
            count = min(wanted, graph.n_nodes)
            self._basis = eigenbasis(graph, count, kind="random_walk", tol=tol, random_state=0)
        return self._basis

    def label_issues(self) -> SuspectLabels:
        """Return the given labels that look wrong, judged by all other labels.

        Returns
        -------
        SuspectLabels
            With the class that the others point at; print it.
        """
        check_is_fitted(self)
        answer = self._answer
        found = find_label_issues(
            answer.judged.rows, answer.judged.targets.argmax(axis=1), answer.held_out
        )
        classes = self.classes_
        return SuspectLabels(
            found.rows,
            self.names_[found.rows],
            classes[found.given],
            classes[found.suggested],
            found.score,
            found.reason,
        )

    def explain(self, i: int, top: int = 5) -> Explanation:
        """Say which labelled rows a row's class rests on.

        The shares are those of random walks on the graph, which is what the learners on the graph
        have in common; a baseline that answers alone has its own reasons.

        Parameters
        ----------
        i : int
            Row number.
        top : int, default=5
            How many labelled rows to name.

        Returns
        -------
        Explanation
            Print it.
        """
        check_is_fitted(self)
        labelled = self._labeled.rows
        support = support_of(self.graph_, labelled, i, top=top)
        return Explanation(
            support.row,
            self.transduction_[i],
            float(self.confidence_[i]),
            support.rows,
            self.transduction_[support.rows],
            support.shares,
            support,
        )

    def audit(self, n: int | None = None) -> IndexVector:
        """Draw accepted rows to be checked blindly by a person.

        Call it again after `certify` for a further round, of rows that were not drawn before; all
        rounds together make one certificate. As long as answers are due, the same rows are given.

        Parameters
        ----------
        n : int or None, default=None
            How many; None means 65, or as many as the first round has, which every further one
            must have. 63 right answers prove 95 % at 95 % confidence.

        Returns
        -------
        ndarray of shape (min(n, accepted),)
            Row numbers, in random order. Hand the answers to `certify`.
        """
        check_is_fitted(self)
        accepted = self._own_labels()
        trail = self._trail
        if trail.open_round is None or not trail.continues(accepted):
            trail = trail.give_up().draw(accepted, n, self.random_state)
            self._trail = trail
        return np.array(trail.rounds[-1].rows, dtype=np.intp)

    def certify(self, answers: Any, confidence: float = 0.95) -> Certificate:
        """Return what the answers to the last `audit`, and all before it, prove of all labels.

        Parameters
        ----------
        answers : mapping of int to label, or array-like
            True classes, by row number or in the order of `audit`. None is a blank, which counts as
            wrong.
        confidence : float, default=0.95
            Of the bound, together with those of all other rounds.

        Returns
        -------
        Certificate
            With a sentence to quote.
        """
        check_is_fitted(self)
        accepted = self._own_labels()
        if not self._trail.rounds or not self._trail.continues(accepted):
            raise InvalidInputError(
                "there is no audit of these labels: none was drawn since they were learned. Call "
                "audit() and check the rows it returns."
            )
        rows = self._trail.rounds[-1].rows
        truths = _in_order(answers, rows)
        self._trail = self._trail.answer(truths)
        return self._trail.certificate(accepted, confidence=confidence)

    def _own_labels(self) -> dict[int, Any]:
        """Return the accepted labels that no person gave, by row."""
        own = self.accepted_.copy()
        own[self._labeled.rows] = False
        rows = np.flatnonzero(own)
        return dict(zip(rows.tolist(), self.transduction_[rows].tolist(), strict=True))

    def _remember(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Keep the labels as given, and the names of the rows; forget what rested on old ones."""
        n = self.graph_.n_nodes
        if X is not None:
            index = getattr(X, "index", None) if hasattr(X, "iloc") else None
            self.names_ = np.arange(n) if index is None else np.asarray(index)
            self._basis = None
            self._trail = Trail()
        self._given = np.full(n, None, dtype=object)
        self._given_weights = None
        if y is None:
            return
        values, has_label = labeled_mask(y, n, self.unlabeled)
        rows = np.flatnonzero(has_label)
        for row, value in zip(rows, values[rows].tolist(), strict=True):
            self._given[row] = value
        if sample_weight is not None:
            self._given_weights = np.zeros(n)
            self._given_weights[rows] = checked_weights(sample_weight, n, rows)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "transduction_")


def _in_order(answers: Any, rows: tuple[int, ...]) -> list[Any]:
    """Return one answer for each row that was drawn, None for a blank."""
    if isinstance(answers, Mapping):
        unknown = [row for row in answers if row not in set(rows)]
        if unknown:
            raise InvalidInputError(
                f"{len(unknown)} answer(s) are for rows that were not drawn, such as "
                f"{unknown[0]!r}; answers must be for the rows of the last audit."
            )
        return [answers.get(row) for row in rows]
    truths = list(answers)
    if len(truths) != len(rows):
        raise InvalidInputError(
            f"{len(rows)} rows were drawn and {len(truths)} answers came; give one for each, None "
            "for those you cannot tell."
        )
    return truths
