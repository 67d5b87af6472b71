"""`KeptLabeller`: what was learned once, without the data's graph, ready for new points."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.threads import thread_limit
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector
from beltrami.data.labels import decode_labels
from beltrami.front_door.acceptance import accepted_rows, accepted_under
from beltrami.front_door.answering.answerer import Answerer, Answers, learner_answerer
from beltrami.front_door.answering.distilled import distil
from beltrami.front_door.apart import stand_apart
from beltrami.front_door.islands import is_far
from beltrami.graph.anchors import named_nodes
from beltrami.graph.fitting import checked_points
from beltrami.learners.base import distribute, first_classes, without_absent

FAR_SHARE = 0.999
"""Share of the kept rows that lie no farther from their neighbours than new ones may.

Of those that do not stand alone: a stray row does not say what is usual.
"""

LEAST_FAR = 1.5
"""Times the usual distance to neighbours below which no row is called far."""

_LEAST_MASS = 0.5
"""Rows that a reached row stands for at least: it has a say where no row was nearest to it."""


class _Door(BaseEstimator):
    """What checks new points against the columns of the fit."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]

    @classmethod
    def of(cls, n_features: int, names: tuple[str, ...] | None) -> Self:
        """Return what lets points of these columns in."""
        door = cls()
        door.n_features_in_ = n_features
        if names is not None:
            door.feature_names_in_ = np.array(names, dtype=object)
        return door


