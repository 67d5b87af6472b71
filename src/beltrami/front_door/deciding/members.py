"""The learners of a committee, all seen alike: what they say of every row, and of labels held out.

A view of the data and labels as numbers enter. Of classes, logits leave, one column per class; of
values, values with exact leave-one-out residuals and with how each label moves them. A member keeps
what it worked out from the graph alone, so that other labels cost only what depends on labels.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from beltrami.core.machine.threads import map_ranges
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector, Points
from beltrami.data.labels import checked_weights
from beltrami.front_door.prepare import View
from beltrami.learners.baselines import NEVER
from beltrami.learners.model import Labeled
from beltrami.learners.shared_graph import (
    copy_as_chosen,
    copy_with_choices,
    honest_residuals_of,
    is_drawn_for_labels,
    left_out_at,
    residuals_of,
    score_on,
    scores_at,
    shares_by_others,
    shares_of,
    shifts_at,
)
from beltrami.learners.splits import class_folds

_LEAST_SHARE = 1e-4
_MANY_LABELS = 200
"""Labels above which a learner's own leave-one-out serves: with ten it is 5 points too good."""

_ROWS = 2**15  # whose logarithms are taken at once


class Member(ABC):
    """A learner of classes."""

    @abstractmethod
    def fit(self, view: View, labeled: Labeled) -> FloatMatrix:
        """Learn, and return the logits of all rows, (n, k)."""

    @abstractmethod
    def held_out(self, view: View, labeled: Labeled) -> FloatMatrix:
        """Return logits of ``labeled.sample()``, each from labels without it; after `fit`."""

    @property
    @abstractmethod
    def choices(self) -> Any:
        """What the last `fit` chose, for `answer`."""

    @abstractmethod
    def answer(self, view: View, labeled: Labeled, choices: Any) -> FloatMatrix:
        """Return the logits of all rows, (n, k), by other labels and choices made before.

        It depends on nothing else, so labels that come back bring the same answer back.
        """

    @abstractmethod
    def at(self, points: Points, plain: Points) -> FloatMatrix:
        """Return the logits of new points, given as in a view."""

    def know_sizes(self, shares: FloatVector | None) -> None:
        """Take notice of class sizes that were given; most members have no use for them."""
        del shares


