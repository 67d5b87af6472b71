"""Rows to label next, as a table: with labels, with labels of one class, or with none at all."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import Stage
from beltrami.labelling.bare import can_learn
from beltrami.labelling.intake import Intake
from beltrami.labelling.main_job import make_learner
from beltrami.labelling.options import LearningOptions
from beltrami.labelling.showing.contents import LINE_LENGTH, RowContents, with_preview
from beltrami.labelling.showing.own_columns import columns_of_rows
from beltrami.questions import Question
from beltrami.report.sentences import count_rows


@dataclass(frozen=True, slots=True, eq=False)
class Suggestions:
    """Rows to label next.

    Attributes
    ----------
    ids : ndarray of shape (m,)
        What the rows are called.
    questions : tuple of Question
        Reasons, and the rows each would settle.
    guesses : ndarray of shape (m,)
        What we would say; None where nothing is known.
    contents : RowContents
        What the rows are.
    """

    ids: NDArray[Any]
    questions: tuple[Question, ...]
    guesses: NDArray[Any]
    contents: RowContents

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The rows as columns, with an empty one for the answer."""
        return {
            "id": self.ids,
            "ask_rank": np.arange(1, len(self.ids) + 1),
            "reason": np.array([one.reason for one in self.questions], dtype=object),
            "settles": np.array([one.settles for one in self.questions], dtype=np.intp),
            "guess": self.guesses,
            "label": np.full(len(self.ids), None, dtype=object),
        }

    def sheet(self, target: Path) -> dict[str, NDArray[Any]]:
        """Return the same with the user's own columns beside, as a table to fill in."""
        ours, roles = self.columns, self.contents.roles
        rows = [one.row for one in self.questions]
        hidden = {roles.id, roles.label}
        return ours | columns_of_rows(self.contents.table, rows, ours, target, hidden=hidden)

    def lines(self) -> list[str]:
        """Return the rows, one a line."""
        if not len(self.ids):
            return ["every row has a label: there is none to ask about"]
        previews = self.contents.previews([one.row for one in self.questions], LINE_LENGTH)
        rows = zip(self.ids, previews, self.questions, strict=True)
        return [
            f"{place:3}. {with_preview(name, preview)}: {one.reason}; settles about "
            f"{count_rows(one.settles)}"
            for place, (name, preview, one) in enumerate(rows, start=1)
        ]


def suggest_rows(intake: Intake, strategy: str, options: LearningOptions) -> Suggestions:
    """Say which rows of a table to label next; labels of fewer than two classes are fine."""
    learner = make_learner(intake, options)
    given = np.flatnonzero(intake.is_given)
    has_learned = can_learn(intake)
    if has_learned:
        learner.fit(intake.points, intake.labels)
    else:
        learner.start(intake.points)
        if len(given):
            learner.update(given, intake.labels[given])
    enter_stage(Stage.ASK)
    rows, questions = learner.query(options.n_questions, strategy, return_reasons=True)
    guesses = np.full(len(rows), None, dtype=object)
    if has_learned:
        guesses[:] = [learner.transduction_[row] for row in rows]
    return Suggestions(intake.ids[rows], questions, guesses, RowContents.of(intake))