@dataclass(frozen=True, slots=True, eq=False)
class Acceptance:
    """Which new answers may be used.

    Attributes
    ----------
    risk : float or None
        Of the fit.
    least : float
        Confidence from which a row was accepted there.
    can_promise : bool
        Whether the labels support a promise at all.
    far : float
        Times the usual distance to neighbours above which a row is unlike the kept ones.
    """

    risk: float | None
    least: float
    can_promise: bool
    far: float


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What is said of new points.

    Attributes
    ----------
    probabilities : ndarray of shape (m, k)
        Of the classes.
    codes : ndarray of shape (m,)
        The likeliest class; -1 where no label reaches.
    confidence : ndarray of shape (m,)
        Its probability; 0 where no label reaches.
    reached, unlike, accepted : ndarray of shape (m,)
        Whether a label reaches a point, whether it is unlike what the labeller saw, and whether
        its label may be used.
    """

    probabilities: FloatMatrix
    codes: NDArray[np.intp]
    confidence: FloatVector
    reached: BoolVector
    unlike: BoolVector
    accepted: BoolVector


@dataclass(frozen=True, slots=True, eq=False)
class KeptLabeller:
    """A fitted `ManifoldClassifier` as it is kept in a file: it answers new points, and no more.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The classes.
    answerer : Answerer
        What answers.
    prior : ndarray of shape (k,)
        Shares of the labels, for points that none reaches.
    marker : object
        What marks a point without a label.
    acceptance : Acceptance
        Which answers may be used.
    shares : ndarray of shape (k,)
        Of the classes among the answers of the fit.
    n_features : int
        Columns of a point.
    feature_names : tuple of str or None
        What these are called, where the fit saw a DataFrame.
    n_jobs : int or None
        Threads.
    """

    classes_: NDArray[Any]
    answerer: Answerer
    prior: FloatVector
    marker: Any
    acceptance: Acceptance
    shares: FloatVector
    n_features: int
    feature_names: tuple[str, ...] | None = None
    n_jobs: int | None = None

    @classmethod
    def of(cls, learner: Any) -> Self:
        """Take from a fitted learner what answering needs."""
        check_is_fitted(learner)
        answerer = learner_answerer(learner)
        if answerer is None:
            raise InvalidInputError(
                "this learner rests on a given graph or a distance of its own, which say nothing "
                "of new points without their code, so it cannot be kept. Fit with a KnnGraph and "
                "a metric by name."
            )
        codes = learner.label_distributions_.argmax(axis=1)[learner.reached_]
        names = getattr(learner, "feature_names_in_", None)
        return cls(
            learner.classes_,
            answerer,
            np.asarray(learner.class_prior_),
            learner._marker,
            _acceptance_of(learner, answerer),
            np.bincount(codes, minlength=len(learner.classes_)) / max(len(codes), 1),
            int(learner.n_features_in_),
            None if names is None else tuple(map(str, names)),
            learner.n_jobs,
        )

    @classmethod
    def of_many(cls, learner: Any, masses: NDArray[Any]) -> Self:
        """Take the same from a learner whose rows stand for more rows each.

        Their answers are distilled into one function, which is as sure as they are. Of rows whose
        stand-in lies apart from all others and from labels, nothing is known.

        - `masses`: rows that each row of the fit stands for.
        """
        kept = cls.of(learner)
        answers, eligible = learner.label_distributions_, accepted_under(learner, None)
        # On one thread, so that nothing depends on how many there are.
        with thread_limit(1):
            found = distil(
                learner._view.points,
                answers,
                np.where(learner.reached_, np.maximum(masses, _LEAST_MASS), 0.0),
                kept.answerer.anchors.spans,
                learner._labeled.rows,
                kept.answerer.has_label,
                seed=0,
            )
        rule = kept.acceptance
        if rule.risk is not None:
            is_own = np.ones(len(answers), dtype=bool)
            is_own[learner._labeled.rows] = False
            confidence, none = found.held_out.max(axis=1), np.zeros(0, np.intp)
            can_be = (eligible & is_own)[found.rows]
            sure = confidence[accepted_rows(confidence, can_be, none, rule.risk)]
            rule = replace(rule, least=float(sure.min()) if sure.size else 2.0)
        apart = _apart(learner, kept.answerer.anchors.spans, masses)
        answerer = replace(kept.answerer, distilled=found.function, is_apart=apart)
        return replace(kept, answerer=answerer, acceptance=rule)

    def judge(self, X: Any) -> Verdict:
        """Return all that is said of new points.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points.

        Returns
        -------
        Verdict
            Probabilities, classes, and which of them may be used.
        """
        answers, probabilities = self._answers(X)
        codes = np.where(answers.reached, first_classes(self._scores(answers)), -1)
        rows = np.arange(len(codes))
        confidence = np.where(answers.reached, probabilities[rows, codes], 0.0)
        rule = self.acceptance
        unlike = answers.unlike | (answers.stretch > rule.far)
        accepted = answers.reached & ~answers.is_apart & ~unlike
        if rule.risk is not None:
            accepted &= rule.can_promise & (confidence >= rule.least)
        return Verdict(probabilities, codes, confidence, answers.reached, unlike, accepted)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the classes of points.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points.

        Returns
        -------
        ndarray of shape (m,)
            Classes; the marker of unlabelled rows for a point that no label reaches.
        """
        answers, _ = self._answers(X)
        codes = np.where(answers.reached, first_classes(self._scores(answers)), -1)
        return decode_labels(codes, self.classes_, self.marker)

    def predict_proba(self, X: Any) -> FloatMatrix:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points.

        Returns
        -------
        ndarray of shape (m, k)
            Rows sum to one; the shares of the labels for a point that no label reaches.
        """
        return self._answers(X)[1]

    def own_far(self) -> BoolVector:
        """Return which kept rows lie farther from the others than new ones may, (n,)."""
        return np.asarray(self.answerer.anchors.own_stretch() > self.acceptance.far)

    def own_unlike(self, learner: Any) -> BoolVector:
        """Return which kept rows of the learner would be called unlike the others, (n,)."""
        named = named_nodes(learner.graph_.neighbors)
        unlike = learner.unlike_ if named is None else learner.unlike_[named]
        return np.asarray(self.own_far() | unlike)

    def save(self, path: Path | str) -> Path:
        """Write it to a file again, whole or not at all.

        Parameters
        ----------
        path : path
            Where to.

        Returns
        -------
        Path
            Where it is.
        """
        from beltrami.front_door.kept.file import write_labeller

        return write_labeller(self, Path(path))

    def _scores(self, answers: Answers) -> FloatMatrix:
        return without_absent(answers.scores, self.answerer.has_label)

    def _answers(self, X: Any) -> tuple[Answers, FloatMatrix]:
        points = checked_points(_Door.of(self.n_features, self.feature_names), X, reset=False)
        answers = self.answerer.at(points, self.n_jobs)
        shares = np.maximum(self._scores(answers), 0.0)
        has_label = self.answerer.has_label
        return answers, distribute(shares, answers.reached, has_label, self.prior)

    def __repr__(self) -> str:
        n = self.answerer.anchors.n_anchors
        return f"<KeptLabeller of {len(self.classes_)} classes, by {n:,} rows>"


def _apart(learner: Any, spans: FloatVector, masses: NDArray[Any]) -> BoolVector:
    """Return which anchors lie apart; equal rows of the fit are one anchor, with their masses."""
    lists, labelled = learner.graph_.neighbors, learner._labeled.rows
    named = named_nodes(lists)
    if named is not None:
        first = np.searchsorted(named, lists.first_equals)
        masses, labelled = np.bincount(first, weights=masses), np.unique(first[labelled])
        indices = np.searchsorted(named, lists.indices[named])
        lists = replace(lists, indices=indices, distances=lists.distances[named])
    return stand_apart(lists, spans, np.asarray(masses, dtype=np.float64), labelled)


def _acceptance_of(learner: Any, answerer: Answerer) -> Acceptance:
    is_own = np.ones(len(learner.accepted_), dtype=bool)
    is_own[learner._labeled.rows] = False
    sure = learner.confidence_[learner.accepted_ & is_own]
    anchors = answerer.anchors
    stretch = anchors.own_stretch()
    usual = stretch[np.isfinite(stretch) & ~is_far(anchors.spans)]
    far = float(np.quantile(usual, FAR_SHARE)) if usual.size else LEAST_FAR
    return Acceptance(
        None if learner.risk is None else float(learner.risk),
        float(sure.min()) if sure.size else 2.0,
        bool(learner._answer.judgement.can_promise),
        max(far, LEAST_FAR),
    )
