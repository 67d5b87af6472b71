"""Rows to label next, as a table: with labels, with labels of one class, or with none at all."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import Seed
from beltrami.front_door.classifier import ManifoldClassifier
from beltrami.labelling.intake import Intake
from beltrami.labelling.one_call import unfitted
from beltrami.questions import Question


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
    """

    ids: NDArray[Any]
    questions: tuple[Question, ...]
    guesses: NDArray[Any]

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

    def lines(self) -> list[str]:
        """Return the rows, one a line."""
        if not len(self.ids):
            return ["every row has a label: there is none to ask about"]
        return [
            f"{place:3}. {name}  {one.reason}; settles about {one.settles:,} rows"
            for place, (name, one) in enumerate(zip(self.ids, self.questions, strict=True), 1)
        ]

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
        columns = {name: values.tolist() for name, values in self.columns.items()}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def suggestions(
    intake: Intake,
    n: int,
    *,
    strategy: str = "auto",
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> Suggestions:
    """Say which rows of a table to label next.

    - `intake`: the table; labels of fewer than two classes are fine.
    """
    learner: ManifoldClassifier = unfitted(intake, {"random_state": random_state}, n_jobs=n_jobs)
    known = {value for value in intake.labels if value is not None}
    has_learned = len(known) > 1
    if has_learned:
        learner.fit(intake.points, intake.labels)
    else:
        learner.start(intake.points)
        rows = np.flatnonzero([value is not None for value in intake.labels])
        if len(rows):
            learner.update(rows, intake.labels[rows])
    rows, questions = learner.query(n, strategy, return_reasons=True)
    guesses = np.full(len(rows), None, dtype=object)
    if has_learned:
        guesses[:] = [learner.transduction_[row] for row in rows]
    return Suggestions(intake.ids[rows], questions, guesses)
