"""What is wrong among labelled partitions: doubts among representatives, rows nobody stands for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import FloatVector
from beltrami.labelling.checks import Checks, check_table
from beltrami.labelling.showing.contents import LINE_LENGTH, RowContents, with_preview
from beltrami.partitions.answers.learned import learner_of
from beltrami.partitions.people.answered import Answered
from beltrami.tables import Table
from beltrami.tables.writing import records

_SHOWN = 10


@dataclass(frozen=True, slots=True, eq=False)
class PartitionedChecks:
    """What was found.

    Attributes
    ----------
    folder : Answered
        What was looked at.
    checks : Checks
        What is wrong among the representatives.
    strays : Table
        The worst of the rows that no representative covers, with their own columns.
    ratios : ndarray of shape (s,)
        How far each of them is from the nearest representative, over what would be covered.
    """

    folder: Answered
    checks: Checks
    strays: Table
    ratios: FloatVector

    @property
    def n_strays(self) -> int:
        """How many rows no representative covers, at most."""
        coverage = self.folder.chosen.coverage
        return round((1.0 - coverage.share) * coverage.n_rows)

    def lines(self) -> list[str]:
        """Return what was found, for a person."""
        coverage = self.folder.chosen.coverage
        n_given = self.checks.labelling.counts["given"]
        return [
            f"what follows is about {coverage.n_representatives:,} representatives of "
            f"{coverage.n_rows:,} rows, with all {n_given:,} labels among them",
            *self.checks.lines(),
            f"rows that no representative covers: at most {self.n_strays:,} of {coverage.n_rows:,}",
            *self._stray_lines(),
        ]

    def _stray_lines(self) -> list[str]:
        shown = range(min(_SHOWN, self.strays.n_rows))
        if not shown:
            return []
        contents = RowContents(self.strays, self.folder.roles)
        previews = contents.previews(shown, LINE_LENGTH)
        lines = [
            f"  {with_preview(name, preview)}: {ratio:.2f} times as far as what is covered"
            for name, preview, ratio in zip(self.stray_ids, previews, self.ratios, strict=False)
        ]
        more = self.n_strays - len(shown)
        return [*lines, f"  and {more:,} more"] if more > 0 else lines

    @property
    def stray_ids(self) -> list[Any]:
        """What the worst of these rows are called."""
        ids: list[Any] = self.strays.columns.column(self.folder.id_column).to_pylist()
        return ids

    def sheet(self, target: Path) -> dict[str, NDArray[Any]]:
        """Return the labels in doubt with the rows' own columns beside."""
        return self.checks.sheet(target)

    def record(self) -> dict[str, Any]:
        """Return the same as a dictionary."""
        coverage = self.folder.chosen.coverage
        worst = {"id": np.array(self.stray_ids, dtype=object), "ratio": np.round(self.ratios, 4)}
        return {
            "n_rows": coverage.n_rows,
            "n_representatives": coverage.n_representatives,
            "n_uncovered": self.n_strays,
            "uncovered": records(worst),
            **self.checks.record(),
        }


def check_in(folder: Answered) -> PartitionedChecks:
    """Look the representatives of labelled partitions over."""
    strays = folder.chosen.strays
    rows = Table("rows that are not covered", folder.table().columns.slice(0, 0))
    if len(strays.rows):
        rows = folder.fetch(strays.parts, strays.rows)
    learner = learner_of(folder.chosen, folder.learning)
    checks = check_table(folder.intake(), folder.learning, learner)
    return PartitionedChecks(folder, checks, rows, strays.ratios)