class GraphMember(Member):
    """A classifier on the graph.

    Parameters
    ----------
    make : callable
        From a `View`, the estimator.
    are_shares : bool
        Whether its scores are shares of classes, of which logarithms are taken.
    has_exact : bool, default=False
        Whether its own leave-one-out stands in for folds, which would take long, where labels are
        so many that what it chose by them hardly flatters it.
    holds_out : bool, default=False
        Whether it has a way of its own to say what other labels make of a few rows.
    kept : tuple of str, default=()
        Parameters that it chooses, and that stay as they are while labels are held out: to choose
        again, fold by fold, would cost far more than the rest and changes little.
    keeps_sizes : bool, default=False
        Whether its classes keep to sizes that were given, as ``priors``.
    """

    def __init__(
        self,
        make: Callable[[View], Any],
        *,
        are_shares: bool,
        has_exact: bool = False,
        holds_out: bool = False,
        kept: tuple[str, ...] = (),
        keeps_sizes: bool = False,
    ) -> None:
        self._make, self._are_shares, self._has_exact = make, are_shares, has_exact
        self._holds_out, self._kept, self._keeps_sizes = holds_out, kept, keeps_sizes
        self._shares: FloatVector | None = None
        self._learner: Any = None
        self._speaker: Any = None

    def fit(self, view: View, labeled: Labeled) -> FloatMatrix:
        """Learn on the graph, or from other labels where that was done before."""
        learner = self._learner
        is_other = learner is None or len(learner.classes_) != labeled.targets.shape[1]
        if is_other or is_drawn_for_labels(learner):
            learner = self._make(view)
            # One that cannot be fitted is not kept: it would be taken for fitted the next time.
            self._learner = None
        if self._keeps_sizes:
            is_whole = bool(labeled.targets.any(axis=0).all())  # a class without a label has no row
            learner.set_params(priors=self._shares if is_whole else None)
        self._learner = self._speaker = _score_on(learner, view, labeled)
        return self._logits_of(learner)

    def know_sizes(self, shares: FloatVector | None) -> None:
        """Keep to these sizes from the next `fit` on."""
        self._shares = shares

    @property
    def choices(self) -> Any:
        """The learner, which has chosen."""
        return copy.copy(self._learner)

    def answer(self, view: View, labeled: Labeled, choices: Any) -> FloatMatrix:
        """Learn with what was chosen."""
        self._speaker = _score_on(copy_with_choices(choices), view, labeled)
        return self._logits_of(self._speaker)

    def held_out(self, view: View, labeled: Labeled) -> FloatMatrix:
        """Hold labels out in folds, and let the learner choose by the others alone."""
        sample = labeled.sample()
        if self._has_exact and len(sample.rows) > _MANY_LABELS:
            return self._logits(left_out_at(self._learner, sample.rows).scores)
        logits = np.zeros(sample.targets.shape)
        twin = copy_as_chosen(self._learner, self._kept)
        for rest, aside in class_folds(labeled):
            rows = sample.rows[aside]
            if self._holds_out:
                shares = shares_by_others(self._learner, _weigh_evenly(rest), rows)
                logits[aside] = self._logits(shares)
            else:
                _score_on(twin, view, rest)
                logits[aside] = self._logits_of(twin, rows)
        return logits

    def at(self, points: Points, plain: Points) -> FloatMatrix:  # noqa: ARG002
        """Carry the scores to new points, as the learner does."""
        if self._are_shares:
            return self._logits(self._speaker.predict_proba(points))
        return self._logits(scores_at(self._speaker, points))

    def _logits_of(self, learner: Any, rows: IndexVector | slice = slice(None)) -> FloatMatrix:
        """Return the logits of some rows, or of all."""
        if self._are_shares:
            return self._logits(shares_of(learner, rows))
        return self._logits(learner.scores_[rows])

    def _logits(self, scores: FloatMatrix) -> FloatMatrix:
        """Return logits from scores, or from shares where a learner gives these."""
        return log_shares(scores) if self._are_shares else np.asarray(np.maximum(scores, NEVER))

    @property
    def speaker(self) -> Any:
        """The learner that answers, which new points are answered by, too."""
        return self._speaker


def log_shares(scores: FloatMatrix) -> FloatMatrix:
    """Return the logarithms of shares of classes, (n, k), none of them below a least one."""
    logits = np.empty_like(scores)

    def fill(begin: int, stop: int) -> None:
        own, positive = logits[begin:stop], np.maximum(scores[begin:stop], 0.0)
        totals = positive.sum(axis=1, keepdims=True)
        own[:] = 1.0 / scores.shape[1]
        np.divide(positive, totals, out=own, where=totals > 0)
        np.log(np.maximum(own, _LEAST_SHARE, out=own), out=own)

    map_ranges(fill, len(scores), _ROWS)
    return logits


def _score_on(learner: Any, view: View, labeled: Labeled) -> Any:
    """Let a classifier score all rows on the view's graph."""
    return score_on(learner, view.points, view.foundation, view.recipe, _weigh_evenly(labeled))


def _fit_on(learner: Any, view: View, labeled: Labeled) -> Any:
    """Fit a regressor on the view's graph."""
    return learner.fit_on(view.points, view.foundation, view.recipe, _weigh_evenly(labeled))


def _weigh_evenly(labeled: Labeled) -> Labeled:
    """Return labels with weights relative to their mean over these."""
    count = len(labeled.rows)
    weights = checked_weights(labeled.weights, count, np.arange(count))
    return Labeled(labeled.rows, labeled.targets, weights)


class PlainMember(Member):
    """A baseline: it sees the labelled rows only.

    Parameters
    ----------
    make : callable
        Returns the baseline.
    sees_all_columns : bool, default=True
        Whether it sees all columns, or what the graph was built of.
    """

    def __init__(self, make: Callable[[], Any], *, sees_all_columns: bool = True) -> None:
        self.baseline, self._sees_all_columns = make(), sees_all_columns

    def fit(self, view: View, labeled: Labeled) -> FloatMatrix:
        """Fit to the labelled rows."""
        points = self._choose_points(view.points, view.plain)
        return np.asarray(self.baseline.fit(points, labeled, view.metric))

    def _choose_points(self, points: Points, plain: Points) -> Points:
        return plain if self._sees_all_columns else points

    @property
    def choices(self) -> Any:
        """Nothing: a baseline chooses by the labels at hand."""
        return None

    def answer(self, view: View, labeled: Labeled, choices: Any) -> FloatMatrix:  # noqa: ARG002
        """Fit to the labelled rows."""
        return self.fit(view, labeled)

    def held_out(self, view: View, labeled: Labeled) -> FloatMatrix:
        """Hold labels out, as the baseline does."""
        points = self._choose_points(view.points, view.plain)
        return np.asarray(self.baseline.held_out(points, labeled))

    def at(self, points: Points, plain: Points) -> FloatMatrix:
        """Return the baseline's own."""
        return np.asarray(self.baseline.at(self._choose_points(points, plain)))


