"""How many rows each representative stands for: what rows were asked enters, masses leave.

When representatives settle, each row that is looked at counts for the nearest of them. Where that
is a sample of all rows, drawn with equal chance, the counts are scaled to all.
"""

from dataclasses import dataclass

import numpy as np

from beltrami.core.types import FloatVector
from beltrami.partitions.representing.representatives import Representatives


@dataclass(frozen=True, slots=True, eq=False)
class Masses:
    """How many rows each representative stands for.

    Attributes
    ----------
    each : ndarray of shape (m,)
        Rows, itself among them; they sum to all rows.
    n_looked : int
        Rows that were looked at.
    n_rows : int
        Rows in all.
    """

    each: FloatVector
    n_looked: int
    n_rows: int

    @classmethod
    def of(cls, chosen: Representatives) -> "Masses":
        """Scale what was counted to all rows; each representative stands for itself at least."""
        m, n_rows = len(chosen.points), chosen.coverage.n_rows
        if chosen.masses is None:
            return cls(np.ones(m), n_rows, n_rows)
        n_looked = int(chosen.masses.sum())
        return cls(1.0 + chosen.masses * ((n_rows - m) / max(n_looked, 1)), n_looked, n_rows)

    def words(self) -> str:
        """Say what is counted, and from what."""
        how = "all of them were looked at"
        if self.n_looked < self.n_rows:
            how = f"estimated from {self.n_looked:,} rows drawn from all with equal chance"
        return (
            f"a row settles those of all {self.n_rows:,} rows whose nearest representative is more "
            f"alike to it than to any label or other question; {how}"
        )
