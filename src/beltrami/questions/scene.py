"""The sample that stands for all rows: which questions cover it best, and why they are asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.questions.beliefs import Beliefs
from beltrami.questions.coverage import greedy_cover, settled_counts
from beltrami.questions.likeness import Islands, RowVectors, row_vectors
from beltrami.questions.model import Question
from beltrami.solvers.model import Basis

_ALIKE = 0.75
"""Likeness above which a label is taken to speak for a row: a cosine of a half."""
_BLOCK = 1000  # labels compared at once
_DOUBT = 0.5
"""Share of a row's weight that follows the doubt about it, where doubts are given."""


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Rows that stand for all, and how alike each is to its closest label.

    Attributes
    ----------
    basis : Basis
        Eigenvectors of the graph.
    islands : Islands
        Its components.
    n_groups : int
        Scale at which rows are compared.
    known : RowVectors
        The labelled rows.
    sample : RowVectors
        The rows that stand for all.
    masses : ndarray of shape (sample,)
        How many each stands for.
    covered : ndarray of shape (sample,)
        Likeness of each to its closest label; 0 without labels.
    """

    basis: Basis
    islands: Islands
    n_groups: int
    known: RowVectors
    sample: RowVectors
    masses: FloatVector
    covered: FloatVector

    @classmethod
    def of(
        cls,
        basis: Basis,
        islands: Islands,
        known: IndexVector,
        n_groups: int,
        sampled: tuple[IndexVector, FloatVector],
    ) -> "Scene":
        """Compare the rows that stand for all, given with their masses, with the labelled ones."""
        rows, masses = sampled
        sample, labels = (row_vectors(one, basis, islands, n_groups) for one in (rows, known))
        covered = np.zeros(len(rows), dtype=np.float32)
        for start in range(0, len(known), _BLOCK):
            table = sample.likeness(labels.part(slice(start, start + _BLOCK)))
            np.maximum(covered, table.max(axis=1), out=covered)
        return cls(basis, islands, n_groups, labels, sample, masses, covered)

    def _likeness(self, rows: IndexVector) -> FloatMatrix:
        return row_vectors(rows, self.basis, self.islands, self.n_groups).likeness(self.sample)

    def best(
        self, pool: IndexVector, doubts: FloatVector | None, n: int
    ) -> tuple[IndexVector, FloatVector]:
        """Return the rows of the pool that cover the sample best, and what each adds."""
        masses = self.masses
        if doubts is not None:
            doubt = doubts[self.sample.rows]
            mean = float(np.average(doubt, weights=masses))
            if mean > 0:
                masses = masses * ((1 - _DOUBT) + _DOUBT * doubt / mean)
        chosen, gains = greedy_cover(self._likeness(pool), self.covered, masses, n)
        return pool[chosen], gains

    def questions(
        self,
        rows: IndexVector,
        utilities: FloatVector,
        beliefs: Beliefs,
        classes: Sequence[Any] | None,
    ) -> tuple[Question, ...]:
        """Say of each row why it is asked and how many rows it would settle."""
        counts = settled_counts(self._likeness(rows), self.covered, self.masses)
        asked = row_vectors(rows, self.basis, self.islands, self.n_groups)
        near = asked.likeness(self.known).max(axis=1, initial=0.0)
        return tuple(
            Question(
                int(row),
                self._reason(int(row), int(count), float(close), beliefs, classes),
                int(count),
                float(utility),
            )
            for row, count, close, utility in zip(rows, counts, near, utilities, strict=True)
        )

    def _reason(
        self,
        row: int,
        count: int,
        near: float,
        beliefs: Beliefs,
        classes: Sequence[Any] | None,
    ) -> str:
        if len(self.known.rows) and not beliefs.reached[row]:
            return f"on an island of {_rows(beliefs.count_stranded(row))} that no label reaches"
        if rivals := beliefs.rivals(row):
            first, second = (_class_name(one, classes) for one in rivals)
            return f"between {first} and {second}"
        if near < _ALIKE:
            return f"first of a group of {_rows(count)} without a label"
        verb = "is" if count == 1 else "are"
        return f"{_rows(count)} {verb} closer to it than to any label"


def _class_name(column: int, classes: Sequence[Any] | None) -> str:
    if classes is None:
        return f"class {column}"
    name = classes[column]
    return f"'{name}'" if isinstance(name, str) else str(name)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
