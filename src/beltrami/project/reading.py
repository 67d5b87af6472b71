"""The data of a project: read as for any labelling, with what tells one row from another.

Where a command would ask back, a project takes the reading that says least, and asks on its page.
"""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.labelling.intake import Intake, take_in
from beltrami.project.inputs import Sighting
from beltrami.tables import TableOptions
from beltrami.tables.columns.labels import OpenMarkerError


@dataclass(frozen=True, slots=True)
class OpenMarker:
    """What may be a class or mark rows without a label; it is read as the latter for now.

    Attributes
    ----------
    value : str
        How it is written.
    column : str
        Where.
    n_rows : int
        How often.
    """

    value: str
    column: str
    n_rows: int

    @property
    def line(self) -> str:
        """What a person should know of it."""
        return (
            f"{self.n_rows:,} row(s) hold {self.value} in the label column {self.column!r}, and no "
            "cell is empty. For now they count as rows without a label. Say on the page, or by "
            f'--unlabeled {self.value}, that they are; or, by --unlabeled "", that {self.value} is '
            "a class."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A table, read, how to know its rows again, and what is open."""

    intake: Intake
    seen: Sighting
    open_marker: OpenMarker | None = None


def read_data(source: Any, options: TableOptions) -> Data:
    """Read the data; no label is needed."""
    is_file = isinstance(source, str | os.PathLike) and Path(source).is_file()
    path = Path(source) if is_file else None
    before = _stamp(path)
    intake, marker = _take_in(source, replace(options, min_classes=0))
    table, roles = intake.table, intake.roles
    if options.embeddings is not None and table.names:
        table = replace(table, matrix=None)  # another matrix beside them leaves the rows the same
    ids = None if roles.id is None else tuple(map(str, intake.ids))
    seen = Sighting(table, roles.label, roles.id, ids, options.id is not None, path, before[0])
    if path is not None:
        seen.digest(before[0])
    if _stamp(path) != before:
        raise InvalidInputError(f"{table.name} was changed while it was read. Open it again.")
    return Data(intake, seen, marker)


def _take_in(source: Any, options: TableOptions) -> tuple[Intake, OpenMarker | None]:
    """Read the table; what may be a class or a gap is a gap, for no label is to be made up."""
    try:
        return take_in(source, options), None
    except OpenMarkerError as error:
        marker = OpenMarker(error.marker, error.column, error.n_rows)
        return take_in(source, replace(options, unlabeled=marker.value)), marker


def _stamp(path: Path | None) -> tuple[int, int]:
    """Return the size of a file, and when it was changed."""
    if path is None:
        return 0, 0
    facts = path.stat()
    return facts.st_size, facts.st_mtime_ns
