"""What is wrong with a table: suspected labels, islands, equal rows, rare classes."""

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import Stage
from beltrami.core.types import Points
from beltrami.front_door.classifier import ManifoldClassifier
from beltrami.front_door.report import FitReport
from beltrami.labelling.intake import Intake
from beltrami.labelling.main_job import label_rows
from beltrami.labelling.options import LearningOptions
from beltrami.labelling.result import Labelling
from beltrami.labelling.showing.contents import LINE_LENGTH, with_preview
from beltrami.labelling.showing.own_columns import columns_of_rows
from beltrami.review.issues import LabelIssues
from beltrami.tables.writing import records

_MOST_LISTED, _MOST_CONFLICTS, _MOST_DENIED = 20, 5, 5


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
        return self._columns_of(self.labelling.issues)

    def _columns_of(self, issues: LabelIssues) -> dict[str, NDArray[Any]]:
        return {
            "id": self.labelling.intake.ids[issues.rows],
            "given": np.asarray(issues.given, dtype=object),
            "suggested": np.asarray(issues.suggested, dtype=object),
            "score": np.round(issues.scores, 4),
        }

    def sheet(self, target: Path) -> dict[str, NDArray[Any]]:
        """Return the labels in doubt with the user's own columns beside.

        Those that are more likely wrong than right are sure; behind them stand those that the
        others only answer otherwise.
        """
        intake, kinds = self.labelling.intake, [self.labelling.issues]
        kinds += [] if self._denied is None else [self._denied]
        parts = [self._columns_of(one) for one in kinds]
        ours = {name: np.concatenate([one[name] for one in parts]) for name in parts[0]}
        sure = np.repeat(np.array(["yes", "no"], dtype=object)[: len(kinds)], list(map(len, kinds)))
        ours |= {"sure": sure}
        hidden = {intake.roles.id, intake.roles.label}
        rows = np.concatenate([one.rows for one in kinds]).tolist()
        return ours | columns_of_rows(intake.table, rows, ours, target, hidden=hidden)

    @property
    def _denied(self) -> LabelIssues | None:
        """The labels that others answer otherwise, of which it cannot be told who is wrong."""
        denied = self.labelling.issues.denied
        return denied if denied is not None and len(denied) else None

    @property
    def n_islands(self) -> int:
        """How many pieces of the data only an added bridge joins to a label."""
        return int(self.labelling.learner.island_.max(initial=-1)) + 1

    @property
    def n_on_islands(self) -> int:
        """How many rows these pieces hold."""
        return int((self.labelling.learner.island_ >= 0).sum())

    @property
    def n_unreached(self) -> int:
        """How many rows share no piece of the data with a label."""
        return int((~self.labelling.learner.reached_).sum())

    def lines(self) -> list[str]:
        """Return what was found, for a person."""
        issues = self.labelling.issues
        counts = ", ".join(f"{name} {count}" for name, count in self.class_counts.items())
        lines = [
            f"labels by class: {counts}",
            f"equal rows: {self.n_repeated:,}; of them with different labels: "
            f"{len(self.conflicts)} group(s)",
            *self._conflict_lines(),
            *self._issue_lines(),
        ]
        if len(issues) > _MOST_LISTED:
            lines.append(f"  and {len(issues) - _MOST_LISTED} more")
        lines.extend(self._denied_lines())
        lines.append(
            f"islands without a label: {self.n_islands}, {self.n_on_islands:,} rows; rows that no "
            f"label reaches: {self.n_unreached:,}"
        )
        return lines + [f"! {line}" for line in self.report.warnings]

    def _conflict_lines(self) -> list[str]:
        """Return equal rows with different labels, with what they all are."""
        shown = self.conflicts[:_MOST_CONFLICTS]
        if not shown:
            return []
        names = list(map(str, self.labelling.intake.ids))
        firsts = [names.index(ids[0]) for ids in shown]
        previews = self.labelling.contents.previews(firsts, LINE_LENGTH)
        return [
            f"  different labels for equal rows: {with_preview(', '.join(ids), preview)}"
            for ids, preview in zip(shown, previews, strict=True)
        ]

    def _issue_lines(self) -> list[str]:
        """Return the labels in doubt, with what the rows are."""
        issues = self.labelling.issues
        rows = issues.rows[:_MOST_LISTED].tolist()
        previews = self.labelling.contents.previews(rows, LINE_LENGTH)
        names = issues.names.astype(object)
        names[: len(rows)] = list(map(with_preview, names[: len(rows)], previews))
        return str(replace(issues, names=names)).splitlines()[: _MOST_LISTED + 1]

    def _denied_lines(self) -> list[str]:
        """Return a few of the labels that others only answer otherwise, with what the rows are."""
        denied = self._denied
        if denied is None:
            return []
        rows = denied.rows[:_MOST_DENIED].tolist()
        previews = self.labelling.contents.previews(rows, LINE_LENGTH)
        names = map(with_preview, self.labelling.intake.ids[rows], previews)
        lines = [
            f"  row {name}: given {given!s}, the others say {suggested!s}"
            for name, given, suggested in zip(names, denied.given, denied.suggested, strict=False)
        ]
        if len(self.labelling.issues):  # else the line above says so
            lines.insert(0, f"{len(denied)} more are answered otherwise, and may well be right:")
        more = len(denied) - len(rows)
        return [*lines, f"  and {more} more answered otherwise"] if more else lines

    def record(self) -> dict[str, Any]:
        """Return the same as a dictionary."""
        denied = [] if self._denied is None else records(self._columns_of(self._denied))
        return {
            "class_counts": self.class_counts,
            "n_repeated": self.n_repeated,
            "conflicts": [list(ids) for ids in self.conflicts],
            "issues": records(self.columns),
            "answered_otherwise": denied,
            "no_issues_because": self.labelling.issues.reason,
            "n_islands": self.n_islands,
            "n_on_islands": self.n_on_islands,
            "n_unreached": self.n_unreached,
            "warnings": list(self.report.warnings),
        }


