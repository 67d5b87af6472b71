"""What classifier and regressor at the front door share: the view, the committee, given labels.

Three things are kept from one fit to the next of other labels: the `View` with the prepared points
and their graph, the committee with what its members worked out from the graph alone, and the labels
as a person gave them.
"""

import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import Stage
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector, Points, Seed
from beltrami.front_door.deciding.committee import ClassCommittee
from beltrami.front_door.deciding.judgement import Answer
from beltrami.front_door.deciding.value_committee import ValueAnswer, ValueCommittee
from beltrami.front_door.islands import pieces_of, stand_alone
from beltrami.front_door.prepare import View, build_view
from beltrami.learners.base import GraphLearner
from beltrami.learners.model import Labeled


class ManifoldLearner(GraphLearner):
    """A learner that prepares the data, builds their graph, and asks a committee."""

    method: str
    scale: str
    metric: Any
    time_budget: float | None
    random_state: Seed
    n_jobs: int | None

    _view: View
    _committee: ClassCommittee | ValueCommittee
    _given: "GivenLabels"

    def _check_options(self) -> None:
        check_budget(self.time_budget)

    def _build_view(self, points: Points, n_classes: int = 0) -> View:
        """Prepare the points, join them into a graph, and rest on it."""
        view = build_view(
            points,
            self.graph,
            scale=self.scale,
            metric=self.metric,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            n_classes=n_classes,
        )
        self._rest_on(points, view.foundation, view.recipe)
        n_neighbors = getattr(view.recipe, "n_neighbors", None)
        self._piece = pieces_of(view.graph, view.points, view.metric, n_neighbors)
        self._is_alone = stand_alone(view.graph, n_neighbors)
        return view

    def _ask(self, labeled: Labeled) -> Any:
        """Return the committee's answer to some labels."""
        if self._committee.has_graph_members:
            enter_stage(Stage.BASIS)
            _ = self._foundation.basis  # worked out once, and kept
        enter_stage(Stage.LEARN)
        self._renew_committee()
        budget = check_budget(self.time_budget)
        return self._committee.answer(self._view, labeled, time_budget=budget)

    def _fit_in_html(self) -> str:
        shown: str = self.report_._repr_html_() if hasattr(self, "report_") else ""
        return shown

    def _renew_committee(self) -> None:
        """Take another committee where another method was set since the fit."""
        if self._committee.method != self.method:
            self._committee = type(self._committee).of(self.method)

    @contextmanager
    def _whole_or_not_at_all(self) -> Iterator[None]:
        """Put everything back as it was where learning from other labels is cut short."""
        before, members = dict(vars(self)), self._committee.snapshot()
        try:
            yield
        except BaseException:
            self.__dict__ = before
            self._committee.members = members
            raise

    @contextmanager
    def _on_trial(self) -> Iterator[None]:
        """Forget at the end of the block whatever was learned inside it."""
        before, members = dict(vars(self)), self._committee.snapshot()
        try:
            yield
        finally:
            self.__dict__ = before
            self._committee.members = members

    def _scores(self, labeled: Labeled) -> FloatMatrix:
        answer: Answer | ValueAnswer = self._ask(labeled)
        return answer.scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(frozen=True, slots=True, eq=False)
