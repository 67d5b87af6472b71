"""What the map shows of every row: its class, how sure, and who said so, in four bytes."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import BoolVector, FloatMatrix
from beltrami.front_door.insight import on_trial
from beltrami.front_door.report import FitReport
from beltrami.labelling.result import row_sources
from beltrami.learners.base import first_classes
from beltrami.project.record.measures import Measure
from beltrami.project.record.state import State
from beltrami.studio_server.learner.teaching import Taught, classes_of, taught_by, teach, vectors_of
from beltrami.tables.own_results import Source

BY_AREA, UNSURE = 4, 8
"""Flags beside the source: given for a whole area, and marked as what nobody can tell."""


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers to some labels.

    Attributes
    ----------
    version : int
        Number of the last event that they include.
    codes : ndarray of uint16 of shape (n,)
        Position of the class in the project's list plus one; 0 for none.
    confidence : ndarray of uint8 of shape (n,)
        255 stands for certainty.
    source : ndarray of uint8 of shape (n,)
        `Source`, and flags.
    n_given : int
        Labels that people gave.
    n_classes : int
        Length of the project's list of classes.
    n_behind : int
        Saved changes that are not in these answers yet.
    """

    version: int
    codes: NDArray[np.uint16]
    confidence: NDArray[np.uint8]
    source: NDArray[np.uint8]
    n_given: int
    n_classes: int
    n_behind: int = 0

    @classmethod
    def of_labels(cls, state: State, n_rows: int) -> Self:
        """Return what is known before anything was learned: the labels themselves."""
        codes = np.zeros(n_rows, dtype=np.uint16)
        confidence = np.zeros(n_rows, dtype=np.uint8)
        source = np.full(n_rows, Source.UNREACHED, dtype=np.uint8)
        return cls(state.number, codes, confidence, source, 0, 0)._with_labels(state)

    @classmethod
    def of_learner(cls, state: State, learner: Any, is_empty: BoolVector | None) -> Self:
        """Return what a learner that knows the labels of the state says of every row."""
        place = _places(state)
        code_of = np.array([place[str(name)] for name in learner.classes_], dtype=np.uint16)
        codes = code_of[first_classes(learner.label_distributions_)]
        codes[~learner.reached_] = 0
        confidence = np.rint(255 * np.clip(learner.confidence_, 0.0, 1.0)).astype(np.uint8)
        source = row_sources(learner.reached_, learner.accepted_, is_empty).astype(np.uint8)
        return cls(state.number, codes, confidence, source, 0, 0)._with_labels(state)

    def _with_labels(self, state: State) -> Self:
        """Return the same with the given labels and the marks put in."""
        place = _places(state)
        n = len(state.labels)
        rows = np.fromiter(state.labels, dtype=np.intp, count=n)
        given = state.labels.values()
        self.codes[rows] = np.fromiter((place[one.label] for one in given), np.uint16, n)
        self.confidence[rows] = 255
        by_area = (BY_AREA if one.how == "area" else 0 for one in given)
        self.source[rows] = Source.GIVEN | np.fromiter(by_area, np.uint8, n)
        unsure = np.fromiter(state.unsure, dtype=np.intp, count=len(state.unsure))
        self.source[unsure] |= UNSURE
        return replace(self, n_given=n, n_classes=len(state.classes))

    @cached_property
    def counts(self) -> dict[str, int]:
        """Count of rows: all, and by source."""
        numbers = np.bincount(self.source & 3, minlength=len(Source)).tolist()
        return {"rows": len(self.source)} | {one.name.lower(): numbers[one] for one in Source}

    @cached_property
    def expected(self) -> float:
        """Mean confidence of the rows that we labelled; NaN where there are none."""
        sure = self.confidence[(self.source & 3) == Source.LABELLED]
        return float(sure.mean()) / 255 if sure.size else float("nan")

    @cached_property
    def class_counts(self) -> list[dict[str, int]]:
        """Return for each class the rows that people, we and nobody gave it."""
        size = self.n_classes + 1
        table = np.zeros((len(Source), size), dtype=np.int64)
        kinds = self.source & 3
        for one in (Source.GIVEN, Source.LABELLED, Source.ABSTAINED):
            counted = np.bincount(self.codes[kinds == one], minlength=size)
            table[one] = counted[:size]
        given, labelled, left, _ = table[:, 1:].tolist()
        rows = zip(given, labelled, left, strict=True)
        return [{"given": one, "labelled": ours, "left": rest} for one, ours, rest in rows]


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """What a learner thinks of the rows: arrays that it does not change any more.

    Attributes
    ----------
    classes : tuple of str
        The classes that have a label.
    distributions : ndarray of shape (n, k)
        Probabilities, in their order.
    report : FitReport
        What was tried, and how sure that is.
    """

    classes: tuple[str, ...]
    distributions: FloatMatrix
    report: FitReport

    @classmethod
    def of(cls, learner: Any) -> Self:
        """Take them from a learner."""
        names = tuple(map(str, learner.classes_))
        return cls(names, learner.label_distributions_, learner.report_)

    def leaders(self, row: int) -> list[tuple[str, float]]:
        """Return the two likeliest classes of a row, with their probabilities."""
        chances = self.distributions[row]
        order = np.argsort(-chances, kind="stable")[:2]
        return [(self.classes[place], float(chances[place])) for place in order.tolist()]


def measure_of(answers: Answers, report: FitReport | None) -> Measure:
    """Return what answers amount to, to be kept.

    - `report`: of the learner, where it has judged these labels.
    """
    counts = answers.counts
    expected = answers.expected
    measure = Measure(
        answers.version,
        counts["given"],
        counts["labelled"],
        counts["abstained"],
        counts["unreached"],
        None if np.isnan(expected) else round(expected, 6),
    )
    if report is None or not report.n_held_out or np.isnan(report.held_out_accuracy):
        return measure
    low, high = report.bounds
    return replace(
        measure,
        held_out=int(report.n_held_out),
        accuracy=float(report.held_out_accuracy),
        low=float(low),
        high=float(high),
    )


def answers_at(
    state: State, learner: Any, taught: Taught, is_empty: BoolVector | None, n_rows: int
) -> Answers:
    """Return what the labels of a moment teach a learner, which is then as it was before.

    - `taught`: what it knows now, where it is believed as it is; empty to judge it anew.
    """
    wanted = taught_by(state)
    if len(classes_of(wanted)) < 2:
        return Answers.of_labels(state, n_rows)
    with on_trial(learner):
        learner.risk = state.risk
        if taught:
            teach(learner, taught, wanted)
        else:
            learner.fit_labels(*vectors_of(wanted, n_rows))
        return Answers.of_learner(state, learner, is_empty)


def _places(state: State) -> dict[str, int]:
    """Return the code of every class that is not gone."""
    return {one.name: code for code, one in enumerate(state.classes, start=1) if not one.gone}
