"""Rows of partitions to label next: asked among representatives, counted in the whole."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import Stage
from beltrami.front_door.insight import questions_of
from beltrami.labelling.showing.contents import RowContents
from beltrami.labelling.suggestions import Suggestions
from beltrami.partitions.answers.learned import learner_of
from beltrami.partitions.people.answered import Answered
from beltrami.partitions.representing.masses import Masses


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PartitionedSuggestions:
    """Rows of partitions to label next, with how many rows of the whole each would settle.

    Attributes
    ----------
    suggestions : Suggestions
        The rows, among the representatives.
    masses : Masses
        How many rows each representative stands for.
    """

    suggestions: Suggestions
    masses: Masses

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The rows as columns: id, rank, reason, rows that it settles, guess, and a free label."""
        return self.suggestions.columns

    def sheet(self, target: Path) -> dict[str, NDArray[Any]]:
        """Return the same with the rows' own columns beside, as a table to fill in.

        Parameters
        ----------
        target : path
            Where it will be written, for the names of columns.

        Returns
        -------
        dict of str to ndarray
            Columns.
        """
        return self.suggestions.sheet(target)

    def lines(self) -> list[str]:
        """Return the rows, one a line, and what is counted.

        Returns
        -------
        list of str
            For a person.
        """
        return [*self.suggestions.lines(), f"counted: {self.masses.words()}"]

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def suggest_in(folder: Answered, n: int, strategy: str = "auto") -> PartitionedSuggestions:
    """Say which rows to label next, as the representatives see it, which learn again as before."""
    intake, masses = folder.intake(), Masses.of(folder.chosen)
    learner = learner_of(folder.chosen, folder.learning)
    learner.fit(intake.points, intake.labels)
    enter_stage(Stage.ASK)
    questions = questions_of(learner, n, strategy, masses.each)
    rows = np.array([one.row for one in questions], dtype=np.intp)
    guesses = np.full(len(rows), None, dtype=object)
    guesses[:] = [learner.transduction_[row] for row in rows]
    found = Suggestions(intake.ids[rows], questions, guesses, RowContents.of(intake))
    return PartitionedSuggestions(found, masses)