class GivenLabels:
    """Labels as a person gave them, to be changed row by row.

    Attributes
    ----------
    n_rows : int
        Rows in all.
    values : dict of int to object
        The label of each row that has one.
    weights : dict of int to float or None
        How much each counts, in the unit of the user; None where all count the same.
    """

    n_rows: int
    values: dict[int, Any]
    weights: dict[int, float] | None

    @classmethod
    def of(
        cls, n: int, rows: IndexVector, values: NDArray[Any], weights: FloatVector | None = None
    ) -> Self:
        """Remember the labels of some of n rows, and what each counts."""
        listed = rows.tolist()
        counts = None
        if weights is not None:
            counts = dict(zip(listed, weights.tolist(), strict=True))
        return cls(n, dict(zip(listed, values.tolist(), strict=True)), counts)

    @property
    def rows(self) -> IndexVector:
        """The labelled rows, ascending."""
        return np.sort(np.fromiter(self.values, dtype=np.intp, count=len(self.values)))

    @property
    def listed(self) -> NDArray[Any]:
        """Their labels, in the order of `rows`."""
        rows = self.rows
        labels = np.empty(len(rows), dtype=object)
        for place, row in enumerate(rows.tolist()):
            labels[place] = self.values[row]
        return labels

    @property
    def listed_weights(self) -> FloatVector | None:
        """How much each counts, in the order of `rows`."""
        if self.weights is None:
            return None
        return np.array([self.weights[row] for row in self.rows.tolist()])

    def change(
        self, rows: IndexVector, values: list[Any], weights: FloatVector | None = None
    ) -> Self:
        """Return the same with some labels replaced; None for their weights means the average."""
        changed = dict(self.values)
        counts = None if self.weights is None else dict(self.weights)
        if counts is None and weights is not None:
            counts = dict.fromkeys(changed, 1.0)
        if weights is None:
            positive = [count for count in (counts or {}).values() if count > 0]
            weights = np.full(len(rows), np.mean(positive) if positive else 1.0)
        for row, value, weight in zip(rows.tolist(), values, weights.tolist(), strict=True):
            changed.pop(row, None)
            if counts is not None:
                counts.pop(row, None)
            if value is not None:
                changed[row] = value
                if counts is not None:
                    counts[row] = weight
        return type(self)(self.n_rows, changed, counts)


def as_given(sample_weight: Any, n_points: int) -> FloatVector:
    """Return weights of all rows in the unit of the user, so that later ones can stand beside."""
    return np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), (n_points,))


def check_new_weights(weights: Any, n_rows: int) -> FloatVector | None:
    """Return how much each of some new labels counts, or say what is wrong with it."""
    if weights is None:
        return None
    try:
        counts = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"weights must be numbers above 0 ({error}).") from error
    if counts.shape not in {(), (n_rows,)}:
        raise InvalidInputError(
            f"there are weights of shape {counts.shape} for {n_rows} labels. Give one for each, or "
            "one for all."
        )
    bad = int((~np.isfinite(counts) | (counts <= 0)).sum())
    if bad:
        raise InvalidInputError(
            f"{bad} of {counts.size} weights are not above 0, or not finite. To let a label not "
            "count, take it away: None."
        )
    return np.broadcast_to(counts, (n_rows,))


def check_update(indices: Any, labels: Any, n_rows: int) -> tuple[IndexVector, list[Any]]:
    """Return row numbers and one label for each, or say what is wrong with them."""
    rows = np.atleast_1d(np.asarray(indices))
    rows = rows if rows.size else rows.astype(np.intp)
    values = [labels] if np.ndim(indices) == 0 else list(labels)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or len(rows) != len(values):
        raise InvalidInputError(
            f"update needs row numbers and as many labels; it got {len(rows)} of kind "
            f"{rows.dtype} and {len(values)}."
        )
    if len(rows) and (rows.min() < 0 or rows.max() >= n_rows):
        raise InvalidInputError(
            f"row numbers go from 0 to {n_rows - 1}; got {rows.min()} to {rows.max()}."
        )
    listed, counts = np.unique(rows, return_counts=True)
    if (counts > 1).any():
        raise InvalidInputError(
            f"row {listed[counts > 1][0]} is named {counts.max()} times, and one label only could "
            "be kept. Name every row once."
        )
    return rows.astype(np.intp), values


def check_budget(seconds: Any) -> float | None:
    """Return the time budget, or say what is wrong with it."""
    if seconds is None:
        return None
    is_number = isinstance(seconds, numbers.Real) and not isinstance(seconds, bool)
    if is_number and float(seconds) >= 0:
        return float(seconds)
    raise InvalidInputError(
        f"time_budget={seconds!r} must be a number of seconds, such as 60, or None for no limit."
    )