def check_table(
    intake: Intake, options: LearningOptions, learner: ManifoldClassifier | None = None
) -> Checks:
    """Look a table over; None makes the learner for a table."""
    labelling = label_rows(intake, replace(options, n_questions=0), learner)
    enter_stage(Stage.DOUBT)
    counts = Counter(map(str, intake.labels[intake.is_given]))
    groups = _equal_rows(intake.points)
    conflicts = tuple(
        tuple(map(str, intake.ids[rows][:5]))
        for rows in groups
        if len(set(intake.labels[rows]) - {None}) > 1
    )
    n_repeated = sum(len(rows) - 1 for rows in groups)
    return Checks(labelling, dict(counts.most_common()), n_repeated, conflicts)


def _equal_rows(points: Points) -> list[NDArray[np.intp]]:
    """Return groups of two and more rows that are equal in every feature."""
    hashes = _hashes(points)
    order = np.argsort(hashes, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(hashes[order]) != 0])
    return [rows for rows in np.split(order, starts[1:]) if len(rows) > 1]


def _hashes(points: Points) -> NDArray[np.int64]:
    """Return a number for each row, the same for equal rows."""
    if issparse(points):
        spans = pairwise(points.indptr)
        hashes = [_hash(points.indices[a:b], points.data[a:b]) for a, b in spans]
    else:
        whole = np.ascontiguousarray(points) + 0.0  # no negative zeros
        hashes = [_hash(row) for row in whole]
    return np.array(hashes, dtype=np.int64)


def _hash(*parts: Any) -> int:
    digest = hashlib.blake2b(b"".join(part.tobytes() for part in parts), digest_size=8)
    return int.from_bytes(digest.digest(), "little", signed=True)
