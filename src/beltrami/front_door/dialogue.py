"""What a person may ask of a fitted classifier: a report, questions, doubts, reasons, sets, audits.

None of it takes part in a fit; it rests on the fitted attributes, the graph and the answer.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector, Seed
from beltrami.front_door.base import GivenLabels
from beltrami.front_door.deciding.committee import ClassCommittee
from beltrami.front_door.deciding.judgement import Answer, Judgement
from beltrami.front_door.doubts import (
    beaten,
    doubts,
    judged_before,
    none_accepted,
    out_of_time,
    sizes_denied,
)
from beltrami.front_door.prepare import View
from beltrami.front_door.report import FitReport, exact_bounds
from beltrami.learners.base import GraphClassifier
from beltrami.learners.model import Labeled
from beltrami.questions import Question, choose_questions
from beltrami.review.audit import Certificate
from beltrami.review.conformal import prediction_sets
from beltrami.review.guessing import beside_guessing
from beltrami.review.issues import LabelIssues, find_label_issues
from beltrami.review.reach import Reach, spread_labels
from beltrami.review.support import Explanation, support_of
from beltrami.review.trail import Trail, answers_in_order


class LabellingDialogue(GraphClassifier):
    """A classifier that asks, doubts, explains and vouches."""

    risk: float | None
    random_state: Seed
    accepted_: BoolVector
    unlike_: BoolVector
    island_: IndexVector
    names_: NDArray[Any]
    _answer: Answer
    _committee: ClassCommittee
    _view: View
    _given: GivenLabels
    _asked: IndexVector
    _trail: Trail
    _doubted: tuple[Judgement, LabelIssues] | None = None

    def _begin_dialogue(self, X: Any) -> None:
        """Keep the names of the rows; nothing was asked, computed or audited yet."""
        index = getattr(X, "index", None) if hasattr(X, "iloc") else None
        self.names_ = np.arange(self.graph_.n_nodes) if index is None else np.asarray(index)
        self._trail = Trail()
        self._asked = np.zeros(0, dtype=np.intp)

    def _find_reach(self, labeled: Labeled) -> Reach | None:
        """Return how far labels reach; None where no learner on the graph is asked."""
        if not self._committee.has_graph_members:
            return None
        basis, rows = self._foundation.basis, labeled.rows[spread_labels(labeled.targets)]
        return Reach.of(basis.vectors[rows], basis.values)

    def _find_strangers(self, reach: Reach | None, labeled: Labeled) -> BoolVector:
        """Return which rows are like no label."""
        if reach is None:
            return np.zeros(self.graph_.n_nodes, dtype=bool)
        unlike = reach.misses(self._foundation.basis.vectors)
        unlike[labeled.rows] = False
        return unlike

    def _report(self) -> FitReport:
        answer, rows = self._answer.judgement, self._labeled.rows
        guesses = answer.held_out[answer.is_told].argmax(axis=1)
        truths = answer.judged.targets[answer.is_told].argmax(axis=1)
        n_told, accuracy = len(truths), float("nan")
        if n_told:
            counts = answer.importance[answer.is_told]
            accuracy = float(np.average(guesses == truths, weights=counts))
        others = np.ones(len(self.reached_), dtype=bool)
        others[rows] = False
        expected = float((self.confidence_[others] if others.any() else self.confidence_).mean())
        return FitReport(
            n_rows=len(self.reached_),
            n_labels=len(rows),
            n_classes=len(self.classes_),
            preparation=self._view.preparation.reasons,
            graph=repr(self.graph_),
            members=answer.members,
            n_held_out=n_told,
            accuracy=expected,
            held_out_accuracy=accuracy,
            bounds=exact_bounds(accuracy * n_told, n_told),
            warnings=out_of_time(answer.members)
            + judged_before(answer.n_labels, len(rows), are_same=bool(self._is_as_judged().all()))
            + none_accepted(
                self.confidence_, self.accepted_, rows, self.risk, can_promise=answer.can_promise
            )
            + sizes_denied(
                tuple(map(str, self.classes_)),
                self._committee.shares,
                self._labeled.targets.sum(axis=0),
                truths,
                guesses,
            )
            + beaten(answer.members, 1 - accuracy)
            + doubts(
                self._labeled.targets.sum(axis=0),
                self.label_distributions_.mean(axis=0),
                tuple(map(str, self.classes_)),
                expected,
                beside_guessing(truths, guesses),
                n_asked=len(np.intersect1d(rows, self._asked)),
                issues=self._issues_then(),
                island=self.island_,
                unlike=self.unlike_,
                has_risk=self.risk is not None,
            ),
        )

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

    def _questions(
        self, n: int, strategy: str, candidates: Any, masses: FloatVector | None = None
    ) -> tuple[Question, ...]:
        check_is_fitted(self, "graph_")
        has_learned = hasattr(self, "classes_")
        reached = self.reached_ & (self.island_ < 0) if has_learned else None
        return choose_questions(
            self.graph_,
            n=n,
            strategy=strategy,
            distributions=self.label_distributions_ if has_learned else None,
            labelled=self._given.rows,
            reached=reached,
            piece=self.island_ if has_learned else None,  # without the bridges of the graph
            basis=self._foundation.basis,
            candidates=candidates,
            classes=list(map(str, self.classes_)) if has_learned else None,
            masses=masses,
            rng=self.random_state,
        )

    def label_issues(self) -> LabelIssues:
        """Return the given labels that look wrong, judged by all other labels.

        After an `update` those are judged that were there before; `settle` judges all.

        Returns
        -------
        LabelIssues
            With the class that the others point at; print it.
        """
        check_is_fitted(self)
        return self._find_issues().with_names(self.names_, self.classes_)

    def _issues_then(self) -> LabelIssues:
        """Return the labels in doubt when candidates were last judged, found once."""
        judgement = self._answer.judgement
        if self._doubted is None or self._doubted[0] is not judgement:
            self._doubted = judgement, self._find_issues()
        return self._doubted[1]

    def _find_issues(self) -> LabelIssues:
        """Return the labels in doubt, by row and class number."""
        judgement = self._answer.judgement
        is_same = self._is_as_judged()
        return find_label_issues(
            judgement.judged.rows[is_same],
            judgement.judged.targets[is_same].argmax(axis=1),
            judgement.held_out[is_same],
        )

    def _is_as_judged(self) -> BoolVector:
        """Say which of the labels that were judged are still there, and the same."""
        judged, now = self._answer.judgement.judged, self._labeled
        place = np.minimum(np.searchsorted(now.rows, judged.rows), len(now.rows) - 1)
        is_there = now.rows[place] == judged.rows
        return np.asarray(is_there & (now.targets[place] == judged.targets).all(axis=1))

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
        support = support_of(self.graph_, self._labeled.rows, i, top=top)
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
        accepted = self._propagated()
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
        accepted = self._propagated()
        if not self._trail.rounds or not self._trail.continues(accepted):
            raise InvalidInputError(
                "there is no audit of these labels: none was drawn since they were learned. Call "
                "audit() and check the rows it returns."
            )
        truths = answers_in_order(answers, self._trail.rounds[-1].rows)
        self._trail = self._trail.answer(truths)
        return self._trail.certificate(accepted, confidence=confidence)

    def _propagated(self) -> dict[int, Any]:
        """Return the accepted labels that no person gave, by row."""
        is_ours = self.accepted_.copy()
        is_ours[self._labeled.rows] = False
        rows = np.flatnonzero(is_ours)
        return dict(zip(rows.tolist(), self.transduction_[rows].tolist(), strict=True))

    def studio(self, frame: Any = None, **options: Any) -> Any:
        """Open a page on which people label the rows of the fit, and this learner's like answers.

        Parameters
        ----------
        frame : DataFrame, dict or None, default=None
            What people are shown of the rows, column by column; None shows the numbers.
        **options : object
            As in `beltrami.studio`: ``project``, ``user``, ``port``, ``open_browser``.

        Returns
        -------
        Studio
            With ``url``, ``labels`` and ``stop()``; the learner itself is left as it is.
        """
        from beltrami import Studio

        check_is_fitted(self, "graph_")
        return Studio.of_learner(self, self._given.values, frame, **options)

    def candidate_codes(self, name: str) -> IndexVector:
        """Return what one candidate alone would have answered.

        Parameters
        ----------
        name : str
            One of ``weights_``.

        Returns
        -------
        ndarray of shape (n,)
            Positions in ``classes_``.
        """
        check_is_fitted(self)
        if name in self._answer.codes:
            return self._answer.codes[name]
        judgement = self._answer.judgement
        if name not in judgement.choices:
            raise InvalidInputError(
                f"{name!r} is none of the candidates that were fitted; these are "
                f"{', '.join(judgement.choices)}."
            )
        return self._committee.codes_of(name, self._view, self._labeled, judgement)

    def prediction_sets(self, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return for each row of the fit the classes that it may well be.

        Parameters
        ----------
        coverage : float, default=0.9
            Share of the sets that shall hold the true class. It needs coverage / (1 - coverage)
            labels that can be held out; with fewer every set is whole.

        Returns
        -------
        ndarray of bool of shape (n, k)
            In the order of ``classes_``. A labelled row has its label alone.
        """
        check_is_fitted(self)
        sets = self._sets(self.label_distributions_, self.reached_, coverage)
        rows, targets = self._labeled.rows, self._labeled.targets
        sets[rows] = targets == targets.max(axis=1, keepdims=True)
        return sets

    def predict_set(self, X: Any, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return for each point the classes that it may well be.

        Parameters
        ----------
        X : array-like or sparse of shape (m, d)
            Points, of the fit or new.
        coverage : float, default=0.9
            Share of the sets that shall hold the true class, where labels are a random sample.

        Returns
        -------
        ndarray of bool of shape (m, k)
            In the order of ``classes_``; all classes for a point that no label reaches.
        """
        scores, reached = self._checked_scores(X)
        return self._sets(self._distributions(scores, reached), reached, coverage)

    def _sets(
        self, probabilities: FloatMatrix, reached: BoolVector, coverage: float
    ) -> NDArray[np.bool_]:
        threshold = self._answer.judgement.set_threshold(coverage)
        sets = prediction_sets(probabilities, threshold, never_empty=True)
        sets[~reached] = True
        return sets