class ValueMember(ABC):
    """A learner of values."""

    @abstractmethod
    def fit(self, view: View, labeled: Labeled) -> FloatVector:
        """Learn, and return the values of all rows."""

    @abstractmethod
    def residuals(self) -> FloatVector:
        """Return the exact leave-one-out residuals of all labels."""

    @abstractmethod
    def honest(self) -> FloatVector | None:
        """Return residuals of all labels, each of what would be chosen without it, or None."""

    @abstractmethod
    def at(self, points: Points, plain: Points) -> FloatVector:
        """Return the values of new points, given as in a view."""

    @abstractmethod
    def shifts_at(self, points: Points, plain: Points, residuals: FloatVector) -> FloatMatrix:
        """Return by how much the values at new points fall without each label, (m, l)."""

    def held_out(self, labeled: Labeled) -> FloatVector:
        """Return the residuals of ``labeled.sample()`` that the choice of a member goes by."""
        honest = self.honest()
        residuals = self.residuals() if honest is None else honest
        return residuals[np.searchsorted(labeled.rows, labeled.sample().rows)]


class GraphValueMember(ValueMember):
    """A regressor on the graph, made from a `View` by a function."""

    def __init__(self, make: Callable[[View], Any]) -> None:
        self._make = make
        self._learner: Any = None

    def fit(self, view: View, labeled: Labeled) -> FloatVector:
        """Learn on the graph, or from other values where that was done before."""
        learner = self._make(view) if self._learner is None else self._learner
        self._learner = _fit_on(learner, view, labeled)
        return np.asarray(self._learner.scores_[:, 0])

    def residuals(self) -> FloatVector:
        """Return the learner's own."""
        return residuals_of(self._learner)

    def honest(self) -> FloatVector | None:
        """Return those of the strength that the learner would have chosen."""
        return honest_residuals_of(self._learner)

    def held_out(self, labeled: Labeled) -> FloatVector:
        """Return the same; of many labels those of the sample are worked out only."""
        if self.honest() is not None:
            return super().held_out(labeled)
        left_out = left_out_at(self._learner, labeled.sample().rows)
        return np.asarray((left_out.targets - left_out.scores)[:, 0])

    def at(self, points: Points, plain: Points) -> FloatVector:  # noqa: ARG002
        """Carry the values to new points, as the learner does."""
        return np.asarray(self._learner.predict(points))

    def shifts_at(
        self,
        points: Points,
        plain: Points,  # noqa: ARG002
        residuals: FloatVector,
    ) -> FloatMatrix:
        """Return the learner's own."""
        return shifts_at(self._learner, points, residuals)


class PlainValueMember(ValueMember):
    """A baseline of values: it sees the labelled rows only, with all their columns."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.baseline = make()

    def fit(self, view: View, labeled: Labeled) -> FloatVector:
        """Fit to the labelled rows."""
        return np.asarray(self.baseline.fit(view.plain, labeled, view.metric))

    def residuals(self) -> FloatVector:
        """Return those of what was chosen."""
        return np.asarray(self.baseline.residuals())

    def honest(self) -> FloatVector | None:
        """Return those of what the others would have chosen."""
        honest: FloatVector | None = self.baseline.honest()
        return honest

    def at(self, points: Points, plain: Points) -> FloatVector:  # noqa: ARG002
        """Return the baseline's own."""
        return np.asarray(self.baseline.at(plain))

    def shifts_at(
        self,
        points: Points,  # noqa: ARG002
        plain: Points,
        residuals: FloatVector,
    ) -> FloatMatrix:
        """Return the baseline's own."""
        return np.asarray(self.baseline.shifts_at(plain, residuals))
