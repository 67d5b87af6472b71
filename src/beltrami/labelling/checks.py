"""What is wrong with a table: suspected labels, islands, equal rows, rare classes."""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from beltrami.core.types import Points, Seed
from beltrami.front_door.report import FitReport
from beltrami.labelling.intake import Intake
from beltrami.labelling.one_call import labelled
from beltrami.labelling.result import Labelling

_MOST_LISTED = 20


@dataclass(frozen=True, slots=True, eq=False)
class Checks:
    """What was found.

    Attributes
    ----------
    labelling : Labelling
        The fit that judged.
    class_counts : dict of str to int
        Labels of each class, most frequent first.
    n_repeated : int
        Rows that are equal to an earlier one in all features.
    conflicts : tuple of tuple of str
        Ids of equal rows with different labels.
    """

    labelling: Labelling
    class_counts: dict[str, int]
    n_repeated: int
    conflicts: tuple[tuple[str, ...], ...]

    @property
    def report(self) -> FitReport:
        """What the fit tried."""
        return self.labelling.learner.report_

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The suspected labels as columns."""
        issues = self.labelling.issues
        return {
            "id": issues.names,
            "given": np.asarray(issues.given, dtype=object),
            "suggested": np.asarray(issues.suggested, dtype=object),
            "score": np.round(issues.scores, 4),
        }

    def lines(self) -> list[str]:
        """Return what was found, for a person."""
        learner, issues = self.labelling.learner, self.labelling.issues
        counts = ", ".join(f"{name} {count}" for name, count in self.class_counts.items())
        found = [
            f"labels by class: {counts}",
            f"equal rows: {self.n_repeated:,}; of them with different labels: "
            f"{len(self.conflicts)} group(s)",
            *(f"  different labels for equal rows: {', '.join(ids)}" for ids in self.conflicts[:5]),
            *str(issues).splitlines()[: _MOST_LISTED + 1],
        ]
        if len(issues) > _MOST_LISTED:
            found.append(f"  and {len(issues) - _MOST_LISTED} more")
        n_islands = int(learner.island_.max(initial=-1)) + 1
        found.append(
            f"islands without a label: {n_islands}, {int((learner.island_ >= 0).sum()):,} rows; "
            f"rows that no label reaches: {int((~learner.reached_).sum()):,}"
        )
        return found + [f"! {line}" for line in self.report.warnings]

    def record(self) -> dict[str, Any]:
        """Return the same as a dictionary."""
        learner = self.labelling.learner
        columns = {name: values.tolist() for name, values in self.columns.items()}
        return {
            "class_counts": self.class_counts,
            "n_repeated": self.n_repeated,
            "conflicts": [list(ids) for ids in self.conflicts],
            "issues": [
                dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ],
            "no_issues_because": self.labelling.issues.reason,
            "n_islands": int(learner.island_.max(initial=-1)) + 1,
            "n_on_islands": int((learner.island_ >= 0).sum()),
            "n_unreached": int((~learner.reached_).sum()),
            "warnings": list(self.report.warnings),
        }


def checked(intake: Intake, *, random_state: Seed = 0, n_jobs: int | None = None) -> Checks:
    """Look a table over."""
    found = labelled(intake, {"random_state": random_state}, n_questions=0, n_jobs=n_jobs)
    counts = Counter(str(value) for value in intake.labels if value is not None)
    groups = _equal_rows(intake.points)
    conflicts = []
    for rows in groups:
        own = {value for value in intake.labels[rows] if value is not None}
        if len(own) > 1:
            conflicts.append(tuple(str(name) for name in intake.ids[rows][:5]))
    repeated = sum(len(rows) - 1 for rows in groups)
    return Checks(found, dict(counts.most_common()), repeated, tuple(conflicts))


def _equal_rows(points: Points) -> list[NDArray[np.intp]]:
    """Return groups of two and more rows that are equal in every feature."""
    hashes = _hashes(points)
    order = np.argsort(hashes, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(hashes[order]) != 0])
    return [rows for rows in np.split(order, starts[1:]) if len(rows) > 1]


def _hashes(points: Points) -> NDArray[np.int64]:
    import hashlib

    def short(*parts: Any) -> int:
        digest = hashlib.blake2b(b"".join(part.tobytes() for part in parts), digest_size=8)
        return int.from_bytes(digest.digest(), "little", signed=True)

    if issparse(points):
        found = [short(points.indices[a:b], points.data[a:b]) for a, b in pairwise(points.indptr)]
    else:
        whole = np.ascontiguousarray(points) + 0.0  # no negative zeros
        found = [short(row) for row in whole]
    return np.array(found, dtype=np.int64)
